"""ROS 1: the laboratory's side of the bridge to a roscore, and whether ROS 1 is there at all.

The bridge's process is `ros1_node`; only that one imports rospy, which comes from Debian's packages and not from pip.
"""

from __future__ import annotations

import os
import subprocess
import sys
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.parsers.expat import ExpatError
from xmlrpc.client import Error, ServerProxy, Transport

from cellwright.core.errors import BadInput
from cellwright.core.listener import LOOPBACK, host_and_port, is_loopback
from cellwright.core.rospy_import import ROSPY_PACKAGES, ROSPY_PLACE
from cellwright.interfaces.ros.bridge import RosBridge
from cellwright.interfaces.ros.bridges import BridgeOptions
from cellwright.interfaces.ros.graph import RosGraph
from cellwright.lab.lab import Lab

__all__ = [
    "MASTER_ERRORS",
    "MASTER_PORT",
    "NODE_NAME",
    "living_node",
    "master_of",
    "ros1_bridge",
    "rospy_path",
    "rospy_problem",
]

NODE_NAME = "/cellwright"
MASTER_PORT = 11311
ANSWER_S = 3.0  # of wall time within which a master or a node answers
MASTER_ERRORS = (OSError, HTTPException, Error, ExpatError)
"""What a call to an address raises at which no master answers."""


class _TimedTransport(Transport):
    """Gives up on a server that takes calls and never answers."""

    def make_connection(self, host: object) -> object:  # type: ignore[override]
        connection = super().make_connection(host)  # type: ignore[arg-type]
        connection.timeout = ANSWER_S
        return connection


def rospy_path() -> Path | None:
    """Returns the folder that has rospy; None where there is none."""
    if spec := find_spec("rospy"):  # a ROS that was sourced
        return Path(spec.origin or "").parent.parent
    return ROSPY_PLACE if (ROSPY_PLACE / "rospy").is_dir() else None


def rospy_problem() -> str:
    """Returns what is wrong with rospy, found in a process of its own; nothing when it can be imported."""
    missing = f"on Debian and Ubuntu: apt install {ROSPY_PACKAGES}"
    if (path := rospy_path()) is None:
        return f"no rospy; {missing}"
    code = "import sys; sys.path.append(sys.argv[1]); import rospy"
    ended = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    return f"rospy cannot be imported: {ended.stderr.strip().splitlines()[-1]}; {missing}" if ended.returncode else ""


def master_of(uri: str) -> Any:
    """Returns the master, or the node, at an address; its calls raise `MASTER_ERRORS` when it does not answer."""
    return ServerProxy(uri, _TimedTransport())


def living_node(uri: str, name: str) -> str:
    """Returns the address of the node of that name, where one lives; else nothing.

    Raises:
        MASTER_ERRORS: The master does not answer.
    """
    code, _, address = master_of(uri).lookupNode(name, name)
    if code != 1:
        return ""
    try:
        master_of(str(address)).getPid(name)
    except MASTER_ERRORS:
        return ""
    return str(address)


def ros1_bridge(lab: Lab, graph: RosGraph, address: str | None, options: BridgeOptions) -> RosBridge:
    """Returns the bridge to the ROS 1 programs of a roscore.

    Args:
        lab: The laboratory.
        graph: What it offers.
        address: HOST:PORT of the roscore; by default the one of `ROS_MASTER_URI`, else port 11311 of this machine.
        options: Where to tell lines.

    Raises:
        BadInput: rospy is missing, no roscore answers, or it knows a laboratory already.
    """
    if rospy_path() is None:
        raise BadInput(f"the bridge ros1 needs rospy; on Debian and Ubuntu: apt install {ROSPY_PACKAGES}")
    uri = _uri(address)
    try:
        taken_by = living_node(uri, NODE_NAME)
    except MASTER_ERRORS as error:
        why = str(error) or type(error).__name__
        raise BadInput(
            f"no roscore answers at {uri} ({why}): start one with `roscore`, or say where it is with "
            "--bridge ros1=HOST:PORT or ROS_MASTER_URI"
        ) from None
    if taken_by:
        raise BadInput(
            f"the roscore at {uri} has a node {NODE_NAME} already, at {taken_by}: end that laboratory, or start a "
            "second roscore (`roscore -p PORT`) for this one"
        )
    environment = {"ROS_MASTER_URI": uri}
    if is_loopback(urlsplit(uri).hostname or "") and not {"ROS_IP", "ROS_HOSTNAME"} & os.environ.keys():
        environment["ROS_IP"] = LOOPBACK  # by which rospy listens there only
    return RosBridge(
        lab, graph, "ros1", "cellwright.interfaces.ros.ros1_node", [uri], environment=environment, say=options.say
    )


def _uri(address: str | None) -> str:
    given = address or os.environ.get("ROS_MASTER_URI") or f"http://localhost:{MASTER_PORT}"
    where = "ROS_MASTER_URI" if address is None else "--bridge ros1"
    host, port = host_and_port(given.removeprefix("http://").rstrip("/"), where, MASTER_PORT)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"

"""The bridges by name, and what they may be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cellwright.core.listener import host_and_port
from cellwright.core.registry import Registry
from cellwright.interfaces.ros.bridge import RosBridge
from cellwright.interfaces.ros.graph import RosGraph
from cellwright.lab.lab import Lab

__all__ = ["BRIDGES", "BridgeOptions", "MakeBridge"]


@dataclass(frozen=True, kw_only=True)
class BridgeOptions:
    """Options of bridges besides an address; each takes those that it knows.

    Attributes:
        host: Where it listens when its address names no host.
        is_any_port: Whether it takes any free port when its address names none.
        token: What clients must say first; `auto` is a random one. None asks for none on a loopback address.
        say: Tells the user a line.
    """

    host: str = "127.0.0.1"
    is_any_port: bool = False
    token: str | None = None
    say: Callable[[str], None] = lambda _line: None


MakeBridge = Callable[[Lab, RosGraph, str | None, BridgeOptions], RosBridge]
"""Makes a bridge of a laboratory, its graph, an address and options; raises `BadInput` when it cannot."""

BRIDGES: Registry[MakeBridge] = Registry("bridge", "cellwright.bridges")
"""Bridges to ROS programs by name; what a bridge needs is imported by the function here that makes it."""


@BRIDGES.register("ros1")
def _ros1(lab: Lab, graph: RosGraph, address: str | None, options: BridgeOptions) -> RosBridge:
    from cellwright.interfaces.ros.ros1 import ros1_bridge

    return ros1_bridge(lab, graph, address, options)


@BRIDGES.register("rosbridge")
def _rosbridge(lab: Lab, graph: RosGraph, address: str | None, options: BridgeOptions) -> RosBridge:
    from cellwright.interfaces.ros.rosbridge_gate import DEFAULT_PORT, TOKEN_VARIABLE, token_for

    default_port = 0 if options.is_any_port else DEFAULT_PORT
    host, port = host_and_port(address or options.host, "--bridge rosbridge", default_port)
    return RosBridge(
        lab,
        graph,
        "rosbridge",
        "cellwright.interfaces.ros.rosbridge",
        [host, str(port)],
        environment={TOKEN_VARIABLE: token_for(host, options.token) or ""},
        say=options.say,
    )

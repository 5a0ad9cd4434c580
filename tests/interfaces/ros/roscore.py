"""A roscore of the tests' own, the tools of Debian's ROS, and cells that are served to it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from xmlrpc.client import ServerProxy

import pytest

from cellwright.interfaces.ros.ros1 import rospy_path

SYSTEM_PYTHON = "/usr/bin/python3"


def need_ros() -> None:
    """Skips a test where ROS 1 is not there."""
    if rospy_path() is None or shutil.which("roscore") is None or find_spec("cellwright") is None:
        pytest.skip("no ROS 1; on Debian: apt install ros-core")


class Roscore:
    """A roscore on a private port, with files of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        others = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self.environment = {
            "ROS_PACKAGE_PATH": "/usr/share",  # which a rospkg of an active virtual environment does not know
            **others,
            "ROS_MASTER_URI": self.uri,
            "ROS_IP": "127.0.0.1",
            "ROS_HOME": str(folder),
            "ROS_LOG_DIR": str(folder / "log"),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            ["roscore", "-p", str(self.port)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_for(self.answers, "roscore")

    def answers(self) -> bool:
        try:
            return bool(ServerProxy(self.uri).lookupNode("/test", "/rosout")[0] == 1)
        except OSError:
            return False

    def kill(self) -> None:
        if self._process is not None:
            for pid in [
                *children(self._process.pid),
                self._process.pid,
            ]:  # the master is a child, in a session of its own
                os.kill(pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def popen(self, *command: object, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(word) for word in command],
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: object, within_s: float = 20.0, **variables: str) -> str:
        """Runs a tool until it ends, or for so long; returns what it printed."""
        process = self.popen(*command, **variables)
        try:
            return process.communicate(timeout=within_s)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            return process.communicate()[0]

    def python(self, code: str, *arguments: object, within_s: float = 30.0) -> dict[str, object]:
        """Runs a program with Debian's Python; returns the JSON object that it prints last."""
        said = self.run(SYSTEM_PYTHON, "-c", code, *arguments, within_s=within_s)
        assert said.strip().endswith("}"), said
        return dict(json.loads(said.strip().splitlines()[-1]))


class ServedCell:
    """`cellwright serve CELL --bridge ros1`, and what it says."""

    def __init__(self, ros: Roscore, folder: Path, cell: object, *options: str) -> None:
        self.ros = ros
        self._file = folder / f"serve_{time.monotonic_ns()}.txt"
        command = [sys.executable, "-m", "cellwright", "serve", str(cell), "--any-port", *options]
        with self._file.open("w") as out:
            self._process = subprocess.Popen(
                [*command, "--bridge", f"ros1=127.0.0.1:{ros.port}"], stdout=out, stderr=subprocess.STDOUT
            )
        try:
            wait_for(self.is_known, "the bridge")
        except AssertionError:
            self.close()
            raise AssertionError(self.said()) from None

    def is_known(self) -> bool:
        master = ServerProxy(self.ros.uri)
        return bool(
            master.getParam("/test", "/use_sim_time")[0] == 1 and "cellwright" in str(master.getSystemState("/test"))
        )

    def said(self) -> str:
        return self._file.read_text()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def children(self) -> list[int]:
        """Returns the numbers of its own processes."""
        return children(self._process.pid)

    def close(self) -> None:
        if self.is_alive:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def children(pid: int) -> list[int]:
    """Returns the numbers of the processes of a process."""
    return [int(number) for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for(is_so, what: str, within_s: float = 30.0) -> None:
    """Waits until something is so."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {within_s:g} s")

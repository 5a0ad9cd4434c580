"""A process beside the simulation, fed over a channel: it serves others, for whom the simulation never waits."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.core.errors import BadInput, JobFailed

__all__ = ["SideProcess", "until_orphaned"]

START_S, END_S = 30.0, 6.0
PARENT_S = 0.5  # how often it is seen whether the parent still lives
CODE = """
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[1])
importlib.import_module(sys.argv[2]).main(*sys.argv[3:])
"""
BUFFER_BYTES = 2**20


class SideProcess:
    """Starts `main(number of its socket, *arguments, number of this process)` of a module in a process of its own.

    It is no child of a pool or of `multiprocessing`: a program without `if __name__ == "__main__"` may have one, too.
    It ends with this process, also when this one is killed. What it says first is one line of JSON.

    Attributes:
        end: This process's end of the socket to it.
        said: What it said first.

    Args:
        what: Its name, for errors.
        module: The module with `main`.
        arguments: More arguments of `main`.
        environment: Variables that it has besides those of this process.
        is_awaited: Whether to wait for what it says first; else whoever reads from `end` gets that line.

    Raises:
        BadInput: It says why it cannot start, as `error`.
        JobFailed: It says nothing.
    """

    def __init__(
        self,
        what: str,
        module: str,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        is_awaited: bool = True,
    ) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise BadInput(f"{what} needs Linux or macOS")
        self.end, theirs = socket.socketpair()
        for end in (self.end, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        command = [sys.executable, "-c", CODE, json.dumps(sys.path), module, str(theirs.fileno()), *arguments]
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C in a terminal is not for it
            )
        self.said = self._first_line() if is_awaited else {}
        if is_awaited and (not self.said or "error" in self.said):
            self.end.close()
            self.wait()
            raise BadInput(self.said["error"]) if self.said else JobFailed(f"the process of {what} did not start")

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()
        self._process.wait()

    def wait(self) -> None:
        """Waits until it ends, which it does when its socket was closed, and kills it when it takes too long."""
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _first_line(self) -> dict[str, Any]:
        """Returns what it says first; byte by byte: what follows is not for here."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.end], [], [], START_S)[0] or not (byte := self.end.recv(1)):
                return {}
            line += byte
        said: dict[str, Any] = json.loads(line)
        return said


async def until_orphaned(parent: int) -> None:
    """Waits, in such a process, until its parent is gone: a process that it had forked may hold the socket open."""
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_S)

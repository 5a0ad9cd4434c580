"""Starting and ending the process of the live page."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from typing import Any

from cellwright.core.errors import BadInput, JobFailed
from cellwright.viewing.live_channel import ViewChannel
from cellwright.viewing.live_gate import DEFAULT_ADDRESS, TOKEN_VARIABLE, Gate, host_and_port

__all__ = ["LiveProcess"]

START_S, END_S = 30.0, 6.0
CODE = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from cellwright.viewing.live_server import main
main(*sys.argv[2:])
"""
BUFFER_BYTES = 2**20


class LiveProcess:
    """The process that serves the live page; started at once, so that a port that is taken is known before a run.

    It is no child of a pool or of `multiprocessing`: a program without `if __name__ == "__main__"` may have one, too.
    It ends with this process, also when this one is killed.

    Args:
        address: Where to listen: `HOST:PORT`, or a port alone; port 0 is any free one.

    Attributes:
        url: Where the page is, with its token, if it needs one.
        channel: Feeds it.

    Raises:
        BadInput: It cannot listen there, or the page was not built.
    """

    def __init__(self, address: str = DEFAULT_ADDRESS) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise BadInput(
                "the live page needs Linux or macOS; look at the run afterwards, with `cellwright log trace`"
            )
        host, port = host_and_port(address)
        gate = Gate.of(host)
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        command = [sys.executable, "-c", CODE, json.dumps(sys.path), str(theirs.fileno()), host, str(port)]
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, TOKEN_VARIABLE: gate.token or ""},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C in a terminal is not for it
            )
        said = self._first_line(ours)
        if "port" not in said:
            ours.close()
            self._end()
            raise (
                BadInput(said["error"]) if "error" in said else JobFailed("the process of the live page did not start")
            )
        self.channel = ViewChannel(ours)
        shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
        name = f"[{shown}]" if ":" in shown else shown
        self.url = f"http://{name}:{said['port']}/" + (f"?token={gate.token}" if gate.token else "")

    @property
    def is_alive(self) -> bool:
        """Whether it still serves."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def close(self) -> None:
        """Ends it; pages get what is still under way to them."""
        self.channel.close()
        self._end()

    def _end(self) -> None:
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _first_line(self, end: socket.socket) -> dict[str, Any]:
        """Returns what it says first, its port or why it has none; byte by byte: what follows is not for here."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([end], [], [], START_S)[0] or not (byte := end.recv(1)):
                return {}
            line += byte
        said: dict[str, Any] = json.loads(line)
        return said

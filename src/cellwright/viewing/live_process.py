"""Starting and ending the process of the live page."""

from __future__ import annotations

import socket

from cellwright.core.errors import BadInput
from cellwright.core.listener import host_and_port
from cellwright.core.side_process import SideProcess
from cellwright.viewing.live_channel import ViewChannel
from cellwright.viewing.live_gate import DEFAULT_ADDRESS, DEFAULT_PORT, TOKEN_VARIABLE, Gate

__all__ = ["LiveProcess"]


class LiveProcess:
    """The process that serves the live page; started at once, so that a port that is taken is known before a run.

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
        host, port = host_and_port(address, "--view", DEFAULT_PORT)
        gate = Gate.of(host)
        self._process = SideProcess(
            "the live page",
            "cellwright.viewing.live_server",
            [host, str(port)],
            {TOKEN_VARIABLE: gate.token or ""},
        )
        self.channel = ViewChannel(self._process.end)
        shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
        name = f"[{shown}]" if ":" in shown else shown
        self.url = f"http://{name}:{self._process.said['port']}/" + (f"?token={gate.token}" if gate.token else "")

    @property
    def is_alive(self) -> bool:
        """Whether it still serves."""
        return self._process.is_alive

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def close(self) -> None:
        """Ends it; pages get what is still under way to them."""
        self.channel.close()
        self._process.wait()

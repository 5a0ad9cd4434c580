"""A listening TCP port: opened once, asked for its address, closed."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable

from cellwright.core.errors import BadInput

__all__ = ["Listener"]


class Listener:
    """Accepts connections in the event loop that opens it.

    Args:
        what: The name of the server, for errors.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port.

        Raises:
            BadInput: It does not listen.
        """
        if self._server is None or not self._server.sockets:
            raise BadInput(f"{self._what} does not listen: start it first")
        host, port = self._server.sockets[0].getsockname()[:2]
        return str(host), int(port)

    async def open(self, make: Callable[[], asyncio.BaseProtocol], host: str, port: int, *, backlog: int = 100) -> None:
        """Listens; port 0 is any free one.

        Args:
            make: Makes the protocol object that serves a connection.
            host: The address to bind.
            port: The port to bind.
            backlog: The number of connections that may wait to be accepted.

        Raises:
            BadInput: It listens already, or cannot listen there.
        """
        if self._server is not None:
            raise BadInput(f"{self._what} listens already")
        try:
            self._server = await asyncio.get_running_loop().create_server(make, host, port, backlog=backlog)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            if getattr(error, "errno", None) == errno.EADDRINUSE:
                reason = "the port is taken; name another one, or take free ones with --any-port"
            raise BadInput(f"cannot listen on {host}:{port}: {reason}") from None

    def close(self) -> None:
        """Stops accepting connections; those that are open stay open."""
        if self._server is not None:
            self._server.close()
            self._server = None

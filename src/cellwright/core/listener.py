"""A listening TCP port: its address as a user writes it; opened once, asked for its address, closed."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
from collections.abc import Callable

from cellwright.core.errors import BadInput

__all__ = ["LOOPBACK", "Listener", "host_and_port", "is_loopback"]

LOOPBACK = "127.0.0.1"


def host_and_port(address: str, option: str, default_port: int) -> tuple[str, int]:
    """Returns host and port of `HOST:PORT`, `[HOST]:PORT`, `PORT` or `HOST`; without a host this machine's own.

    Args:
        address: The text.
        option: Where it was given, for errors.
        default_port: The port where none is given.

    Raises:
        BadInput: It is none of them.
    """
    host, colon, port = address.rpartition(":") if not address.endswith("]") else (address, "", "")
    if not colon:
        host, port = ("", address) if address.isdecimal() else (address, str(default_port))
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK
    if not (port.isdecimal() and port.isascii() and int(port) <= 65535) or any(sign in host for sign in " /@?#"):
        raise BadInput(f"{option} takes HOST:PORT or PORT with a port from 0 to 65535, not '{address}'")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Returns whether a host is this machine and no other can reach it."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host.lower().rstrip(".") in ("localhost", "localhost.localdomain")


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

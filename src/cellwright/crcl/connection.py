"""The bytes between a client and a server: over TCP, or over anything else that has these three methods."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from cellwright.core.errors import BadInput, JobFailed

__all__ = [
    "Connection",
    "ConnectionFailed",
    "Connector",
    "TcpConnection",
    "parse_address",
    "tcp",
]

READ_BYTES = 65536


class ConnectionFailed(JobFailed):
    """A server that cannot be reached."""


class Connection(Protocol):
    """One connection, seen from one end."""

    async def receive(self) -> bytes:
        """Returns some bytes, as soon as there are any; none when the other end has closed."""

    async def send(self, data: bytes) -> None:
        """Hands over all the bytes; raises OSError when the connection is gone."""

    async def close(self) -> None:
        """Closes this end; harmless when it is closed."""


Connector = Callable[[], Awaitable[Connection]]
"""Makes a new connection to the same server, as often as it is called; the `connect` of a server in memory is one."""


class TcpConnection:
    """A socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> bytes:
        """Returns some bytes; none at the end."""
        return await self._reader.read(READ_BYTES)

    async def send(self, data: bytes) -> None:
        """Writes the bytes at once, then waits while the peer is slow."""
        if self._writer.is_closing():
            raise ConnectionResetError("the connection is closed")
        self._writer.write(data)
        await self._writer.drain()

    def end_sending(self) -> None:
        """Says that nothing more will be sent; what the peer sends can still be received."""
        if not self._writer.is_closing() and self._writer.can_write_eof():
            self._writer.write_eof()

    async def close(self) -> None:
        """Closes the socket."""
        self._writer.close()
        try:
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(1.0):
                    await self._writer.wait_closed()
        except OSError:  # it takes no more bytes: those that are left are not to arrive when it wakes up
            self._writer.transport.abort()


def parse_address(address: str) -> tuple[str, int]:
    """Returns host and port of `HOST:PORT`; an IPv6 host stands in brackets.

    Raises:
        BadInput: It is something else.
    """
    host, colon, port = address.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536
    if not (colon and host and is_port):
        raise BadInput(f"'{address}' is no address (allowed: HOST:PORT with a port from 1 to 65535)")
    return host, int(port)


def tcp(address: str, *, connect_s: float = 5.0) -> Connector:
    """Returns a connector to `HOST:PORT`.

    Raises:
        BadInput: The address makes no sense; when connecting, ConnectionFailed: no server is there.
    """
    host, port = parse_address(address)

    async def connect() -> Connection:
        try:
            async with asyncio.timeout(connect_s):
                return TcpConnection(*await asyncio.open_connection(host, port))
        except TimeoutError:
            raise ConnectionFailed(f"{address} did not accept a connection within {connect_s:g} s") from None
        except (OSError, UnicodeError) as error:
            raise ConnectionFailed(f"cannot connect to {address}: {_reason(error)}") from None

    return connect


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused, no server listens there"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

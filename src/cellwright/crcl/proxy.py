"""A proxy between clients and a server: forwards everything unchanged, and reports each message."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from cellwright.core.errors import BadInput, JobFailed
from cellwright.crcl.connection import Connection, Connector, TcpConnection
from cellwright.crcl.errors import FramingError
from cellwright.crcl.framing import MessageStream

__all__ = ["CrclProxy", "ProxiedMessage"]


@dataclass(frozen=True, slots=True)
class ProxiedMessage:
    """A document that passed the proxy, or bytes that are none.

    Attributes:
        time_ns: When its last byte came, since 1970.
        connection: Which one, from 1.
        to_robot: Whether it went to the robot; else it came from there.
        data: The bytes, unchanged; padding between documents is left out.
        is_document: Whether it is one whole document.
    """

    time_ns: int
    connection: int
    to_robot: bool
    data: bytes
    is_document: bool = True


class _StreamTap:
    """Cuts a copy of one direction's bytes into documents; it never delays the bytes."""

    def __init__(self, connection: int, to_robot: bool, tell: Callable[[ProxiedMessage], None]) -> None:
        self._connection = connection
        self._to_robot = to_robot
        self._tell = tell
        self._stream = MessageStream()
        self._held = bytearray()
        self._understands = True

    def feed(self, data: bytes, time_ns: int) -> None:
        self._held += data
        if self._understands:
            try:
                for document in self._stream.feed(data):
                    self._tell(ProxiedMessage(time_ns, self._connection, self._to_robot, document))
                    del self._held[: self._held.find(document) + len(document)]
            except FramingError:
                self._understands = False
        if not self._understands:
            self.end(time_ns)

    def end(self, time_ns: int) -> None:
        """Reports the rest, which will be no document any more."""
        if self._held.strip(b" \t\r\n\0"):
            self._tell(ProxiedMessage(time_ns, self._connection, self._to_robot, bytes(self._held), is_document=False))
        self._held.clear()


class CrclProxy:
    """A proxy for any number of clients of one server; each gets a connection of its own there.

    Args:
        connect: Makes connections to the server.
        tell: Gets every message; the first error that it raises is kept in `recording_error` and disturbs no client.
        now_ns: Gives the time.
        say: Gets a text for each connection that comes, goes or fails.
    """

    def __init__(
        self,
        connect: Connector,
        tell: Callable[[ProxiedMessage], None],
        *,
        now_ns: Callable[[], int] = time.time_ns,
        say: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.accepted = 0
        self.recording_error = ""
        """Why something is missing in the record; empty when nothing is."""
        self._connect = connect
        self._tell = tell
        self._now_ns = now_ns
        self._say = say
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """The address to which clients connect."""
        if self._server is None:
            raise BadInput("the proxy does not listen: start it first")
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Self:
        """Listens; port 0 picks a free one, see `address`. Raises BadInput where that cannot be."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port)
        except (OSError, OverflowError) as error:
            raise BadInput(f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}") from None
        return self

    async def close(self) -> None:
        """Ends all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.accepted += 1
        number, client = self.accepted, TcpConnection(reader, writer)
        try:
            server = await self._connect()
        except JobFailed as error:
            self._say(f"connection {number}: {error}")
            await client.close()
            return
        self._say(f"connection {number} opened")
        directions = [
            asyncio.ensure_future(self._pass_on(client, server, _StreamTap(number, True, self._notify))),
            asyncio.ensure_future(self._pass_on(server, client, _StreamTap(number, False, self._notify))),
        ]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            await client.close()
            await server.close()
            self._say(f"connection {number} closed")
            self._tasks.discard(task)

    async def _pass_on(self, source: Connection, sink: Connection, tap: _StreamTap) -> None:
        """Forwards bytes until the source ends, then ends the sink; raises OSError when either is gone."""
        try:
            while data := await source.receive():
                time_ns = self._now_ns()
                await sink.send(data)
                tap.feed(data, time_ns)
            if isinstance(sink, TcpConnection):
                sink.end_sending()
            else:
                await sink.close()
        finally:
            tap.end(self._now_ns())

    def _notify(self, message: ProxiedMessage) -> None:
        try:
            self._tell(message)
        except Exception as error:
            self.recording_error = self.recording_error or f"{type(error).__name__}: {error}"

"""A connection without sockets: a client's end of it, in the event loop of the server.

What is sent arrives at once: no thread, no buffer of an operating system, the same order in every run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["MemoryConnection"]


class MemoryConnection:
    """The client's end of a connection; the other end feeds it.

    Args:
        deliver: Takes what the client sends.
        hang_up: Called when the client closes.
    """

    def __init__(self, deliver: Callable[[bytes], None], hang_up: Callable[[], None]) -> None:
        self._deliver = deliver
        self._hang_up = hang_up
        self._buffer = bytearray()
        self._open = True
        self._waiter: asyncio.Future[None] | None = None

    @property
    def pending(self) -> int:
        """Bytes that the client did not receive yet."""
        return len(self._buffer)

    async def receive(self) -> bytes:
        """Returns the bytes that have come, as soon as there are any; none once the other end has closed."""
        while self._open and not self._buffer:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    async def send(self, data: bytes) -> None:
        """Hands over all the bytes.

        Raises:
            ConnectionResetError: The connection is closed.
        """
        if not self._open:
            raise ConnectionResetError("the connection is closed")
        self._deliver(bytes(data))

    async def close(self) -> None:
        """Closes this end; harmless when it is closed."""
        if self._open:
            self._hang_up()
            self.end()

    def feed(self, data: bytes) -> None:
        """Adds bytes that the other end sent."""
        self._buffer += data
        self._wake()

    def end(self) -> None:
        """Ends the connection; bytes that have come already can still be received."""
        self._open = False
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

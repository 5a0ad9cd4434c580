"""The evidence of a verdict: what was sent and what came back, with times."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from cellwright.crcl.connection import Connection

__all__ = ["Exchange", "LoggedConnection", "Transcript"]

MAX_TEXT = 4000
MAX_EXCHANGES = 400
_KEPT_AT_START = 40


@dataclass(frozen=True, slots=True)
class Exchange:
    """Some bytes on one connection, or a remark.

    Attributes:
        time_s: Since the check began.
        connection: Which one, from 1.
        direction: `sent`, `received`, `closed` or `opened`.
        text: The bytes as text, cut if they are very long.
    """

    time_s: float
    connection: int
    direction: str
    text: str


class Transcript:
    """The exchanges of one check; the middle of a very long one is left out."""

    def __init__(self) -> None:
        self._start_s = self._now_s()
        self._head: list[Exchange] = []
        self._tail: list[Exchange] = []
        self._left_out = 0

    def add(self, connection: int, direction: str, data: bytes = b"") -> None:
        """Records some bytes."""
        text = data[:MAX_TEXT].decode("utf-8", "backslashreplace")
        text += f" ... ({len(data) - MAX_TEXT} more bytes)" if len(data) > MAX_TEXT else ""
        exchange = Exchange(round(self._now_s() - self._start_s, 6), connection, direction, text)
        if len(self._head) < _KEPT_AT_START:
            self._head.append(exchange)
            return
        self._tail.append(exchange)
        if len(self._tail) > MAX_EXCHANGES:
            del self._tail[: MAX_EXCHANGES // 2]
            self._left_out += MAX_EXCHANGES // 2

    def take(self) -> list[Exchange]:
        """Returns everything so far; the transcript begins anew."""
        gap = [Exchange(self._tail[0].time_s, 0, "left out", f"{self._left_out} exchanges")] if self._left_out else []
        taken = [*self._head, *gap, *self._tail]
        self._head = []
        self._tail = []
        self._left_out = 0
        self._start_s = self._now_s()
        return taken

    @staticmethod
    def _now_s() -> float:
        return asyncio.get_running_loop().time()


class LoggedConnection:
    """A connection whose bytes are recorded."""

    def __init__(self, inner: Connection, number: int, transcript: Transcript) -> None:
        self._inner = inner
        self._number = number
        self._transcript = transcript
        transcript.add(number, "opened")

    async def receive(self) -> bytes:
        """Returns some bytes; none at the end."""
        data = await self._inner.receive()
        self._transcript.add(self._number, "received" if data else "closed", data)
        return data

    async def send(self, data: bytes) -> None:
        """Sends all the bytes."""
        self._transcript.add(self._number, "sent", data)
        await self._inner.send(data)

    async def close(self) -> None:
        """Closes it."""
        await self._inner.close()

"""A page that watches: what it still has to get, and how long it may take about it."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from cellwright.viewing.live_channel import PacketKind

__all__ = ["WatchingPage"]

MAX_QUEUE_BYTES = 64 * 2**20
STALLED_S = 15.0  # a page that has read nothing for so long is cut; it connects again when it wakes
MAX_COMMANDS_PER_S = 50


class WatchingPage:
    """One browser's connection: scene and rows in their order, poses and state as they are when it has read the rest.

    Args:
        connection: The WebSocket.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._newest: dict[PacketKind, bytes] = {}
        self._something = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._second_s, self._commands = 0.0, 0

    def offer(self, kind: PacketKind, packet: bytes) -> None:
        """Has a packet sent when its turn comes; cuts a page that has let too much pile up."""
        if kind in (PacketKind.POSES, PacketKind.STATE):
            self._newest[kind] = packet
        else:
            if kind is PacketKind.SCENE:
                self._newest.pop(PacketKind.POSES, None)
            self._queue.append(packet)
            self._queued_bytes += len(packet)
            if self._queued_bytes > MAX_QUEUE_BYTES:
                self.cut()
        self._is_idle.clear()
        self._something.set()

    async def send(self) -> None:
        """Sends what it is offered, until it is cut or has gone."""
        try:
            while True:
                await self._something.wait()
                self._something.clear()
                while packet := self._next():
                    async with asyncio.timeout(STALLED_S):
                        await self.connection.send(packet)
                self._is_idle.set()
        except TimeoutError:
            self.cut()
        except ConnectionClosed:
            pass

    async def until_sent(self) -> None:
        """Waits until the page has been sent all that it was offered."""
        await self._is_idle.wait()

    def may_command(self) -> bool:
        """Notes a command; returns whether the page may give so many."""
        if (now_s := monotonic()) - self._second_s >= 1.0:
            self._second_s, self._commands = now_s, 0
        self._commands += 1
        return self._commands <= MAX_COMMANDS_PER_S

    def cut(self) -> None:
        """Ends the connection at once, whatever is under way."""
        self._queue.clear()
        self._newest.clear()
        self._queued_bytes = 0
        self.connection.transport.abort()

    def _next(self) -> bytes | None:
        if self._queue:
            packet = self._queue.popleft()
            self._queued_bytes -= len(packet)
            return packet
        return self._newest.pop(next(iter(self._newest))) if self._newest else None

"""The simulation's end of a channel to a process beside it: it never waits."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections import deque

__all__ = ["HEADER", "Channel", "ChannelClosed"]

HEADER = struct.Struct("<BI")


class ChannelClosed(Exception):
    """Raised when the other process has gone."""


class Channel:
    """Sends packets, each with its kind and length before it, without ever waiting; what waits is bounded.

    Attributes:
        dropped: Packets for which there was no room.

    Args:
        end: Its end of a pair of sockets.
        room_bytes: What may wait at most.
    """

    def __init__(self, end: socket.socket, room_bytes: int = 64 * 2**20) -> None:
        end.setblocking(False)
        self._end = end
        self._room_bytes = room_bytes
        self._queue: deque[memoryview] = deque()
        self._queued_bytes = 0
        self.dropped = 0

    def enqueue(self, kind: int, *pieces: bytes) -> bool:
        """Has a packet wait for the next `pump`; returns whether there was room for it."""
        length = sum(map(len, pieces))
        if self._queued_bytes + length > self._room_bytes:
            self.dropped += 1
            return False
        self._queue.append(memoryview(b"".join((HEADER.pack(kind, length), *pieces))))
        self._queued_bytes += HEADER.size + length
        return True

    @property
    def waiting_bytes(self) -> int:
        """The number of bytes that could not be sent yet."""
        return self._queued_bytes

    @property
    def is_waiting(self) -> bool:
        """Whether something could not be sent yet."""
        return bool(self._queue)

    def pump(self) -> None:
        """Sends what there is room for.

        Raises:
            ChannelClosed: Nobody is there.
        """
        while self._queue:
            first = self._queue[0]
            try:
                sent = self._end.send(first)
            except BlockingIOError:
                return
            except OSError:
                raise ChannelClosed from None
            self._queued_bytes -= sent
            if sent == len(first):
                self._queue.popleft()
            else:
                self._queue[0] = first[sent:]

    def flush(self, timeout_s: float) -> None:
        """Waits until everything is sent, or for that long; for before and after a run.

        Raises:
            ChannelClosed: Nobody is there.
        """
        end_s = time.monotonic() + timeout_s
        self.pump()
        while self._queue and (left_s := end_s - time.monotonic()) > 0:
            select.select([], [self._end], [], left_s)
            self.pump()

    def read(self, most_bytes: int) -> bytes:
        """Returns what has come, as far as one look takes; nothing when nothing has.

        Raises:
            ChannelClosed: Nobody is there.
        """
        try:
            read = self._end.recv(most_bytes)
        except BlockingIOError:
            return b""
        except OSError:
            raise ChannelClosed from None
        if not read:
            raise ChannelClosed
        return read

    def close(self) -> None:
        """Ends the channel, and with it the process at its other end."""
        self._end.close()

    def fileno(self) -> int:
        """Returns the number by which an event loop waits for what comes."""
        return self._end.fileno()

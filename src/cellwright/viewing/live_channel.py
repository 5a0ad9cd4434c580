"""The simulation's end of the channel to the process of the live page: it never waits."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections import deque
from enum import IntEnum

__all__ = ["HEADER", "ChannelClosed", "PacketKind", "ViewChannel"]

HEADER = struct.Struct("<BI")
MAX_QUEUE_BYTES = 64 * 2**20
MAX_READ_BYTES = 4096  # of commands, at one look


class PacketKind(IntEnum):
    """The kind of what goes over the channel.

    Scenes, poses, states and rows are packets for the page. Messages and what the document is of are pickled: the other
    process makes rows of them, so that the simulation does not have to.
    """

    SCENE = 1
    ROWS = 2
    POSES = 3
    STATE = 4
    MESSAGES = 5
    DOCUMENT = 6


class ChannelClosed(Exception):
    """Raised when the other process has gone."""


class ViewChannel:
    """Sends packets without ever waiting, and takes lines of commands.

    Scenes and rows wait in a queue, which is bounded; poses and states are only sent when nothing else waits, and the
    newest replaces the one before.

    Attributes:
        dropped: Packets for which there was no room.
    """

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._queue: deque[memoryview] = deque()
        self._queued_bytes = 0
        self._newest: dict[PacketKind, bytes] = {}
        self._read = b""
        self.dropped = 0

    def send(self, kind: PacketKind, packet: bytes) -> None:
        """Sends a packet, now or with a later `pump`.

        Raises:
            ChannelClosed: Nobody is there.
        """
        if kind in (PacketKind.POSES, PacketKind.STATE):
            self._newest[kind] = packet
        elif self._queued_bytes + len(packet) > MAX_QUEUE_BYTES:
            self.dropped += 1
        else:
            if kind is PacketKind.SCENE:
                self._newest.pop(PacketKind.POSES, None)  # of the bodies that were there before
            self._enqueue(kind, packet)
        self.pump()

    def pump(self) -> None:
        """Sends what there is room for.

        Raises:
            ChannelClosed: Nobody is there.
        """
        while True:
            if not self._queue:
                if not self._newest:
                    return
                kind = next(iter(self._newest))
                self._enqueue(kind, self._newest.pop(kind))
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

    def commands(self) -> list[bytes]:
        """Returns the lines that have come, as far as one look takes.

        Raises:
            ChannelClosed: Nobody is there.
        """
        try:
            read = self._end.recv(MAX_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            raise ChannelClosed from None
        if not read:
            raise ChannelClosed
        *lines, self._read = (self._read + read).split(b"\n")
        return lines

    def close(self) -> None:
        """Ends the channel, and with it the process at its other end."""
        self._end.close()

    def _enqueue(self, kind: PacketKind, packet: bytes) -> None:
        self._queue.append(memoryview(HEADER.pack(kind, len(packet)) + packet))
        self._queued_bytes += HEADER.size + len(packet)

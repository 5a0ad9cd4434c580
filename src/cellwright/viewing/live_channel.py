"""The simulation's end of the channel to the process of the live page: it never waits."""

from __future__ import annotations

import socket
from enum import IntEnum

from cellwright.core.channel import HEADER, Channel, ChannelClosed

__all__ = ["HEADER", "ChannelClosed", "PacketKind", "ViewChannel"]

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


class ViewChannel(Channel):
    """Sends packets without ever waiting, and takes lines of commands.

    Scenes and rows wait in a queue, which is bounded; poses and states are only sent when nothing else waits, and the
    newest replaces the one before.
    """

    def __init__(self, end: socket.socket) -> None:
        super().__init__(end)
        self._newest: dict[PacketKind, bytes] = {}
        self._read = b""

    def send(self, kind: PacketKind, packet: bytes) -> None:
        """Sends a packet, now or with a later `pump`.

        Raises:
            ChannelClosed: Nobody is there.
        """
        if kind in (PacketKind.POSES, PacketKind.STATE):
            self._newest[kind] = packet
        elif self.enqueue(kind, packet) and kind is PacketKind.SCENE:
            self._newest.pop(PacketKind.POSES, None)  # of the bodies that were there before
        self.pump()

    def pump(self) -> None:
        """Sends what there is room for.

        Raises:
            ChannelClosed: Nobody is there.
        """
        super().pump()
        while self._newest and not self.is_waiting:
            kind = next(iter(self._newest))
            self.enqueue(kind, self._newest.pop(kind))
            super().pump()

    def commands(self) -> list[bytes]:
        """Returns the lines that have come, as far as one look takes.

        Raises:
            ChannelClosed: Nobody is there.
        """
        *lines, self._read = (self._read + self.read(MAX_READ_BYTES)).split(b"\n")
        return lines

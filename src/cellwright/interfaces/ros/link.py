"""Packets between a laboratory and the process of a bridge, each with a kind and a length."""

from __future__ import annotations

import json
import struct
from enum import IntEnum
from typing import Any

from cellwright.core.channel import HEADER

__all__ = ["LabPacket", "NodePacket", "PacketReader", "json_packet", "message_head", "read_json", "split_message"]

MESSAGE = struct.Struct("<Hq")


class LabPacket(IntEnum):
    """The kinds of packets that the laboratory sends."""

    GRAPH = 1
    """What it offers, as JSON: first, and once."""
    MESSAGE = 2
    """A message of the bus: number of the topic, time, CDR bytes."""
    CLOCK = 3
    """Simulation time, in nanoseconds."""
    ANSWER = 4
    """The answer of a service, as JSON: `id`, and `response` or `error`."""
    REFUSED = 5
    """A message from a ROS program was refused, as JSON: number of the sender, topic, reason."""


class NodePacket(IntEnum):
    """The kinds of packets that the process of a bridge sends."""

    WANTED = 1
    """The topics that somebody subscribes to, as JSON."""
    MESSAGE = 2
    """A message from a ROS program: number of the topic, number of the sender, CDR bytes."""
    CALL = 3
    """A call of a service, as JSON: `id`, `service`, `request`."""
    TOLD = 4
    """A line for the user, as JSON."""


def message_head(number: int, time_ns_or_sender: int) -> bytes:
    """Returns the head of a message packet."""
    return MESSAGE.pack(number, time_ns_or_sender)


def split_message(packet: bytes) -> tuple[int, int, bytes]:
    """Returns number, time or sender, and bytes of a message packet."""
    number, time_ns_or_sender = MESSAGE.unpack_from(packet)
    return number, time_ns_or_sender, packet[MESSAGE.size :]


def json_packet(kind: int, content: Any) -> bytes:
    """Returns a whole packet of JSON, with its header."""
    text = json.dumps(content).encode()
    return HEADER.pack(kind, len(text)) + text


def read_json(packet: bytes) -> Any:
    """Returns the content of a packet of JSON."""
    return json.loads(packet)


class PacketReader:
    """Puts packets together of the bytes that come."""

    def __init__(self) -> None:
        self._read = bytearray()

    def take(self, read: bytes) -> list[tuple[int, bytes]]:
        """Takes bytes; returns the packets that are whole now: kind and content."""
        buffer, packets, at = self._read, [], 0
        buffer += read
        while len(buffer) - at >= HEADER.size:
            kind, length = HEADER.unpack_from(buffer, at)
            end = at + HEADER.size + length
            if len(buffer) < end:
                break
            packets.append((kind, bytes(buffer[at + HEADER.size : end])))
            at = end
        del buffer[:at]
        return packets

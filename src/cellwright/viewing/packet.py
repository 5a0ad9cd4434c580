"""Packets: numbers in binary behind a header in JSON, which the viewer's page reads as they are."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput

__all__ = ["Blob", "pack", "unpack"]

ALIGNMENT = 4


class Blob:
    """The binary part of a packet in the making: arrays one after the other, each at a multiple of four bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def add(self, values: npt.NDArray[Any] | bytes) -> int:
        """Appends the bytes of an array, in C order and little endian; returns where they begin."""
        start = self._length
        if not isinstance(values, bytes):
            values = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
        padding = -len(values) % ALIGNMENT
        self._parts += [values, b"\0" * padding]
        self._length += len(values) + padding
        return start

    def as_bytes(self) -> bytes:
        """Returns all that was added."""
        return b"".join(self._parts)


def pack(kind: str, header: Mapping[str, Any], blob: Blob | bytes = b"") -> bytes:
    """Returns a packet: length of the header, header, blob. The same content gives the same bytes.

    Args:
        kind: What it is: `scene`, `keys`, `poses`, `rows` or `state`.
        header: What JSON can hold, without numbers that are none.
        blob: What the header's offsets point into.
    """
    text = json.dumps({"kind": kind, **header}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return struct.pack("<I", len(text)) + text + (blob if isinstance(blob, bytes) else blob.as_bytes())


def unpack(packet: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns header and blob of a packet.

    Raises:
        BadInput: It is none, or was cut within its header.
    """
    length = struct.unpack_from("<I", packet)[0] if len(packet) >= 4 else 0
    try:
        if not 0 < length <= len(packet) - 4:
            raise ValueError
        header = json.loads(packet[4 : 4 + length])
        if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
            raise ValueError
    except ValueError:
        raise BadInput("this is no packet of the viewer, or only its beginning") from None
    return header, packet[4 + length :]

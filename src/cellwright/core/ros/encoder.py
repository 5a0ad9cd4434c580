"""CDR bytes of messages, fast: what seldom changes is laid down once, what always changes is packed in one call.

A log of a cell has some hundred messages for every simulated second, and serialising them field by field costs more
than the physics. Of a joint state only the stamp and three rows of numbers are new each time; names, counts and
padding stay. So an encoder keeps templates: for each combination of texts and lengths that it has met, one
`struct.Struct` for the whole message and the constant pieces between the numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.core.messages import Message
from cellwright.core.ros.kinds import WireForm
from cellwright.core.ros.layout import FieldSlot, MessageLayout, layout_of, once_per_class

__all__ = ["CdrEncoder", "encode"]

ENCAPSULATION = b"\x00\x01\x00\x00"  # plain CDR, little endian; alignment counts from after it
MAX_TEMPLATES = 128  # texts that never repeat, such as documents, must not fill the memory

DYNAMIC = (WireForm.STAMP, WireForm.NUMBER, WireForm.NUMBERS, WireForm.ARRAY, WireForm.VECTOR)


class CdrEncoder:
    """Encodes messages of one class; the bytes equal those of rosbags' own serialiser.

    Attributes:
        encode: The function `message -> bytes`.
    """

    encode: Callable[[Message], bytes]

    def __init__(self, message_type: type[Message]) -> None:
        self._layout = layout_of(message_type)
        self._templates: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._gaps = list(_gaps(self._layout))
        names: dict[str, Any] = {
            "array": np.array,
            "templates": self._templates,
            "new_template": self._new_template,
            "explain": self._explain,
            **{f"dtype_{slot.field}": np.dtype(slot.kind.code) for slot in self._layout.slots if slot.kind.code},
        }
        exec(_source(self._layout, self._gaps), names)
        self.encode = names["encode"]

    def _new_template(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """Lays out one combination of texts and lengths: `Struct.pack` and the constant piece of every gap."""
        formats, pieces, piece = ["<"], [], ENCAPSULATION
        position = -len(ENCAPSULATION)
        static = iter(key)
        for slot, has_gap in zip(self._layout.slots, self._gaps, strict=True):
            wire, size = slot.kind.wire, slot.kind.size
            start = position + len(piece)
            if wire in (WireForm.TEXT, WireForm.TEXTS, WireForm.SHAPE, WireForm.POINT_FIELDS):
                piece += _static_bytes(wire, next(static), start)
                continue
            content, length = _dynamic_format(slot, static)
            if wire in (WireForm.ARRAY, WireForm.NUMBERS):
                piece += b"\0" * (-start % 4) + struct.pack("<I", length // size)
                start = position + len(piece)
            if length:
                piece += b"\0" * (-start % size)
            if has_gap:
                formats.append(f"{len(piece)}s")
                pieces.append(piece)
                position, piece = position + len(piece), b""
            formats.append(content)
            position += length
        formats.append(f"{len(piece)}s")
        if len(self._templates) >= MAX_TEMPLATES:
            self._templates.clear()
        template = self._templates[key] = (struct.Struct("".join(formats)).pack, *pieces, piece)
        return template

    def _explain(self, message: Message, error: Exception) -> BadInput:
        """Returns an error that names the field that cannot be encoded, in place of one from inside the packing."""
        for slot in self._layout.slots:
            try:
                _check(slot, getattr(message, slot.field))
            except (AttributeError, TypeError, ValueError, OverflowError, struct.error) as problem:
                return BadInput(
                    f"{type(message).__name__}.{slot.field} cannot be encoded as {_wanted(slot)}: {problem}"
                )
        return BadInput(f"{type(message).__name__} cannot be encoded: {error}")


@once_per_class
def _encoder(message_type: type[Message]) -> CdrEncoder:
    return CdrEncoder(message_type)


def encode(message: Message) -> bytes:
    """Returns the CDR bytes of one message, by a shared encoder of its class."""
    return _encoder(type(message)).encode(message)


def _check(slot: FieldSlot, value: Any) -> None:
    """Checks one value by itself; the error says what is wrong with it."""
    wire, code = slot.kind.wire, slot.kind.code
    if wire is WireForm.TEXT:
        str.encode(value)
    elif wire is WireForm.TEXTS:
        hash(value)
        for text in value:
            str.encode(text)
    elif wire is WireForm.STAMP:
        struct.pack("<iI", *divmod(value, 1_000_000_000))
    elif wire is WireForm.NUMBER:
        struct.pack(code, value)
    elif wire is WireForm.NUMBERS:
        np.array(value, code)
    elif wire is WireForm.POINT_FIELDS:
        hash(value)
    elif not isinstance(value, np.ndarray):
        raise TypeError(f"it is a {type(value).__name__}")
    elif wire is WireForm.VECTOR and value.size != len(slot.components):
        raise ValueError(f"it has {value.size} numbers")


def _wanted(slot: FieldSlot) -> str:
    return slot.kind.ros or f"{len(slot.components)} float64"


def _gaps(layout: MessageLayout) -> Iterator[bool]:
    """Yields for each slot whether constant bytes may come before it: counts, texts, padding, the encapsulation."""
    aligned = 0
    for slot in layout.slots:
        wire, size = slot.kind.wire, slot.kind.size
        yield wire in DYNAMIC and (wire in (WireForm.ARRAY, WireForm.NUMBERS) or aligned < size)
        aligned = size if wire in (WireForm.NUMBER, WireForm.VECTOR, WireForm.STAMP) else 0


def _static_bytes(wire: WireForm, value: Any, start: int) -> bytes:
    """Returns a string, or a counted row of strings, uint32 or descriptions, with the padding before it."""
    out = b"\0" * (-start % 4)
    if wire is WireForm.POINT_FIELDS:
        out += struct.pack("<I", len(value))
        for name, *numbers in value:
            out += _static_bytes(WireForm.TEXT, name, start + len(out))
            out += b"\0" * (-(start + len(out)) % 4) + struct.pack("<IB3xI", *numbers)
        return out
    if wire is WireForm.SHAPE:
        return out + struct.pack(f"<I{len(value)}I", len(value), *value)
    if wire is WireForm.TEXT:
        value = (value,)
    else:
        out += struct.pack("<I", len(value))
    for text in value:
        data = text.encode()
        out += b"\0" * (-(start + len(out)) % 4) + struct.pack("<I", len(data) + 1) + data + b"\0"
    return out


def _dynamic_format(slot: FieldSlot, static: Iterator[Any]) -> tuple[str, int]:
    """Returns the `struct` format and the length in bytes of what is packed anew each time."""
    wire, size = slot.kind.wire, slot.kind.size
    if wire is WireForm.STAMP:
        return "iI", 8
    if wire is WireForm.NUMBER:
        return slot.kind.code, size
    count = next(static)
    if wire is WireForm.VECTOR and count != len(slot.components):
        raise ValueError(f"{slot.field} has {count} numbers, not {len(slot.components)}")
    return f"{count * size}s", count * size


def _source(layout: MessageLayout, gaps: list[bool]) -> str:
    """Returns the source of the class's encode function; written out, because a loop over slots costs twice as much."""
    prepare, key, arguments, gap_names = [], [], [], []
    for i, (slot, has_gap) in enumerate(zip(layout.slots, gaps, strict=True)):
        wire, field, value = slot.kind.wire, slot.field, f"message.{slot.field}"
        if has_gap:
            gap_names.append(f"gap{i}")
            arguments.append(f"gap{i}")
        if wire is WireForm.STAMP:
            prepare.append(f"time_ns = {value}")
            arguments += ["time_ns // 1000000000", "time_ns % 1000000000"]
        elif wire is WireForm.NUMBER:
            arguments.append(value)
        elif wire in (WireForm.TEXT, WireForm.TEXTS, WireForm.POINT_FIELDS):
            key.append(value)
        elif wire is WireForm.SHAPE:
            key.append(f"{value}.shape")
        else:
            prepare.append(f"{field} = {value}")
            if wire is WireForm.NUMBERS:
                prepare.append(f"{field} = array({field}, dtype_{field})")
            else:
                prepare.append(f"if {field}.dtype is not dtype_{field}: {field} = {field}.astype(dtype_{field})")
            key.append(f"{field}.size")
            arguments.append(f"{field}.tobytes()")
    body = [
        *prepare,
        f"key = ({', '.join(key)},)",
        f"pack, {', '.join([*gap_names, 'tail'])} = templates.get(key) or new_template(key)",
        f"return pack({', '.join([*arguments, 'tail'])})",
    ]
    lines = ["def encode(message):", "  try:", *(f"    {line}" for line in body)]
    return "\n".join([*lines, "  except Exception as error:", "    raise explain(message, error) from error"])

"""The ROS representation of the field types of a message class: the one table of what is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_origin

import numpy as np

__all__ = ["ALLOWED_TYPES", "Kind", "WireForm", "kind_of"]

ALLOWED_TYPES = (
    "str, bool, int, float, tuple[str, ...], tuple[int, ...], tuple[bool, ...], "
    "NDArray of float64, float32, uint16 or uint8"
)


class WireForm(Enum):
    """The forms in which a value is laid down in CDR bytes."""

    STAMP = "stamp"
    """Seconds and nanoseconds of `time_ns`."""
    TEXT = "text"
    """One string."""
    TEXTS = "texts"
    """A counted row of strings."""
    NUMBER = "number"
    """One number or truth value."""
    NUMBERS = "numbers"
    """A counted row of numbers out of a tuple."""
    ARRAY = "array"
    """A counted row of numbers out of an array of any shape, row by row."""
    VECTOR = "vector"
    """The number fields of a nested ROS message, such as x, y, z, out of one array; no count."""
    POINT_FIELDS = "point fields"
    """A counted row of the descriptions of a point's fields: name, first byte, type, count."""
    SHAPE = "shape"
    """The shape of the array that follows, as a counted row of uint32."""


@dataclass(frozen=True)
class Kind:
    """One field type.

    Attributes:
        wire: Its form in the bytes.
        ros: Its ROS type.
        code: `struct` code of a number, numpy type of the items of a row; empty for text.
        size: Bytes of a number or of an item, to which it is aligned; 4 where a count or a string comes first.
        shaped: Whether the array's shape travels with it.
    """

    wire: WireForm
    ros: str
    code: str = ""
    size: int = 4
    shaped: bool = False


STAMP = Kind(WireForm.STAMP, "builtin_interfaces/Time")
TEXT = Kind(WireForm.TEXT, "string")
SEQUENCE = Kind(WireForm.NUMBER, "uint32", "I", 4)
SHAPE = Kind(WireForm.SHAPE, "uint32[]", "<u4", 4)
VECTOR = Kind(WireForm.VECTOR, "", "<f8", 8)

_PLAIN: dict[Any, Kind] = {
    str: TEXT,
    bool: Kind(WireForm.NUMBER, "bool", "?", 1),
    int: Kind(WireForm.NUMBER, "int64", "q", 8),
    float: Kind(WireForm.NUMBER, "float64", "d", 8),
    tuple[str, ...]: Kind(WireForm.TEXTS, "string[]"),
    tuple[int, ...]: Kind(WireForm.NUMBERS, "int64[]", "<i8", 8),
    tuple[bool, ...]: Kind(WireForm.NUMBERS, "bool[]", "?", 1),
    tuple[tuple[str, int, int, int], ...]: Kind(WireForm.POINT_FIELDS, "sensor_msgs/msg/PointField[]"),
    np.uint32: Kind(WireForm.NUMBER, "uint32", "I", 4),
    np.uint8: Kind(WireForm.NUMBER, "uint8", "B", 1),
    np.float32: Kind(WireForm.NUMBER, "float32", "f", 4),
}

_ARRAYS: dict[Any, Kind] = {
    np.float64: Kind(WireForm.ARRAY, "float64[]", "<f8", 8),
    np.float32: Kind(WireForm.ARRAY, "float32[]", "<f4", 4, shaped=True),
    np.uint16: Kind(WireForm.ARRAY, "uint16[]", "<u2", 2, shaped=True),
    np.uint8: Kind(WireForm.ARRAY, "uint8[]", "|u1", 1, shaped=True),
}


def kind_of(annotation: Any) -> Kind | None:
    """Returns the kind of a resolved type annotation; None when it is not in the table."""
    if get_origin(annotation) is np.ndarray:
        items = get_args(get_args(annotation)[-1])
        return _ARRAYS.get(items[0]) if items else None
    try:
        return _PLAIN.get(annotation)
    except TypeError:  # an annotation that cannot be hashed is not one of ours
        return None

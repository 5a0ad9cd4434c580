"""Messages to ROS message objects and back, and the message classes that this process knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import MISSING, fields
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from rosbags.typesys.store import Typestore

from cellwright.core.errors import BadInput
from cellwright.core.messages import Detections, Message, Tracks, WorldTruth
from cellwright.core.ros.kinds import WireForm
from cellwright.core.ros.layout import FieldSlot, definition, layout_of

__all__ = ["COLUMNS", "decode", "from_ros", "message_class", "newer_class"]

M = TypeVar("M", bound=Message)

COLUMNS: dict[type[Message], dict[str, int]] = {
    Detections: {"positions": 3, "quaternions": 4, "variances": 6},
    Tracks: {"positions": 3, "quaternions": 4, "variances": 6},
    WorldTruth: {"positions": 3, "quaternions": 4},
}
"""Tables travel flat, row by row; these get their columns back. A class of another package that has tables says so
itself, in a class variable `ROS_COLUMNS` such as `{"positions": 3}`; without it they come back flat."""


def from_ros(message_type: type[M], ros: Any, *, sequence: int = 0, source: str = "", time_ns: int = 0) -> M:
    """Returns the message with the content of a ROS message object.

    Args:
        message_type: The class to make.
        ros: An object with the fields of its ROS type, of any class.
        sequence: Used where `ros` has no field for it, as standard ROS types do not.
        source: Likewise.
        time_ns: Likewise; commands such as a Twist have no stamp.
    """
    layout = layout_of(message_type)
    values: dict[str, Any] = {"sequence": sequence, "source": source, "time_ns": time_ns}
    columns = getattr(message_type, "ROS_COLUMNS", COLUMNS.get(message_type, {}))
    optional = _optional(message_type)
    for slot in layout.slots:
        if slot.kind.wire in (WireForm.SHAPE, WireForm.POINT_FIELDS):
            continue
        if slot.field in optional and not hasattr(ros, slot.path):
            continue
        value = attrgetter(slot.path)(ros)
        if slot.kind.wire is WireForm.STAMP:
            value = value.sec * 1_000_000_000 + value.nanosec
        elif slot.kind.wire is WireForm.VECTOR:
            is_row = isinstance(value, np.ndarray)
            value = value.copy() if is_row else np.array([getattr(value, name) for name in slot.components])
        elif slot.kind.wire is WireForm.TEXTS:
            value = tuple(value)
        elif slot.kind.wire is WireForm.NUMBERS:
            value = tuple(np.asarray(value).tolist())
        elif slot.kind.wire is WireForm.ARRAY:
            value = _reshaped(np.asarray(value), slot, ros, columns)
        values[slot.field] = value
    of_ros: Callable[[dict[str, Any]], M] | None = getattr(message_type, "of_ros", None)
    return message_type(**values) if of_ros is None else of_ros(values)


def decode(
    message_type: type[M], data: bytes | memoryview, *, sequence: int = 0, source: str = "", time_ns: int = 0
) -> M:
    """Returns the message of CDR bytes; what its ROS type has no field for is as given."""
    layout = layout_of(message_type)
    ros = layout.store.deserialize_cdr(data, layout.ros_name)
    return from_ros(message_type, ros, sequence=sequence, source=source, time_ns=time_ns)


def message_class(ros_name: str, text: str, name: str = "") -> type[Message] | None:
    """Returns the message class of this process with that ROS type and the same definition; None when there is none.

    Classes of other packages are found when they are imported. Of several (a cell of a notebook that was run twice)
    the latest is taken, or the one with the class's name where that is given: `Depth` and `Image` have one ROS type.
    """
    found = None
    for candidate in _subclasses(Message):
        if name and candidate.__name__ != name:
            continue
        if ros_name in (candidate.ROS_TYPE, f"cellwright_msgs/msg/{candidate.__name__}"):
            with suppress(BadInput):  # a class that cannot be mapped is not the one that was
                own_name, own_text = definition(candidate)
                found = candidate if own_name == ros_name and own_text.split() == text.split() else found
    return found


def newer_class(ros_name: str, store: Typestore, name: str = "") -> type[Message] | None:
    """Returns the message class that has all fields of a definition, and besides only fields with a default.

    So a log of an older version is read as what it was: a message that has learned to tell more since.

    Args:
        ros_name: The type's name.
        store: Knows the older definition of it.
        name: The class's name, where it is known.
    """
    known = dict(store.fielddefs[ros_name][1])
    for candidate in _subclasses(Message):
        if candidate.__name__ == (name or ros_name.rpartition("/")[2]):
            with suppress(BadInput):
                layout = layout_of(candidate)
                now = dict(layout.store.fielddefs[layout.ros_name][1])
                is_same = layout.ros_name == ros_name and {**now, **known} == now
                if is_same and {*now} - {*known} <= _optional(candidate):
                    return candidate
    return None


def _optional(message_type: type[Message]) -> set[str]:
    return {field.name for field in fields(message_type) if field.default is not MISSING}


def _subclasses(parent: type[Message]) -> Iterator[type[Message]]:
    for child in parent.__subclasses__():
        yield child
        yield from _subclasses(child)


def _reshaped(flat: Any, slot: FieldSlot, ros: Any, columns: dict[str, int]) -> Any:
    if slot.kind.shaped:
        return flat.reshape([int(n) for n in attrgetter(f"{slot.path}_shape")(ros)])
    width = columns.get(slot.field, 0)
    return flat.reshape(-1, width) if width and flat.size % width == 0 else flat

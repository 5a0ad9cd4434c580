"""The mapping from the fields of a message class to those of its ROS message, in the order of the bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from cellwright.core.errors import BadInput
from cellwright.core.messages import Message
from cellwright.core.plugin_errors import source_place
from cellwright.core.ros.kinds import ALLOWED_TYPES, SEQUENCE, SHAPE, STAMP, TEXT, VECTOR, Kind, kind_of

__all__ = [
    "Definition",
    "FieldSlot",
    "MessageLayout",
    "definition",
    "layout_of",
    "once_per_class",
    "types_of_text",
]

T = TypeVar("T")

LONG_TERM_RELEASE = Stores.ROS2_LYRICAL  # named, not "latest": a log's bytes must not change with a library's default
PACKAGE = "cellwright_msgs"
HEADER = "std_msgs/msg/Header"
HEAD = ("time_ns", "sequence", "source", "frame")
EMPTY = "structure_needs_at_least_one_member"  # the field that a type without fields has
CONSTANT = re.compile(r"^([ \t]*\w+[ \t]+)([A-Za-z]\w*)([ \t]*=)", re.MULTILINE)

RENAMED = {
    "sensor_msgs/msg/JointState": {"name": "names"},
    "sensor_msgs/msg/CameraInfo": {
        "roi.x_offset": "roi_x",
        "roi.y_offset": "roi_y",
        "roi.height": "roi_height",
        "roi.width": "roi_width",
        "roi.do_rectify": "do_rectify",
    },
    "geometry_msgs/msg/WrenchStamped": {"wrench.force": "force", "wrench.torque": "torque"},
    "nav_msgs/msg/Odometry": {
        "child_frame_id": "child_frame",
        "pose.pose.position": "position",
        "pose.pose.orientation": "orientation",
        "pose.covariance": "pose_covariance",
        "twist.twist.linear": "linear_velocity",
        "twist.twist.angular": "angular_velocity",
        "twist.covariance": "twist_covariance",
    },
}
"""Standard type -> where its fields are called otherwise in our class; all others have the same name in both.
A class may say so itself, in a class variable `ROS_RENAMED`."""


class Definition(NamedTuple):
    """The description of a ROS type, as logs and peers need it.

    Attributes:
        name: Such as `cellwright_msgs/msg/ToolStatus`.
        text: Its ros2msg text, followed by those of all types in it, each after a line of `=` and its name.
    """

    name: str
    text: str


class FieldSlot(NamedTuple):
    """One value of a message.

    Attributes:
        path: The field of the ROS message, dotted.
        field: The field of our class.
        kind: Its representation.
        components: Of a vector, the fields of the nested ROS message, such as x, y, z.
    """

    path: str
    field: str
    kind: Kind
    components: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class MessageLayout:
    """The whole mapping of one message class.

    Attributes:
        ros_name: Full name of the ROS type.
        slots: In the order of the bytes.
        store: A type store that knows the type. One for each class, so that two packages may have classes of the
            same name in one process.
    """

    message_type: type[Message]
    ros_name: str
    slots: tuple[FieldSlot, ...]
    store: Typestore

    @property
    def carries(self) -> frozenset[str]:
        """Fields of our class that the ROS message holds; a standard type may lack sequence and source."""
        return frozenset(slot.field for slot in self.slots)


def once_per_class(function: Callable[[type[Message]], T]) -> Callable[[type[Message]], T]:
    """Caches a function of a message class, as `functools.cache`, for which mypy takes classes for unhashable."""
    results: dict[type[Message], T] = {}

    @wraps(function)
    def cached(message_type: type[Message]) -> T:
        if message_type not in results:
            results[message_type] = function(message_type)
        return results[message_type]

    return cached


def types_of_text(name: str, text: str) -> dict[str, Any]:
    """Returns what a type store registers for the text of a message type, and of those in it where they follow.

    ROS 1 has constants of any name, the library those in capitals alone; their names are part of a type's checksum.
    """
    names: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        names.append(found[2])
        return f"{found[1]}C{len(names) - 1}{found[3]}"

    plain = name.replace("/srv/", "/msg/")  # the library knows no others
    types: dict[str, Any] = {}
    for own, (constants, own_fields) in get_types_from_msg(CONSTANT.sub(stand_in, text), plain).items():
        named = [(names[int(key[1:])], kind, value) for key, kind, value in constants]
        types[name if own == plain else own] = named, own_fields or [(EMPTY, (Nodetype.BASE, ("uint8", 0)))]
    return types


@once_per_class
def layout_of(message_type: type[Message]) -> MessageLayout:
    """Returns the mapping of a message class, found from its fields; no registration needed."""
    kinds = _field_kinds(message_type)
    frame = "frame" if kinds.get("frame") is TEXT else "source"
    store = get_typestore(LONG_TERM_RELEASE)
    header = [FieldSlot("header.stamp", "time_ns", STAMP), FieldSlot("header.frame_id", frame, TEXT)]
    if message_type.ROS_TYPE is None:
        name = f"{PACKAGE}/msg/{message_type.__name__}"
        slots = header + _own_slots(message_type, kinds, frame)
        lines = ["std_msgs/Header header", *(f"{slot.kind.ros} {slot.path}" for slot in slots[len(header) :])]
        store.register(get_types_from_msg("\n".join(lines), name))
    else:
        name = message_type.ROS_TYPE
        if message_type.ROS_TEXT is not None:
            store.register(types_of_text(name, message_type.ROS_TEXT))
        slots = _standard_slots(message_type, kinds, store, header)
    return MessageLayout(message_type, name, tuple(slots), store)


@once_per_class
def definition(message_type: type[Message]) -> Definition:
    """Returns name and full text of the ROS type of a message class."""
    layout = layout_of(message_type)
    return Definition(layout.ros_name, layout.store.generate_msgdef(layout.ros_name, ros_version=2)[0])


def _field_kinds(message_type: type[Message]) -> dict[str, Kind]:
    place = source_place(message_type)
    name = f"{message_type.__module__}.{message_type.__qualname__}"
    label = f"{place}: message class {message_type.__qualname__}" if place else f"message class {name}"
    try:
        hints = get_type_hints(message_type)
    except NameError as error:
        raise BadInput(f"{label}: a field type cannot be resolved: {error}") from None
    kinds: dict[str, Kind] = {}
    names = [field.name for field in fields(message_type)]
    offered = getattr(message_type, "ROS_FIELDS", None)
    if offered is not None:  # a standard type whose fields the class calculates from its own
        names, hints = [*(name for name in names if name in HEAD), *offered], {**hints, **offered}
    for name in names:
        kind = kind_of(hints[name])
        if kind is None:
            hint = hints[name]
            written = hint.__qualname__ if isinstance(hint, type) and not get_args(hint) else hint
            raise BadInput(f"{label}: field '{name}' has type {written}, allowed: {ALLOWED_TYPES}")
        kinds[name] = kind
    return kinds


def _own_slots(message_type: type[Message], kinds: dict[str, Kind], frame: str) -> list[FieldSlot]:
    """Returns the fields after the header of a generated type."""
    slots = [FieldSlot("sequence", "sequence", SEQUENCE)]
    for field, kind in kinds.items():
        if field in ("time_ns", "sequence", frame):
            continue
        if kind.shaped:
            slots.append(FieldSlot(f"{field}_shape", field, SHAPE))
        slots.append(FieldSlot(field, field, kind))
    paths = ["header", *(slot.path for slot in slots)]
    for path in paths:
        if paths.count(path) > 1:
            raise BadInput(f"message class {message_type.__qualname__}: field name '{path}' is taken by its ROS type")
    return slots


def _standard_slots(
    message_type: type[Message], kinds: dict[str, Kind], store: Typestore, header: list[FieldSlot]
) -> list[FieldSlot]:
    """Returns every field of a type that is not made from our class, with the field of the class that fills it."""
    ros_type = str(message_type.ROS_TYPE)
    label = f"message class {message_type.__qualname__}, ROS type {ros_type}"
    if ros_type not in store.fielddefs:
        raise BadInput(f"{label}: no such standard type; leave ROS_TYPE None to have one made from the fields")
    renamed = getattr(message_type, "ROS_RENAMED", RENAMED.get(ros_type, {}))
    offered = getattr(message_type, "ROS_FIELDS", {})
    slots: list[FieldSlot] = []

    def walk(ros_name: str, prefix: str) -> None:
        for name, description in store.fielddefs[ros_name][1]:
            path = prefix + name
            field = renamed.get(path, name)
            kind = kinds.get(field)
            nested = description[1] if description[0] == Nodetype.NAME else None
            if nested == HEADER:
                slots.extend(slot._replace(path=prefix + slot.path.replace("header", name, 1)) for slot in header)
            elif isinstance(nested, str):
                components = _components(store, nested, field in offered)
                if components and kind is not None and kind.ros == "float64[]":
                    slots.append(FieldSlot(path, field, VECTOR, components))
                else:
                    walk(nested, f"{path}.")
            elif kind is not None and kind.ros == _ros_type(description):
                slots.append(FieldSlot(path, field, replace(kind, shaped=False)))
            elif kind is not None and kind.ros == "float64[]" and (count := _fixed_length(description)):
                slots.append(FieldSlot(path, field, VECTOR, tuple(map(str, range(count)))))
            else:
                raise BadInput(f"{label}: nothing fills its field '{path}' of type {_ros_type(description)}")

    walk(ros_type, "")
    unused = set(kinds) - {slot.field for slot in slots} - {"sequence", "source", "time_ns"}
    if unused:
        raise BadInput(f"{label}: it has no place for the fields {', '.join(sorted(unused))}")
    return slots


def _components(store: Typestore, ros_name: str, in_ros_order: bool) -> tuple[str, ...]:
    """Returns the fields of a nested message of nothing but float64; of a quaternion only in its order, not in ours."""
    inside = store.fielddefs[ros_name][1]
    if (ros_name.endswith("/Quaternion") and not in_ros_order) or any(
        _ros_type(description) != "float64" for _, description in inside
    ):
        return ()
    return tuple(name for name, _ in inside)


def _fixed_length(description: Any) -> int:
    """Returns the length of an array of float64 that is always the same; 0 for anything else."""
    if description[0] != Nodetype.ARRAY:
        return 0
    (_, item), count = description[1]
    return int(count) if item[0] == "float64" else 0


def _ros_type(description: Any) -> str:
    """Returns the type of a field as written in a .msg file."""
    if description[0] == Nodetype.BASE:
        return str(description[1][0])
    if description[0] == Nodetype.NAME:
        return str(description[1])
    (inner, item), count = description[1]
    return f"{item if inner == Nodetype.NAME else item[0]}[{count or ''}]"

"""Types of ROS messages: those of ROS 2, from which the bytes of ROS 1 are made at the border."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

from cellwright.core.errors import BadInput
from cellwright.core.ros import types_of_text
from cellwright.core.ros.layout import EMPTY, LONG_TERM_RELEASE

__all__ = ["RosTypes", "ServiceType", "long_name", "short_name"]

TF = "tf2_msgs/msg/TFMessage"
ALWAYS_KNOWN = {
    TF: "geometry_msgs/TransformStamped[] transforms\n",
    "std_srvs/srv/Empty": "---\n",
    "std_srvs/srv/Trigger": "---\nbool success\nstring message\n",
    "std_srvs/srv/SetBool": "bool data\n---\nbool success\nstring message\n",
}
"""Types that a type store lacks; two halves of a service stand on both sides of a line `---`."""
SERVICE = "/srv/"
TIMES = {"builtin_interfaces/msg/Time": "time", "builtin_interfaces/msg/Duration": "duration"}
HEADER, TIME = "std_msgs/msg/Header", "builtin_interfaces/msg/Time"


class ServiceType(NamedTuple):
    """The two halves of a service type, each a message type of the store."""

    request: str
    response: str


def long_name(ros_type: str) -> str:
    """Returns the name of a message type as ROS 2 writes it: `sensor_msgs/msg/Imu` of `sensor_msgs/Imu`."""
    package, _, rest = ros_type.partition("/")
    return ros_type if "/" in rest else f"{package}/msg/{rest}"


def short_name(ros_type: str) -> str:
    """Returns the name of a message type as ROS 1 writes it: `sensor_msgs/Imu` of `sensor_msgs/msg/Imu`."""
    package, _, rest = ros_type.partition("/")
    return f"{package}/{rest.rpartition('/')[2]}"


@dataclass(frozen=True)
class _Ros1Way:
    """The way from the bytes of a type to those of ROS 1: by the same fields in the same order, or by name."""

    is_alike: bool


class RosTypes:
    """Knows every type of a graph: as ROS 2 has it (`store`), and as ROS 1 does (`ros1`).

    Args:
        definitions: Type that no standard package has -> its text, in which other types are named `package/Type`.
    """

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self.store: Typestore = get_typestore(LONG_TERM_RELEASE)
        self.ros1: Typestore = get_typestore(Stores.ROS1_NOETIC)
        self._ways: dict[str, _Ros1Way] = {}
        for name, text in {**ALWAYS_KNOWN, **definitions}.items():
            self.register(name, text)

    def register(self, name: str, text: str) -> None:
        """Adds a message or service type where it is missing.

        Raises:
            BadInput: The text is no definition.
        """
        halves = {name: text}
        if SERVICE in name:
            request, line, response = f"\n{text}".partition("\n---")
            if not line:
                raise BadInput(f"ROS type {name}: its definition has no line '---' between request and response")
            halves = dict(zip(self.service(name), (request, response), strict=True))
        for half, half_text in halves.items():
            for store in (self.store, self.ros1):
                if half not in store.fielddefs:
                    try:
                        store.register({half: types_of_text(half, half_text)[half]})
                    except Exception as error:
                        raise BadInput(f"ROS type {half}: its definition cannot be read: {error}") from None

    def service(self, service_type: str) -> ServiceType:
        """Returns the halves of a service type, `std_srvs/srv/SetBool` or `std_srvs/SetBool`."""
        package, _, rest = service_type.partition("/")
        name = rest.rpartition("/")[2]
        return ServiceType(f"{package}/srv/{name}_Request", f"{package}/srv/{name}_Response")

    def service_text(self, service_type: str) -> str:
        """Returns the text of a service type, as ROS 1 has it: request, a line `---`, response."""
        request, response = (
            self.ros1.generate_msgdef(half)[0].split("=" * 80)[0] for half in self.service(service_type)
        )
        return f"{request}---\n{response}"

    def service_md5(self, service_type: str) -> str:
        """Returns the checksum by which ROS 1 knows a service type: that of both halves, one after the other."""
        halves = "".join(self._checked_text(half) for half in self.service(service_type))
        return hashlib.md5(halves.encode(), usedforsecurity=False).hexdigest()

    def _checked_text(self, ros_type: str) -> str:
        """Returns the text of a type whose MD5 is its checksum: constants first, checksums in place of other types."""
        constants, fields = self.ros1.fielddefs[ros_type]
        lines = [f"{kind} {name}={value}" for name, kind, value in constants]
        description: Any
        for name, description in fields:
            kind, detail = description
            count = ""
            if name == EMPTY:
                continue
            if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
                (kind, detail), size = detail
                count = f"[{size or ''}]"
            if kind == Nodetype.BASE:
                lines.append(f"{detail[0]}{count} {name}")
            elif detail in TIMES:
                lines.append(f"{TIMES[detail]}{count} {name}")
            else:
                lines.append(f"{self.md5(detail)} {name}")
        return "\n".join(lines)

    def text(self, ros_type: str) -> str:
        """Returns the full text of a type, as ROS 1 has it."""
        return self.ros1.generate_msgdef(ros_type, ros_version=1)[0]

    def md5(self, ros_type: str) -> str:
        """Returns the checksum by which ROS 1 knows a type."""
        return self.ros1.generate_msgdef(ros_type, ros_version=1)[1]

    def to_ros1(self, ros_type: str, cdr: bytes) -> bytes:
        """Returns the bytes of ROS 1 for CDR bytes."""
        if self._way(ros_type).is_alike:
            return bytes(self.store.cdr_to_ros1(cdr, ros_type))
        message = self._copied(self.store.deserialize_cdr(cdr, ros_type), self.ros1, ros_type)
        return bytes(self.ros1.serialize_ros1(message, ros_type))

    def of_ros1(self, ros_type: str, raw: bytes) -> bytes:
        """Returns the CDR bytes for those of ROS 1."""
        if self._way(ros_type).is_alike:
            return bytes(self.store.ros1_to_cdr(raw, ros_type))
        message = self._copied(self.ros1.deserialize_ros1(raw, ros_type), self.store, ros_type)
        return bytes(self.store.serialize_cdr(message, ros_type))

    def _way(self, ros_type: str) -> _Ros1Way:
        if ros_type not in self._ways:
            self._ways[ros_type] = _Ros1Way(_shape(self.store, ros_type) == _shape(self.ros1, ros_type))
        return self._ways[ros_type]

    def _copied(self, message: Any, store: Typestore, ros_type: str) -> Any:
        """Returns a message as another store has it: fields by their names, without regard to capitals."""
        given = {name.lower(): value for name, value in vars(message).items()}
        fields: dict[str, Any] = {}
        description: Any
        for name, description in store.fielddefs[ros_type][1]:
            kind, detail = description
            value = given.get(name.lower())
            if kind == Nodetype.NAME:
                fields[name] = self._copied(value, store, detail)
            elif kind in (Nodetype.ARRAY, Nodetype.SEQUENCE) and detail[0][0] == Nodetype.NAME:
                fields[name] = [self._copied(item, store, detail[0][1]) for item in value or []]
            else:
                fields[name] = 0 if value is None else value
        return store.types[ros_type](**fields)


def _shape(store: Typestore, ros_type: str) -> Any:
    """Returns the fields of a type without their names; rosbags adds a header's sequence number by itself."""
    if ros_type in (HEADER, TIME, "builtin_interfaces/msg/Duration"):
        return ros_type
    shape: list[Any] = []
    description: Any
    for _, description in store.fielddefs[ros_type][1]:
        kind, detail = description
        if kind == Nodetype.NAME:
            shape.append(_shape(store, detail))
        elif kind == Nodetype.BASE:
            shape.append(detail[0])
        else:
            (inner, item), count = detail
            shape.append((_shape(store, item) if inner == Nodetype.NAME else item[0], kind, count))
    return shape

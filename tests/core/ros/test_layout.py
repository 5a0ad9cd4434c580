from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from cellwright.core import messages
from cellwright.core.errors import BadInput
from cellwright.core.messages import (
    CameraInfo,
    Depth,
    Image,
    JointState,
    Message,
    Segmentation,
    ToolStatus,
    Wrench,
)
from cellwright.core.messages.base import Array
from cellwright.core.ros import definition, encode, layout_of

CLASSES = [getattr(messages, name) for name in messages.__all__ if name != "Message"]


def test_generated_definition_in_full():
    line = "=" * 80
    assert definition(Segmentation) == (
        "cellwright_msgs/msg/Segmentation",
        "std_msgs/Header header\nuint32 sequence\nstring source\nstring[] names\n"
        "uint32[] labels_shape\nuint16[] labels\n"
        f"{line}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
        f"{line}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n",
    )
    assert definition(ToolStatus).text.startswith(
        "std_msgs/Header header\nuint32 sequence\nstring tool\nstring kind\n"
        "float64 width_m\nfloat64 power\nbool holding\nbool locked\n"
    )


def test_standard_types_are_the_standard_ones():
    assert definition(JointState).name == "sensor_msgs/msg/JointState"
    assert layout_of(JointState).store.hash_rihs01("sensor_msgs/msg/JointState").startswith("RIHS01_a13ee3a3")
    assert definition(Wrench).name == "geometry_msgs/msg/WrenchStamped"
    for release in (Stores.ROS2_HUMBLE, Stores.ROS2_JAZZY, Stores.ROS2_KILTED):
        for message_type in (JointState, Wrench, Image, Depth, CameraInfo):
            name, text = definition(message_type)
            assert get_typestore(release).generate_msgdef(name, ros_version=2)[0] == text


@pytest.mark.parametrize("message_type", CLASSES, ids=lambda c: c.__name__)
def test_a_stranger_can_parse_every_definition(message_type):
    name, text = definition(message_type)
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(text, name))
    assert store.generate_msgdef(name, ros_version=2)[0] == text


def test_what_standard_types_do_not_carry():
    def missing(message_type: type[Message]) -> set[str]:
        return {field.name for field in fields(message_type)} - layout_of(message_type).carries

    assert missing(JointState) == {"sequence"}
    assert missing(Wrench) == {"sequence", "source"}
    assert missing(Segmentation) == set()


@dataclass(slots=True)
class Mapped(Message):
    table: dict[str, int]


@dataclass(slots=True)
class Rows(Message):
    rows: np.ndarray


@dataclass(slots=True)
class Unresolved(Message):
    thing: Nowhere  # noqa: F821


@dataclass(slots=True)
class Taken(Message):
    header: str


@dataclass(slots=True)
class Invented(Message):
    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Smell"
    strength: float


@dataclass(slots=True)
class Short(Message):
    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Temperature"
    temperature: float


@dataclass(slots=True)
class Long(Message):
    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Temperature"
    temperature: float
    variance: float
    colour: str


@dataclass(slots=True)
class Turned(Message):
    ROS_TYPE: ClassVar[str | None] = "geometry_msgs/msg/QuaternionStamped"
    quaternion: Array


@pytest.mark.parametrize(
    ("message_type", "told"),
    [
        (Mapped, "Mapped: field 'table' has type dict[str, int], allowed: str, bool, int, float, tuple[str, ...]"),
        (Rows, "Rows: field 'rows' has type ndarray, allowed: "),
        (Unresolved, "Unresolved: a field type cannot be resolved: name 'Nowhere' is not defined"),
        (Taken, "Taken: field name 'header' is taken by its ROS type"),
        (Invented, "Invented, ROS type sensor_msgs/msg/Smell: no such standard type"),
        (Short, "Short, ROS type sensor_msgs/msg/Temperature: nothing fills its field 'variance' of type float64"),
        (Long, "Long, ROS type sensor_msgs/msg/Temperature: it has no place for the fields colour"),
        (Turned, "Turned, ROS type geometry_msgs/msg/QuaternionStamped: nothing fills its field 'quaternion.x'"),
    ],
)
def test_a_class_that_cannot_be_mapped_says_why(message_type, told):
    with pytest.raises(BadInput) as caught:
        layout_of(message_type)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@dataclass(slots=True)
class Temperature(Message):
    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Temperature"
    temperature: float
    variance: float


def test_another_standard_type_needs_no_table():
    store = get_typestore(Stores.ROS2_JAZZY)
    data = encode(Temperature(3_000_000_000, 0, "oven", 451.0, 2.0))
    ros = store.deserialize_cdr(data, "sensor_msgs/msg/Temperature")
    assert (ros.header.stamp.sec, ros.header.frame_id, ros.temperature, ros.variance) == (3, "oven", 451.0, 2.0)


def test_classes_of_the_same_name_live_side_by_side(tmp_path, monkeypatch):
    (tmp_path / "other_lab.py").write_text(
        "from dataclasses import dataclass\nfrom cellwright.core.messages import Message\n"
        "@dataclass(slots=True)\nclass ToolStatus(Message):\n    grip: float\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    other = importlib.import_module("other_lab").ToolStatus
    assert definition(other).name == definition(ToolStatus).name
    assert "float64 grip" in definition(other).text
    assert "float64 grip" not in definition(ToolStatus).text


def test_core_does_not_load_rosbags():
    check = "import sys, cellwright.core, cellwright.core.messages; sys.exit('rosbags' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core import messages
from cellwright.core.errors import BadInput
from cellwright.core.messages import CrclStatus, JointState, Message, ToolStatus, Wrench
from cellwright.core.ros import CdrEncoder, decode, encode, layout_of
from cellwright.core.ros.encoder import MAX_TEMPLATES
from cellwright.core.ros.kinds import WireForm
from cellwright.core.ros.layout import MessageLayout

CLASSES = [getattr(messages, name) for name in messages.__all__ if name != "Message"]
CLASSES = [kind for kind in CLASSES if not hasattr(kind, "ROS_FIELDS")]  # those have shapes: tests/core/messages


def by_rosbags(message: Message) -> bytes:
    layout = layout_of(type(message))
    return bytes(layout.store.serialize_cdr(to_ros(message), layout.ros_name))


def to_ros(message: Message) -> Any:
    """Returns the ROS message object (of the class's own type store) with the content of a message."""
    layout = layout_of(type(message))
    values: dict[str, Any] = {}
    for slot in layout.slots:
        value = getattr(message, slot.field)
        if slot.kind.wire is WireForm.STAMP:
            values[f"{slot.path}.sec"], values[f"{slot.path}.nanosec"] = divmod(value, 1_000_000_000)
        elif slot.kind.wire is WireForm.VECTOR:
            numbers = np.asarray(value, np.float64).ravel().tolist()
            values.update(zip((f"{slot.path}.{name}" for name in slot.components), numbers, strict=True))
        elif slot.kind.wire is WireForm.TEXTS:
            values[slot.path] = list(value)
        elif slot.kind.wire is WireForm.SHAPE:
            values[slot.path] = np.array(value.shape, np.uint32)
        elif slot.kind.wire in (WireForm.ARRAY, WireForm.NUMBERS):
            values[slot.path] = np.array(value, slot.kind.code).ravel()
        else:
            values[slot.path] = value
    return _build(layout, layout.ros_name, "", values)


def _build(layout: MessageLayout, ros_name: str, prefix: str, values: dict[str, Any]) -> Any:
    content = {}
    for name, field_type in _ros_fields(layout, ros_name):
        path = prefix + name
        content[name] = values[path] if path in values else _build(layout, field_type, f"{path}.", values)
    return layout.store.types[ros_name](**content)


def _ros_fields(layout: MessageLayout, ros_name: str) -> tuple[tuple[str, str], ...]:
    """Returns field names with their type, which matters only where it is another message."""
    return tuple((name, str(description[1])) for name, description in layout.store.fielddefs[ros_name][1])


def assert_same_content(a: Message, b: Message) -> None:
    for field in fields(a):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            assert right.dtype == left.dtype, field.name
            assert left.ravel().tobytes() == right.ravel().tobytes(), field.name
        else:
            assert left == right or (left != left and right != right), field.name


@pytest.mark.parametrize("message_type", CLASSES, ids=lambda c: c.__name__)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_bytes_equal_those_of_rosbags_and_come_back(arbitrary, message_type, data):
    encoder = CdrEncoder(message_type)
    for message in data.draw(st.lists(arbitrary(message_type), min_size=1, max_size=4)):
        oracle = by_rosbags(message)
        assert encoder.encode(message) == oracle
        assert encoder.encode(message) == oracle, "second time, from the template"
        lacking = {"sequence", "source", "time_ns"} - layout_of(message_type).carries
        again = decode(message_type, oracle, **{name: getattr(message, name) for name in lacking})
        assert_same_content(message, again)


def joint_state(position=(0.1, 0.2), **changes) -> JointState:
    values = {"names": ("a", "b"), "position": np.array(position), "velocity": np.zeros(2), "effort": np.zeros(2)}
    return JointState(1_500_000_002, 4, "fanuc", **{**values, **changes})


def test_layout_of_the_bytes_of_a_small_message():
    by_hand = [
        "00010000",  # CDR, little endian
        "01000000 02000000",  # 1 s, 2 ns
        "02000000 7200 0000",  # frame_id: 2 bytes, "r" and its zero, padding to 4
        "07000000",  # sequence
        "04000000 3c612f00",  # document: "<a/" and its zero
    ]
    assert encode(CrclStatus(1_000_000_002, 7, "r", document="<a/")) == bytes.fromhex("".join(by_hand))


def test_arrays_of_other_types_and_orders_are_converted():
    table = np.arange(4.0).reshape(2, 2)
    for array in (
        table.astype(np.float32),
        table.astype(">f8"),
        np.asfortranarray(table),
        table[:, ::1],
        table.astype(int),
    ):
        assert encode(joint_state(effort=array)) == encode(joint_state(effort=table.ravel()))


def test_a_message_is_not_changed_by_later_ones():
    first = encode(joint_state())
    copy = bytes(first)
    encode(joint_state(position=(7.0, 8.0)))
    assert first == copy


def test_templates_are_bounded():
    encoder = CdrEncoder(CrclStatus)
    for i in range(3 * MAX_TEMPLATES):
        message = CrclStatus(i, i, "fanuc", document=f"<document{i}/>")
        assert encoder.encode(message) == by_rosbags(message)
        assert len(encoder._templates) <= MAX_TEMPLATES


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            joint_state(effort=[1.0]),
            "JointState.effort cannot be encoded as float64[]: it is a list",
        ),
        (joint_state(names=["a", "b"]), "JointState.names cannot be encoded as string[]: unhashable"),
        (joint_state(names=("a", 2)), "JointState.names cannot be encoded as string[]"),
        (
            Wrench(0, 0, "s", frame="f", force=np.zeros(2), torque=np.zeros(3)),
            "Wrench.force cannot be encoded as 3 float64: it has 2 numbers",
        ),
        (
            ToolStatus(0, 0, "s", tool="t", kind="k", width_m="wide", power=0.0, holding=False, locked=False),
            "ToolStatus.width_m cannot be encoded as float64",
        ),
        (
            ToolStatus(0, -1, "s", tool="t", kind="k", width_m=0.0, power=0.0, holding=False, locked=False),
            "ToolStatus.sequence cannot be encoded as uint32",
        ),
        (
            CrclStatus(2**31 * 10**9, 0, "s", document="d"),
            "CrclStatus.time_ns cannot be encoded as builtin_interfaces/Time",
        ),
        (CrclStatus(0, 0, "s", document=None), "CrclStatus.document cannot be encoded as string"),
        (CrclStatus(0, 0, "s", document="\ud800"), "CrclStatus.document cannot be encoded as string"),
    ],
)
def test_a_field_that_does_not_fit_is_named(message, told):
    with pytest.raises(BadInput) as caught:
        encode(message)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)

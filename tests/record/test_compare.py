from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from cellwright.core import Bus
from cellwright.core.errors import LogError, OutOfRange
from cellwright.core.messages import Image, IoState, JointState
from cellwright.record import Difference, LogComparison, Mismatch, Recorder, Sameness, compare


def with_change(record, name, topic, number, **changes):
    seen = []

    def change(at, message):
        if at == topic:
            seen.append(message)
            if len(seen) == number + 1:
                return replace(message, **{k: v(getattr(message, k)) for k, v in changes.items()})
        return message

    return record(name, change=change)


def nudged(index, by):
    def change(array):
        array = array.copy()
        array[index] += by
        return array

    return change


def test_the_same_bytes(record):
    assert compare(record("a.mcap"), record("b.mcap")) == LogComparison(Sameness.IDENTICAL)


def test_the_first_difference_is_found(record):
    a = record("a.mcap")
    b = with_change(record, "b.mcap", "/motoman/joint_states", 61, position=nudged(2, 1e-6))
    result = compare(a, b)
    assert (result.sameness, result.equal, result.topics, result.metadata) == (Sameness.DIFFERENT, False, (), ())
    at, value = 61 * 20_000_000, 61 * 0.02
    assert result.first == Difference(
        topic="/motoman/joint_states", time_ns=at, number=61, field="position", index=(2,), a=value, b=value + 1e-6
    )


def test_within_the_tolerance(record):
    a = record("a.mcap")
    b = with_change(record, "b.mcap", "/motoman/joint_states", 61, position=nudged(2, 1e-6))
    assert compare(a, b, tolerance=2e-6).sameness is Sameness.EQUAL
    assert compare(a, b, tolerance=0.5e-6).sameness is Sameness.DIFFERENT


def test_rows_of_tables_have_two_indexes(record):
    b = with_change(record, "b.mcap", "/detector/detections", 7, positions=nudged((1, 2), 0.5))
    first = compare(record("a.mcap"), b).first
    assert (first.topic, first.number, first.field, first.index) == ("/detector/detections", 7, "positions", (1, 2))
    assert first.b == pytest.approx(first.a + 0.5)


def test_texts_and_lengths(record):
    a = record("a.mcap")
    named = with_change(record, "b.mcap", "/fanuc/tool_status", 2, tool=lambda _: "g2")
    assert compare(a, named, tolerance=1).first == Difference(
        topic="/fanuc/tool_status", time_ns=200_000_000, number=2, field="tool", index=(), a="g1", b="g2"
    )
    longer = with_change(record, "c.mcap", "/truth/poses", 3, contact_forces=lambda _: np.ones(2))
    first = compare(a, longer).first
    assert (first.field, first.index, first.a, first.b) == ("contact_forces", ("shape",), (0,), (2,))


def test_the_earliest_of_several_differences_is_told(record):
    def change(topic, message):
        if topic == "/fanuc/joint_states" and message.time_ns >= 10**9:
            return replace(message, effort=message.effort + 1)
        if topic == "/truth/poses" and message.time_ns >= 5 * 10**8:
            return replace(message, names=("other",))
        return message

    first = compare(record("a.mcap"), record("b.mcap", change=change)).first
    assert (first.topic, first.time_ns, first.field, first.index) == ("/truth/poses", 5 * 10**8, "names", (0,))


def test_missing_messages_and_other_seeds(record):
    a = record("a.mcap")
    b = record("b.mcap", {"seed": "8"}, seconds=3.0)
    result = compare(a, b)
    assert result.first == Difference(
        topic="/detector/detections", time_ns=3 * 10**9, number=30, field="message", index=(), a="present", b=None
    )
    assert Mismatch("/fanuc/joint_states", 175, 150) in result.topics
    assert Mismatch("seed", "7", "8") in result.metadata
    assert Mismatch("cell", "aprs", None) in result.metadata
    assert compare(b, a).first.b == "present"


def test_a_message_lost_in_the_middle(record):
    def drop(topic, message):
        return None if topic == "/fanuc/wrench" and message.sequence == 70 else message

    result = compare(record("a.mcap"), record("b.mcap", change=drop))
    assert (result.first.topic, result.first.number, result.first.field) == ("/fanuc/wrench", 70, "time_ns")
    assert result.topics == (Mismatch("/fanuc/wrench", 175, 174),)


def test_a_topic_that_only_one_has(record):
    def drop(topic, message):
        return None if topic == "/truth/poses" else message

    result = compare(record("a.mcap"), record("b.mcap", change=drop))
    assert result.first == Difference(
        topic="/truth/poses", time_ns=0, number=0, field="message", index=(), a="present", b=None
    )
    assert result.topics == (Mismatch("/truth/poses", 35, None),)


def test_equal_messages_with_other_metadata_are_equal(record):
    result = compare(record("a.mcap"), record("b.mcap", {"seed": "8"}))
    assert result.sameness is Sameness.EQUAL
    assert Mismatch("seed", "7", "8") in result.metadata


def one_message(path, message):
    bus = Bus()
    with Recorder(bus, path):
        bus.publish("/topic", message)
    return path


def test_numbers_that_are_none_equal_themselves(tmp_path):
    numbers = np.array([np.nan, np.inf, -0.0])
    a = one_message(
        tmp_path / "a.mcap", JointState(0, 0, "r", names=(), position=numbers, velocity=numbers, effort=numbers)
    )
    b = one_message(
        tmp_path / "b.mcap", JointState(0, 1, "r", names=(), position=numbers, velocity=-numbers, effort=numbers)
    )
    assert compare(a, b).first.field == "sequence"
    c = one_message(
        tmp_path / "c.mcap", JointState(0, 0, "r", names=(), position=numbers, velocity=-numbers, effort=numbers)
    )
    assert compare(a, c).first.index == (1,)


def test_another_type_on_the_same_topic(tmp_path):
    a = one_message(tmp_path / "a.mcap", IoState(0, 0, "r", names=("x",), values=(True,)))
    b = one_message(
        tmp_path / "b.mcap", Image(0, 0, "r", frame="f", encoding="mono8", pixels=np.zeros((2, 2), np.uint8))
    )
    first = compare(a, b).first
    assert (first.field, first.a, first.b) == ("type", "cellwright_msgs/msg/IoState", "sensor_msgs/msg/Image")


def test_bad_questions(record, tmp_path):
    a = record("a.mcap")
    for tolerance in (-1.0, float("nan"), float("inf")):
        with pytest.raises(OutOfRange, match="tolerance"):
            compare(a, a, tolerance)
    with pytest.raises(LogError):
        compare(a, tmp_path / "missing.mcap")
    shutil.copy(a, tmp_path / "copy.mcap")
    assert compare(a, tmp_path / "copy.mcap").sameness is Sameness.IDENTICAL

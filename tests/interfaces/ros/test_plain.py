"""Messages as plain values: back and forth without loss, the names of both generations, and what is refused."""

import base64
import json
from functools import cache

import cbor2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros.plain import PlainMessages, as_json
from cellwright.interfaces.ros.types import RosTypes

EVERY_KIND = """
bool truth
int8 small
uint64 large
float32 half
float64 whole
string text
uint8[] raw
uint8[3] colour
int16[] counts
float32[2] pair
bool[] truths
string[] words
builtin_interfaces/Time stamp
geometry_msgs/Point[] points
geometry_msgs/Point[2] ends
"""
KIND = "test_msgs/msg/EveryKind"


@cache
def messages(generation):
    return PlainMessages(RosTypes({KIND: EVERY_KIND}), generation)


def ints(low, high):
    return st.integers(low, high)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
points = st.fixed_dictionaries({axis: st.floats(allow_nan=False, allow_infinity=False) for axis in "xyz"})
every_kind = st.fixed_dictionaries(
    {
        "truth": st.booleans(),
        "small": ints(-128, 127),
        "large": ints(0, 2**64 - 1),
        "half": st.floats(width=32, allow_nan=False, allow_infinity=False),
        "whole": st.floats(allow_nan=False, allow_infinity=False),
        "text": texts,
        "raw": st.binary(max_size=5),
        "colour": st.binary(min_size=3, max_size=3),
        "counts": st.lists(ints(-(2**15), 2**15 - 1), max_size=4),
        "pair": st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        "truths": st.lists(st.booleans(), max_size=4),
        "words": st.lists(texts, max_size=3),
        "points": st.lists(points, max_size=2),
        "ends": st.lists(points, min_size=2, max_size=2),
    }
)


def untagged(value):
    """What a client makes of CBOR: numbers of typed arrays."""
    if isinstance(value, cbor2.CBORTag):
        return np.frombuffer(value.value, {77: "<i2", 85: "<f4"}[value.tag]).tolist()
    if isinstance(value, dict):
        return {key: untagged(item) for key, item in value.items()}
    return value


@given(given=every_kind, time_ns=ints(0, 2**31 * 10**9 - 1), generation=st.sampled_from([1, 2]))
def test_what_goes_in_comes_out(given, time_ns, generation):
    plain = messages(generation)
    given = given | {"stamp": plain.time(time_ns)}
    as_base64 = given | {key: base64.b64encode(given[key]).decode() for key in ("raw", "colour")}
    cdr = plain.cdr(KIND, json.loads(json.dumps(as_base64)))
    assert json.loads(plain.json(KIND, cdr)) == as_base64
    binary = cbor2.loads(plain.cbor(KIND, cdr))
    assert untagged(binary) == given
    assert plain.cdr(KIND, binary) == cdr  # typed arrays and bytes may come, too
    lists = given | {key: list(given[key]) for key in ("raw", "colour")}
    assert plain.cdr(KIND, lists) == cdr


def test_both_generations_are_understood_and_each_gets_its_own():
    header, camera = "std_msgs/msg/Header", "sensor_msgs/msg/CameraInfo"
    for stamp in ({"secs": 1, "nsecs": 2}, {"sec": 1, "nanosec": 2}):
        cdr = messages(1).cdr(header, {"seq": 9, "stamp": stamp, "frame_id": "f"})
        assert json.loads(messages(1).json(header, cdr)) == {
            "seq": 0,
            "stamp": {"secs": 1, "nsecs": 2},
            "frame_id": "f",
        }
        assert json.loads(messages(2).json(header, cdr)) == {"stamp": {"sec": 1, "nanosec": 2}, "frame_id": "f"}
    cdr = messages(2).cdr(camera, {"K": [1] * 9, "d": [0.5]})
    assert json.loads(messages(1).json(camera, cdr))["K"] == json.loads(messages(2).json(camera, cdr))["k"] == [1] * 9
    assert json.loads(messages(1).json(camera, cdr))["D"] == [0.5]
    assert messages(1).known("sensor_msgs/msg/CameraInfo") == messages(2).known("sensor_msgs/CameraInfo") == camera


def test_what_is_missing_is_zero_and_null_is_no_number():
    cdr = messages(1).cdr(KIND, {})
    assert messages(1).cdr(KIND, None) == cdr
    empty = json.loads(messages(1).json(KIND, cdr))
    assert empty["colour"] == base64.b64encode(b"\0\0\0").decode()
    assert empty["ends"] == [{"x": 0.0, "y": 0.0, "z": 0.0}] * 2
    assert empty["stamp"] == {"secs": 0, "nsecs": 0}
    cdr = messages(1).cdr(KIND, {"whole": None, "pair": [float("inf"), None]})
    plain = json.loads(messages(1).json(KIND, cdr))
    assert (plain["whole"], plain["pair"]) == (None, [None, None])
    assert json.loads(messages(1).json("std_msgs/msg/Empty", messages(1).cdr("std_msgs/msg/Empty", {}))) == {}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"truth": 1}, "msg.truth: must be true or false, not 1"),
        ({"small": 128}, "msg.small: must be from -128 to 127, not 128"),
        ({"small": 1.5}, "msg.small: must be a whole number, not 1.5"),
        ({"small": True}, "msg.small: must be a whole number, not True"),
        ({"half": 1e39}, "msg.half: 1e+39 is too large for a float32"),
        ({"whole": 10**400}, "is too large for a float64"),
        ({"text": 3}, "msg.text: must be text, not 3"),
        ({"text": "\ud800"}, "msg.text: is no valid text"),
        ({"raw": "not base64!"}, "msg.raw: must be base64 or a list of numbers"),
        ({"raw": [256]}, "msg.raw[0]: must be from 0 to 255, not 256"),
        ({"colour": [1, 2]}, "msg.colour: must have 3 numbers, not 2"),
        ({"counts": {}}, "msg.counts: must be a list of numbers, not {}"),
        ({"counts": cbor2.CBORTag(77, b"abc")}, "msg.counts: tag 77 is no array"),
        ({"words": ["a", None, 1]}, "msg.words[2]: must be text, not 1"),
        ({"points": [{}, {"w": 1}]}, "msg.points[1]: geometry_msgs/Point has no field 'w'; fields: x, y, z"),
        ({"ends": [{}]}, "msg.ends: must have 2 items, not 1"),
        ({"stamp": {"nsecs": -1}}, "msg.stamp.nsecs: must be from 0 to 4294967295, not -1"),
        ({"stamp": 3.5}, "msg.stamp: a builtin_interfaces/Time is an object of fields, not 3.5"),
    ],
)
def test_what_does_not_fit_says_where_and_what_may_be(given, says):
    with pytest.raises(BadInput) as refused:
        messages(1).cdr(KIND, given)
    assert says in str(refused.value)


def test_an_unknown_type_names_those_near_it():
    with pytest.raises(
        BadInput, match="there is no message type 'geometry_msgs/Twits'; near it are geometry_msgs/Twist"
    ):
        messages(1).known("geometry_msgs/Twits")
    for name in ("", "x", "a/b/c/d", None, "std_srvs/SetBool"):
        with pytest.raises(BadInput, match="there is no message type"):
            messages(2).known(name)


@given(st.recursive(st.floats() | st.binary(max_size=3) | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_json_is_always_readable(value):
    def no_constant(name):
        raise AssertionError(name)

    json.loads(as_json({"value": value}), parse_constant=no_constant)

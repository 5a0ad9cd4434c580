"""Bytes that something happened to: whatever it was, the answer is a document or a CrclError."""

from __future__ import annotations

import random

import pytest

from cellwright.crcl import (
    CommandStatus,
    CRCLCommandInstance,
    CrclError,
    CRCLStatus,
    Guard,
    MessageStream,
    MoveTo,
    ParallelGripperStatus,
    Point,
    Pose,
    Vector,
    check,
    decode,
    encode,
)

POSE = Pose(Point(1.5, -2, 0.25), Vector(1, 0, 0), Vector(0, 0, -1), name="über")
GUARD = Guard("ft", sub_field="Fz", limit_type="OVER_MAX", limit_value=5.0)
WHOLE = [
    encode(CRCLCommandInstance(MoveTo(7, True, POSE, guard=(GUARD,)), program_file="a.xml"), indent=" "),
    encode(CRCLStatus(CommandStatus(7, 1, "CRCL_Working"), gripper_status=ParallelGripperStatus("jaws", 0.02))),
]
SPLINTERS = [
    *(b"<", b">", b"/>", b"&", b"'", b'"', b"\0", b"\xff", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>"),
    *(b"&#0;", b"&#x20;", b"&lt;", b"&b;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b" xmlns=''", b" xmlns='u'", b"</"),
]


def damaged(chance: random.Random) -> bytes:
    data = bytearray(chance.choice(WHOLE))
    for _ in range(chance.choice([1, 1, 2, 5])):
        begin = chance.randrange(len(data))
        end = min(len(data), begin + chance.randrange(1, 40))
        kind = chance.randrange(5)
        if kind == 0:
            data[begin] = chance.randrange(256)
        elif kind == 1:
            del data[begin:end]
        elif kind == 2:
            data[begin:begin] = data[begin:end]
        elif kind == 3:
            data[begin:begin] = chance.choice(SPLINTERS)
        else:
            data[begin:end] = chance.randbytes(end - begin)
    return bytes(data)


def stream(data: bytes, size: int) -> list[bytes] | None:
    """The documents in a stream of pieces; None if it broke."""
    splitter = MessageStream()
    try:
        return [document for at in range(0, len(data), size) for document in splitter.feed(data[at : at + size])]
    except CrclError:
        return None


@pytest.mark.parametrize("count", [1000, pytest.param(100_000, marks=pytest.mark.long)])
def test_nothing_but_our_errors(count):
    chance = random.Random(count)
    read = refused = 0
    for _ in range(count):
        data = damaged(chance)
        problems = check(data)
        try:
            document = decode(data)
        except CrclError:
            assert problems  # what is valid is read
            refused += 1
        else:
            assert encode(decode(encode(document))) == encode(document)
            read += 1
        assert stream(data, 97) == stream(data, len(data))
    assert read > count // 50
    assert refused > count // 2

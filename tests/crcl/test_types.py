"""Simple types: what they take, what they refuse, how numbers are written."""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np
import pytest

from cellwright.crcl import CommandStateEnum, LengthUnitEnum
from cellwright.crcl.table import SIMPLE_TYPES
from cellwright.crcl.types import BOOLEAN, DOUBLE, FRACTION, INT, LONG, NMTOKEN, POSITIVE_DECIMAL, STRING, TOKEN


@pytest.mark.parametrize(
    ("primitive", "text", "value"),
    [
        (DOUBLE, " 1.5\n", 1.5),
        (DOUBLE, "1.2246467991473532E-14", 1.2246467991473532e-14),
        (DOUBLE, "+.5", 0.5),
        (DOUBLE, "-INF", -math.inf),
        (DOUBLE, "1e400", math.inf),
        (FRACTION, "1", 1.0),
        (POSITIVE_DECIMAL, "1e-9", 1e-9),
        (INT, " +007 ", 7),
        (LONG, "-9223372036854775808", -(2**63)),
        (BOOLEAN, "1", True),
        (BOOLEAN, "\tfalse ", False),
        (STRING, "  a  b ", "  a  b "),
        (TOKEN, " a \n b ", "a b"),
        (NMTOKEN, " a.b-c ", "a.b-c"),
        (SIMPLE_TYPES["LengthUnitEnumType"], " meter ", LengthUnitEnum.METER),
        (SIMPLE_TYPES["CommandStateEnumType"], "CRCL_Done", CommandStateEnum.CRCL_DONE),
    ],
)
def test_reads(primitive, text, value):
    found = primitive.read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("primitive", "texts"),
    [
        (DOUBLE, ["", "1e", "nan", "inf", "Infinity", "1_0", "1,5", "0x1", "١", "1 2", "--1", "\xa01"]),
        (FRACTION, ["1.0000001", "-1e-300", "NaN", "INF"]),
        (POSITIVE_DECIMAL, ["0", "-1", "NaN"]),
        (INT, ["2147483648", "-2147483649", "1.0", "", "1e3", "١", "1_0"]),
        (LONG, ["9223372036854775808"]),
        (BOOLEAN, ["True", "yes", "", "2"]),
        (NMTOKEN, ["", "a b", "name!", "a/b"]),
        (SIMPLE_TYPES["LengthUnitEnumType"], ["mm", "Meter", ""]),
        (SIMPLE_TYPES["CommandStateEnumType"], [" CRCL_Done", "Done"]),  # a string keeps its white space
    ],
)
def test_refuses_to_read(primitive, texts):
    for text in texts:
        with pytest.raises(ValueError):
            primitive.read(text)


@pytest.mark.parametrize(
    ("primitive", "value", "text"),
    [
        (DOUBLE, 0.1, "0.1"),
        (DOUBLE, 1e22, "1e+22"),
        (DOUBLE, -0.0, "-0.0"),
        (DOUBLE, 3, "3.0"),
        (DOUBLE, np.float64(0.1), "0.1"),
        (DOUBLE, np.float32(0.5), "0.5"),
        (DOUBLE, math.nan, "NaN"),
        (DOUBLE, math.inf, "INF"),
        (INT, np.int64(5), "5"),
        (BOOLEAN, True, "true"),
        (STRING, "a<b>&\r\n", "a&lt;b&gt;&amp;&#13;\n"),
        (SIMPLE_TYPES["LengthUnitEnumType"], "meter", "meter"),
    ],
)
def test_writes(primitive, value, text):
    assert primitive.write(value) == text
    if value == value:
        assert primitive.read(text) == value or primitive is STRING


@pytest.mark.parametrize(
    ("primitive", "values"),
    [
        (DOUBLE, [True, "1", None, 1j]),
        (FRACTION, [1.5, -0.1, math.nan]),
        (POSITIVE_DECIMAL, [0, -1.0]),
        (INT, [2**31, 1.0, True, "1", None]),
        (BOOLEAN, [1, 0, "true", None]),
        (STRING, ["\x00", "\x1f", "\ud800", "\uffff", 5, b"x"]),
        (TOKEN, [" a", "a ", "a  b", "a\nb"]),
        (NMTOKEN, ["", " a", "a b", 7]),
        (SIMPLE_TYPES["LengthUnitEnumType"], ["mm", None, 1]),
    ],
)
def test_refuses_to_write(primitive, values):
    for value in values:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            primitive.write(value)


def test_types_narrow_as_the_schema_says():
    assert FRACTION.narrows(DOUBLE)
    assert INT.narrows(LONG)
    assert not LONG.narrows(INT)
    assert SIMPLE_TYPES["StopConditionEnumType"].narrows(TOKEN)
    assert not SIMPLE_TYPES["GuardLimitEnumType"].narrows(TOKEN)
    assert all(issubclass(type(t.read(c)), StrEnum) for t in SIMPLE_TYPES.values() for c in t.choices)

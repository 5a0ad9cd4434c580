"""Enumerations of CRCL; their values are the texts in the messages."""

from __future__ import annotations

from enum import StrEnum

from cellwright.crcl.types import NMTOKEN, STRING, TOKEN, Primitive

__all__ = [
    "AngleUnitEnum",
    "CommandStateEnum",
    "ForceUnitEnum",
    "GuardLimitEnum",
    "LengthUnitEnum",
    "StopConditionEnum",
    "TorqueUnitEnum",
]


class AngleUnitEnum(StrEnum):
    """Units of angles."""

    DEGREE = "degree"
    RADIAN = "radian"


class ForceUnitEnum(StrEnum):
    """Units of forces."""

    NEWTON = "newton"
    POUND = "pound"
    OUNCE = "ounce"


class LengthUnitEnum(StrEnum):
    """Units of lengths."""

    METER = "meter"
    MILLIMETER = "millimeter"
    INCH = "inch"


class TorqueUnitEnum(StrEnum):
    """Units of torques."""

    NEWTON_METER = "newtonMeter"
    FOOT_POUND = "footPound"


class GuardLimitEnum(StrEnum):
    """The kinds of limits of guards: fixed, or on the change since the command began."""

    OVER_MAX = "OVER_MAX"
    UNDER_MIN = "UNDER_MIN"
    INCREASE_OVER_LIMIT = "INCREASE_OVER_LIMIT"
    DECREASE_BEYOND_LIMIT = "DECREASE_BEYOND_LIMIT"


class StopConditionEnum(StrEnum):
    """The ways to stop a motion: drives off at once, fast on the path, or with the normal ramp."""

    IMMEDIATE = "Immediate"
    FAST = "Fast"
    NORMAL = "Normal"


class CommandStateEnum(StrEnum):
    """The states of a command; ready means that none was given yet."""

    CRCL_DONE = "CRCL_Done"
    CRCL_ERROR = "CRCL_Error"
    CRCL_WORKING = "CRCL_Working"
    CRCL_READY = "CRCL_Ready"


ENUM_BASES: dict[type[StrEnum], Primitive] = {
    AngleUnitEnum: NMTOKEN,
    ForceUnitEnum: NMTOKEN,
    LengthUnitEnum: NMTOKEN,
    TorqueUnitEnum: NMTOKEN,
    StopConditionEnum: TOKEN,
    GuardLimitEnum: STRING,
    CommandStateEnum: STRING,
}
"""The type that each narrows: white space around a value is allowed but for strings."""

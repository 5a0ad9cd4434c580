"""Units of a session: converts the numbers of messages to SI, and back.

Messages know no units. The table below says which field of which type has which quantity; everything else follows from
it, so a command is converted on its way in and a status on its way out by the same few lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, TypeVar

from cellwright.core.errors import UnknownName
from cellwright.crcl import messages as m
from cellwright.crcl.messages import AngleUnitEnum, ForceUnitEnum, LengthUnitEnum, TorqueUnitEnum
from cellwright.crcl.table import PLANS, FieldPlan, TypePlan

__all__ = ["UNIT_PROFILES", "CrclUnits", "Quantity", "from_si", "other_unit", "to_si", "unit_profile"]

NEAREST_SHARE = 0.05  # of the reach: no target is nearer to an arm than that

M = TypeVar("M", bound=m.DataThing)
Factors: TypeAlias = "dict[Quantity, Callable[[float], float]]"


class Quantity(Enum):
    """The quantity that a number measures; rates per second have the factor of what changes."""

    LENGTH = "length"
    ANGLE = "angle"
    FORCE = "force"
    TORQUE = "torque"
    JOINT = "length or angle"  # by the kind of the joint
    JOINT_EFFORT = "force or torque"


_SI_VALUES: dict[str, float] = {
    LengthUnitEnum.METER: 1.0,
    LengthUnitEnum.MILLIMETER: 0.001,
    LengthUnitEnum.INCH: 0.0254,
    AngleUnitEnum.RADIAN: 1.0,
    AngleUnitEnum.DEGREE: math.pi / 180.0,
    ForceUnitEnum.NEWTON: 1.0,
    ForceUnitEnum.POUND: 4.448221615261,
    ForceUnitEnum.OUNCE: 0.278013850954,
    TorqueUnitEnum.NEWTON_METER: 1.0,
    TorqueUnitEnum.FOOT_POUND: 1.3558179483314,
}


@dataclass(frozen=True, slots=True)
class CrclUnits:
    """The units in which one connection speaks."""

    length: LengthUnitEnum = LengthUnitEnum.METER
    angle: AngleUnitEnum = AngleUnitEnum.RADIAN
    force: ForceUnitEnum = ForceUnitEnum.NEWTON
    torque: TorqueUnitEnum = TorqueUnitEnum.NEWTON_METER

    def name(self, quantity: Quantity, *, linear: bool = False) -> str:
        """Returns the unit of a quantity; `linear` says what kind of joint is meant where that matters."""
        return str(
            {
                Quantity.LENGTH: self.length,
                Quantity.ANGLE: self.angle,
                Quantity.FORCE: self.force,
                Quantity.TORQUE: self.torque,
                Quantity.JOINT: self.length if linear else self.angle,
                Quantity.JOINT_EFFORT: self.force if linear else self.torque,
            }[quantity].value
        )

    def factor(self, quantity: Quantity, *, linear: bool = False) -> float:
        """Returns the factor from a unit to SI."""
        return _SI_VALUES[self.name(quantity, linear=linear)]

    def after(self, command: m.CRCLCommand) -> CrclUnits:
        """Returns the units once a command was executed; the same for all but the four that set a unit."""
        match command:
            case m.SetLengthUnits():
                return replace(self, length=command.unit_name)
            case m.SetAngleUnits():
                return replace(self, angle=command.unit_name)
            case m.SetForceUnits():
                return replace(self, force=command.unit_name)
            case m.SetTorqueUnits():
                return replace(self, torque=command.unit_name)
        return self

    def with_reported(self, settings: m.SettingsStatus | None) -> CrclUnits:
        """Returns the units that a status names; where it names none they stay what they are."""
        if settings is None:
            return self
        return CrclUnits(
            settings.length_unit_name or self.length,
            settings.angle_unit_name or self.angle,
            settings.force_unit_name or self.force,
            settings.torque_unit_name or self.torque,
        )


UNIT_PROFILES = {"spec": CrclUnits(), "aprs-lab": CrclUnits(LengthUnitEnum.MILLIMETER, AngleUnitEnum.DEGREE)}
"""What InitCanon sets: the standard's metre and radian, or what the programs of the APRS laboratory mean."""


def unit_profile(name: str) -> CrclUnits:
    """Returns a profile by name."""
    if name not in UNIT_PROFILES:
        raise UnknownName("unit profile", name, UNIT_PROFILES)
    return UNIT_PROFILES[name]


_L, _A, _J, _E = Quantity.LENGTH, Quantity.ANGLE, Quantity.JOINT, Quantity.JOINT_EFFORT
_QUANTITIES: dict[type[m.DataThing], dict[str, Quantity]] = {
    m.Point: {"x": _L, "y": _L, "z": _L},
    m.Twist: {"linear_velocity": _L, "angular_velocity": _A},
    m.Wrench: {"force": Quantity.FORCE, "moment": Quantity.TORQUE},
    m.PoseTolerance: {
        "x_point_tolerance": _L, "y_point_tolerance": _L, "z_point_tolerance": _L,
        "x_axis_tolerance": _A, "z_axis_tolerance": _A,
    },
    m.TransSpeedAbsolute: {"setting": _L},
    m.TransAccelAbsolute: {"setting": _L},
    m.RotSpeedAbsolute: {"setting": _A},
    m.RotAccelAbsolute: {"setting": _A},
    m.MoveScrew: {"axial_distance_free": _L, "axial_distance_screw": _L, "turn": _A},
    m.ActuateJoint: {"joint_position": _J},
    m.JointSpeedAccel: {"joint_speed": _J, "joint_accel": _J},
    m.JointForceTorque: {"setting": _E, "change_rate": _E},
    m.JointPositionToleranceSetting: {"joint_position_tolerance": _J},
    m.JointStatus: {"joint_position": _J, "joint_velocity": _J, "joint_torque_or_force": _E},
    m.JointLimit: {
        "joint_min_position": _J, "joint_max_position": _J, "joint_max_velocity": _J, "joint_max_torque_or_force": _E,
    },
    m.ParallelGripperStatus: {"separation": _L},
    m.ThreeFingerGripperStatus: {
        "finger1_force": Quantity.FORCE, "finger2_force": Quantity.FORCE, "finger3_force": Quantity.FORCE,
    },
}  # fmt: skip
# Not in the table: force-torque sensors and guards on them, which are in newton and newton metre by the schema.


def other_unit(away_m: float, reach_m: float, units: CrclUnits) -> str:
    """Returns a question to put behind the refusal of what is too far: its number may have been meant in millimetres.

    Args:
        away_m: How far it is.
        reach_m: How far it may be.
        units: In which it was given.
    """
    as_millimetres_m = away_m / units.factor(Quantity.LENGTH) * _SI_VALUES[LengthUnitEnum.MILLIMETER]
    if away_m > reach_m and reach_m * NEAREST_SHARE <= as_millimetres_m <= reach_m:
        return f"; were millimetres meant? the session's unit is {units.name(Quantity.LENGTH)}"
    return ""


def to_si(message: M, units: CrclUnits, linear_joints: Sequence[bool]) -> M:
    """Returns a message in SI units.

    Args:
        message: In the units of the session.
        units: Those units.
        linear_joints: Whether each joint, from number 1 on, slides; the others turn.
    """
    return message if units == CrclUnits() else _converted(message, _factors(units, False), linear_joints, False)


def from_si(message: M, units: CrclUnits, linear_joints: Sequence[bool]) -> M:
    """Returns a message in the units of a session, from one in SI units."""
    return message if units == CrclUnits() else _converted(message, _factors(units, True), linear_joints, False)


@cache
def _factors(units: CrclUnits, out: bool) -> tuple[Factors, Factors]:
    """Returns the conversions of each quantity, for joints that turn and for those that slide."""

    def function(factor: float) -> Callable[[float], float]:
        return (lambda value: value / factor) if out else (lambda value: value * factor)

    turning, sliding = ({q: function(units.factor(q, linear=linear)) for q in Quantity} for linear in (False, True))
    return turning, sliding


def _has_units(plan: TypePlan) -> bool:
    """Returns whether a type, or anything that it may hold, is in the table."""
    return plan.cls in _QUANTITIES or any(_holds_units(field) for field in plan.fields)


def _holds_units(field: FieldPlan) -> bool:
    return field.plan is not None and any(_has_units(plan) for plan in field.plan.substitutes.values())


def _work(plan: TypePlan) -> tuple[tuple[str, Quantity | None], ...]:
    own = _QUANTITIES.get(plan.cls, {})
    inside = (f.attribute for f in plan.fields if f.attribute not in own and _holds_units(f))
    return (*own.items(), *((attribute, None) for attribute in inside))


_WORK = {cls: _work(plan) for cls, plan in PLANS.items()}
"""The fields of each type that conversion touches, with their quantities; None has to be looked into."""


def _converted(message: M, factors: tuple[Factors, Factors], linear_joints: Sequence[bool], linear: bool) -> M:
    work = _WORK[type(message)]
    if not work:
        return message
    number = getattr(message, "joint_number", None)
    if number is not None:
        linear = 1 <= number <= len(linear_joints) and linear_joints[number - 1]
    changes: dict[str, Any] = {}
    for attribute, quantity in work:
        value = getattr(message, attribute)
        if value is None:
            continue
        if quantity is None:
            if type(value) is tuple:
                changes[attribute] = tuple(_converted(one, factors, linear_joints, linear) for one in value)
            else:
                changes[attribute] = _converted(value, factors, linear_joints, linear)
            continue
        convert = factors[linear][quantity]
        if isinstance(value, m.Vector):
            value = replace(value, i=convert(value.i), j=convert(value.j), k=convert(value.k))
        else:
            value = convert(value)
        changes[attribute] = value
    return replace(message, **changes)

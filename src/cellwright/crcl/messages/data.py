"""Data that commands and status share: geometry, tolerances, speeds, parameters, guards.

Lengths, angles, forces and torques are in the units of the session; converting them is not the business of messages.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from cellwright.crcl.messages.base import DataThing, abstract
from cellwright.crcl.messages.enums import GuardLimitEnum
from cellwright.crcl.types import AtLeast, Boolean, Double, Fraction, Int, Long, Token

__all__ = [
    "Guard",
    "JointPositionToleranceSetting",
    "JointPositionsTolerances",
    "ParameterSetting",
    "Point",
    "Pose",
    "PoseAndSet",
    "PoseTolerance",
    "RotAccel",
    "RotAccelAbsolute",
    "RotAccelRelative",
    "RotSpeed",
    "RotSpeedAbsolute",
    "RotSpeedRelative",
    "TransAccel",
    "TransAccelAbsolute",
    "TransAccelRelative",
    "TransSpeed",
    "TransSpeedAbsolute",
    "TransSpeedRelative",
    "Twist",
    "Vector",
    "Wrench",
]


@dataclass(frozen=True, slots=True)
class Point(DataThing):
    """A position."""

    x: Double
    y: Double
    z: Double


@dataclass(frozen=True, slots=True)
class Vector(DataThing):
    """A direction, or a quantity that has one."""

    i: Double
    j: Double
    k: Double


@dataclass(frozen=True, slots=True)
class Pose(DataThing):
    """A position and an orientation, the latter as the directions of two axes."""

    point: Point
    x_axis: Vector
    z_axis: Vector


@dataclass(frozen=True, slots=True)
class Twist(DataThing):
    """The velocity of a rigid body."""

    linear_velocity: Vector
    angular_velocity: Vector


@dataclass(frozen=True, slots=True)
class Wrench(DataThing):
    """The force and the moment on a rigid body."""

    force: Vector
    moment: Vector


@dataclass(frozen=True, slots=True)
class PoseTolerance(DataThing):
    """The tolerance of a pose; all given values must hold at the same instant."""

    _: KW_ONLY
    x_point_tolerance: Double | None = None
    y_point_tolerance: Double | None = None
    z_point_tolerance: Double | None = None
    x_axis_tolerance: Double | None = None
    z_axis_tolerance: Double | None = None


@dataclass(frozen=True, slots=True)
class JointPositionToleranceSetting(DataThing):
    """The tolerance of one joint at its target."""

    joint_number: Int
    joint_position_tolerance: Double


@dataclass(frozen=True, slots=True)
class JointPositionsTolerances(DataThing):
    """The tolerances of joints at their targets."""

    setting: Annotated[tuple[JointPositionToleranceSetting, ...], AtLeast(1)]


@dataclass(frozen=True, slots=True)
class ParameterSetting(DataThing):
    """A named value whose meaning robot, gripper or sensor knows."""

    parameter_name: Token
    parameter_value: Token


@abstract
@dataclass(frozen=True, slots=True)
class TransSpeed(DataThing):
    """A speed of the controlled point."""


@dataclass(frozen=True, slots=True)
class TransSpeedAbsolute(TransSpeed):
    """A speed in length units per second."""

    setting: Double


@dataclass(frozen=True, slots=True)
class TransSpeedRelative(TransSpeed):
    """A speed as a fraction of the robot's maximum."""

    fraction: Fraction


@abstract
@dataclass(frozen=True, slots=True)
class TransAccel(DataThing):
    """An acceleration of the controlled point."""


@dataclass(frozen=True, slots=True)
class TransAccelAbsolute(TransAccel):
    """An acceleration in length units per second squared."""

    setting: Double


@dataclass(frozen=True, slots=True)
class TransAccelRelative(TransAccel):
    """An acceleration as a fraction of the robot's maximum."""

    fraction: Fraction


@abstract
@dataclass(frozen=True, slots=True)
class RotSpeed(DataThing):
    """A speed of the single-axis rotation between two poses."""


@dataclass(frozen=True, slots=True)
class RotSpeedAbsolute(RotSpeed):
    """A rotational speed in angle units per second."""

    setting: Double


@dataclass(frozen=True, slots=True)
class RotSpeedRelative(RotSpeed):
    """A rotational speed as a fraction of the robot's maximum."""

    fraction: Fraction


@abstract
@dataclass(frozen=True, slots=True)
class RotAccel(DataThing):
    """An acceleration of the single-axis rotation between two poses."""


@dataclass(frozen=True, slots=True)
class RotAccelAbsolute(RotAccel):
    """A rotational acceleration in angle units per second squared."""

    setting: Double


@dataclass(frozen=True, slots=True)
class RotAccelRelative(RotAccel):
    """A rotational acceleration as a fraction of the robot's maximum."""

    fraction: Fraction


@dataclass(frozen=True, slots=True)
class PoseAndSet(Pose):
    """A waypoint with settings of its own, which hold on the way to it and no longer."""

    coordinated: Boolean
    _: KW_ONLY
    trans_speed: TransSpeed | None = None
    rot_speed: RotSpeed | None = None
    trans_accel: TransAccel | None = None
    rot_accel: RotAccel | None = None
    tolerance: PoseTolerance | None = None


@dataclass(frozen=True, slots=True)
class Guard(DataThing):
    """A limit on a sensor's value that ends the command when it is passed; the counts are for status only."""

    sensor_id: Token
    _: KW_ONLY
    sub_field: Token | None = None
    limit_type: GuardLimitEnum
    limit_value: Double
    recheck_time_micro_seconds: Long | None = None
    check_count: Long | None = None
    last_check_time: Long | None = None
    last_check_value: Double | None = None
    require_trigger: Boolean | None = None
    error_on_trigger: Boolean | None = None

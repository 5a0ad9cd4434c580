"""The parts of a robot's status, sensors excepted."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from cellwright.crcl.messages.base import DataThing, abstract
from cellwright.crcl.messages.data import (
    JointPositionsTolerances,
    ParameterSetting,
    Point,
    Pose,
    PoseTolerance,
    RotAccelAbsolute,
    RotAccelRelative,
    RotSpeedAbsolute,
    RotSpeedRelative,
    TransAccelAbsolute,
    TransAccelRelative,
    TransSpeedAbsolute,
    TransSpeedRelative,
    Twist,
    Wrench,
)
from cellwright.crcl.messages.enums import (
    AngleUnitEnum,
    CommandStateEnum,
    ForceUnitEnum,
    LengthUnitEnum,
    TorqueUnitEnum,
)
from cellwright.crcl.types import AtLeast, Boolean, Double, Fraction, Int, Long, NmToken, String

__all__ = [
    "CommandStatus",
    "GripperStatus",
    "JointLimit",
    "JointStatus",
    "JointStatuses",
    "ParallelGripperStatus",
    "PoseStatus",
    "SettingsStatus",
    "ThreeFingerGripperStatus",
    "VacuumGripperStatus",
]


@dataclass(frozen=True, slots=True)
class CommandStatus(DataThing):
    """The command that the status is about, and its state."""

    command_id: Long
    status_id: Long
    command_state: CommandStateEnum
    _: KW_ONLY
    state_description: String | None = None
    program_file: String | None = None
    program_index: Int | None = None
    program_length: Int | None = None
    override_percent: Int | None = None


@dataclass(frozen=True, slots=True)
class JointStatus(DataThing):
    """One joint: what was asked for of position, torque or force, and velocity."""

    joint_number: Int
    _: KW_ONLY
    joint_position: Double | None = None
    joint_torque_or_force: Double | None = None
    joint_velocity: Double | None = None


@dataclass(frozen=True, slots=True)
class JointStatuses(DataThing):
    """The joints."""

    joint_status: Annotated[tuple[JointStatus, ...], AtLeast(1)]


@dataclass(frozen=True, slots=True)
class JointLimit(DataThing):
    """The limits of one joint."""

    joint_number: Int
    _: KW_ONLY
    joint_min_position: Double | None = None
    joint_max_position: Double | None = None
    joint_max_torque_or_force: Double | None = None
    joint_max_velocity: Double | None = None


@dataclass(frozen=True, slots=True)
class PoseStatus(DataThing):
    """The controlled point: where, how fast, under which load, in which arm configuration."""

    pose: Pose
    _: KW_ONLY
    twist: Twist | None = None
    wrench: Wrench | None = None
    configuration: String | None = None


@abstract
@dataclass(frozen=True, slots=True)
class GripperStatus(DataThing):
    """The common part of gripper statuses."""

    gripper_name: NmToken
    _: KW_ONLY
    gripper_option: tuple[ParameterSetting, ...] = ()
    holding_object: Boolean | None = None


@dataclass(frozen=True, slots=True)
class ParallelGripperStatus(GripperStatus):
    """A gripper with two parallel jaws, and their distance."""

    separation: Double


@dataclass(frozen=True, slots=True)
class ThreeFingerGripperStatus(GripperStatus):
    """A gripper with three fingers; a position is 0 when closed and 1 when open."""

    _: KW_ONLY
    finger1_position: Fraction | None = None
    finger2_position: Fraction | None = None
    finger3_position: Fraction | None = None
    finger1_force: Double | None = None
    finger2_force: Double | None = None
    finger3_force: Double | None = None


@dataclass(frozen=True, slots=True)
class VacuumGripperStatus(GripperStatus):
    """A suction gripper, and whether it sucks."""

    is_powered: Boolean


@dataclass(frozen=True, slots=True)
class SettingsStatus(DataThing):
    """The settings in force: those commanded, or those that the robot began with."""

    _: KW_ONLY
    angle_unit_name: AngleUnitEnum | None = None
    end_effector_parameter_setting: tuple[ParameterSetting, ...] = ()
    end_effector_setting: Fraction | None = None
    force_unit_name: ForceUnitEnum | None = None
    joint_limits: tuple[JointLimit, ...] = ()
    intermediate_pose_tolerance: PoseTolerance | None = None
    length_unit_name: LengthUnitEnum | None = None
    max_cartesian_limit: Point | None = None
    min_cartesian_limit: Point | None = None
    motion_coordinated: Boolean | None = None
    end_pose_tolerance: PoseTolerance | None = None
    robot_parameter_setting: tuple[ParameterSetting, ...] = ()
    rot_accel_absolute: RotAccelAbsolute | None = None
    rot_accel_relative: RotAccelRelative | None = None
    rot_speed_absolute: RotSpeedAbsolute | None = None
    rot_speed_relative: RotSpeedRelative | None = None
    torque_unit_name: TorqueUnitEnum | None = None
    trans_accel_absolute: TransAccelAbsolute | None = None
    trans_accel_relative: TransAccelRelative | None = None
    trans_speed_absolute: TransSpeedAbsolute | None = None
    trans_speed_relative: TransSpeedRelative | None = None
    joint_tolerances: JointPositionsTolerances | None = None

"""Commands that set what later commands mean: units, speeds, tolerances, parameters, what is reported."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from cellwright.crcl.messages.base import DataThing
from cellwright.crcl.messages.commands import MiddleCommand
from cellwright.crcl.messages.data import (
    JointPositionsTolerances,
    ParameterSetting,
    PoseTolerance,
    RotAccel,
    RotSpeed,
    TransAccel,
    TransSpeed,
)
from cellwright.crcl.messages.enums import AngleUnitEnum, ForceUnitEnum, LengthUnitEnum, TorqueUnitEnum
from cellwright.crcl.types import AtLeast, Boolean, Int, Token

__all__ = [
    "ConfigureJointReport",
    "ConfigureJointReports",
    "ConfigureStatusReport",
    "DisableRobotParameterStatus",
    "EnableRobotParameterStatus",
    "SetAngleUnits",
    "SetDefaultJointPositonsTolerances",
    "SetEndPoseTolerance",
    "SetForceUnits",
    "SetIntermediatePoseTolerance",
    "SetLengthUnits",
    "SetMotionCoordination",
    "SetRobotParameters",
    "SetRotAccel",
    "SetRotSpeed",
    "SetTorqueUnits",
    "SetTransAccel",
    "SetTransSpeed",
]


@dataclass(frozen=True, slots=True)
class SetLengthUnits(MiddleCommand):
    """Sets the unit of lengths."""

    unit_name: LengthUnitEnum


@dataclass(frozen=True, slots=True)
class SetAngleUnits(MiddleCommand):
    """Sets the unit of angles."""

    unit_name: AngleUnitEnum


@dataclass(frozen=True, slots=True)
class SetForceUnits(MiddleCommand):
    """Sets the unit of forces."""

    unit_name: ForceUnitEnum


@dataclass(frozen=True, slots=True)
class SetTorqueUnits(MiddleCommand):
    """Sets the unit of torques."""

    unit_name: TorqueUnitEnum


@dataclass(frozen=True, slots=True)
class SetTransSpeed(MiddleCommand):
    """Sets the speed of the controlled point."""

    trans_speed: TransSpeed


@dataclass(frozen=True, slots=True)
class SetTransAccel(MiddleCommand):
    """Sets the acceleration of the controlled point."""

    trans_accel: TransAccel


@dataclass(frozen=True, slots=True)
class SetRotSpeed(MiddleCommand):
    """Sets the rotational speed."""

    rot_speed: RotSpeed


@dataclass(frozen=True, slots=True)
class SetRotAccel(MiddleCommand):
    """Sets the rotational acceleration."""

    rot_accel: RotAccel


@dataclass(frozen=True, slots=True)
class SetEndPoseTolerance(MiddleCommand):
    """Sets how near the end of a move must be reached."""

    tolerance: PoseTolerance


@dataclass(frozen=True, slots=True)
class SetIntermediatePoseTolerance(MiddleCommand):
    """Sets how near the waypoints before the end must be passed."""

    tolerance: PoseTolerance


@dataclass(frozen=True, slots=True)
class SetDefaultJointPositonsTolerances(MiddleCommand):
    """Sets how near joints must come to targets that say nothing themselves; misspelt as in the standard."""

    joint_tolerances: JointPositionsTolerances


@dataclass(frozen=True, slots=True)
class SetMotionCoordination(MiddleCommand):
    """Says whether translation and rotation must end together."""

    coordinated: Boolean


@dataclass(frozen=True, slots=True)
class SetRobotParameters(MiddleCommand):
    """Sets parameters of the robot that no other command can set."""

    parameter_setting: Annotated[tuple[ParameterSetting, ...], AtLeast(1)]


@dataclass(frozen=True, slots=True)
class EnableRobotParameterStatus(MiddleCommand):
    """Begins to report a parameter of the robot."""

    robot_parameter_name: Token


@dataclass(frozen=True, slots=True)
class DisableRobotParameterStatus(MiddleCommand):
    """Ceases to report a parameter of the robot."""

    robot_parameter_name: Token


@dataclass(frozen=True, slots=True)
class ConfigureJointReport(DataThing):
    """The values to be reported of one joint."""

    joint_number: Int
    report_position: Boolean
    report_torque_or_force: Boolean
    report_velocity: Boolean


@dataclass(frozen=True, slots=True)
class ConfigureJointReports(MiddleCommand):
    """Says what is reported of the joints, of those listed or of all."""

    reset_all: Boolean
    _: KW_ONLY
    configure_joint_report: tuple[ConfigureJointReport, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigureStatusReport(MiddleCommand):
    """Says which parts a status has."""

    report_joint_statuses: Boolean
    report_pose_status: Boolean
    report_gripper_status: Boolean
    report_settings_status: Boolean
    report_sensors_status: Boolean
    report_guards_status: Boolean

"""A status of an external robot, read: SI units, the base of the drawings, and only what can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.crcl import GripperKind, GripperReading, SensorReading
from cellwright.crcl.messages import (
    CommandStateEnum,
    CRCLStatus,
    GripperStatus,
    ParallelGripperStatus,
    SensorStatuses,
    VacuumGripperStatus,
)
from cellwright.crcl.plausibility import AXIS_ERROR, without_implausible_positions
from cellwright.crcl.poses import checked_pose
from cellwright.crcl.units import CrclUnits, to_si
from cellwright.hybrid.target_frame import TargetFrame

__all__ = ["RobotReport", "read_report"]

Array = npt.NDArray[np.float64]

EMERGENCY_WORDS = ("emergency", "e-stop", "estop", "e stop")


@dataclass(frozen=True)
class RobotReport:
    """The state of an external robot, by its own account.

    Attributes:
        time_s: When it was so, in simulated time: half way between the question and the answer.
        arrival_s: When it was heard.
        command_id: The command that it is about.
        state: The state of that.
        description: More about it.
        joints_rad: All joints in their order, or none.
        speeds_radps: Their speeds, or none.
        pose_tool_in_base: The pose of the tool's centre point, or none.
        gripper: The mounted tool; none where nothing is told of one.
        forces: Force sensors by name.
        signals: Digital inputs and outputs by name.
        override_percent: The speed override.
        doubts: Why some of what it said is not believed.
    """

    time_s: float
    arrival_s: float
    command_id: int
    state: CommandStateEnum
    description: str
    joints_rad: Array | None
    speeds_radps: Array | None
    pose_tool_in_base: Pose | None
    gripper: GripperReading | None
    forces: Mapping[str, SensorReading] = field(default_factory=dict)
    signals: Mapping[str, SensorReading] = field(default_factory=dict)
    override_percent: int = 100
    doubts: tuple[str, ...] = ()

    @property
    def is_emergency(self) -> bool:
        """Whether it says that it was stopped in an emergency."""
        text = self.description.lower()
        return self.state is CommandStateEnum.CRCL_ERROR and any(word in text for word in EMERGENCY_WORDS)


def read_report(
    status: CRCLStatus,
    units: CrclUnits,
    frame: TargetFrame,
    pose_tool_in_flange: Pose,
    joints: int,
    times_s: tuple[float, float],
) -> RobotReport:
    """Reads a status.

    Args:
        status: As it came.
        units: Those of the session, where it does not name its own.
        frame: The frame of its poses.
        pose_tool_in_flange: The tool of the drawings.
        joints: How many joints the robot has.
        times_s: When it was asked for, and when it came.
    """
    status, doubts = without_implausible_positions(status, units)
    told = to_si(status, units.with_reported(status.settings_status), (False,) * joints)
    statuses = told.joint_statuses.joint_status if told.joint_statuses else ()
    by_number = {one.joint_number: one for one in statuses}
    numbers = range(1, joints + 1)
    angles = [by_number[n].joint_position if n in by_number else None for n in numbers]
    speeds = [by_number[n].joint_velocity if n in by_number else None for n in numbers]
    pose = checked_pose(told.pose_status.pose, "pose", AXIS_ERROR) if told.pose_status else None
    head = told.command_status
    return RobotReport(
        time_s=sum(times_s) / 2,
        arrival_s=times_s[1],
        command_id=head.command_id,
        state=head.command_state,
        description=head.state_description or "",
        joints_rad=_whole(angles),
        speeds_radps=_whole(speeds),
        pose_tool_in_base=None if pose is None else frame.heard(pose, pose_tool_in_flange),
        gripper=_gripper(told.gripper_status),
        forces=_forces(told.sensor_statuses),
        signals=_signals(told.sensor_statuses),
        override_percent=100 if head.override_percent is None else head.override_percent,
        doubts=doubts,
    )


def _whole(values: list[float | None]) -> Array | None:
    """Returns the values as an array when none is missing or infinite."""
    known = [value for value in values if value is not None and np.isfinite(value)]
    return np.array(known) if len(known) == len(values) else None


def _gripper(status: GripperStatus | None) -> GripperReading | None:
    if status is None:
        return None
    holding = bool(status.holding_object)
    if isinstance(status, ParallelGripperStatus):
        return GripperReading(status.gripper_name, GripperKind.PARALLEL, holding, separation_m=status.separation)
    if isinstance(status, VacuumGripperStatus):
        return GripperReading(status.gripper_name, GripperKind.VACUUM, holding, is_powered=status.is_powered)
    return GripperReading(status.gripper_name, GripperKind.THREE_FINGER, holding)


def _forces(sensors: SensorStatuses | None) -> dict[str, SensorReading]:
    felt = sensors.force_torque_sensor_status if sensors is not None else ()
    return {
        one.sensor_id: SensorReading(
            (one.fx, one.fy, one.fz, one.tx, one.ty, one.tz), one.read_count, one.last_read_time / 1000
        )
        for one in felt
    }


def _signals(sensors: SensorStatuses | None) -> dict[str, SensorReading]:
    switches = sensors.on_off_sensor_status if sensors is not None else ()
    return {one.sensor_id: SensorReading(one.on, one.read_count, one.last_read_time / 1000) for one in switches}

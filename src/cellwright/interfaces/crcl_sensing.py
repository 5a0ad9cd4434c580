"""Measurements of a robot by its own sensors, for its CRCL interface: joints, tool and wrist, as they were published.

A robot whose cell has no such sensor reports what its controller measures by itself: the drives' encoders, and the
opening of its fingers to a tenth of a millimetre. It has no wrist force then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellwright.control import RobotController, Vacuum
from cellwright.core.loop import WaitClock
from cellwright.core.messages import JointState, Message, ToolStatus, Wrench
from cellwright.core.pose import Pose
from cellwright.crcl import GripperKind, GripperReading, SensorReading
from cellwright.crcl.robot import Vector6
from cellwright.interfaces.crcl_frames import CrclArmFrame
from cellwright.motion.chain import SerialChain
from cellwright.sensors import Sensor

__all__ = ["ArmMotion", "ArmSensing"]

OWN_WIDTH_STEP_M = 0.0001  # to which a controller without a tool sensor knows the opening; estimated
REPORT_S = 0.5  # for how long a report that is due is waited for: then it was lost, or is very late
POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class ArmMotion:
    """The motion of an arm by one report of its joints; pose and twist are those of its controlled point."""

    report: JointState | None
    pose_tool_in_flange: Pose
    positions: tuple[float, ...]
    velocities: tuple[float, ...]
    efforts: tuple[float, ...]
    pose_tool_in_base: Pose
    twist: Vector6


class ArmSensing:
    """The latest measurements of one robot: as old, as noisy and as incomplete as its sensors make them.

    Args:
        controller: The robot's controller.
        sensors: All sensors of the laboratory.
        clock: Time to wait by.
        frame: Its frame, and the names of its wrist sensor.
    """

    def __init__(
        self, controller: RobotController, sensors: Iterable[Sensor[Any]], clock: WaitClock, frame: CrclArmFrame
    ) -> None:
        self._controller = controller
        self._clock = clock
        self._frame = frame
        own = [sensor for sensor in sensors if getattr(sensor.cfg, "robot", None) == controller.name]
        kinds: tuple[type[Message], ...] = (JointState, ToolStatus, Wrench)
        found = [next((sensor for sensor in own if sensor.message_type is kind), None) for kind in kinds]
        self._joints, self._tool, self._wrist = found
        for sensor in found:
            if sensor is not None:
                sensor.is_kept = True  # it reports also while nobody else listens
        self._chain = SerialChain(controller.kinematics.arm)
        self._to_frame = frame.pose_frame_in_base.inverse()
        self._motion: ArmMotion | None = None
        self._forces: tuple[Message | None, dict[str, SensorReading]] = None, {}

    def motion(self, pose_tool_in_flange: Pose) -> ArmMotion:
        """Returns the motion of the arm and its controlled point, reckoned once for every report: clients ask often."""
        told, known = _latest(self._joints), self._motion
        report = told if isinstance(told, JointState) else None
        is_same = known is not None and known.report is report and known.pose_tool_in_flange is pose_tool_in_flange
        if known is None or report is None or not is_same:
            self._motion = known = self._reckoned(report, pose_tool_in_flange)
        return known

    def _reckoned(self, report: JointState | None, tool: Pose) -> ArmMotion:
        controller, to_frame = self._controller, self._to_frame
        if report is not None:
            joints, speeds, efforts = report.position, report.velocity, report.effort
        else:
            joints, speeds, efforts = controller.joints_rad, controller.velocity_radps, controller.effort_nm
        rotations, positions, jacobians = self._chain.jacobian(joints[None])
        pose_flange = Pose.from_matrix(np.column_stack([rotations[0], positions[0]]))
        moving = jacobians[0] @ speeds
        (x, y, z), (a, b, c) = (rotations[0] @ tool.position).tolist(), moving[3:].tolist()
        turn = to_frame.rotation_matrix
        linear = turn @ (moving[:3] + np.array([b * z - c * y, c * x - a * z, a * y - b * x]))
        angular = turn @ moving[3:]
        return ArmMotion(
            report=report,
            pose_tool_in_flange=tool,
            positions=tuple(joints.tolist()),
            velocities=tuple(speeds.tolist()),
            efforts=tuple(efforts.tolist()),
            pose_tool_in_base=self._frame.reported(to_frame @ pose_flange @ tool),
            twist=(*linear.tolist(), *angular.tolist()),
        )

    @property
    def forces(self) -> Mapping[str, SensorReading]:
        """The reading at the wrist, under all its names; none without such a sensor, and before its first report."""
        told = _latest(self._wrist)
        if told is not self._forces[0]:
            self._forces = told, self._frame.forces(told) if isinstance(told, Wrench) else {}
        return self._forces[1]

    @property
    def tool(self) -> GripperReading | None:
        """The report of the mounted tool; None when none is mounted."""
        told, mounted = _latest(self._tool), self._controller.tool
        if isinstance(told, ToolStatus):
            if told.kind == "vacuum":
                is_powered = isinstance(mounted, Vacuum) and mounted.powered
                return GripperReading(told.tool, GripperKind.VACUUM, told.holding, is_powered=is_powered)
            is_there = told.kind != "none"
            return GripperReading(told.tool, GripperKind.PARALLEL, told.holding, told.width_m) if is_there else None
        if mounted is None:
            return None
        if isinstance(mounted, Vacuum):
            return GripperReading(mounted.name, GripperKind.VACUUM, mounted.holding, is_powered=mounted.powered)
        width_m = round(self._controller.gripper.width_m / OWN_WIDTH_STEP_M) * OWN_WIDTH_STEP_M
        return GripperReading(mounted.name, GripperKind.PARALLEL, mounted.holding, width_m)

    async def first_reports(self) -> None:
        """Waits until every sensor has reported once, or should have."""
        for sensor in (self._joints, self._tool, self._wrist):
            await self._reported(sensor, -1)

    async def tool_report(self) -> None:
        """Waits for a report that was taken from now on: what a tool did, its sensor tells later."""
        await self._reported(self._tool, round(self._clock.time_s * 1e9))

    async def _reported(self, sensor: Sensor[Any] | None, since_ns: int) -> None:
        end_s = self._clock.time_s + REPORT_S
        while sensor is not None and self._clock.time_s < end_s:
            told = sensor.latest
            if told is not None and told.time_ns >= since_ns:
                return
            await self._clock.sleep(POLL_S)


def _latest(sensor: Sensor[Any] | None) -> Message | None:
    return None if sensor is None else sensor.latest

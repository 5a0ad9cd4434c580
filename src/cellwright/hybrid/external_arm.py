"""An external robot as the server of a laboratory commands one: each call becomes CRCL commands in its own terms."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cellwright.control import MotionStopped, RobotController, StopCategory
from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.pose import Pose as CorePose
from cellwright.crcl import JointTarget, NotAvailable, OutcomeState, Pace, Screw, Tolerance, Waypoint
from cellwright.crcl.messages import (
    ActuateJoint,
    ActuateJoints,
    CloseToolChanger,
    CRCLCommand,
    DisableSensor,
    EnableSensor,
    EndCanon,
    JointForceTorque,
    JointSpeedAccel,
    MoveScrew,
    MoveThroughTo,
    MoveTo,
    OpenToolChanger,
    ParameterSetting,
    Point,
    PoseAndSet,
    PoseTolerance,
    RotAccelAbsolute,
    RotSpeedAbsolute,
    RunProgram,
    SetEndEffector,
    SetEndEffectorParameters,
    SetRobotParameters,
    SetRotAccel,
    SetRotSpeed,
    SetTransAccel,
    SetTransSpeed,
    StopConditionEnum,
    TransAccelAbsolute,
    TransSpeedAbsolute,
)
from cellwright.crcl.poses import message_of_pose
from cellwright.hybrid.robot_link import RobotLink
from cellwright.interfaces.crcl_arm import CrclArm
from cellwright.motion import JointLimits

__all__ = ["ExternalArm"]

Array = npt.NDArray[np.float64]

OVERRIDE = "override_percent"
STEP_RAD, MOST_POINTS = 0.05, 2000  # of a screw, between points and points at which its place is checked
LEAST_SHARE = 0.05  # of the largest turn of a joint: those that turn less may be as fast as one that turns so much
LEAST_MPS, LEAST_RADPS = 0.01, 0.05  # of a tool that hardly moves, or hardly turns, while joints do
PARTS = 32  # of a motion of joints, in which the speed of its tool is looked at


class ExternalArm:
    """The commands of a robot at an address, in SI units and in the frame of the laboratory's server.

    It is never told more than its target allows: slower is told, elsewhere is refused.

    Args:
        link: The session with it.
        controller: The simulated robot that it stands for.
        arm: The same for the laboratory's server, whose frames its commands have.
    """

    def __init__(self, link: RobotLink, controller: RobotController, arm: CrclArm) -> None:
        self.link = link
        self._controller, self._arm = controller, arm
        self._pace: Pace | None = None
        self._fastest_radps = JointLimits.of(controller.kinematics.arm).velocity_radps.tolist()
        self._stopping: asyncio.Task[str] | None = None

    async def prepare(self) -> None:
        """Begins its session anew, which ends an error."""
        self._pace = None
        await self.link.begin()

    async def rest(self) -> None:
        """Ends its session."""
        await self._do(EndCanon(0))

    async def move_joints(self, targets: Sequence[JointTarget]) -> None:
        """Moves joints to positions."""
        if self.link.cfg.joint_tolerance_deg is None:
            await self._move_to_joints(targets)
            return
        most_radps = self._checked_joints(targets)
        joints = tuple(ActuateJoint(one.number, one.position, _details(one, most_radps)) for one in targets)
        await self._do(ActuateJoints(0, joints))

    async def _move_to_joints(self, targets: Sequence[JointTarget]) -> None:
        """Moves its tool to where these joints of the drawings have it: its own joints are others."""
        name, at = self._controller.name, self.link.cfg.at
        if any(target.effort is not None for target in targets):
            raise NotAvailable(name, f"torque of joints at {at}, whose joints are not those of the drawings")
        tips, way = self._tips(self._controller.joints_rad, targets)
        self._require_inside(tips[-1])
        speeds = [target.speed or self._fastest_radps[target.number - 1] for target in targets]
        took_s = max((abs(way[t.number - 1]) / s for t, s in zip(targets, speeds, strict=True)), default=0.0)
        steps, most = list(pairwise(tips)), self._arm.max_pace
        speed_mps = PARTS * max(one.distance_m(next_one) for one, next_one in steps) / max(took_s, 1e-9)
        turn_radps = PARTS * max(one.angle_rad(next_one) for one, next_one in steps) / max(took_s, 1e-9)
        pace = replace(
            self._arm.default_pace,
            speed_mps=min(max(speed_mps, LEAST_MPS), most.speed_mps),
            turn_radps=min(max(turn_radps, LEAST_RADPS), most.turn_radps),
        )
        await self._set_pace(pace)
        await self._do(MoveTo(0, False, message_of_pose(self._told(tips[-1]))))

    async def move_through(self, waypoints: Sequence[Waypoint], *, straight: bool) -> None:
        """Moves its tool past all waypoints, to rest at the last."""
        tips = [self._arm.tool_in_base(waypoint.pose_tool_in_base) for waypoint in waypoints]
        for tip in tips:
            self._require_inside(tip)
        await self._set_pace(waypoints[-1].pace)
        poses = [message_of_pose(self._told(tip)) for tip in tips]
        if len(poses) == 1:
            await self._do(MoveTo(0, straight, poses[0]))
            return
        passed = [
            PoseAndSet(
                pose.point,
                pose.x_axis,
                pose.z_axis,
                waypoint.pace.coordinated,
                trans_speed=TransSpeedAbsolute(self._allowed_mps(waypoint.pace)),
                rot_speed=RotSpeedAbsolute(waypoint.pace.turn_radps),
                trans_accel=TransAccelAbsolute(waypoint.pace.acceleration_mps2),
                rot_accel=RotAccelAbsolute(waypoint.pace.turn_acceleration_radps2),
                tolerance=_tolerance(waypoint.tolerance),
            )
            for pose, waypoint in zip(poses, waypoints, strict=True)
        ]
        await self._do(MoveThroughTo(0, straight, tuple(passed), len(passed)))

    async def move_screw(self, screw: Screw, pace: Pace) -> None:
        """Moves its tool along a helix."""
        start = self._arm.tool_in_base(screw.pose_start_in_base)
        points = min(2 + math.ceil(abs(screw.turn_rad) / STEP_RAD), MOST_POINTS)
        for share in np.linspace(0.0, 1.0, points).tolist():
            self._require_inside(self._arm.tool_in_base(screw.pose_at(share)))
        await self._set_pace(pace)
        axis = self._arm.tool_in_base(CorePose.from_xyz_rpy(screw.axis_point_m)).position
        x, y, z = (self.link.frame.pose_frame_in_base.inverse().apply(axis)).tolist()
        await self._do(
            MoveScrew(
                0,
                start_position=message_of_pose(self._told(start)),
                axis_point=Point(x, y, z),
                axial_distance_screw=screw.distance_m,
                turn=screw.turn_rad,
            )
        )

    async def stop(self, condition: StopConditionEnum) -> None:
        """Stops it.

        Raises:
            JobFailed: It does not say that it stands.
        """
        await self.settled()
        if problem := await self.link.stop(condition):
            raise JobFailed(f"{self._controller.name} at {self.link.cfg.at} WAS NOT STOPPED: {problem}")

    async def settled(self) -> None:
        """Waits until a stop that is under way has ended."""
        stopping, self._stopping = self._stopping, None
        if stopping is not None:
            await asyncio.gather(stopping, return_exceptions=True)

    async def set_end_effector(self, fraction: float) -> None:
        """Opens or powers its tool to a fraction."""
        await self._do(SetEndEffector(0, fraction))

    async def set_end_effector_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets parameters of its tool."""
        await self._do(SetEndEffectorParameters(0, _settings(parameters)))

    async def set_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets its speed override; how it follows motions is its own affair."""
        for name in parameters:
            if name != OVERRIDE:
                raise NotAvailable(self._controller.name, f"parameter '{name}' at {self.link.cfg.at}")
        await self._do(SetRobotParameters(0, _settings(parameters)))

    async def open_tool_changer(self) -> None:
        """Lets its tool go."""
        await self._do(OpenToolChanger(0))

    async def close_tool_changer(self) -> None:
        """Takes the tool under its flange."""
        await self._do(CloseToolChanger(0))

    async def run_program(self, text: str) -> None:
        """Runs a program in its own language."""
        await self._do(RunProgram(0, text))

    async def enable_sensor(self, sensor_id: str, options: Mapping[str, str]) -> None:
        """Begins to read a sensor of it."""
        await self._do(EnableSensor(0, sensor_id, sensor_option=_settings(options)))

    async def disable_sensor(self, sensor_id: str) -> None:
        """Ceases to read a sensor of it."""
        await self._do(DisableSensor(0, sensor_id))

    async def _do(self, command: CRCLCommand) -> None:
        """Executes a command; one that is not waited for any more is stopped."""
        name, at = self._controller.name, self.link.cfg.at
        try:
            outcome = await self.link.execute(command)
        except asyncio.CancelledError:
            self._stopping = asyncio.get_running_loop().create_task(self.link.stop(StopConditionEnum.NORMAL))
            raise
        if outcome.state is OutcomeState.ABORTED:
            raise MotionStopped(name, StopCategory.FAST, f"at {at}: {outcome.reason}")
        if outcome.state is OutcomeState.TIMEOUT:
            await self.stop(StopConditionEnum.FAST)
        if not outcome.done:
            raise JobFailed(f"{name} at {at}: {outcome.reason or outcome.state}")

    async def _set_pace(self, pace: Pace) -> None:
        """Tells it speeds and accelerations that it does not have yet."""
        known, self._pace = self._pace, pace
        if known is None or self._allowed_mps(known) != self._allowed_mps(pace):
            await self._do(SetTransSpeed(0, TransSpeedAbsolute(self._allowed_mps(pace))))
        if known is None or known.acceleration_mps2 != pace.acceleration_mps2:
            await self._do(SetTransAccel(0, TransAccelAbsolute(pace.acceleration_mps2)))
        if known is None or known.turn_radps != pace.turn_radps:
            await self._do(SetRotSpeed(0, RotSpeedAbsolute(pace.turn_radps)))
        if known is None or known.turn_acceleration_radps2 != pace.turn_acceleration_radps2:
            await self._do(SetRotAccel(0, RotAccelAbsolute(pace.turn_acceleration_radps2)))

    def _allowed_mps(self, pace: Pace) -> float:
        return min(pace.speed_mps, self.link.cfg.speed_limit_mps)

    def _told(self, pose_tool_in_base: CorePose) -> CorePose:
        return self.link.frame.told(pose_tool_in_base, self._controller.ring.pose_tool_in_flange)

    def _checked_joints(self, targets: Sequence[JointTarget]) -> dict[int, float]:
        """Checks where joints bring the tool; returns the speeds at which it is not faster than is allowed.

        Raises:
            OutOfRange: It would be outside the box that the target allows.
            NotAvailable: There is a box, and nobody knows where the tool would be.
        """
        report, cfg, name = self.link.latest, self.link.cfg, self._controller.name
        if report is None or report.joints_rad is None:
            if cfg.workspace_m is not None:
                why = "it does not tell its joints, so that `workspace_m` cannot be checked"
                raise NotAvailable(name, f"motion of joints at {cfg.at}: {why}")
            return {}
        tips, way = self._tips(report.joints_rad, targets)
        self._require_inside(tips[-1])
        longest_s = PARTS * max(one.distance_m(next_one) for one, next_one in pairwise(tips)) / cfg.speed_limit_mps
        # A joint that hardly turns must not be the one for which the others wait: its speed would be next to nothing.
        most_radps = np.maximum(np.abs(way), LEAST_SHARE * np.abs(way).max()) / max(longest_s, 1e-9)
        return {n: speed for n, speed in enumerate(most_radps.tolist(), 1) if 0.0 < speed < self._fastest_radps[n - 1]}

    def _tips(self, start_rad: Array, targets: Sequence[JointTarget]) -> tuple[list[CorePose], Array]:
        """Returns the poses of the tool on the way to joints of the drawings, and by how much each joint turns."""
        goal = np.array(start_rad)
        for target in targets:
            goal[target.number - 1] = target.position
        way = goal - start_rad
        forward, tool = self._controller.kinematics.forward, self._controller.ring.pose_tool_in_flange
        return [forward(start_rad + share * way) @ tool for share in np.linspace(0.0, 1.0, 1 + PARTS)], way

    def _require_inside(self, pose_tool_in_base: CorePose) -> None:
        """Refuses a place outside the box that the target allows."""
        box = self.link.cfg.workspace_m
        if box is None:
            return
        low, high = np.minimum(*box), np.maximum(*box)
        for axis, value, least, most in zip("xyz", pose_tool_in_base.position.tolist(), low, high, strict=True):
            if not least <= value <= most:
                what = f"{self._controller.name}: {axis} of its tool in the base, by `workspace_m` of its target"
                raise OutOfRange(what, value, least, most, "m")


def _details(target: JointTarget, most_radps: Mapping[int, float]) -> JointSpeedAccel | JointForceTorque:
    if target.effort is not None:
        return JointForceTorque(setting=target.effort, change_rate=target.effort_rate)
    speeds = [speed for speed in (target.speed, most_radps.get(target.number)) if speed is not None]
    return JointSpeedAccel(joint_speed=min(speeds, default=None), joint_accel=target.acceleration)


def _tolerance(tolerance: Tolerance) -> PoseTolerance | None:
    if tolerance == Tolerance():
        return None
    return PoseTolerance(
        x_point_tolerance=tolerance.x_m,
        y_point_tolerance=tolerance.y_m,
        z_point_tolerance=tolerance.z_m,
        x_axis_tolerance=tolerance.x_axis_rad,
        z_axis_tolerance=tolerance.z_axis_rad,
    )


def _settings(values: Mapping[str, str]) -> tuple[ParameterSetting, ...]:
    return tuple(ParameterSetting(name, value) for name, value in values.items())

"""A robot as those who pick and place know it, and the one that executors have: a CRCL client and a nominal base."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient, messages
from cellwright.crcl.outcome import Outcome, OutcomeState
from cellwright.crcl.poses import checked_pose, message_of_pose
from cellwright.crcl.session_settings import report_when_done
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.settings import Recipe

__all__ = [
    "JOINT_SPEED_RADPS",
    "TOUCH_MPS",
    "TOUCH_N",
    "Arm",
    "ArmClient",
    "ArmFailed",
    "HandReading",
    "raised",
    "tool_down",
]

JOINT_SPEED_RADPS, JOINT_ACCELERATION_RADPS2 = 0.8, 1.5  # to the rest position; estimated
TURN_SPEED_RADPS = 1.0
STEP_TURN_RADPS2 = 60.0  # of small steps: a tool at a tenth of its speed is there in as little time
NEAR_M, NEAR_RAD = 0.005, 0.02  # a tool is at least so near to where it was sent
SHORT_M = 0.0015  # a tool that stands farther from where it was to press was stopped before
TOUCH_MPS = 0.005  # at which a contact is found to a few hundredths of a millimetre
TOUCH_N = 2.0  # at the wrist, above its noise and the inertia of a tool that sets out so slowly


class ArmFailed(StepFailed):
    """A command that the robot did not do, or could not answer any more."""

    def __init__(self, robot: str, outcome: Outcome) -> None:
        is_lost = outcome.state in (OutcomeState.LOST, OutcomeState.TIMEOUT)
        super().__init__(FailureKind.ARM, f"{robot}: {outcome.text}", is_lost_robot=is_lost)


@dataclass(frozen=True)
class HandReading:
    """The state of a tool as its robot reports it.

    Attributes:
        pose_tool_in_world: By the nominal pose of its base.
        gripper: Its name in the catalogue; empty when no tool is on the flange.
        width_m: Between the fingers, if it has any.
        holding: Whether they were stopped by something; of cups, whether they have a vacuum.
        joints_rad: The angles of the arm's joints; empty when it does not report them.
        wrench: Forces (N) along and torques (N m) about the axes of its flange, as the sensor at its wrist reports
            them, with its sign and the weight of the tool; None without one.
        wrench_count: The number of that measurement.
    """

    pose_tool_in_world: Pose
    gripper: str
    width_m: float
    holding: bool
    joints_rad: tuple[float, ...] = ()
    wrench: tuple[float, float, float, float, float, float] | None = None
    wrench_count: int = 0

    @property
    def pull_n(self) -> float | None:
        """The force along the axis of its wrist; None without a sensor there."""
        return None if self.wrench is None else self.wrench[2]


class Arm(Protocol):
    """A robot that moves its tool: over CRCL, or in process."""

    @property
    def name(self) -> str:
        """The robot's name."""

    @property
    def recipe(self) -> Recipe:
        """Its speeds and distances."""

    @property
    def waits_for_tool(self) -> bool:
        """Whether `set_tool` returns only when the tool has come to rest; over CRCL, fingers may still creep."""

    async def read(self) -> HandReading:
        """Returns the current state of the tool."""

    async def move(self, pose_tool_in_world: Pose, speed_mps: float, *, straight: bool = True) -> None:
        """Moves the tool to a pose, along a line or by any path."""

    async def set_tool(self, setting: float) -> HandReading:
        """Opens fingers (1) or closes them (0); of cups, starts their pump (1) or stops it (0)."""

    async def dwell(self, duration_s: float) -> None:
        """Waits without moving."""


class ArmClient:
    """The CRCL connection to one robot.

    Args:
        name: Its name.
        client: An open one.
        pose_base_in_world: By the drawings.
        recipe: Speeds.
        tool_models: What it calls a tool -> the tool's name in the catalogue, where they differ.
        force_sensor: Its name of the sensor at its wrist, by the drawings; empty when none is known.
        tool_offset: The pose of its tool's point as it was measured, in the frame of the point that it reports.
    """

    waits_for_tool = False

    def __init__(
        self,
        name: str,
        client: CrclClient,
        pose_base_in_world: Pose,
        recipe: Recipe,
        tool_models: Mapping[str, str] | None = None,
        force_sensor: str = "",
        tool_offset: Pose | None = None,
    ) -> None:
        self.name = name
        self.recipe = recipe
        self._tool_models = tool_models or {}
        self._force_sensor = force_sensor
        self.rest_rad: tuple[float, ...] | None = None
        """Joint angles of the place where it waits; where it stood when it was first asked, unless told otherwise."""
        self.rest_point: tuple[float, float, float] | None = None
        """Where its tool is then, in the world."""
        self.on_motion: Callable[[HandReading, bool], None] = lambda _reading, _still: None
        """Is told where it is when a motion begins, and when it has ended: then it stands still."""
        self.above_m: Callable[[np.ndarray], float] = lambda _point: 0.0
        """How much higher than believed things are at a point in the world, for this robot: it goes so much higher."""
        self._last: HandReading | None = None
        self._client = client
        self._base = pose_base_in_world
        self._from_world = pose_base_in_world.inverse()
        self._tool_offset = tool_offset
        self._speed_mps: float | None = None
        self._at: Pose | None = None  # where its tool is, in the world, as far as that is known
        self._watch: Callable[[HandReading], StepFailed | None] | None = None

    async def prepare(self) -> HandReading:
        """Ends whatever the robot is in error over, and sets units and speeds; says how it stands."""
        self._speed_mps = self._at = None
        await self._do(messages.InitCanon(0))
        if not (await self._client.execute(report_when_done())).done:
            await self._do(messages.InitCanon(0))  # it has no such parameter, and is in error over it
        if self._force_sensor:
            outcome = await self._client.execute(messages.EnableSensor(0, self._force_sensor))
            if outcome.state is OutcomeState.ERROR:  # it has none, so no motion can be guarded by it
                self._force_sensor = ""
                await self._do(messages.InitCanon(0))
        await self._do(messages.SetLengthUnits(0, unit_name=messages.LengthUnitEnum.METER))
        await self._do(messages.SetAngleUnits(0, unit_name=messages.AngleUnitEnum.RADIAN))
        acceleration = messages.TransAccelAbsolute(setting=self.recipe.acceleration_mps2)
        await self._do(messages.SetTransAccel(0, trans_accel=acceleration))
        turn = messages.RotSpeedAbsolute(setting=TURN_SPEED_RADPS)
        await self._do(messages.SetRotSpeed(0, rot_speed=turn))
        status = await self._client.status()
        reading = self._reading(status)
        if self.rest_rad is None and reading.joints_rad:
            self.rest_rad = reading.joints_rad
            x, y, z = reading.pose_tool_in_world.position.tolist()
            self.rest_point = (x, y, z)
        await self._report_briefly()
        self._at = reading.pose_tool_in_world
        self.on_motion(reading, True)
        return reading

    async def read(self) -> HandReading:
        """Returns the current state of the tool."""
        return self._reading(await self._client.status())

    async def move(self, pose_tool_in_world: Pose, speed_mps: float, *, straight: bool = True) -> None:
        """Moves the tool to a pose.

        Raises:
            ArmFailed: It cannot, or something stopped it.
        """
        await self._set_speed(speed_mps)
        pose = message_of_pose(self._in_base(pose_tool_in_world))
        before = self._at
        self._at = None
        least_s = 0.0 if before is None else self._least_s(before, pose_tool_in_world, speed_mps)
        await self._go(messages.MoveTo(0, move_straight=straight, end_position=pose), least_s)
        self._at = pose_tool_in_world

    @property
    def feels_force(self) -> bool:
        """Whether a sensor at its wrist stops it at a contact."""
        return bool(self._force_sensor)

    async def press(self, pose_tool_in_world: Pose, speed_mps: float, limit_n: float) -> float:
        """Moves the tool along a line until it is there, or until the force along it at the wrist has changed so much.

        The robot itself supervises that, by guards: it stops where it is, without an error.

        Returns:
            The distance at which something stopped it before; 0 when it is there.

        Raises:
            ArmFailed: It cannot move so, or, with no sensor at its wrist, something stopped it.
        """
        await self._guarded(pose_tool_in_world, speed_mps, limit_n)
        self._at = pose_tool_in_world if self._last is None else self._last.pose_tool_in_world
        short_m = self._at.distance_m(pose_tool_in_world)
        return short_m if short_m > SHORT_M else 0.0

    async def touch(
        self,
        pose_tool_in_world: Pose,
        speed_mps: float = TOUCH_MPS,
        limit_n: float = TOUCH_N,
        axes: Sequence[str] = ("Fz",),
    ) -> Pose | None:
        """Moves the tool along a line until a force at the wrist has changed so much; the robot stops there.

        Args:
            pose_tool_in_world: Where it stops at the latest.
            speed_mps: Its speed; the slower, the better the place of a contact is known.
            limit_n: The change of force that is a contact.
            axes: The components of the force that are watched, as the sensor reports them: Fx, Fy, Fz.

        Returns:
            The pose of the tool in the world when a guard found the contact, by the joints and the nominal base: not
            where it came to rest. None when it met nothing.

        Raises:
            ArmFailed: It cannot move so.
            StepFailed: It has no sensor at its wrist.
        """
        if not self._force_sensor:
            raise StepFailed(FailureKind.UNABLE, f"{self.name} has no sensor at its wrist to touch with")
        await self._do(messages.ConfigureStatusReport(0, True, True, True, False, True, True))
        guards = (await self._client.status()).guards_statuses
        before = guards.trigger_count if guards else 0
        await self._guarded(pose_tool_in_world, speed_mps, limit_n, axes)
        status = await self._client.status()
        self._at = self._reading(status).pose_tool_in_world
        await self._report_briefly()
        guards = status.guards_statuses
        if guards is None or guards.trigger_count == before or guards.trigger_pose is None:
            return None
        return self._in_world(checked_pose(guards.trigger_pose, self.name))

    async def _guarded(
        self, pose_tool_in_world: Pose, speed_mps: float, limit_n: float, axes: Sequence[str] = ("Fz",)
    ) -> None:
        """Moves along a line under guards on the force at the wrist, where there is a sensor."""
        await self._set_speed(speed_mps)
        limits = messages.GuardLimitEnum.INCREASE_OVER_LIMIT, messages.GuardLimitEnum.DECREASE_BEYOND_LIMIT
        guards = tuple(
            messages.Guard(self._force_sensor, sub_field=axis, limit_type=limit, limit_value=limit_n)
            for axis in (axes if self._force_sensor else ())
            for limit in limits
        )
        self._at = None
        pose = message_of_pose(self._in_base(pose_tool_in_world))
        await self._go(
            messages.MoveTo(0, guard=guards, move_straight=True, end_position=pose)
        )  # asked often: it may stop

    async def step(self, pose_tool_in_world: Pose, speed_mps: float, limit_n: float) -> HandReading:
        """Moves the tool a little until any force at the wrist has changed so much; returns what is felt there.

        Speeds and accelerations go with the command, so that those of other motions stay.

        Raises:
            ArmFailed: It cannot move so.
        """
        limits = messages.GuardLimitEnum.INCREASE_OVER_LIMIT, messages.GuardLimitEnum.DECREASE_BEYOND_LIMIT
        guards = tuple(
            messages.Guard(self._force_sensor, sub_field=axis, limit_type=limit, limit_value=limit_n)
            for axis in (("Fx", "Fy", "Fz") if self._force_sensor else ())
            for limit in limits
        )
        pose = message_of_pose(self._in_base(pose_tool_in_world))
        goal = messages.PoseAndSet(
            pose.point,
            pose.x_axis,
            pose.z_axis,
            True,
            trans_speed=messages.TransSpeedAbsolute(setting=speed_mps),
            trans_accel=messages.TransAccelAbsolute(setting=self.recipe.acceleration_mps2),
            rot_speed=messages.RotSpeedAbsolute(setting=TURN_SPEED_RADPS),
            rot_accel=messages.RotAccelAbsolute(setting=STEP_TURN_RADPS2),
        )
        self._at = None
        await self._go(messages.MoveTo(0, guard=guards, move_straight=True, end_position=goal))
        reading = await self.read()
        self._at = reading.pose_tool_in_world
        return reading

    async def _report_briefly(self) -> None:
        """Asks for joints, pose, gripper and wrist in every status; to write and read the rest takes longer."""
        await self._do(messages.ConfigureStatusReport(0, True, True, True, False, bool(self._force_sensor), False))

    def _least_s(self, before: Pose, after: Pose, speed_mps: float) -> float:
        """Returns the time in which no robot with these settings gets there."""
        way_m, accel_mps2 = max(before.distance_m(after) - NEAR_M, 0.0), self.recipe.acceleration_mps2
        is_short = way_m < speed_mps**2 / accel_mps2  # never at full speed
        move_s = 2 * (way_m / accel_mps2) ** 0.5 if is_short else way_m / speed_mps + speed_mps / accel_mps2
        return max(move_s, (before.angle_rad(after) - NEAR_RAD) / TURN_SPEED_RADPS)

    async def _set_speed(self, speed_mps: float) -> None:
        if speed_mps != self._speed_mps:
            speed = messages.TransSpeedAbsolute(setting=speed_mps)
            await self._do(messages.SetTransSpeed(0, trans_speed=speed))
            self._speed_mps = speed_mps

    async def set_tool(self, setting: float) -> HandReading:
        """Opens fingers (1) or closes them (0); of cups, starts their pump (1) or stops it (0)."""
        return self._reading((await self._do(messages.SetEndEffector(0, setting=setting))).status)

    async def dwell(self, duration_s: float) -> None:
        """Waits without moving."""
        await self._do(messages.Dwell(0, dwell_time=duration_s))

    async def rest(self, aside_rad: float = 0.0, speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Moves to the rest position, once the tool is above everything; turned aside about the first, upright axis."""
        if self.rest_rad:
            await self.turn([self.rest_rad[0] + aside_rad, *self.rest_rad[1:]], speed_radps)

    async def turn(self, joints_rad: Sequence[float], speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Turns the joints to angles."""
        self._at = None
        details = messages.JointSpeedAccel(joint_speed=speed_radps, joint_accel=JOINT_ACCELERATION_RADPS2)
        joints = tuple(
            messages.ActuateJoint(number, angle_rad, joint_details=details)
            for number, angle_rad in enumerate(joints_rad, start=1)
        )
        await self._go(messages.ActuateJoints(0, actuate_joint=joints))

    async def _go(self, command: messages.CRCLCommand, least_s: float = 0.0) -> None:
        """Carries out a motion, and tells where the arm is before and after it."""
        if self._last is not None:
            self.on_motion(self._last, False)
        found: list[StepFailed] = []

        def is_over(status: messages.CRCLStatus) -> bool:
            failure = self._watch(self._reading(status)) if self._watch is not None else None
            found.extend([failure] if failure is not None else [])
            return failure is not None

        stop_when = None if self._watch is None else is_over
        outcome = await self._client.execute(command, least_s=least_s, stop_when=stop_when)
        if found:
            self.on_motion(await self.read(), True)
            raise found[0]
        if not outcome.done:
            raise ArmFailed(self.name, outcome)
        self.on_motion(self._reading(outcome.status), True)

    @contextmanager
    def watched(self, check: Callable[[HandReading], StepFailed | None]) -> Iterator[None]:
        """Stops every motion meanwhile as soon as the check finds why, from what the robot reports on its way."""
        self._watch = check
        try:
            yield
        finally:
            self._watch = None

    async def _do(self, command: messages.CRCLCommand) -> Outcome:
        outcome = await self._client.execute(command)
        if not outcome.done:
            raise ArmFailed(self.name, outcome)
        return outcome

    async def change_tool(self, *, lock: bool) -> None:
        """Locks the tool that is under the flange, or lets go of the one that is on it."""
        self._at = None
        await self._do(messages.CloseToolChanger(0) if lock else messages.OpenToolChanger(0))

    def _lifted(self, pose: Pose, times: float) -> Pose:
        """Returns a pose in the world as it is for the robot (1), or one of the robot's as it is believed (-1)."""
        above_m = self.above_m(pose.position)
        return pose if above_m == 0.0 else raised(pose, float(pose.position[2]) + times * above_m)

    def _in_base(self, pose_tool_in_world: Pose) -> Pose:
        """Returns what to command so that the tool is there."""
        pose = self._from_world @ self._lifted(pose_tool_in_world, 1.0)
        return pose if self._tool_offset is None else pose @ self._tool_offset.inverse()

    def _in_world(self, pose_reported_in_base: Pose) -> Pose:
        """Returns where the tool is when the robot reports it there."""
        pose = self._base @ pose_reported_in_base
        return self._lifted(pose if self._tool_offset is None else pose @ self._tool_offset, -1.0)

    def _reading(self, status: messages.CRCLStatus | None) -> HandReading:
        gripper = status.gripper_status if status else None
        if status is None or status.pose_status is None:
            raise JobFailed(f"{self.name} reports no pose")
        pose = self._in_world(checked_pose(status.pose_status.pose, self.name))
        statuses = status.joint_statuses.joint_status if status.joint_statuses else ()
        joints_rad = tuple(float(one.joint_position) for one in statuses if one.joint_position is not None)
        felt = status.sensor_statuses.force_torque_sensor_status if status.sensor_statuses else ()
        one = next((one for one in felt if one.sensor_id == self._force_sensor), None)
        wrist = (None, 0) if one is None else ((one.fx, one.fy, one.fz, one.tx, one.ty, one.tz), one.read_count)
        if gripper is None:
            self._last = HandReading(pose, "", 0.0, False, joints_rad, *wrist)
            return self._last
        width_m = float(gripper.separation) if isinstance(gripper, messages.ParallelGripperStatus) else 0.0
        model = self._tool_models.get(gripper.gripper_name, gripper.gripper_name)
        self._last = HandReading(pose, model, width_m, bool(gripper.holding_object), joints_rad, *wrist)
        return self._last


def tool_down(position_m: np.ndarray, yaw_rad: float = 0.0) -> Pose:
    """Returns a tool that points at the floor, its fingers turned about the vertical."""
    return Pose.from_xyz_rpy(position_m, [np.pi, 0.0, yaw_rad])


def raised(pose: Pose, z_m: float) -> Pose:
    """Returns the same at another height."""
    return Pose(np.array([*pose.position[:2], z_m]), pose.quaternion)

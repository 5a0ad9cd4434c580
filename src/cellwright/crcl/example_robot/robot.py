"""A robot to practise CRCL on.

>>> import asyncio
>>> from cellwright.crcl import serve_example_arm
>>> asyncio.run(serve_example_arm(port=64444))  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from cellwright.core.errors import BadInput, JobFailed, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.core.rotation import vector_from_quaternion
from cellwright.crcl.example_robot.gantry import GANTRY_JOINTS, forward, inverse
from cellwright.crcl.example_robot.trajectory import Joints, StoppableTrajectory, TrajectorySegment
from cellwright.crcl.messages import StopConditionEnum
from cellwright.crcl.robot import (
    GripperKind,
    GripperReading,
    JointFacts,
    JointTarget,
    NotAvailable,
    Pace,
    RobotClock,
    RobotReading,
    SensorReading,
    SensorValue,
    Vector3,
    Waypoint,
)
from cellwright.crcl.screw import Screw
from cellwright.crcl.server import DEFAULT_PORT, CrclServer
from cellwright.crcl.wall_clock import WallClock

__all__ = ["ExampleArm", "serve_example_arm"]

OPEN_M = 0.06
FINGER_SPEED_MPS = 0.2
CATCH_UP_TICKS = 10
KEPT_MESSAGES = 100
SAMPLE_RAD = 0.1  # between the points of a path at which its joints are checked beforehand
MOST = Pace(1.0, 4.0, math.pi, 4 * math.pi)
USUAL = Pace(0.25, 1.0, math.pi / 4, math.pi)


class ExampleArm:
    """A gantry of three sliding joints with a wrist of three turning ones and a parallel gripper.

    It is for trying clients and for tests: it keeps limits, speeds and ramps, stops in the three ways, has sensors
    whose values you set, and gets along without any physics. It is no model of a real robot: nothing has mass, nothing
    is in its way, its path is exact, and between waypoints with different speeds its speed jumps.

    Args:
        clock: Its time.
        name: Its name.
        tick_s: How often it moves.
        start: The joints at the beginning, in metres and radians.
        object_width_m: The width of an object between its fingers; there is none if None.
        pose_base_in_world: The pose of its base.
    """

    joints: Sequence[JointFacts] = GANTRY_JOINTS
    max_pace, default_pace = MOST, USUAL

    def __init__(
        self,
        clock: RobotClock,
        name: str = "practice",
        *,
        tick_s: float = 0.01,
        start: Joints = (0.4, 0.0, 0.3, 0.0, 0.0, 0.0),
        object_width_m: float | None = None,
        pose_base_in_world: Pose | None = None,
    ) -> None:
        if not 1e-4 <= tick_s <= 1.0:
            raise OutOfRange("tick", tick_s, 1e-4, 1.0, "s")
        self.name = name
        self.clock = clock
        self.object_width_m = object_width_m
        self.pose_base_in_world = pose_base_in_world or Pose.identity()
        lows, highs = ([(j.min_position, j.max_position)[side] for j in GANTRY_JOINTS[:3]] for side in (0, 1))
        self.cartesian_limits: tuple[Vector3, Vector3] = ((lows[0], lows[1], lows[2]), (highs[0], highs[1], highs[2]))
        self.messages: list[str] = []
        self.parameters: Mapping[str, str] = {"override_percent": "100"}
        self._tick_s = tick_s
        self._positions = inverse(forward(start))  # refuses what is beyond the limits
        self._pose = forward(self._positions)
        self._velocities: Joints = (0.0,) * 6
        self._efforts: Joints = self._velocities
        self._turning: Vector3 = (0.0, 0.0, 0.0)
        self._separation_m = OPEN_M
        self._sensors = {"ATINetFT": self._sample((0.0,) * 6), "part_present": self._sample(False)}
        self._enabled: set[str] = set()
        self._drive: asyncio.Task[None] | None = None
        self._journey = StoppableTrajectory([])
        self._reading: RobotReading | None = None

    def set_sensor(self, sensor_id: str, value: SensorValue) -> None:
        """Sets the value of a sensor: forces and torques of `ATINetFT`, the switch `part_present`, or a new sensor."""
        known = self._sensors.get(sensor_id)
        self._sensors = {**self._sensors, sensor_id: self._sample(value, known.read_count + 1 if known else 1)}
        self._reading = None

    def read(self) -> RobotReading:
        """Returns its state now."""
        if self._enabled and self.clock.time_s - max(s.time_s for s in self._sensors.values()) >= self._tick_s:
            for sensor_id in self._enabled:
                self.set_sensor(sensor_id, self._sensors[sensor_id].value)
        if self._reading is None:
            force = self._sensors["ATINetFT"].value
            self._reading = RobotReading(
                positions=self._positions,
                velocities=self._velocities,
                pose_tool_in_base=self._pose,
                efforts=self._efforts,
                twist=(*self._velocities[:3], *self._turning),  # type: ignore[arg-type]  # three and three
                wrench=force if isinstance(force, tuple) else None,
                configuration="gantry",
                gripper=self._gripper(),
                sensors=self._sensors,
                override_percent=int(self.parameters["override_percent"]),
                path_share=None if self._drive is None else self._journey.share,
            )
        return self._reading

    async def prepare(self) -> None:
        """Does nothing: there is nothing to get ready."""

    async def rest(self) -> None:
        """Does nothing: it stays where it is."""

    async def move_joints(self, targets: Sequence[JointTarget]) -> None:
        """Moves joints to positions, all arriving together; nothing resists a force, so it is only reported."""
        goal, efforts, duration_s, ramp_s = list(self._positions), list(self._efforts), 0.0, 0.0
        for target in targets:
            facts = self.joints[target.number - 1]
            speed = min(target.speed or facts.max_velocity / 2, facts.max_velocity)
            goal[target.number - 1] = target.position
            efforts[target.number - 1] = target.effort or 0.0
            duration_s = max(duration_s, abs(target.position - self._positions[target.number - 1]) / speed)
            ramp_s = max(ramp_s, speed / (target.acceleration or 4 * facts.max_velocity))
        self._efforts = tuple(efforts)
        await self._follow([_joint_leg(self._positions, tuple(goal), duration_s, ramp_s)])

    async def move_through(self, waypoints: Sequence[Waypoint], *, straight: bool) -> None:
        """Moves the tool exactly through all waypoints."""
        segments: list[TrajectorySegment] = []
        joints = self._positions
        for waypoint in waypoints:
            begin, end, pace = forward(joints), waypoint.pose_tool_in_base, waypoint.pace
            goal = inverse(end)
            duration_s = max(begin.distance_m(end) / pace.speed_mps, begin.angle_rad(end) / pace.turn_radps)
            segments.append(
                _straight_leg(begin, end, duration_s, _ramp_s(pace))
                if straight
                else _joint_leg(joints, goal, duration_s, _ramp_s(pace))
            )
            joints = goal
        await self._follow(segments)

    async def move_screw(self, screw: Screw, pace: Pace) -> None:
        """Moves the tool along a helix."""
        duration_s = max(screw.length_m / pace.speed_mps, abs(screw.turn_rad) / pace.turn_radps)
        segment = TrajectorySegment(duration_s, _ramp_s(pace), lambda share: inverse(screw.pose_at(share)))
        await self._follow([_checked(segment, screw.turn_rad)])

    async def stop(self, condition: StopConditionEnum) -> None:
        """Stops: immediate at once; fast and normal on the path, with a hard and a soft ramp."""
        self._journey.brake(condition)
        if self._drive is not None:
            await asyncio.wait([self._drive])

    async def set_end_effector(self, fraction: float) -> None:
        """Opens to a fraction of the full width; what is between the fingers stops them."""
        wanted_m = fraction * OPEN_M
        if self.object_width_m is not None and wanted_m < self.object_width_m <= self._separation_m:
            wanted_m = self.object_width_m
        await self.clock.sleep(abs(wanted_m - self._separation_m) / FINGER_SPEED_MPS)
        self._separation_m = wanted_m
        self._reading = None

    async def set_end_effector_parameters(self, parameters: Mapping[str, str]) -> None:
        """Refuses: the gripper has none."""
        raise NotAvailable(self.name, f"gripper with the parameter '{next(iter(parameters))}'")

    async def set_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets `override_percent`, the share of all speeds, 1 to 100."""
        for name, value in parameters.items():
            if name not in self.parameters:
                raise UnknownName("robot parameter", name, self.parameters)
            if not (value.isdecimal() and 1 <= int(value) <= 100):
                raise BadInput(f"{name} is '{value}' (allowed: a whole number from 1 to 100)")
        plain = {name: str(int(value)) for name, value in parameters.items()}
        self.parameters = {**self.parameters, **plain}
        self._reading = None

    async def open_tool_changer(self) -> None:
        """Refuses: there is none."""
        raise NotAvailable(self.name, "tool changer")

    async def close_tool_changer(self) -> None:
        """Refuses: there is none."""
        raise NotAvailable(self.name, "tool changer")

    async def run_program(self, text: str) -> None:
        """Refuses: it has no language of its own."""
        raise NotAvailable(self.name, "language of its own: RunProgram cannot be executed")

    async def enable_sensor(self, sensor_id: str, options: Mapping[str, str]) -> None:
        """Begins to sample a sensor; options are accepted and mean nothing."""
        self._enabled.add(sensor_id)

    async def disable_sensor(self, sensor_id: str) -> None:
        """Ceases to sample a sensor."""
        self._enabled.discard(sensor_id)

    def show_message(self, text: str) -> None:
        """Keeps the last ones in `messages`."""
        self.messages = [*self.messages[1 - KEPT_MESSAGES :], text]

    def _sample(self, value: SensorValue, count: int = 1) -> SensorReading:
        return SensorReading(value, count, self.clock.time_s)

    def _gripper(self) -> GripperReading:
        holding = self.object_width_m is not None and self._separation_m <= self.object_width_m
        return GripperReading("practice_gripper", GripperKind.PARALLEL, holding, self._separation_m)

    async def _follow(self, segments: Sequence[TrajectorySegment]) -> None:
        if self._drive is not None:
            raise JobFailed(f"{self.name} moves already")
        trajectory = self._journey = StoppableTrajectory(segments)
        if trajectory.over:
            return
        self._drive = drive = asyncio.get_running_loop().create_task(self._run(trajectory))
        try:
            await asyncio.shield(drive)
        except asyncio.CancelledError:
            trajectory.brake(StopConditionEnum.NORMAL)
            raise
        if trajectory.stopped:
            raise JobFailed(f"{self.name} was stopped")

    async def _run(self, trajectory: StoppableTrajectory) -> None:
        """Moves until the trajectory is over, in equal steps; an event loop that is far too late makes it slower."""
        driven_s = self.clock.time_s
        try:
            while not trajectory.over:
                await self.clock.sleep(self._tick_s)
                now_s = self.clock.time_s
                driven_s = max(driven_s, now_s - CATCH_UP_TICKS * self._tick_s)
                while not trajectory.over and driven_s + self._tick_s <= now_s + 1e-9:
                    driven_s += self._tick_s
                    self._take(trajectory.step(self._tick_s, int(self.parameters["override_percent"]) / 100))
        finally:
            self._drive = None
            self._velocities = (0.0,) * 6
            self._turning = (0.0, 0.0, 0.0)
            self._reading = None

    def _take(self, joints: Joints) -> None:
        pose = forward(joints)
        turn = vector_from_quaternion((pose @ self._pose.inverse()).quaternion) / self._tick_s
        self._turning = (float(turn[0]), float(turn[1]), float(turn[2]))
        self._velocities = tuple((new - old) / self._tick_s for new, old in zip(joints, self._positions, strict=True))
        self._positions = joints
        self._pose = pose
        self._reading = None


def _ramp_s(pace: Pace) -> float:
    return max(pace.speed_mps / pace.acceleration_mps2, pace.turn_radps / pace.turn_acceleration_radps2)


def _joint_leg(begin: Joints, end: Joints, duration_s: float, ramp_s: float) -> TrajectorySegment:
    way = np.array(end) - np.array(begin)
    return TrajectorySegment(
        duration_s, ramp_s, lambda share: end if share >= 1.0 else tuple((np.array(begin) + way * share).tolist())
    )


def _straight_leg(begin: Pose, end: Pose, duration_s: float, ramp_s: float) -> TrajectorySegment:
    segment = TrajectorySegment(duration_s, ramp_s, lambda share: inverse(begin.interpolate(end, share)))
    return _checked(segment, begin.angle_rad(end))


def _checked(segment: TrajectorySegment, turn_rad: float) -> TrajectorySegment:
    """Returns a segment whose joints exist everywhere; finding out on the way would be too late."""
    samples = 2 + math.ceil(min(abs(turn_rad), 2 * math.pi) / SAMPLE_RAD)  # a whole turn meets the wrist's limits
    most = min(1.0, 2 * math.pi / abs(turn_rad)) if turn_rad else 1.0
    for sample in range(samples + 1):
        segment.joints_at(most * sample / samples)
    segment.joints_at(1.0)
    return segment


async def serve_example_arm(
    host: str = "127.0.0.1", port: int = DEFAULT_PORT, profile: Literal["spec", "aprs-lab"] = "spec"
) -> None:
    """Serves an example arm in real time until it is cancelled."""
    async with CrclServer(ExampleArm(WallClock()), profile=profile, epoch_s=time.time()) as server:
        await server.start(host, port)
        await asyncio.Event().wait()

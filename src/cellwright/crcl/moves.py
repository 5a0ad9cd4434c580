"""The motion commands: poses, limits, speeds and tolerances are checked, then the robot moves and is checked again."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.slices import Slices, at_once, in_turns
from cellwright.crcl import messages as m
from cellwright.crcl.poses import checked_number, checked_pose, misses
from cellwright.crcl.robot import BeyondLimit, CrclRobot, JointTarget, Tolerance, Waypoint
from cellwright.crcl.screw import Screw
from cellwright.crcl.settings import Settings, checked_joint
from cellwright.crcl.units import Quantity

__all__ = ["Moves"]

SETTLE_S = 1.0  # how long a robot may take to come to rest within its tolerances after a move
SETTLE_POLL_S = 0.01
MOST_TURN_RAD = 2000.0 * math.pi
SLICE_POSES = 50  # that are checked in some milliseconds


class Moves:
    """Motion commands of one robot.

    Args:
        robot: The robot.
        pose_base: The pose of its base in the frame in which clients give poses; identity for the base frame itself.
    """

    def __init__(self, robot: CrclRobot, pose_base: Pose) -> None:
        self._robot = robot
        self._pose_base = pose_base
        self._to_base = pose_base.inverse()

    def to(self, command: m.MoveTo, settings: Settings) -> Callable[[], Awaitable[None]]:
        """Returns the action of MoveTo."""
        waypoint = self._waypoint(command.end_position, settings, "EndPosition", last=True)
        return lambda: self._travel([waypoint], straight=command.move_straight)

    def through(self, command: m.MoveThroughTo, settings: Settings) -> Callable[[], Awaitable[None]]:
        """Returns the action of MoveThroughTo."""
        count = len(command.waypoint)
        if command.num_positions != count:
            raise BadInput(f"NumPositions is {command.num_positions}, but there are {count} waypoints")
        checking = self._waypoints(command.waypoint, settings)
        if count <= SLICE_POSES:
            waypoints = at_once(checking)
            return lambda: self._travel(waypoints, straight=command.move_straight)

        async def action() -> None:
            await self._travel(await in_turns(checking, self._robot.clock), straight=command.move_straight)

        return action

    def _waypoints(self, poses: Sequence[m.Pose], settings: Settings) -> Slices[list[Waypoint]]:
        waypoints = []
        for number, pose in enumerate(poses, 1):
            waypoints.append(self._waypoint(pose, settings, f"Waypoint {number}", last=number == len(poses)))
            if number % SLICE_POSES == 0 and number < len(poses):
                yield
        return waypoints

    def screw(self, command: m.MoveScrew, settings: Settings) -> Callable[[], Awaitable[None]]:
        """Returns the action of MoveScrew; without a start it begins where the robot stands when it gets its turn."""
        free_m, screw_m, turn_rad = command.axial_distance_free or 0.0, command.axial_distance_screw, command.turn
        for name, value in (("AxialDistanceFree", free_m), ("AxialDistanceScrew", screw_m), ("Turn", turn_rad)):
            checked_number(name, value)
        if abs(turn_rad) > MOST_TURN_RAD:
            raise BeyondLimit("Turn", turn_rad, math.copysign(MOST_TURN_RAD, turn_rad), Quantity.ANGLE)
        start = command.start_position
        first = self._waypoint(start, settings, "StartPosition", last=True) if start else None
        pace = settings.pace(self._robot.max_pace, self._robot.default_pace, start)
        point = command.axis_point
        axis_point = (
            self._to_base.apply([checked_number("AxisPoint", c) for c in (point.x, point.y, point.z)])
            if point
            else None
        )
        tolerance = settings.tolerance(start, last=True)

        def geometry(begin: Pose) -> tuple[Pose, Screw]:
            freed = begin @ Pose.from_xyz_rpy((0.0, 0.0, free_m))
            pivot = freed.position if axis_point is None else axis_point
            screw = Screw(freed, (float(pivot[0]), float(pivot[1]), float(pivot[2])), screw_m, turn_rad)
            self._check_box(begin.position.tolist(), *screw.bounds_m())
            return freed, screw

        async def action() -> None:
            robot = self._robot
            if first is not None:
                await robot.move_through([first], straight=False)
            freed, screw = geometry(first.pose_tool_in_base if first else robot.read().pose_tool_in_base)
            if free_m != 0.0:
                await robot.move_through([Waypoint(freed, pace)], straight=True)
            await robot.move_screw(screw, pace)
            await self._settle(screw.pose_at(1.0), tolerance)

        if first is not None:
            geometry(first.pose_tool_in_base)  # what is beyond the limits is refused before anything moves
        return action

    def joints(self, command: m.ActuateJoints, settings: Settings) -> Callable[[], Awaitable[None]]:
        """Returns the action of ActuateJoints."""
        joints = self._robot.joints
        targets: dict[int, JointTarget] = {}
        for actuate in command.actuate_joint:
            facts = checked_joint(actuate.joint_number, joints)
            label, linear = f"Joint {actuate.joint_number}", facts.is_linear
            if actuate.joint_number in targets:
                raise BadInput(f"joint {actuate.joint_number} is there twice (allowed: each once)")
            position = checked_number(f"JointPosition of joint {actuate.joint_number}", actuate.joint_position)
            if not facts.min_position <= position <= facts.max_position:
                limit = facts.min_position if position < facts.min_position else facts.max_position
                if abs(position - limit) > _rounding(limit):
                    raise BeyondLimit(label, position, limit, Quantity.JOINT, linear=linear)
                position = limit
            targets[actuate.joint_number] = target = _target(actuate, position)
            if target.effort is not None and facts.max_effort is not None and target.effort > facts.max_effort:
                effort = "force" if linear else "torque"
                raise BeyondLimit(
                    f"{label} {effort}", target.effort, facts.max_effort, Quantity.JOINT_EFFORT, linear=linear
                )
        tolerances = settings.joint_limits(command.joint_tolerances, joints)
        return lambda: self._actuate(list(targets.values()), tolerances)

    async def _travel(self, waypoints: Sequence[Waypoint], *, straight: bool) -> None:
        await self._robot.move_through(waypoints, straight=straight)
        await self._settle(waypoints[-1].pose_tool_in_base, waypoints[-1].tolerance)

    async def _settle(self, wanted: Pose, tolerance: Tolerance) -> None:
        """Waits until the tool is where it should be, within what was asked for."""
        if tolerance == Tolerance():
            return
        clock, wanted = self._robot.clock, self._pose_base @ wanted
        until_s = clock.time_s + SETTLE_S
        while missed := misses(self._pose_base @ self._robot.read().pose_tool_in_base, wanted, tolerance):
            if clock.time_s >= until_s:
                name, error, limit, is_length = missed[0]
                quantity = Quantity.LENGTH if is_length else Quantity.ANGLE
                raise BeyondLimit(f"error of {name}", error, limit, quantity)
            await clock.sleep(SETTLE_POLL_S)

    async def _actuate(self, targets: Sequence[JointTarget], tolerances: Mapping[int, float]) -> None:
        robot = self._robot
        await robot.move_joints(targets)
        until_s = robot.clock.time_s + SETTLE_S
        for target in targets:
            limit = tolerances.get(target.number)
            if limit is None or target.effort is not None:  # a joint under a force may rightly stop short
                continue
            while (error := abs(robot.read().positions[target.number - 1] - target.position)) > limit:
                if robot.clock.time_s >= until_s:
                    linear = robot.joints[target.number - 1].is_linear
                    raise BeyondLimit(f"error of joint {target.number}", error, limit, Quantity.JOINT, linear=linear)
                await robot.clock.sleep(SETTLE_POLL_S)

    def _waypoint(self, pose: m.Pose, settings: Settings, where: str, *, last: bool) -> Waypoint:
        pose_in_base = self._to_base @ checked_pose(pose, where)
        self._check_box(pose_in_base.position.tolist())
        pace = settings.pace(self._robot.max_pace, self._robot.default_pace, pose)
        return Waypoint(pose_in_base, pace, settings.tolerance(pose, last=last))

    def _check_box(self, *points_m: Sequence[float]) -> None:
        box = self._robot.cartesian_limits
        for point_m in points_m if box else ():
            for letter, value, low, high in zip("XYZ", point_m, *box, strict=True):  # type: ignore[misc]
                limit = low if value < low else high
                if not low <= value <= high and abs(value - limit) > _rounding(limit):
                    raise BeyondLimit(letter, value, limit, Quantity.LENGTH)


def _target(actuate: m.ActuateJoint, position: float) -> JointTarget:
    details, number = actuate.joint_details, actuate.joint_number
    if isinstance(details, m.JointSpeedAccel):
        speed = _above_zero(f"JointSpeed of joint {number}", details.joint_speed)
        acceleration = _above_zero(f"JointAccel of joint {number}", details.joint_accel)
        return JointTarget(number, position, speed, acceleration)
    assert isinstance(details, m.JointForceTorque)
    effort = _above_zero(f"Setting of joint {number}", details.setting)
    rate = _above_zero(f"ChangeRate of joint {number}", details.change_rate)
    return JointTarget(number, position, effort=effort, effort_rate=rate)


def _above_zero(name: str, value: float | None) -> float | None:
    if value is not None and not 0.0 < value < math.inf:
        raise BadInput(f"{name} is {value} (allowed: above 0)")
    return value


def _rounding(limit: float) -> float:
    """Returns the rounding error of a limit that was written in other units, a few bits of its mantissa."""
    return 8.0 * float(np.spacing(abs(limit) + 1.0))

"""Jerk-limited motion: joint moves and straight lines of the flange, both sampled by time."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from ruckig import InputParameter, Result, Ruckig, RuckigError, Trajectory

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.core.slices import Slices, at_once
from cellwright.motion.kinematics import ArmKinematics, checked_angles
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.path import JointPath, LinePath, Path

__all__ = ["JointMove", "LineMove", "LineSpeed", "Motion", "PathMotion"]

Array = npt.NDArray[np.float64]

SLOWEST = 0.02  # of the wanted speed: a line that must be slower is refused
LONGEST_S = 3600.0
JERK_SHARES = (1.0, 0.999, 0.99)  # where speed, acceleration and jerk fit each other exactly, it finds none


class Motion(Protocol):
    """A motion for a servo: joints over time, from rest to rest.

    A motion that also has `acceleration(time_s)` spares the servo from computing it by differences.
    """

    duration_s: float

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Returns joint positions (rad) and velocities (rad/s) at a time since the start; the end holds."""


class PathMotion:
    """A path and the jerk-limited run along it, from rest to rest.

    Attributes:
        arm: The figures of the arm.
        path: Its path.
        limits: Along the path, as this motion uses them.
        hardest: The same speed with all the acceleration and jerk that the joints have: for fast stops.
        duration_s: Until it rests.

    Args:
        arm: The arm whose limits to keep.
        path: Its path.
        limits: The wanted limits along the path; lower ones are used where a joint could not follow.
        duration_s: The wanted duration, instead of the shortest.
        share: Of the joints' limits.
    """

    def __init__(
        self, arm: ArmFigures, path: Path, limits: PathLimits, duration_s: float | None = None, share: float = 1.0
    ) -> None:
        at_once(self._run_along(arm, path, limits, duration_s, share))

    @classmethod
    def along(cls, arm: ArmFigures, path: Path, limits: PathLimits) -> Slices[PathMotion]:
        """Makes the motion along a path, in slices."""
        motion = PathMotion.__new__(PathMotion)
        yield from motion._run_along(arm, path, limits)
        return motion

    def _run_along(
        self, arm: ArmFigures, path: Path, limits: PathLimits, duration_s: float | None = None, share: float = 1.0
    ) -> Slices[None]:
        self.arm = arm
        self.path = path
        steepness = path.steepness()
        self.limits = yield from limits.within_in_slices(JointLimits.of(arm, share), *steepness)
        self._trajectory, self.limits = _run(self.limits)
        if duration_s is not None:
            shortest_s: float = self._trajectory.duration
            if not shortest_s * (1 - 1e-9) <= duration_s <= LONGEST_S:
                raise OutOfRange(f"duration of this motion of {arm.name}", duration_s, shortest_s, LONGEST_S, "s")
            self.limits = self.limits.slower(min(1.0, shortest_s / duration_s))
            self._trajectory, self.limits = _run(self.limits)
        self.hardest = self.limits.hardest(JointLimits.of(arm), *steepness)
        self.duration_s: float = self._trajectory.duration

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Returns joint positions and velocities at a time."""
        (fraction,), (rate,), _ = self._trajectory.at_time(min(time_s, self.duration_s))
        position, slope, _ = self.path.at(fraction)
        return position, slope * rate

    def acceleration(self, time_s: float) -> Any:
        """Returns joint accelerations at a time, for a torque computed ahead; none once it rests."""
        if time_s >= self.duration_s:
            return np.zeros(len(self.arm.joints))
        (fraction,), (rate,), (change,) = self._trajectory.at_time(time_s)
        _, slope, bend = self.path.at(fraction)
        return bend * rate**2 + slope * change


class JointMove(PathMotion):
    """A joint move from one configuration to another, all joints in proportion, within speed, acceleration and jerk.

    Args:
        arm: The arm whose limits to keep.
        start_rad: The start configuration, at rest.
        goal_rad: The goal configuration, at rest.
        speed: Fraction of the speed limits, in (0, 1]; accelerations and jerks scale with it.
        duration_s: The wanted duration, instead of the shortest within the limits.
    """

    def __init__(
        self,
        arm: ArmFigures,
        start_rad: npt.ArrayLike,
        goal_rad: npt.ArrayLike,
        speed: float = 1.0,
        duration_s: float | None = None,
    ) -> None:
        if not 0 < speed <= 1:
            raise OutOfRange("speed", speed, 0, 1)
        goal = checked_angles(arm, goal_rad)
        for joint, angle in zip(arm.joints, goal, strict=True):
            low, high = joint.position_limits_rad
            if not low - 1e-9 <= angle <= high + 1e-9:
                raise OutOfRange(
                    f"{arm.name} {joint.name}", np.degrees(angle), np.degrees(low), np.degrees(high), "deg"
                )
        path = JointPath(checked_angles(arm, start_rad), goal)
        # A motion over less than a microradian is as slow as one over that; its true limits would be infinite.
        far = np.maximum(path.steepness()[0][0], 1e-6)
        limits = JointLimits.of(arm, speed)
        rows = (limits.velocity_radps, limits.acceleration_radps2, limits.jerk_radps3)
        super().__init__(arm, path, PathLimits(*(float((row / far).min()) for row in rows)), duration_s, speed)


_WORDS = {
    "speed_mps": ("speed", "m/s"),
    "acceleration_mps2": ("acceleration", "m/s2"),
    "jerk_mps3": ("jerk", "m/s3"),
    "turn_radps": ("speed of turning", "rad/s"),
}


@dataclass(frozen=True)
class LineSpeed:
    """The speed of a tool along a line; the turn of the tool is scaled along."""

    speed_mps: float = 0.4
    acceleration_mps2: float = 1.5
    jerk_mps3: float = 15.0
    turn_radps: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 1e-6 <= value <= 1e6:
                what, unit = _WORDS[field.name]
                raise OutOfRange(f"{what} along a straight line", value, 1e-6, 1e6, unit)


class LineMove(PathMotion):
    """A straight line of the flange or its tool from one pose to another, as fast as its joints can follow.

    Args:
        kinematics: Of the arm.
        start_rad: The start configuration, at rest.
        pose_goal_in_base: The goal pose of its flange, or, with a tool, of the tool.
        speed: The largest speed along the line.
        duration_s: The wanted duration, instead of the shortest that `speed` and the joints allow.
        tool: In the flange; None moves the flange itself.

    Raises:
        Unreachable: when a point of the line is.
        JobFailed: when the line passes so near a singular configuration that no joint could keep up.
    """

    path: LinePath

    def __init__(
        self,
        kinematics: ArmKinematics,
        start_rad: npt.ArrayLike,
        pose_goal_in_base: Pose,
        speed: LineSpeed,
        duration_s: float | None = None,
        tool: Pose | None = None,
    ) -> None:
        at_once(self._make(kinematics, start_rad, pose_goal_in_base, speed, duration_s, tool))

    @classmethod
    def in_slices(
        cls,
        kinematics: ArmKinematics,
        start_rad: npt.ArrayLike,
        pose_goal_in_base: Pose,
        speed: LineSpeed,
        tool: Pose | None = None,
    ) -> Slices[Self]:
        """Makes the same motion in slices."""
        move = cls.__new__(cls)
        yield from move._make(kinematics, start_rad, pose_goal_in_base, speed, None, tool)
        return move

    def _make(
        self,
        kinematics: ArmKinematics,
        start_rad: npt.ArrayLike,
        pose_goal_in_base: Pose,
        speed: LineSpeed,
        duration_s: float | None,
        tool: Pose | None,
    ) -> Slices[None]:
        path = yield from LinePath.between(
            kinematics, checked_angles(kinematics.arm, start_rad), pose_goal_in_base, tool
        )
        effective_m = max(path.length_m, path.turn_rad * speed.speed_mps / speed.turn_radps, 1e-6)
        wanted = PathLimits(
            speed.speed_mps / effective_m, speed.acceleration_mps2 / effective_m, speed.jerk_mps3 / effective_m
        )
        allowed = yield from wanted.within_in_slices(JointLimits.of(kinematics.arm), *path.steepness())
        if allowed.top_rate < SLOWEST * wanted.top_rate:
            raise JobFailed(f"{kinematics.arm.name} would have to crawl along the line: {path.hardest()}")
        yield from self._run_along(kinematics.arm, path, allowed, duration_s)


def _run(limits: PathLimits) -> tuple[Trajectory, PathLimits]:
    """Returns the run from 0 to 1, from rest to rest, and its limits: a little less where the generator needs it."""
    for share in JERK_SHARES:
        kept = PathLimits(limits.velocity, limits.acceleration, limits.jerk * share)
        request = InputParameter(1)
        request.target_position = [1.0]
        request.max_velocity, request.max_acceleration = [kept.velocity], [kept.acceleration]
        request.max_jerk = [kept.jerk]
        trajectory = Trajectory(1)
        try:
            result = Ruckig(1).calculate(request, trajectory)
        except RuckigError:
            continue
        if result == Result.Working or result == Result.Finished:
            return trajectory, kept
    raise JobFailed(f"no trajectory within the limits {limits}")

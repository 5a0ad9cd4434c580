"""Jerk-limited motion: joint moves and straight lines of the tool, both sampled by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from ruckig import InputParameter, Result, Ruckig, Trajectory

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion.kinematics import ArmKinematics

__all__ = ["JointMove", "LineMove", "LineSpeed", "Motion"]

Array = npt.NDArray[np.float64]

LINE_STEP_M = 0.004
LINE_STEP_RAD = 0.02


class Motion(Protocol):
    """What a servo can follow."""

    duration_s: float

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Joint positions (rad) and velocities (rad/s) at a time since the start; the end holds."""


class JointMove:
    """From one configuration to another, all joints arriving together, within speed, acceleration and jerk.

    Args:
        arm: Whose limits to keep.
        start_rad: Where it stands, at rest.
        goal_rad: Where it shall stand, at rest.
        speed: Fraction of the speed limits, in (0, 1]; accelerations and jerks scale with it.
    """

    def __init__(self, arm: ArmFigures, start_rad: npt.ArrayLike, goal_rad: npt.ArrayLike, speed: float = 1.0) -> None:
        if not 0 < speed <= 1:
            raise OutOfRange("speed", speed, 0, 1)
        goal = np.asarray(goal_rad, float)
        for joint, angle in zip(arm.joints, goal, strict=True):
            low, high = joint.position_limits_rad
            if not low - 1e-9 <= angle <= high + 1e-9:
                raise OutOfRange(
                    f"{arm.name} {joint.name}", np.degrees(angle), np.degrees(low), np.degrees(high), "deg"
                )
        self._trajectory = _ruckig(
            np.asarray(start_rad, float),
            goal,
            np.array([j.velocity_limit_radps for j in arm.joints]) * speed,
            np.array([j.acceleration_limit_radps2 for j in arm.joints]) * speed,
            np.array([j.jerk_limit_radps3 for j in arm.joints]) * speed,
        )
        self.duration_s: float = self._trajectory.duration

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Joint positions and velocities at a time."""
        position, velocity, _ = self._trajectory.at_time(min(time_s, self.duration_s))
        return position, velocity


@dataclass(frozen=True)
class LineSpeed:
    """How fast a tool moves along a line; the turn of the tool is scaled along."""

    speed_mps: float = 0.4
    acceleration_mps2: float = 1.5
    jerk_mps3: float = 15.0
    turn_radps: float = 1.0


class LineMove:
    """The flange straight from one pose to another, by inverse kinematics along the way.

    The path is solved at points a few millimetres apart, each taking the configuration nearest to the one before;
    between them joints are interpolated, which is exact to some micrometres. One jerk-limited profile runs along it.
    """

    def __init__(
        self, kinematics: ArmKinematics, start_rad: npt.ArrayLike, pose_goal_in_base: Pose, speed: LineSpeed
    ) -> None:
        start = np.asarray(start_rad, float)
        pose_start = kinematics.forward(start)
        length_m = pose_start.distance_m(pose_goal_in_base)
        turn_rad = pose_start.angle_rad(pose_goal_in_base)
        count = max(2, 1 + int(np.ceil(max(length_m / LINE_STEP_M, turn_rad / LINE_STEP_RAD))))
        self._fractions = np.linspace(0.0, 1.0, count)
        joints = [start]
        for fraction in self._fractions[1:]:
            joints.append(kinematics.nearest(pose_start.interpolate(pose_goal_in_base, float(fraction)), joints[-1]))
        self._joints = np.array(joints)
        self._slopes = np.gradient(self._joints, self._fractions, axis=0, edge_order=2 if count > 2 else 1)
        effective_m = max(length_m, turn_rad * speed.speed_mps / speed.turn_radps, 1e-6)
        limits = np.array([speed.speed_mps, speed.acceleration_mps2, speed.jerk_mps3]) / effective_m
        limits = limits * self._slow_down(kinematics.arm, limits[0])
        self._trajectory = _ruckig(np.zeros(1), np.ones(1), *(limits[i : i + 1] for i in range(3)))
        self.duration_s: float = self._trajectory.duration

    def _slow_down(self, arm: ArmFigures, rate: float) -> Array:
        """Factors on speed, acceleration and jerk that keep every joint within its speed limit on this line."""
        limits = np.array([j.velocity_limit_radps for j in arm.joints])
        steepest = np.abs(np.diff(self._joints, axis=0)) / np.diff(self._fractions)[:, None]
        factor = min(1.0, 0.95 / max(float((steepest * rate / limits).max()), 1e-9))
        return np.array([factor, factor**2, factor**3])

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Joint positions and velocities at a time."""
        (fraction,), (rate,), _ = self._trajectory.at_time(min(time_s, self.duration_s))
        count = len(self._fractions) - 1
        index = min(int(fraction * count), count - 1)
        u = fraction * count - index
        position, slope = self._joints, self._slopes
        q0, q1, m0, m1 = position[index], position[index + 1], slope[index] / count, slope[index + 1] / count
        a, b = 2 * (q0 - q1) + m0 + m1, 3 * (q1 - q0) - 2 * m0 - m1
        return ((a * u + b) * u + m0) * u + q0, ((3 * a * u + 2 * b) * u + m0) * (count * rate)


def _ruckig(start: Array, goal: Array, speed: Array, acceleration: Array, jerk: Array) -> Trajectory:
    request = InputParameter(len(start))
    zero = [0.0] * len(start)
    request.current_position, request.current_velocity, request.current_acceleration = start.tolist(), zero, zero
    request.target_position, request.target_velocity, request.target_acceleration = goal.tolist(), zero, zero
    request.max_velocity = speed.tolist()
    request.max_acceleration = acceleration.tolist()
    request.max_jerk = jerk.tolist()
    trajectory = Trajectory(len(start))
    result = Ruckig(len(start)).calculate(request, trajectory)
    if result != Result.Working and result != Result.Finished:
        raise JobFailed(f"no trajectory within the limits: {result}")
    return trajectory

"""Jerk-limited motion: joint moves and straight lines of the tool, both sampled by time."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from ruckig import InputParameter, Result, Ruckig, Trajectory

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion.kinematics import ArmKinematics, checked_angles

__all__ = ["JointMove", "LineMove", "LineSpeed", "Motion"]

Array = npt.NDArray[np.float64]

LINE_STEP_M = 0.004
LINE_STEP_RAD = 0.02
LINE_TOLERANCE_M = 2e-5
LINE_TOLERANCE_RAD = 2e-4
LINE_REFINEMENTS = 4  # doublings: points down to 0.5 mm apart
SLOWEST = 0.02  # of the wanted speed: a line that must be slower is refused


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
        goal = checked_angles(arm, goal_rad)
        for joint, angle in zip(arm.joints, goal, strict=True):
            low, high = joint.position_limits_rad
            if not low - 1e-9 <= angle <= high + 1e-9:
                raise OutOfRange(
                    f"{arm.name} {joint.name}", np.degrees(angle), np.degrees(low), np.degrees(high), "deg"
                )
        self._trajectory = _ruckig(
            checked_angles(arm, start_rad),
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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 1e-6 <= value <= 1e6:
                raise OutOfRange(f"line {field.name}", value, 1e-6, 1e6)


class LineMove:
    """The flange straight from one pose to another, by inverse kinematics along the way.

    The path is solved at points a few millimetres apart, each taking the configuration nearest to the one before;
    between them joints are interpolated, and the points are doubled until the flange is on the line there, too. One
    jerk-limited profile runs along it, as slow as the joint that is hardest pressed.

    Raises:
        Unreachable: when a point of the line is.
        JobFailed: when the line passes so near a singular configuration that no joint could keep up.
    """

    def __init__(
        self, kinematics: ArmKinematics, start_rad: npt.ArrayLike, pose_goal_in_base: Pose, speed: LineSpeed
    ) -> None:
        start = checked_angles(kinematics.arm, start_rad)
        pose_start = kinematics.forward(start)
        length_m = pose_start.distance_m(pose_goal_in_base)
        turn_rad = pose_start.angle_rad(pose_goal_in_base)
        pieces = max(1, int(np.ceil(max(length_m / LINE_STEP_M, turn_rad / LINE_STEP_RAD))))
        for _ in range(LINE_REFINEMENTS):
            self._solve(kinematics, start, pose_start, pose_goal_in_base, pieces)
            if self._on_line(kinematics, pose_start, pose_goal_in_base):
                break
            pieces *= 2
        else:
            raise JobFailed(f"{kinematics.arm.name} cannot follow the line: {self._hardest(kinematics.arm)}")
        effective_m = max(length_m, turn_rad * speed.speed_mps / speed.turn_radps, 1e-6)
        limits = np.array([speed.speed_mps, speed.acceleration_mps2, speed.jerk_mps3]) / effective_m
        self._trajectory = _ruckig(np.zeros(1), np.ones(1), *(limits[i : i + 1] for i in range(3)))
        self._pace = self._slow_down(kinematics.arm)
        self.duration_s: float = self._trajectory.duration / self._pace

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Joint positions and velocities at a time."""
        (fraction,), (rate,), _ = self._trajectory.at_time(min(time_s, self.duration_s) * self._pace)
        pieces = len(self._joints) - 1
        index = min(int(fraction * pieces), pieces - 1)
        position, slope = self._inside(index, fraction * pieces - index)
        return position, slope * (rate * self._pace)

    def _solve(self, kinematics: ArmKinematics, start: Array, pose_start: Pose, pose_goal: Pose, pieces: int) -> None:
        """Joints at evenly spaced fractions of the line, and their slopes there, per whole line."""
        joints = [start]
        for number in range(1, pieces + 1):
            joints.append(kinematics.nearest(pose_start.interpolate(pose_goal, number / pieces), joints[-1]))
        self._joints = np.array(joints)
        self._slopes = np.gradient(self._joints, 1 / pieces, axis=0, edge_order=2 if pieces > 1 else 1)

    def _inside(self, index: Any, u: Any) -> tuple[Any, Any]:
        """Joints and their slope at the fraction u of one piece, or of many in rows: a cubic through its ends."""
        pieces = len(self._joints) - 1
        q0, q1 = self._joints[index], self._joints[index + 1]
        m0, m1 = self._slopes[index] / pieces, self._slopes[index + 1] / pieces
        a, b = 2 * (q0 - q1) + m0 + m1, 3 * (q1 - q0) - 2 * m0 - m1
        return ((a * u + b) * u + m0) * u + q0, ((3 * a * u + 2 * b) * u + m0) * pieces

    def _on_line(self, kinematics: ArmKinematics, pose_start: Pose, pose_goal: Pose) -> bool:
        """Whether the flange is where it should be in the middle of every piece."""
        pieces = len(self._joints) - 1
        middles, _ = self._inside(np.arange(pieces), 0.5)
        for number, joints in enumerate(middles):
            wanted = pose_start.interpolate(pose_goal, (number + 0.5) / pieces)
            reached = kinematics.forward(joints)
            if not reached.is_close(wanted, tolerance_m=LINE_TOLERANCE_M, tolerance_rad=LINE_TOLERANCE_RAD):
                return False
        return True

    def _hardest(self, arm: ArmFigures) -> str:
        steps = np.abs(np.diff(self._joints, axis=0))
        piece, joint = np.unravel_index(int(steps.argmax()), steps.shape)
        return (
            f"after {100 * piece / len(steps):.0f} % of it {arm.joints[joint].name} would have to swing by "
            f"{np.degrees(steps[piece, joint]):.0f} deg at once, near a singular configuration"
        )

    def _slow_down(self, arm: ArmFigures) -> float:
        """The factor on time that keeps every joint within its speed limit on this line."""
        limits = np.array([j.velocity_limit_radps for j in arm.joints])
        every = np.arange(len(self._joints) - 1)
        steepest = max(float((np.abs(self._inside(every, u)[1]) / limits).max()) for u in np.linspace(0, 1, 5))
        _, (fastest,), _ = self._trajectory.at_time(self._trajectory.duration / 2)
        pace = min(1.0, 0.95 / max(steepest * float(fastest), 1e-9))
        if pace < SLOWEST:
            raise JobFailed(f"{arm.name} would have to crawl along the line: {self._hardest(arm)}")
        return pace


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

"""Time-optimal parametrisation of a given joint path, within speed and acceleration limits."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import BadInput, JobFailed, MissingExtra, OutOfRange
from cellwright.motion.kinematics import checked_angles
from cellwright.motion.limits import JointLimits

__all__ = ["TimedPath"]

Array = npt.NDArray[np.float64]

SAME_RAD = 1e-9
TIGHTEST_RAD = 1e-3
GRID_PER_PIECE = 4
FEWEST_GRID_POINTS = 50
CHECKS_PER_GRID_POINT = 8


class TimedPath:
    """A joint path through waypoints, from rest to rest as fast as speed and acceleration allow; jerk is not limited.

    A planner has checked straight lines between its waypoints, and a smooth curve through them leaves those. So the
    lines are divided into points, ever closer, until the curve stays within the tolerance.

    Attributes:
        duration_s: Of the motion.
        deviation_rad: The largest deviation of the curve from the lines, in the norm of all joints, where checked.

    Args:
        arm: The arm whose limits to keep.
        waypoints_rad: Configurations to pass, the first and last at rest.
        velocity_scale: Share of the speed limits, in (0, 1].
        acceleration_scale: Share of the acceleration limits, in (0, 1]. The rest is what a stop or a pause on the way
            can use (`TimeFollower`): with 1 there is nothing left, and a stop there passes the limits.
        tolerance_rad: The largest deviation of the curve from the lines between the waypoints.

    Raises:
        MissingExtra: without the optional package.
        JobFailed: when no run along the path keeps the limits.
    """

    def __init__(
        self,
        arm: ArmFigures,
        waypoints_rad: Sequence[npt.ArrayLike],
        velocity_scale: float = 1.0,
        acceleration_scale: float = 0.8,
        tolerance_rad: float = 0.01,
    ) -> None:
        toppra = _toppra()
        for what, share in (("velocity", velocity_scale), ("acceleration", acceleration_scale)):
            if not 0 < share <= 1:
                raise OutOfRange(f"{what} scale", share, 0, 1)
        if not TIGHTEST_RAD <= tolerance_rad <= 10:
            raise OutOfRange("path tolerance", tolerance_rad, TIGHTEST_RAD, 10, "rad")
        self._corners = _distinct([checked_angles(arm, row) for row in waypoints_rad])
        limits = JointLimits.of(arm)
        low, high = np.array([joint.position_limits_rad for joint in arm.joints]).T
        self._box = np.minimum(low, self._corners.min(axis=0)), np.maximum(high, self._corners.max(axis=0))
        self._trajectory: Any = None
        self.deviation_rad = 0.0
        self.duration_s = 0.0
        if len(self._corners) < 2:
            return
        path = self._smooth(toppra, tolerance_rad)
        velocity, acceleration = limits.velocity_radps * velocity_scale, limits.acceleration_radps2 * acceleration_scale
        constraints = [
            toppra.constraint.JointVelocityConstraint(np.column_stack([-velocity, velocity])),
            toppra.constraint.JointAccelerationConstraint(
                np.column_stack([-acceleration, acceleration]),
                discretization_scheme=toppra.constraint.DiscretizationType.Interpolation,
            ),
        ]
        knots = np.asarray(path.waypoints[0])
        shares = np.arange(max(GRID_PER_PIECE, -(-FEWEST_GRID_POINTS // (len(knots) - 1))))
        inner = knots[:-1, None] + np.diff(knots)[:, None] * shares / len(shares)
        grid = np.append(inner.ravel(), knots[-1])
        solver = toppra.algorithm.TOPPRA(constraints, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        self._trajectory = solver.compute_trajectory(0, 0)
        if self._trajectory is None:
            raise JobFailed(f"{arm.name} cannot run along this path within its limits")
        self._pace = self._slow_down(velocity, acceleration, CHECKS_PER_GRID_POINT * len(grid))
        self.duration_s = float(self._trajectory.duration) / self._pace

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Returns joint positions (rad) and velocities (rad/s) at a time since the start; the end holds."""
        if self._trajectory is None or time_s >= self.duration_s:
            return self._corners[-1], np.zeros_like(self._corners[-1])
        own_s = max(time_s, 0.0) * self._pace
        position, velocity = self._trajectory(own_s), self._trajectory(own_s, 1) * self._pace
        inside = np.clip(position, *self._box)  # a spline swings a little beyond corners that lie on a joint's limit
        return inside, np.where(inside == position, velocity, 0.0)

    def acceleration(self, time_s: float) -> Any:
        """Returns joint accelerations at a time; none before the start and once it rests."""
        if self._trajectory is None or not 0 <= time_s < self.duration_s:
            return np.zeros_like(self._corners[-1])
        return self._trajectory(time_s * self._pace, 2) * self._pace**2

    def _slow_down(self, velocity: Array, acceleration: Array, count: int) -> float:
        """Returns the factor on time that keeps the limits between the grid's points, too."""
        times = np.linspace(0.0, self._trajectory.duration, count)
        fastest = float((np.abs(self._trajectory(times, 1)) / velocity).max())
        hardest = float((np.abs(self._trajectory(times, 2)) / acceleration).max())
        return min(1.0, 1.0 / fastest, float(np.sqrt(1.0 / hardest)))

    def _smooth(self, toppra: Any, tolerance_rad: float) -> Any:
        """Returns a spline by the length of the lines, through points on them."""
        lengths = np.linalg.norm(np.diff(self._corners, axis=0), axis=1)
        at = np.concatenate([[0.0], np.cumsum(lengths)])
        step_rad = float(lengths.max())
        while True:
            places = [np.linspace(a, b, int(np.ceil((b - a) / step_rad)) + 1)[:-1] for a, b in pairwise(at)]
            knots = np.append(np.concatenate(places), at[-1])
            path = toppra.SplineInterpolator(knots, self._on_lines(at, knots))
            looked = np.concatenate([knots[:-1] + np.diff(knots) * share for share in (0.25, 0.5, 0.75)])
            self.deviation_rad = float(np.linalg.norm(path(looked) - self._on_lines(at, looked), axis=1).max())
            if self.deviation_rad <= tolerance_rad:
                return path
            step_rad /= 2

    def _on_lines(self, at: Array, where: Array) -> Array:
        return np.column_stack([np.interp(where, at, column) for column in self._corners.T])


def _distinct(rows: list[Array]) -> Array:
    """Returns the waypoints without immediate repetitions."""
    if not rows:
        raise BadInput("a path needs at least 1 waypoint, got 0")
    kept = [rows[0]]
    for row in rows[1:]:
        if np.abs(row - kept[-1]).max() > SAME_RAD:
            kept.append(row)
    return np.array(kept)


def _toppra() -> Any:
    try:
        for name in ("toppra.algorithm", "toppra.constraint"):
            importlib.import_module(name)
        return importlib.import_module("toppra")
    except ImportError as error:
        raise MissingExtra("time-optimal motion", "motion") from error

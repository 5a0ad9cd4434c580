"""Ramps of the time of a motion: how fast it may be slowed down or sped up within the limits of the joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from ruckig import ControlInterface, InputParameter, Result, Ruckig, Trajectory

from cellwright.motion.limits import JointLimits, PathLimits

__all__ = ["TimeTable"]

Array = npt.NDArray[np.float64]

RAMPS_S = tuple(float(s) for s in np.geomspace(0.03, 2.0, 24))  # for a change of the rate by 1, to try
BUILD_UP = 0.25  # of that: until its full slope is reached
MOST_ROWS = 2000
EDGE = 1e-6
FULL = 0.97  # of the jerk: what rows a few milliseconds apart do not show


class TimeTable:
    """A motion's speeds, accelerations and jerks over its time, and the limits of the joints.

    With time running at the rate r, the joints have speeds ``v r`` and accelerations ``a r^2 + v r'``: what the motion
    itself leaves of a joint's acceleration is what a ramp can use.

    Args:
        velocity_radps: Rows of the motion's speeds at even steps of time.
        acceleration_radps2: The same of its accelerations.
        step_s: From row to row.
        limits: Of the joints.
    """

    def __init__(self, velocity_radps: Array, acceleration_radps2: Array, step_s: float, limits: JointLimits) -> None:
        self._v = velocity_radps
        self._a = acceleration_radps2
        self._step_s = step_s
        self._limits = limits
        self.own_acceleration = float((np.abs(self._a) / limits.acceleration_radps2).max())
        jerk = np.diff(self._a, axis=0) / step_s
        self.own_jerk = float((np.abs(jerk) / limits.jerk_radps3).max(initial=0.0))  # some motions limit none

    def ramp(self, at_s: float, rate: float, change: float, target: float, share: float) -> PathLimits:
        """Returns the quickest ramp from one rate to another that the joints can follow, as limits of the rate.

        Where there is none, because the motion itself takes all that a joint has, the ramp that asks for the least
        more is taken, of those that take at most two seconds for the whole range.

        Args:
            at_s: The moment of the motion at which it begins.
            rate: Of time, now.
            change: Of the rate, now.
            target: Rate to go over to.
            share: Of a joint's acceleration and jerk, for the ramp alone.
        """
        best, least = _limits(RAMPS_S[-1]), np.inf
        for seconds in RAMPS_S:
            limits = _limits(seconds)
            rows = _try(at_s, rate, change, target, limits, self._step_s)
            excess = np.inf if rows is None else self._excess(rows, max(rate, target, 1.0), share)
            if excess <= 1 + EDGE:
                return limits
            if excess < least * (1 - EDGE):
                best, least = limits, excess
        return best

    def _excess(self, rows: Array, fastest: float, share: float) -> float:
        """Returns the largest ratio of what a ramp needs to the limits; 1 or less is within them."""
        rate, change = rows[:, 1, None], rows[:, 2, None]
        if rate.min() < -EDGE or rate.max() > fastest + EDGE:
            return float("inf")
        v, a = self._at(rows[:, 0], self._v), self._at(rows[:, 0], self._a)
        limits, along, whole = self._limits, v * change, a * rate**2 + v * change
        slope = np.diff(change, axis=0, append=change[-1:]) / self._step_s
        added = 3 * a * rate * change + v * slope
        jerk = np.diff(whole, axis=0) / self._step_s if self.own_jerk <= 1 else added
        return max(
            float((np.abs(whole) / limits.acceleration_radps2).max()) / max(1.0, self.own_acceleration),
            float((np.abs(along) / limits.acceleration_radps2).max()) / share,
            float((np.abs(added) / limits.jerk_radps3).max()) / share,
            float((np.abs(jerk) / limits.jerk_radps3).max(initial=0.0)) / FULL,
        )

    def _at(self, times_s: Array, column: Array) -> Array:
        """Returns values between the rows."""
        place = np.clip(times_s / self._step_s, 0, len(column) - 1)
        below = np.minimum(place.astype(int), max(len(column) - 2, 0))
        above = np.minimum(below + 1, len(column) - 1)
        part = (place - below)[:, None]
        return np.asarray(column[below] * (1 - part) + column[above] * part)


def _limits(seconds: float) -> PathLimits:
    return PathLimits(1.0, 1 / seconds, 1 / (BUILD_UP * seconds**2))


def _try(at_s: float, rate: float, change: float, target: float, limits: PathLimits, step_s: float) -> Array | None:
    """Returns rows of time, rate and its change; None when there is no such ramp."""
    request: Any = InputParameter(1)
    request.control_interface = ControlInterface.Velocity
    request.current_position, request.current_velocity, request.current_acceleration = [at_s], [rate], [change]
    request.target_velocity, request.max_acceleration = [target], [limits.acceleration]
    request.max_jerk = [limits.jerk]
    trajectory = Trajectory(1)
    result = Ruckig(1).calculate(request, trajectory)
    if result != Result.Working and result != Result.Finished:
        return None
    count = min(int(np.ceil(trajectory.duration / step_s)) + 1, MOST_ROWS)
    return np.array([trajectory.at_time(k * step_s) for k in range(count)])[:, :, 0]

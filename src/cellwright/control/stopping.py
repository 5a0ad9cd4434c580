"""Ways to end a motion before its end: along its path, or straight away."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.motion import Motion
from cellwright.sim import RobotIndex

__all__ = ["Brake", "Paced", "sample"]

Array = npt.NDArray[np.float64]


class Paced:
    """A motion whose time runs faster or slower: from one pace to another, evenly, and on with that.

    Args:
        motion: The motion, whose path is kept.
        since_s: The moment of it at which this one begins.
        pace: At the beginning and at the end of the ramp; 0 stands still, 1 is the motion's own.
        ramp_s: How long the change takes.
    """

    def __init__(self, motion: Motion, since_s: float, pace: tuple[float, float], ramp_s: float) -> None:
        self._motion, self._since_s, self._pace, self._ramp_s = motion, since_s, pace, ramp_s
        self._after_s = since_s + sum(pace) / 2 * ramp_s
        left_s = max(0.0, motion.duration_s - self._after_s)
        self.duration_s = ramp_s + (left_s / pace[1] if pace[1] > 0 else 0.0)

    def moment_s(self, time_s: float) -> float:
        """Which moment of the motion it is."""
        first, last = self._pace
        if time_s >= self._ramp_s:
            return self._after_s + last * (time_s - self._ramp_s)
        return self._since_s + first * time_s + (last - first) * time_s**2 / (2 * self._ramp_s)

    def at(self, time_s: float) -> tuple[Array, Array]:
        """Joint positions and velocities at a time."""
        first, last = self._pace
        position, velocity = self._motion.at(max(0.0, self.moment_s(time_s)))
        pace = first + (last - first) * min(1.0, time_s / self._ramp_s)
        return np.asarray(position, float), np.asarray(velocity, float) * pace

    def resumed(self, ramp_s: float) -> Paced:
        """The rest of the motion, at its own pace again, from where this one ends."""
        return Paced(self._motion, self.moment_s(self.duration_s), (0.0, 1.0), ramp_s)


class Brake:
    """Every joint to a stand by itself, as fast as a deceleration allows; the path is left."""

    def __init__(self, robot: RobotIndex, position_rad: Array, velocity_radps: Array, share: float) -> None:
        self._position, self._velocity = position_rad, velocity_radps
        joints = robot.figures.joints
        self._deceleration = np.array([j.acceleration_limit_radps2 for j in joints]) * share
        self._limits = np.array([j.position_limits_rad for j in joints]).T
        self._until_s = np.abs(velocity_radps) / self._deceleration
        self.duration_s = float(self._until_s.max())

    def at(self, time_s: float) -> tuple[Array, Array]:
        """Joint positions and velocities at a time."""
        braked_s = np.minimum(time_s, self._until_s)
        slowing = np.sign(self._velocity) * self._deceleration
        position = self._position + self._velocity * braked_s - slowing * braked_s**2 / 2
        return np.clip(position, *self._limits), self._velocity - slowing * braked_s


def sample(motion: Motion, period_s: float, joints: int, *, ahead: bool) -> Array:
    """A motion as rows of positions, velocities and accelerations, (turns, 3, joints).

    Args:
        motion: What to sample.
        period_s: Time between rows.
        joints: How many there are.
        ahead: Whether a row is what should be reached by the end of its turn, as a servo wants it, and not what
            should be true at its beginning.
    """
    turns = max(1, int(np.ceil(motion.duration_s / period_s - 1e-9))) + (0 if ahead else 1)
    rows = np.empty((turns, 3, joints))
    for turn in range(turns):
        rows[turn, 0], rows[turn, 1] = motion.at(min((turn + ahead) * period_s, motion.duration_s))
    rows[:-1, 2] = np.diff(rows[:, 1], axis=0) / period_s
    rows[-1, 2] = 0.0
    return rows

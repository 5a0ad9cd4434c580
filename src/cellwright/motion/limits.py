"""The limits of joints and of the motion along a path, and their relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ArmFigures
from cellwright.core.slices import Slices, at_once

__all__ = ["JointLimits", "PathLimits"]

Array = npt.NDArray[np.float64]

TINY = 1e-12
V_SHARES = tuple(float(share) for share in np.geomspace(1.0, 0.02, 20))  # to try
A_SHARES = (1.0, 0.7, 0.5, 0.35, 0.2)
SLICE_POINTS = 2000  # of a path, for which a speed is tried in about a millisecond


@dataclass(frozen=True)
class JointLimits:
    """Speed, acceleration and jerk of every joint."""

    velocity_radps: Array
    acceleration_radps2: Array
    jerk_radps3: Array

    @classmethod
    def of(cls, arm: ArmFigures, share: float = 1.0) -> JointLimits:
        """Returns the limits of an arm, all times a share."""
        rows = [(j.velocity_limit_radps, j.acceleration_limit_radps2, j.jerk_limit_radps3) for j in arm.joints]
        return cls(*np.array(rows).T * share)


@dataclass(frozen=True)
class PathLimits:
    """Speed, acceleration and jerk along a path whose parameter runs from 0 to 1; units 1/s, 1/s^2, 1/s^3."""

    velocity: float
    acceleration: float
    jerk: float

    def slower(self, pace: float) -> PathLimits:
        """Returns the limits under which the same motion takes 1 / pace times as long."""
        return PathLimits(self.velocity * pace, self.acceleration * pace**2, self.jerk * pace**3)

    @property
    def top_rate(self) -> float:
        """The top speed of a run over the whole path, from rest to rest."""
        v, a, j = self.velocity, self.acceleration, self.jerk
        alone = (j / 4) ** (1 / 3)  # 1/s, with jerk as the only limit: v * 2 sqrt(v / j) = 1
        if a * a / j < alone:  # the acceleration is reached: v (v / a + a / j) = 1
            alone = a / 2 * (((a / j) ** 2 + 4 / a) ** 0.5 - a / j)
        return float(min(v, alone))

    @property
    def duration_s(self) -> float:
        """The duration of a run over the whole path, from rest to rest."""
        v, j = self.top_rate, self.jerk
        a = min(self.acceleration, (v * j) ** 0.5)
        return float(1 / v + v / a + a / j)

    def within(self, joints: JointLimits, first: Array, second: Array, third: Array) -> PathLimits:
        """Returns the same limits or less, so that every joint keeps its own everywhere on the path.

        With the path's derivatives q1, q2, q3 by its parameter the joints have speeds ``q1 v``, accelerations
        ``q2 v^2 + q1 a`` and jerks ``q3 v^3 + 3 q2 v a + q1 j``. Where the path bends, the speed takes its share of
        what a joint has, and acceleration and jerk get the rest: of many ways to share, the one with the shortest
        run is taken. As it holds for any point of the path, a stop or a change of speed is allowed at any moment.

        Args:
            joints: The limits of the joints.
            first: Magnitudes of q1 (points, joints).
            second: Of q2.
            third: Of q3.
        """
        return at_once(self.within_in_slices(joints, first, second, third))

    def within_in_slices(self, joints: JointLimits, first: Array, second: Array, third: Array) -> Slices[PathLimits]:
        """Computes the same in slices."""
        slope = first + TINY
        v = min(self.velocity, float((joints.velocity_radps / slope).min()))
        a = min(self.acceleration, float((joints.acceleration_radps2 / slope).min()))
        j = min(self.jerk, float((joints.jerk_radps3 / slope).min()))
        v = PathLimits(v, a, j).top_rate
        needed = (second * v**2 + first * a) / joints.acceleration_radps2
        shaken = (third * v**3 + 3 * second * v * a + first * j) / joints.jerk_radps3
        pace = min(1.0, float(needed.max() + TINY) ** -0.5, float(shaken.max() + TINY) ** (-1 / 3))
        best = PathLimits(v, a, j).slower(pace)  # all in proportion: fits however sharp the bends
        for v_share in V_SHARES:
            rate = v * v_share
            if pace == 1.0 or 1 / rate > best.duration_s:
                break  # slower still cannot be shorter
            if len(first) > SLICE_POINTS:
                yield
            left = float(((joints.acceleration_radps2 - second * rate**2) / slope).min())
            calm, shaken = (joints.jerk_radps3 - third * rate**3) / slope, 3 * second * rate / slope
            for a_share in A_SHARES:
                change = min(a, left * a_share)
                jerk = min(j, float((calm - shaken * change).min()))
                if change > 0 and jerk > 0:
                    best = min(best, PathLimits(rate, change, jerk), key=lambda limits: limits.duration_s)
        return best

    def hardest(self, joints: JointLimits, first: Array, second: Array, third: Array) -> PathLimits:
        """Returns the same speed with the largest acceleration and jerk that all joints can follow at it."""
        v = self.velocity
        left = joints.acceleration_radps2 - second * v**2
        calm = joints.jerk_radps3 - third * v**3
        by_acceleration = left / (first * self.acceleration + TINY)
        by_jerk = calm / (3 * second * v * self.acceleration + first * self.jerk + TINY)
        more = max(1.0, min(float(by_acceleration.min()), float(by_jerk.min())))
        return PathLimits(v, self.acceleration * more, self.jerk * more)

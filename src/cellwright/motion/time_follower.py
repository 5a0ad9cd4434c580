"""The follower of a motion that is known by time alone: its time itself is slowed down, paused and stopped."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ArmFigures
from cellwright.motion.follower import Follower, StopCategory
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.path_follower import PathFollower
from cellwright.motion.profile import Motion, PathMotion
from cellwright.motion.ramp import TimeTable
from cellwright.motion.sample import JointSample

__all__ = ["TimeFollower", "make_follower"]

Array = npt.NDArray[np.float64]

SHARES = {StopCategory.NORMAL: 0.5, StopCategory.FAST: 1.0}  # of the joints' acceleration, for a ramp
DIFFERENCE_S = 1e-4
MOST_ROWS = 4000


class TimeFollower(Follower):
    """Drives the time of a motion at a rate that is 1 when nothing happens, so that its path is kept whatever does.

    Speeds stay below the motion's own. How quickly the rate may change is decided at every command, from what the
    motion leaves of the joints' accelerations and jerks there (`TimeTable.ramp`). A motion that leaves nothing can
    only be stopped slowly: on time-optimal paths of three arms (`TimedPath`, 60 random stops each) fast stops passed no
    limit and took at most 1.5 s with a reserve of 20 %; with none, accelerations were passed by up to 3 %, and the
    longest stop took 2.5 s.

    Args:
        motion: The motion to run; it begins and ends at rest.
        arm: The arm whose limits to keep.
        period_s: Time from one tick to the next.
        override: Share of the motion's speed, 0 to 1; 0 holds.
    """

    def __init__(self, motion: Motion, arm: ArmFigures, period_s: float, override: float = 1.0) -> None:
        super().__init__(arm, period_s, end=motion.duration_s)
        self.motion = motion
        self._limit(PathLimits(1.0, 1.0, 1.0))
        self._place(0.0, override, 0.0)  # at rest, whatever the rate of time is
        self.override = override
        self.sample = self._sampled(0.0, override, 0.0)

    def _sampled(self, place: float, rate: float, change: float) -> JointSample:
        position, velocity = (np.asarray(row, float) for row in self.motion.at(place))
        acceleration = self._acceleration(place) if rate > 0 else np.zeros_like(velocity)
        return JointSample(position, velocity * rate, acceleration * rate**2 + velocity * change)

    def _aim(self) -> None:
        self._go_over(self._override, SHARES[StopCategory.NORMAL])

    def _slow(self, category: StopCategory) -> None:
        self._go_over(0.0, SHARES[category])

    def _arrives(self, finished: bool) -> bool:
        return True

    def _go_over(self, rate: float, share: float) -> None:
        now = self.moment
        if now.rate != rate or now.change != 0:
            self._limit(self._table.ramp(now.place, now.rate, now.change, rate, share))
        self._keep_rate(rate)

    def _acceleration(self, time_s: float) -> Array:
        own: Any = getattr(self.motion, "acceleration", None)
        if own is not None:
            return np.asarray(own(time_s), float)
        before, after = max(time_s - DIFFERENCE_S, 0.0), min(time_s + DIFFERENCE_S, self.motion.duration_s)
        if after <= before:
            return np.zeros(len(self.arm.joints))
        return np.asarray((np.array(self.motion.at(after)[1]) - self.motion.at(before)[1]) / (after - before))

    @cached_property
    def _table(self) -> TimeTable:
        """The table of the motion, made when first needed: most motions are never disturbed."""
        step_s = max(self.period_s, self.motion.duration_s / MOST_ROWS)
        times = np.arange(int(np.ceil(self.motion.duration_s / step_s)) + 1) * step_s
        velocity = np.array([self.motion.at(time_s)[1] for time_s in times])
        acceleration = np.array([self._acceleration(min(time_s, self.motion.duration_s)) for time_s in times])
        return TimeTable(velocity, acceleration, step_s, JointLimits.of(self.arm))


def make_follower(motion: Motion, arm: ArmFigures, period_s: float, override: float = 1.0) -> Follower:
    """Returns the follower for a motion: by its path where that is known, else by its time."""
    if isinstance(motion, PathMotion):
        return PathFollower(motion, period_s, override)
    return TimeFollower(motion, arm, period_s, override)

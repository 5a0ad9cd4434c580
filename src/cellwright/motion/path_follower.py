"""Running along a path tick by tick, so that its speed can change, pause and stop at any moment without a jump."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from ruckig import ControlInterface

from cellwright.motion.follower import Follower, FollowerState, StopCategory
from cellwright.motion.profile import PathMotion
from cellwright.motion.sample import JointSample

__all__ = ["PathFollower"]

Array = npt.NDArray[np.float64]


class PathFollower(Follower):
    """Drives the parameter of one motion's path, from rest to rest.

    The generator keeps speed, acceleration and jerk along the path, and those are chosen so that the joints keep
    theirs (`PathLimits.within`). At 100 % and undisturbed it makes the same motion as `PathMotion.at`.

    Args:
        motion: The motion to run.
        period_s: Time from one tick to the next.
        override: Share of the motion's speed, 0 to 1; 0 holds.
    """

    def __init__(self, motion: PathMotion, period_s: float, override: float = 1.0) -> None:
        super().__init__(motion.arm, period_s, end=1.0)
        self.motion = motion
        self._limit(motion.limits)
        self.sample = self._sampled(0.0, 0.0, 0.0)
        self.override = override

    def _sampled(self, place: float, rate: float, change: float) -> JointSample:
        position, slope, bend = self.motion.path.at(place)
        return JointSample(position, slope * rate, bend * rate**2 + slope * change)

    def _sampled_many(self, moments: Sequence[FollowerState]) -> Array:
        place, rate, change = np.array([moment[:3] for moment in moments]).T
        position, slope, bend = self.motion.path.at_many(np.minimum(place, 1.0))
        rate, change = rate[:, None], change[:, None]
        rows = np.empty((len(moments), 3, len(self.arm.joints)))
        rows[:, 0], rows[:, 1], rows[:, 2] = position, slope * rate, bend * rate**2 + slope * change
        return rows

    def _aim(self) -> None:
        if self._override == 0:
            self._keep_rate(0.0)
            return
        self._request.control_interface = ControlInterface.Position
        self._request.target_velocity = [0.0]
        self._request.max_velocity = [self.motion.limits.top_rate * self._override]

    def _slow(self, category: StopCategory) -> None:
        if category is StopCategory.FAST:
            self._limit(self.motion.hardest)
        self._keep_rate(0.0)

    def _arrives(self, finished: bool) -> bool:
        return finished

"""Motions one after the other, more of them added while the arm moves."""

from __future__ import annotations

from collections import deque

import numpy as np

from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.motion.follower import RunState, StopCategory
from cellwright.motion.path_follower import PathFollower
from cellwright.motion.profile import PathMotion
from cellwright.motion.sample import JointSample

__all__ = ["MotionQueue"]

START_TOLERANCE_RAD = 1e-6


class MotionQueue:
    """Runs motions in the order in which they were added; each begins and ends at rest, and where the last one ended.

    Override, pause and stop concern the whole queue: an override stays for the motions to come, a stop drops them.

    Args:
        period_s: Time from one tick to the next.
    """

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._override = 1.0
        self._waiting: deque[PathMotion] = deque()
        self._follower: PathFollower | None = None
        self._paused = False
        self._last: PathMotion | None = None

    def __len__(self) -> int:
        """Returns the number of motions that wait behind the one that runs."""
        return len(self._waiting)

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits."""
        return not self._waiting and (self._follower is None or self._follower.state in _ENDED)

    @property
    def override(self) -> float:
        """The speed override, 0 to 1."""
        return self._override

    @override.setter
    def override(self, share: float) -> None:
        if not 0 <= share <= 1:
            raise OutOfRange("speed override", share, 0, 1)
        self._override = share
        if self._follower is not None:
            self._follower.override = share

    def append(self, motion: PathMotion) -> None:
        """Adds a motion behind the others.

        Raises:
            BadInput: when it does not start where the arm will stand then.
            JobFailed: while a stop is under way.
        """
        if self._follower is not None and self._follower.state is RunState.STOPPING:
            raise JobFailed(f"{motion.arm.name} is stopping; wait until it rests")
        begin = motion.path.at(0.0)[0]
        if self._last is not None:
            end = self._last.path.at(1.0)[0]
        elif self._follower is not None:
            end = self._follower.sample.position_rad
        else:
            end = begin
        apart = float(np.abs(begin - end).max())
        if apart > START_TOLERANCE_RAD:
            raise BadInput(
                f"the motion of {motion.arm.name} starts {np.degrees(apart):.4g} deg away from where the one before it "
                f"ends, allowed {np.degrees(START_TOLERANCE_RAD):.2g} deg"
            )
        self._waiting.append(motion)
        self._last = motion

    def pause(self) -> None:
        """Comes to rest on the path; nothing further begins."""
        self._paused = True
        if self._follower is not None:
            self._follower.pause()

    def resume(self) -> None:
        """Continues after a pause."""
        self._paused = False
        if self._follower is not None:
            self._follower.resume()

    def stop(self, category: StopCategory = StopCategory.NORMAL) -> None:
        """Comes to rest and drops the motions that wait."""
        self._waiting.clear()
        self._paused = False
        self._last = None
        if self._follower is not None:
            self._follower.stop(category)

    def tick(self) -> JointSample | None:
        """Returns the joints one period later; None before the first motion."""
        if (self._follower is None or self._follower.state in _ENDED) and self._waiting and not self._paused:
            self._follower = PathFollower(self._waiting.popleft(), self._period_s, self._override)
        return None if self._follower is None else self._follower.tick()


_ENDED = (RunState.DONE, RunState.STOPPED)

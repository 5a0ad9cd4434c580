"""A trajectory in joint space with ramps at its ends, which can be stopped early, on its path or off it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cellwright.crcl.messages import StopConditionEnum

__all__ = ["StoppableTrajectory", "TrajectorySegment"]

Joints: TypeAlias = "tuple[float, ...]"
FAST_FACTOR = 4.0  # how much harder a fast stop brakes than a normal one


@dataclass(frozen=True, slots=True)
class TrajectorySegment:
    """One segment of a trajectory.

    Attributes:
        duration_s: Its duration at full speed.
        ramp_s: The duration of the ramp from rest to full speed.
        joints_at: Gives the joints at a fraction of it.
    """

    duration_s: float
    ramp_s: float
    joints_at: Callable[[float], Joints]


class StoppableTrajectory:
    """Segments one after the other. Place and rate are in seconds of full speed, so that each has its own speed."""

    def __init__(self, segments: Sequence[TrajectorySegment]) -> None:
        self._segments = [segment for segment in segments if segment.duration_s > 0.0]
        self._ends_s: list[float] = []
        total_s = 0.0
        for segment in self._segments:
            total_s += segment.duration_s
            self._ends_s.append(total_s)
        self._total_s = total_s
        self._place_s = self._rate = 0.0
        self._braking: StopConditionEnum | None = None

    @property
    def over(self) -> bool:
        """Whether nothing moves any more: at the end, or where it was stopped."""
        return self._place_s >= self._total_s or (self._braking is not None and self._rate <= 0.0)

    @property
    def share(self) -> float:
        """The share of it that lies behind, 0 to 1."""
        return self._place_s / self._total_s if self._total_s > 0.0 else 1.0

    @property
    def stopped(self) -> bool:
        """Whether it ended before its end."""
        return self._braking is not None and self._place_s < self._total_s

    def brake(self, condition: StopConditionEnum) -> None:
        """Begins to stop; a harder stop replaces a softer one."""
        order = [StopConditionEnum.NORMAL, StopConditionEnum.FAST, StopConditionEnum.IMMEDIATE]
        if self._braking is None or order.index(condition) > order.index(self._braking):
            self._braking = condition
        if condition is StopConditionEnum.IMMEDIATE:
            self._rate = 0.0

    def step(self, duration_s: float, share: float) -> Joints:
        """Returns the joints after some more time, at most at this share of full speed."""
        segment = self._segments[self._index()]
        ramp = 1.0 / max(segment.ramp_s, duration_s)
        if self._braking is not None:
            hardness = FAST_FACTOR if self._braking is StopConditionEnum.FAST else 1.0
            self._rate = max(0.0, self._rate - hardness * ramp * duration_s)
        else:
            left_s = self._total_s - self._place_s
            self._rate = min(self._rate + ramp * duration_s, share, math.sqrt(2.0 * ramp * left_s))
            self._rate = max(self._rate, min(share, ramp * duration_s))  # the last step may not creep for ever
        self._place_s = min(self._place_s + self._rate * duration_s, self._total_s)
        return self.joints()

    def joints(self) -> Joints:
        """Returns the present joints."""
        index = self._index()
        segment = self._segments[index]
        before_s = self._ends_s[index] - segment.duration_s
        return segment.joints_at(min(1.0, (self._place_s - before_s) / segment.duration_s))

    def _index(self) -> int:
        for index, end_s in enumerate(self._ends_s):
            if self._place_s < end_s:
                return index
        return len(self._segments) - 1

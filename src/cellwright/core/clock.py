"""Simulation time as a whole number of physics ticks."""

from __future__ import annotations

import math

from cellwright.core.errors import OutOfRange

__all__ = ["Clock"]

NS_PER_S = 1_000_000_000
LONGEST_S = 1e9  # what counts as for ever: 30 years of simulation


class Clock:
    """The one clock of a run: integer ticks, so that no rounding can make two runs differ.

    Attributes:
        tick: Physics steps taken so far.
        tick_ns: Length of a step in nanoseconds.
    """

    __slots__ = ("tick", "tick_ns", "tick_s")

    def __init__(self, tick_s: float = 0.002) -> None:
        if not 1e-5 <= tick_s <= 0.1:
            raise OutOfRange("physics time step", tick_s, 1e-5, 0.1, "s")
        self.tick_ns = round(tick_s * NS_PER_S)
        self.tick_s = self.tick_ns / NS_PER_S
        self.tick = 0

    @property
    def time_s(self) -> float:
        """Seconds since the start."""
        return self.tick * self.tick_ns / NS_PER_S

    @property
    def time_ns(self) -> int:
        """Nanoseconds since the start."""
        return self.tick * self.tick_ns

    def ticks(self, duration_s: float) -> int:
        """Returns the ticks that cover a duration: rounded up, but not for the last bit of a decimal fraction."""
        if not math.isfinite(duration_s):
            raise OutOfRange("duration", duration_s, 0.0, LONGEST_S, "s")
        return -(-round(duration_s * NS_PER_S) // self.tick_ns)

    def period_ticks(self, rate_hz: float) -> int:
        """Returns the whole number of ticks nearest to the period of a rate, at least one."""
        if not 1 / LONGEST_S <= rate_hz < math.inf:
            raise OutOfRange("rate", rate_hz, 1 / LONGEST_S, 1 / self.tick_s, "Hz")
        return max(1, round(1 / (rate_hz * self.tick_s)))

"""The clock of a robot that runs in an ordinary event loop."""

from __future__ import annotations

import asyncio
import time

from cellwright.core.errors import OutOfRange

__all__ = ["WallClock"]


class WallClock:
    """Real time, or a multiple of it.

    Args:
        pace: Seconds of this clock per real second.
        tick_s: The shortest sleep, in seconds of this clock.
    """

    def __init__(self, pace: float = 1.0, tick_s: float = 0.001) -> None:
        for what, value, low, high in (("pace", pace, 1e-3, 1e3), ("tick", tick_s, 1e-6, 1.0)):
            if not low <= value <= high:
                raise OutOfRange(what, value, low, high)
        self._pace = pace
        self._tick_s = tick_s
        self._start_s = time.monotonic()

    @property
    def time_s(self) -> float:
        """Seconds since it was made."""
        return (time.monotonic() - self._start_s) * self._pace

    async def sleep(self, duration_s: float) -> None:
        """Waits for at least the duration, and at least one tick."""
        await asyncio.sleep(max(duration_s, self._tick_s) / self._pace)

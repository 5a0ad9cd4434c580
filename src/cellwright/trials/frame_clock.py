"""The clock of a controller outside: it has no clock of the cell but the times of the frames that it gets."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from cellwright.core.errors import JobFailed

__all__ = ["FrameClock"]

LOOK_S = 0.02  # of real time, at most, between two looks of a sleeper at the clock
PACE_FRAMES = 50  # over which the pace is measured
LONGEST_JUMP_S = 30.0  # of the cell's time beyond which a frame is not of the same run
RESTARTED = "the cell was started anew, or its clock was set"


class FrameClock:
    """The cell's time by its frames, and between two of them by real time at the pace that they come with.

    It does not go back. A frame is told with the detector's delay, so that the clock is not behind the cell's own:
    what it calls the past may be taken for seen, what is seen is not taken for older than it is.
    """

    def __init__(self) -> None:
        self._frames: deque[tuple[float, float]] = deque(maxlen=PACE_FRAMES)
        self._least_s = 0.0

    @property
    def time_s(self) -> float:
        """The cell's time."""
        if self._frames:
            real_s, cell_s = self._frames[-1]
            self._least_s = max(self._least_s, cell_s + self._pace * (time.monotonic() - real_s))
        return self._least_s

    @property
    def _pace(self) -> float:
        (first_real_s, first_s), (real_s, cell_s) = self._frames[0], self._frames[-1]
        return (cell_s - first_s) / (real_s - first_real_s) if real_s - first_real_s > LOOK_S else 1.0

    def take(self, taken_s: float, delay_s: float = 0.0) -> None:
        """Takes the time of a frame that has just come.

        Args:
            taken_s: When it was taken.
            delay_s: The detector's, by its data sheet.

        Raises:
            JobFailed: The cell's clock jumps.
        """
        now_s, known_s = taken_s + delay_s, self._frames[-1][1] if self._frames else None
        if known_s is not None and abs(now_s - known_s) > LONGEST_JUMP_S + self._pace * self._silent_s:
            raise JobFailed(f"the frames' time jumps from {known_s:.2f} s to {now_s:.2f} s: {RESTARTED}")
        if known_s is None or now_s >= known_s:
            self._frames.append((time.monotonic(), now_s))

    @property
    def _silent_s(self) -> float:
        return time.monotonic() - self._frames[-1][0]

    async def sleep(self, duration_s: float) -> None:
        """Waits for at least the duration of the cell's time."""
        end_s = self.time_s + duration_s
        await asyncio.sleep(0)
        while (left_s := end_s - self.time_s) > 0:
            pace = self._pace if self._frames else 1.0
            await asyncio.sleep(min(left_s / max(pace, 0.01), LOOK_S))

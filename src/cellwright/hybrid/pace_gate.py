"""The gate before the next command of an external robot: it waits while the laboratory does not keep pace."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from cellwright.core.errors import JobFailed
from cellwright.lab import Lab

__all__ = ["PaceGate"]

WINDOW_S = 1.0  # of wall time, over which pace is told
SLIP = 0.10  # share of it that may have slipped
LONGEST_S = 60.0  # of wall time that an external robot is held for
LOOK_S = 0.05


class PaceGate:
    """Knows how much time slips, and holds external robots between two commands while too much of it does.

    The time of a simulation that cannot keep pace falls behind that of robots that are not simulated. These are stopped
    at the next boundary instead: an arm that stands costs little, so that the laboratory catches its breath.

    Attributes:
        held: Counts how often a robot was held.
        held_s: Wall time for which robots were held, in all.

    Args:
        lab: The laboratory; its loop is paced.
    """

    def __init__(self, lab: Lab) -> None:
        self.held, self.held_s = 0, 0.0
        self._lab, self._pacing = lab, lab.loop.pacing
        self._samples: deque[tuple[float, float]] = deque()
        self._begin_s, self._begin_slip_s = time.monotonic(), self._pacing.slipped_s

    @property
    def slip(self) -> float:
        """The share of the last second of wall time that has slipped."""
        now_s = time.monotonic()
        samples = self._samples
        samples.append((now_s, self._pacing.slipped_s))
        while len(samples) > 2 and samples[1][0] <= now_s - WINDOW_S:
            samples.popleft()
        passed_s = now_s - samples[0][0]
        return (samples[-1][1] - samples[0][1]) / passed_s if passed_s > WINDOW_S / 4 else 0.0

    @property
    def slip_of_all(self) -> float:
        """The same of all the time since it was made."""
        passed_s = time.monotonic() - self._begin_s
        return (self._pacing.slipped_s - self._begin_slip_s) / passed_s if passed_s > 0.0 else 0.0

    async def wait(self, tell: Callable[[str, str], None]) -> None:
        """Waits until the laboratory keeps pace.

        Args:
            tell: Told when a robot is held, and when it goes on.

        Raises:
            JobFailed: It does not, for a minute.
        """
        slip = self.slip
        if slip <= SLIP:
            return
        self.held += 1
        begin_s = time.monotonic()
        tell("held", f"{100 * slip:.0f} % of the last second has slipped: the laboratory does not keep pace")
        while self.slip > SLIP:
            held_s = time.monotonic() - begin_s
            if held_s > LONGEST_S:
                raise JobFailed(f"the laboratory has not kept pace for {held_s:.0f} s; nothing was sent")
            await self._lab.clock.sleep(LOOK_S)
        self.held_s += time.monotonic() - begin_s
        tell("goes on", f"after {time.monotonic() - begin_s:.1f} s the laboratory keeps pace again")

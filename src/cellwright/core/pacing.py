"""The wall clock's say in simulation time: speed, pauses, who watches, and what a slow machine slips."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from cellwright.core.clock import Clock
from cellwright.core.errors import OutOfRange

__all__ = ["FASTEST", "LAG_S", "SLOWEST", "PaceLoss", "Pacing"]

LAG_S = 0.1  # wall time by which a run may be late and still catch up; beyond it, time slips
SLOWEST, FASTEST = 1e-3, 1e3
FIRST_LOSS_S, LONGEST_LOSS_S = 4.0, 256.0  # wall time over which a loss of pace is told, at first and at most
LOSS = 0.05  # of that time, which may slip without a word
PAUSED_S = 0.02  # how long a paused loop waits for its sockets before it looks whether it goes on


@dataclass
class _Watcher:
    look: Callable[[], None]
    period_s: float
    due_s: float = 0.0


class Pacing:
    """The bounds within which simulation time may go on at a moment.

    Attributes:
        slipped_s: Wall time that the machine was too slow for, and that was not caught up.
    """

    def __init__(self, clock: Clock, speed: float | None = None) -> None:
        self._clock = clock
        self._speed: float | None = None
        self._is_paused = False
        self._watchers: list[_Watcher] = []
        self.slipped_s = 0.0
        self.speed = speed

    @property
    def speed(self) -> float | None:
        """Simulated seconds per wall second; None is as fast as possible. Counts from when it is set."""
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        if speed is not None and not SLOWEST <= speed <= FASTEST:
            raise OutOfRange("pace", speed, SLOWEST, FASTEST)
        self._speed = speed
        self.restart()

    @property
    def is_paused(self) -> bool:
        """True while simulation time stands still."""
        return self._is_paused

    def pause(self) -> None:
        """Lets no time pass from now on; tasks that are ready and sockets go on."""
        self._is_paused = True

    def resume(self) -> None:
        """Lets time pass again; what the pause took is not caught up."""
        if self._is_paused:
            self._is_paused = False
            self.restart()

    @property
    def is_watched(self) -> bool:
        """True while somebody watches, who may pause it."""
        return bool(self._watchers)

    def watch(self, look: Callable[[], None], period_s: float = 1 / 30) -> None:
        """Calls back every so often of wall time, between stretches of simulation, until `unwatch`.

        The callback may look at everything and set speed and pauses. It must neither publish nor wake a task.
        """
        self._watchers.append(_Watcher(look, period_s))

    def unwatch(self, look: Callable[[], None]) -> None:
        """Calls that one no longer; does nothing when it is not called."""
        self._watchers = [watcher for watcher in self._watchers if watcher.look != look]

    def look(self) -> None:
        """Lets those who watch look, each when it is time for that; the loop asks in every turn."""
        if self._watchers:
            now_s = time.monotonic()
            for watcher in self._watchers:
                if now_s >= watcher.due_s:
                    watcher.due_s = now_s + watcher.period_s
                    watcher.look()

    def restart(self) -> None:
        """Counts from this moment."""
        self._start_s = time.monotonic()
        self._start_tick = self._clock.tick

    def allowed_tick(self) -> int | None:
        """Returns the tick of the wall clock, None for any; on a slow machine time slips, and never races."""
        now, tick_s, speed = self._clock.tick, self._clock.tick_s, self._speed
        if self._is_paused:
            return now
        if speed is None:
            return None
        allowed = self._start_tick + int((time.monotonic() - self._start_s) * speed / tick_s)
        excess_s = (allowed - now) * tick_s / speed - LAG_S
        if excess_s <= 0:
            return allowed
        self.slipped_s += excess_s
        self._start_s += excess_s
        return now + int(LAG_S * speed / tick_s)

    def until_next_tick_s(self) -> float:
        """Returns the wall time until the next tick is allowed."""
        if self._is_paused:
            return PAUSED_S
        if self._speed is None:
            return 0.0
        ticks = self._clock.tick + 1 - self._start_tick
        return max(0.0, self._start_s + ticks * self._clock.tick_s / self._speed - time.monotonic())


class PaceLoss:
    """Says when a run does not keep its pace: the first time after seconds, then after twice as many, and so on.

    Args:
        pacing: What it looks at.
        clock: The simulation clock.
        say: Told a line with the pace that was achieved.
    """

    def __init__(self, pacing: Pacing, clock: Clock, say: Callable[[str], None]) -> None:
        self._pacing = pacing
        self._clock = clock
        self._say = say
        self._period_s = FIRST_LOSS_S
        self._begin()

    def look(self) -> None:
        """Looks whether pace was kept; to be called by `Pacing.watch`."""
        pacing, now_s = self._pacing, time.monotonic()
        if pacing.speed != self._speed or pacing.is_paused:
            self._begin()
        elif now_s - self._start_s >= self._period_s and pacing.speed is not None:
            passed_s = now_s - self._start_s
            achieved = (self._clock.time_s - self._time_s) / passed_s
            has_slipped = pacing.slipped_s - self._slipped_s > LOSS * passed_s
            if has_slipped and achieved < (1.0 - LOSS) * pacing.speed:  # else it slipped in the time before
                self._say(
                    f"this machine does not keep pace: {achieved:.2g} simulated seconds per second"
                    f" in the last {passed_s:.0f} s instead of {pacing.speed:g}"
                )
                self._period_s = min(2 * self._period_s, LONGEST_LOSS_S)
            else:
                self._period_s = FIRST_LOSS_S
            self._begin()

    def _begin(self) -> None:
        self._start_s, self._time_s = time.monotonic(), self._clock.time_s
        self._speed, self._slipped_s = self._pacing.speed, self._pacing.slipped_s

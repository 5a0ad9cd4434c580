"""Progress of long work on stderr: one line with the time left in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Self

from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from cellwright.cli import output
from cellwright.core.results import MeasurementConditions

__all__ = ["Progress", "StatusLine", "duration_text"]

REFRESH_S = 0.2
LINE_EVERY_S = 15.0  # where there is no terminal
BAR = 20  # columns
ERASE = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


class StatusLine:
    """A line at the end of the terminal that changes while work goes on, and is gone afterwards.

    It has a thread of its own, so that it moves while the work does not call; the work is not slowed by it.

    Args:
        text: Gives the line as it is now; must only read.
    """

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begins to show it, in a terminal only."""
        if output.err.is_terminal and not output.is_quiet():
            output.before_printing(self._erase)
            self._thread = threading.Thread(target=self._refresh, name="status line", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Takes it away."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            with output.printing():
                output.before_printing(None)

    def _refresh(self) -> None:
        while not self._over.wait(REFRESH_S):
            with output.printing():
                line = Text(self._text(), "dim", no_wrap=True, overflow="ellipsis")
                line.truncate(max(10, output.err.width - 1), overflow="ellipsis")
                output.err.print(line, end="", soft_wrap=True)

    def _erase(self) -> None:
        output.err.control(ERASE)


class Progress:
    """Progress of work that takes more than a few seconds.

    >>> with Progress("trials") as progress:  # doctest: +SKIP
    ...     for number, seed in enumerate(seeds, start=1):
    ...         run(seed)
    ...         progress.update(number, len(seeds))

    Args:
        what: The work's name, before its first line.
    """

    def __init__(self, what: str) -> None:
        self._label = what
        self._done, self._total = 0, 0
        self._started_s = self._part_s = self._told_s = self._last_s = monotonic()
        self._line = StatusLine(self._text)

    def __enter__(self) -> Self:
        """Begins to show it."""
        self._line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it."""
        self._line.__exit__(kind, error, trace)

    def say(self, text: str) -> None:
        """Prints a line that stays, and names what goes on from now on."""
        self._label = text.strip()
        output.tell(text)

    def update(self, done: int, total: int) -> None:
        """Tells how much is done; another total, or less than before, begins another part."""
        now_s = monotonic()
        if total != self._total or done < self._done:
            self._part_s = self._told_s = now_s if done == 0 else self._last_s
        self._done, self._total, self._last_s = done, total, now_s
        if not output.err.is_terminal and now_s - self._told_s >= LINE_EVERY_S:
            self._told_s = now_s
            output.tell(f"  {done} of {total}{self._left()}")

    def conditions(self, seed: int, *, quick: bool) -> MeasurementConditions:
        """Returns the conditions of a bench or an experiment that tells its progress here."""
        return MeasurementConditions(seed, quick, self.say, self.update)

    def _text(self) -> str:
        elapsed = duration_text(monotonic() - self._started_s)
        if not self._total:
            return f"{self._label} · {elapsed}"
        full = BAR * min(self._done, self._total) // self._total
        bar = "━" * full + "╌" * (BAR - full)
        return f"{bar} {self._done} of {self._total}{self._left()} · {self._label} · {elapsed}"

    def _left(self) -> str:
        """Returns the time that is left, as fast as it went so far."""
        if not 0 < self._done < self._total:
            return ""
        left_s = (monotonic() - self._part_s) / self._done * (self._total - self._done)
        return f", {duration_text(left_s)} left"


def duration_text(duration_s: float) -> str:
    """Returns a duration as people say it: `8 s`, `3:05 min`, `1:02 h`."""
    whole = round(duration_s)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"

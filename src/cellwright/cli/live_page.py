"""The live page of a command: its port is taken before anything is done, and on a terminal it stays until Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cellwright.cli.output import counted, err, say
from cellwright.core.errors import BadInput
from cellwright.core.pacing import FASTEST, SLOWEST

if TYPE_CHECKING:
    from cellwright.lab import Lab
    from cellwright.trials.pick_run import PickReport
    from cellwright.trials.report import Report
    from cellwright.viewing.live import LiveView
    from cellwright.viewing.live_process import LiveProcess

__all__ = ["SPEED_HELP", "VIEW_HELP", "LivePage", "with_addresses"]

VIEW_HELP = "Show it live in the browser, at HOST:PORT or PORT; 127.0.0.1:8080 by default, 0 is any free port."
SPEED_HELP = "With --view: simulated seconds per second, or fast; 1 by default."
FAST = "fast"
DEFAULT_ADDRESSES = {"--view": "127.0.0.1:8080", "--usartruth": "127.0.0.1:3989"}
"""Option that may stand alone -> the address that is meant then."""


def with_addresses(arguments: Sequence[str]) -> list[str]:
    """Returns the command line with an address behind options that may stand alone, as the parser wants it."""
    given: list[str] = []
    for number, word in enumerate(arguments):
        following = arguments[number + 1] if number + 1 < len(arguments) else ""
        port = following.rpartition(":")[2]
        is_alone = word in DEFAULT_ADDRESSES and not port.isdecimal()
        given.append(f"{word}={DEFAULT_ADDRESSES[word]}" if is_alone else word)
    return given


class LivePage:
    """The page that `--view` asks for, at the `--speed` of a run; without them it does nothing.

    Args:
        address: Where to listen, if anywhere.
        speed: Simulated seconds per second, or `fast`; None leaves it to the laboratory.

    Raises:
        BadInput: The port is taken, or the speed is none.
    """

    def __init__(self, address: str | None, speed: str | None = None) -> None:
        self._speed = None if speed is None else _number(speed)
        self._has_speed = speed is not None
        self._process: LiveProcess | None = None
        self._view: LiveView | None = None
        if address is None:
            if speed is not None:
                raise BadInput("--speed is for a run that is watched: add --view")
            return
        from cellwright.viewing.live_process import LiveProcess
        from cellwright.viewing.page import viewer_page

        try:
            viewer_page()
        except BadInput as error:
            say(f"no live page: {error}; it goes on without", to=err)
            return
        self._process = LiveProcess(address)
        say(f"live page: {self._process.url}", to=err)

    @property
    def is_on(self) -> bool:
        """Whether somebody may watch."""
        return self._process is not None

    @contextmanager
    def watching(self, lab: Lab, about: Mapping[str, Any] | None = None) -> Iterator[None]:
        """Shows a laboratory while it runs.

        Args:
            lab: The laboratory.
            about: What the page says of the run.
        """
        if self._process is None:
            yield
            return
        from cellwright.viewing.live import LiveView

        def tell(line: str) -> None:
            say(line, to=err)

        speed = self._speed if self._has_speed else 1.0
        self._view = LiveView(lab, self._process, speed=speed, about=about, say=tell)
        if self._has_speed:
            lab.loop.pacing.speed = self._speed
        with self._view.during_run():
            yield

    def finish(self, report: Report | PickReport) -> None:
        """Tells the page how it has ended, and what no message has told: points, and what was hit or fell."""
        if self._view is None:
            return
        about: dict[str, Any] = {"status": "done" if report.done else "failed", "reason": report.reason}
        scored = getattr(report, "scored", None)
        items = [] if scored is None else scored.as_dict()["items"]
        told = [("hit", hit.start_s, str(hit)) for hit in report.hits]
        told += [("drop", drop.time_s, str(drop)) for drop in report.drops]
        events = [{"time_s": time_s, "kind": kind, "text": text, "subject": ""} for kind, time_s, text in told]
        about["score"] = None if scored is None else scored.total
        self._view.finish(about, {"score": items, "events": events})

    def stay(self) -> None:
        """Leaves the page open until Ctrl-C, where somebody sits at a terminal."""
        view = self._view
        if view is None or not view.is_open or not (sys.stdout.isatty() and sys.stderr.isatty()):
            return
        say(f"the page stays open until Ctrl-C: {view.url}", to=err)
        try:
            view.wait()
        except KeyboardInterrupt:
            say("the live page is closed", to=err)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._view is not None:
            self._view.close()
            for why, count in self._view.refused.items():
                say(f"live page: refused at least {counted(count, 'time')}: {why}", to=err)
        elif self._process is not None:
            self._process.close()


def _number(speed: str) -> float | None:
    if speed == FAST:
        return None
    try:
        value = float(speed)
    except ValueError:
        value = -1.0
    if not SLOWEST <= value <= FASTEST:
        raise BadInput(f"--speed takes a number from {SLOWEST:g} to {FASTEST:g}, or fast, not '{speed}'")
    return value

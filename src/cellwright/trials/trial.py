"""Runs of trials: orders are announced, faults happen, a controller works, and the result is judged by the truth."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellwright.cells import Cell
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, CellwrightError, ConfigError, SimulationError, UnknownName
from cellwright.lab.lab import Lab
from cellwright.trials.cfg import TrialCfg, controller_names
from cellwright.trials.clock_pause import ClockPause
from cellwright.trials.controllers import TRIAL_CONTROLLERS
from cellwright.trials.end import TrialEnd, close_session, limit_hints, trial_hints
from cellwright.trials.file_errors import check_faults, trial_cell
from cellwright.trials.judging import VerdictInputs, make_verdict
from cellwright.trials.orders import OrderBook
from cellwright.trials.report import save_trial
from cellwright.trials.session import TrialSession
from cellwright.trials.verdict import Ending, TrialVerdict

__all__ = ["EXTERNAL", "TrialRun", "run_trial"]

EXTERNAL = "external"
LOOK_S = 0.25  # how often orders, kits and connections are looked at
SLOWEST = 4.0  # real time may be so many times what the pace says, and a minute more

Addresses = dict[str, Any]


def run_trial(
    cfg: TrialCfg,
    controller: str | None = None,
    *,
    out: Path | None = None,
    pace: float | None = None,
    any_port: bool = False,
    on_accept: Callable[[], Path | None] = lambda: None,
    on_open: Callable[[Addresses], None] = lambda _addresses: None,
    say: Callable[[str], None] = lambda _text: None,
) -> TrialVerdict:
    """Runs a trial to its end; whatever the controller does or does not do, there is a verdict.

    Args:
        cfg: The trial.
        controller: A controller instead of the one that the trial names.
        out: Folder for verdict, page, picture and log; nothing is kept when None.
        pace: Simulated seconds per second, instead of what the trial says; also for a controller inside.
        any_port: Free ports instead of the cell's.
        on_accept: Called when the trial makes sense, before anything is written or moved; may give the folder.
        on_open: Called with the addresses of the interfaces, once they are open.
        say: Told what is going on.

    Raises:
        BadInput: The trial does not fit its cell, or no controller could fill its orders; nothing was done.
    """
    name = controller or cfg.controller
    if name not in controller_names():
        raise UnknownName(TRIAL_CONTROLLERS.kind, name, controller_names())
    cell = trial_cell(cfg)
    book, lacking = _orders(cfg, cell)
    speed = pace if pace is not None else (cfg.pace if name == EXTERNAL else None)
    with Lab.from_cell(cell, cfg.seed, pace=speed) as lab:
        errors = ErrorCollector()
        check_faults(cfg, lab, errors)
        errors.raise_errors()
        session = TrialSession(lab, book, cfg.faults, cfg.time_limit_s)
        possible = session.recoverable()
        _refuse(cfg, [] if possible.recoverable else [possible.reason])
        hints = trial_hints(cfg, cell, possible)
        for hint in hints:
            say(f"hint: {hint}")
        out = on_accept() or out
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        recorder = lab.record(out / "log.mcap") if out is not None else None
        trial = TrialRun(cfg, session, name, any_port, on_open, say)
        started_s = time.monotonic()
        ending = trial.run(speed)
        facts = VerdictInputs(cfg.trial, name, cfg.time_limit_s, cfg.par_s, cfg.points)
        wall_s = time.monotonic() - started_s
        verdict = make_verdict(session, facts, ending, wall_s=wall_s, possible=possible, notes=[*lacking, *hints])
        if verdict.done:  # the limit was long enough
            beaten = limit_hints(cfg, possible)
            verdict = replace(verdict, notes=tuple(note for note in verdict.notes if note not in beaten))
        if out is not None and recorder is not None:
            recorder.close()
            save_trial(verdict, lab.world, out, say)
    return verdict


def _orders(cfg: TrialCfg, cell: Cell) -> tuple[OrderBook, list[str]]:
    """Returns the orders, and what the cell lacks for them; their mistakes are told together with those of faults."""
    try:
        book = OrderBook.of(cfg.orders, cell, cfg.seed, cfg.where)
        lacking = book.lacking(cell, cfg.seed)
        _refuse(cfg, lacking)
    except BadInput as error:
        errors = ErrorCollector()
        errors.add(error)
        if cfg.faults:
            with errors.collecting(), Lab.from_cell(cell, cfg.seed) as lab:
                check_faults(cfg, lab, errors)
        errors.raise_errors()
        raise
    return book, lacking


def _refuse(cfg: TrialCfg, reasons: list[str]) -> None:
    if reasons and cfg.impossible == "refuse":
        problem = f"nobody could fill them: {'; '.join(reasons)} (`impossible: note` runs the trial anyway)"
        raise ConfigError(cfg.where, "orders", problem)


@dataclass
class TrialRun:
    """One trial that runs."""

    cfg: TrialCfg
    session: TrialSession
    controller: str
    any_port: bool = False
    on_open: Callable[[Addresses], None] = lambda _addresses: None
    say: Callable[[str], None] = lambda _text: None

    def run(self, pace: float | None) -> tuple[Ending, str]:
        """Runs the trial to its end."""
        try:
            return self.session.lab.perform(self._run(pace))
        except SimulationError as error:
            return Ending.BROKEN, str(error)

    async def _run(self, pace: float | None) -> tuple[Ending, str]:
        loop, stop, pause = asyncio.get_running_loop(), asyncio.Event(), ClockPause()
        why: list[Ending] = []

        def end(ending: Ending) -> None:
            why.append(ending)
            pause.release()
            stop.set()

        limit_s = 60.0 + self.cfg.connect_within_s + SLOWEST * self.cfg.time_limit_s / (pace or 0.1)
        timer = threading.Timer(limit_s, loop.call_soon_threadsafe, [end, Ending.TOO_SLOW])
        timer.daemon = True
        timer.start()
        watching = loop.create_task(self._external(pause) if self.controller == EXTERNAL else self.internal())
        stopping = loop.create_task(stop.wait())
        with _on_sigterm(lambda: loop.call_soon_threadsafe(end, Ending.INTERRUPTED)):
            await asyncio.wait({watching, stopping}, return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        ending = (why[0], "") if why else watching.result()
        watching.cancel()
        self.say(f"{self.session.lab.clock.time_s:8.3f} s  {ending[0].value}")
        await close_session(self.session, ending[0])
        return ending

    async def _external(self, pause: ClockPause) -> tuple[Ending, str]:
        self.session.update()  # the first client is told what is wanted
        self.on_open(await self.session.open(any_port=self.any_port))
        if not await pause.until(lambda: self.session.connected > 0, self.cfg.connect_within_s):
            return Ending.NOBODY, f"{self.cfg.connect_within_s:g} s of real time were given"
        return await self._watch(lambda: None)

    async def internal(self) -> tuple[Ending, str]:
        """Lets a controller inside work until the trial's end."""
        self.session.update()
        work = asyncio.ensure_future(TRIAL_CONTROLLERS.get(self.controller)(self.session, self.session.book))

        def ended() -> tuple[Ending, str] | None:
            if not work.done():
                return None
            error = None if work.cancelled() else work.exception()
            if error is None:
                return Ending.RETURNED, ""
            reason = str(error) if isinstance(error, CellwrightError) else f"{type(error).__name__}: {error}"
            return Ending.FAILED, reason

        try:
            return await self._watch(ended)
        finally:
            work.cancel()

    async def _watch(self, ended: Callable[[], tuple[Ending, str] | None]) -> tuple[Ending, str]:
        session, cfg = self.session, self.cfg
        end, alone_s, passed_s = TrialEnd(cfg, session), 0.0, 0.0
        announced: set[str] = set()
        while True:
            session.update()
            for order in session.book.announced:
                if order.name not in announced:
                    announced.add(order.name)
                    self.say(f"{session.lab.clock.time_s:8.3f} s  order {order.name} is announced")
            if (over := end.reached(passed_s) or ended()) is not None:
                return over
            alone_s = 0.0 if session.connected or self.controller != EXTERNAL else alone_s + passed_s
            if alone_s > cfg.reconnect_within_s:
                return Ending.GONE, f"at {session.lab.clock.time_s - alone_s:.1f} s"
            passed_s = min(LOOK_S, end.left_s)
            await session.lab.clock.sleep(passed_s)


@contextlib.contextmanager
def _on_sigterm(call: Callable[[], object]) -> Iterator[None]:
    """Makes SIGTERM end the trial with a verdict while the context lasts; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: call())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

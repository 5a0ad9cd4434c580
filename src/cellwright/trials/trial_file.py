"""Trials from files: all mistakes are told before anything runs, and whatever happens then, there is a report."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.cells import Cell, cell_hints
from cellwright.core.config import parse_yaml
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, ConfigErrors, SimulationError
from cellwright.core.loop_interrupts import ENDING_SIGNALS, ended_by
from cellwright.core.messages import Detections
from cellwright.core.yaml_lines import with_line
from cellwright.hybrid import LabTargets, require_no_faults
from cellwright.judge import Recoverability
from cellwright.judge.faults.validation import check_fault
from cellwright.lab.cell_file import read_cell
from cellwright.lab.lab import Lab
from cellwright.lab.sources import with_source
from cellwright.trials.cfg import EXTERNAL, TrialCfg, controller_names, make_trial, read_trial
from cellwright.trials.controller_command import GRACE_S, ControllerCommand, ControllerProgram
from cellwright.trials.controller_run import ControllerLimits
from cellwright.trials.controllers import TRIAL_CONTROLLERS
from cellwright.trials.orders import OrderBook
from cellwright.trials.page import FILES, save_report
from cellwright.trials.report import Ending, Report
from cellwright.trials.run_note import note_trial
from cellwright.trials.trial import Trial, TrialEnd
from cellwright.trials.trial_interfaces import ClockPause, TrialInterfaces

__all__ = ["read_whole_trial", "run_trial", "trial_hints"]

LISTS = ("orders", "faults")
SLOWEST = 4.0  # real time may be so many times what the pace says, and a minute more
LONGEST_S = 86_400.0  # real time
CLEARLY = 0.5  # of what plans take at least: a limit below is hinted at

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
    watch: Callable[[Lab], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
    command: str = "",
    program: ControllerCommand | None = None,
    on_log: Callable[[Path], Mapping[str, str]] = lambda _log: {},
    targets: Path | None = None,
) -> Report:
    """Runs a trial to its end; whatever the controller does or does not do, there is a verdict.

    >>> trial = cw.TrialCfg(trial="mine", seed=7, orders=[{"order": "kit_m2l1"}], faults=["drop:during=transfer:2"])
    >>> report = cw.run_trial(trial, "internal")
    >>> report.done, len(report.faults)
    (True, 1)

    Args:
        cfg: The trial.
        controller: A controller instead of the one that the trial names.
        out: Folder for verdict, page, picture and log; nothing is kept when None.
        pace: Simulated seconds per second, instead of what the trial says; also for a controller inside.
        any_port: Free ports instead of the cell's.
        on_accept: Called when the trial makes sense, before anything is written or moved; may give the folder.
        on_open: Called with the addresses of the interfaces, once they are open.
        say: Told what is going on.
        watch: Watches the laboratory while it works, such as a line that shows its time; must not change it.
        command: How the trial is repeated, for its page.
        program: Starts the controller outside, once the interfaces are open, and ends with the trial.
        on_log: Given the log once it is complete; returns what its page links to, text -> file.
        targets: The file that says which robots and detectors are somewhere else, instead of what the cell says.

    Raises:
        BadInput: The trial does not fit its cell, or no controller could fill its orders; nothing was done.
        UnsavedReport: The trial is over, and its report, which the error has, cannot be written.
    """
    name = controller or cfg.controller
    cell = _trial_cell(cfg)  # before its controller: the cell's plugins may register that
    if name not in controller_names():
        raise TRIAL_CONTROLLERS.unknown(name, besides=(EXTERNAL,))
    book, lacking = _orders(cfg, cell)
    is_hybrid = targets is not None or cell.targets.has_external
    speed = pace if pace is not None else (cfg.pace if name == EXTERNAL or is_hybrid else None)
    with Lab.from_cell(cell, cfg.seed, pace=speed) as lab:
        errors = ErrorCollector()
        _check_faults(cfg, lab, errors)
        errors.raise_errors()
        elsewhere = _targets(lab, targets, say, has_control=name != EXTERNAL) if is_hybrid else None
        if elsewhere is not None:
            require_no_faults(elsewhere.wanted, cfg.faults)
        trial = Trial(lab, cfg, book, say=say, targets=elsewhere)
        interfaces = TrialInterfaces(trial)
        possible = trial.recoverable()
        _refuse(cfg, [] if possible.recoverable else [possible.reason])
        hints = trial_hints(cfg, cell, possible)
        for hint in hints:
            say(f"hint: {hint}")
        out = on_accept() or out
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        recorder = lab.record(out / "log.mcap") if out is not None else None
        started_s, pause = time.monotonic(), ClockPause()
        limits = ControllerLimits(LONGEST_S, cfg.connect_within_s, GRACE_S)  # of one that hangs, the trial ends
        own = None if program is None else ControllerProgram(program, out or Path(tempfile.mkdtemp()), limits)
        if name == EXTERNAL:
            work = _outside(trial, interfaces, pause, any_port, on_open, own)
        else:
            work = trial.inside(TRIAL_CONTROLLERS.get(name))
        limit_s = 60.0 + cfg.connect_within_s + SLOWEST * cfg.time_limit_s / (speed or 0.1)
        try:
            with _stopped_from_outside(trial, pause, limit_s), watch(lab):
                end = lab.perform(trial.run(work))
        except SimulationError as error:
            end = Ending.BROKEN, str(error)
        finally:
            if own is not None and interfaces.ended in ("", Ending.INTERRUPTED.value):
                own.stop()  # nobody is left for whom it could go on
        ran = own.join() if own is not None else None
        failed = [f"the controller failed: {ran.ending}"] if ran is not None and not ran.ok else []
        notes, wall_s = [*lacking, *hints, *failed], time.monotonic() - started_s
        report = trial.report(end, name, wall_s=wall_s, possible=possible, notes=notes)
        if report.done:  # the limit was long enough
            beaten = _limit_hints(cfg, possible)
            report = replace(report, notes=tuple(note for note in report.notes if note not in beaten))
        if out is not None and recorder is not None:
            note_trial(lab, report, cfg, cfg.file, name)
            recorder.close()
            save_report(report, lab.world, out, say, command, on_log(out / FILES["log"]))
    return report


async def _outside(
    trial: Trial,
    interfaces: TrialInterfaces,
    pause: ClockPause,
    any_port: bool,
    on_open: Callable[[Addresses], None],
    own: ControllerProgram | None,
) -> TrialEnd:
    """Opens the interfaces and lets programs outside work; time stands still until one connects."""
    addresses = await interfaces.open(any_port=any_port)
    on_open(addresses)
    trial.look()  # the first client is told what is wanted
    if own is not None:
        own.start(addresses, trial.lab.seed, lambda: {"connected": interfaces.connected, "ended": interfaces.ended})

    def is_over() -> bool:
        return own is not None and own.ended

    if not await pause.until(lambda: interfaces.connected > 0 or is_over(), trial.cfg.connect_within_s):
        return Ending.NOBODY, f"{trial.cfg.connect_within_s:g} s of real time were given"
    if is_over() and not interfaces.connected and not trial.submitted:
        return Ending.NOBODY, "its program has ended before"
    alone_s = 0.0

    def gone(passed_s: float) -> TrialEnd | None:
        nonlocal alone_s
        alone_s = 0.0 if interfaces.connected else alone_s + passed_s
        if alone_s <= (0.0 if is_over() else trial.cfg.reconnect_within_s):
            return None
        return Ending.GONE, f"at {trial.lab.clock.time_s - alone_s:.1f} s"

    return await trial.until_end(gone)


def _targets(lab: Lab, file: Path | None, say: Callable[[str], None], *, has_control: bool) -> LabTargets:
    """Returns the targets of a trial; with a controller inside there is no other socket on which to switch them."""
    return LabTargets(lab, file=file, say=say, control_port=0 if has_control else None)


def _orders(cfg: TrialCfg, cell: Cell) -> tuple[OrderBook, list[str]]:
    """Returns the orders, and what the cell lacks for them; their mistakes are told together with those of faults."""
    try:
        book = OrderBook.of(cfg.orders, cell, cfg.where)
        lacking = book.lacking(cell)
        _refuse(cfg, lacking)
    except BadInput as error:
        errors = ErrorCollector()
        errors.add(error)
        if cfg.faults:
            with errors.collecting(), Lab.from_cell(cell, cfg.seed) as lab:
                _check_faults(cfg, lab, errors)
        errors.raise_errors()
        raise
    return book, lacking


def _refuse(cfg: TrialCfg, reasons: list[str]) -> None:
    if reasons and cfg.impossible == "refuse":
        problem = f"nobody could fill them: {'; '.join(reasons)} (`impossible: note` runs the trial anyway)"
        raise ConfigError(cfg.where, "orders", problem)


def trial_hints(cfg: TrialCfg, cell: Cell, possible: Recoverability) -> list[str]:
    """Returns hints about the cell and the time limit: what is allowed and probably not meant."""
    return [*cell_hints(cell), *_limit_hints(cfg, possible)]


def _limit_hints(cfg: TrialCfg, possible: Recoverability) -> list[str]:
    """Returns a hint about a time limit far below the plan's; a controller may beat its nominal durations."""
    plan = possible.plan
    if not possible.recoverable or plan is None or cfg.time_limit_s >= CLEARLY * plan.lower_bound:
        return []
    where = f"{with_line(cfg.where, 'time_limit_s')}: time_limit_s"
    bound = f"filling all orders takes at least {plan.lower_bound:.0f} s"
    return [
        f"{where}: {cfg.time_limit_s:g} s may be too short: by the planner's durations, which another controller may "
        f"beat, {bound}"
    ]


@contextlib.contextmanager
def _stopped_from_outside(trial: Trial, pause: ClockPause, limit_s: float) -> Iterator[None]:
    """Ends the trial with a verdict at SIGTERM, and when so much real time is over.

    With robots that are not simulated at Ctrl-C, too: they are stopped before, and their sessions end.

    Whoever watches it may pause it for as long as he likes.
    """
    is_over = threading.Event()

    def stop(ending: Ending) -> None:
        pause.release()
        trial.stop(ending)

    def mind_time() -> None:
        while not is_over.wait(limit_s):
            if not trial.lab.loop.pacing.is_watched:
                stop(Ending.TOO_SLOW)
                return

    threading.Thread(target=mind_time, name="time limit", daemon=True).start()
    signals = (signal.SIGTERM,) if trial.targets is None else ENDING_SIGNALS
    try:
        with contextlib.ExitStack() as handlers:
            for number in signals:
                handlers.enter_context(ended_by(number, lambda: stop(Ending.INTERRUPTED)))
            yield
    finally:
        is_over.set()


def read_whole_trial(path: Path) -> TrialCfg:
    """Returns a trial from its file; where it does not fit the format, the rest of it is looked at as well.

    Raises:
        BadInput: All that is wrong.
    """
    try:
        return read_trial(path)
    except ConfigErrors as several:
        errors: Sequence[BadInput] = several.errors
    except ConfigError as one:
        errors = [one]
    collector = ErrorCollector()
    collector.found += errors
    try:
        rest, numbers, names = _rest(path, errors)
    except BadInput:  # too little is left to look at
        raise ConfigErrors(errors) from None
    others = ErrorCollector(names)
    with others.collecting():
        cell = _trial_cell(rest)
        if numbers["orders"]:
            with others.collecting():
                OrderBook.of(rest.orders, cell, rest.where, numbers["orders"])
        if rest.faults:
            with Lab.from_cell(cell, rest.seed) as lab:
                _check_faults(rest, lab, others, numbers["faults"])
    collector.found += others.found
    raise ConfigErrors(collector.sorted_errors())


def _rest(path: Path, errors: Sequence[BadInput]) -> tuple[TrialCfg, dict[str, list[int]], set[str]]:
    """Returns a trial without its wrong entries, the numbers of the rest, and the names of removed orders."""
    said: Any = parse_yaml(path.read_text(encoding="utf-8"), path)
    data: dict[str, Any] = said if isinstance(said, dict) else {}
    wrong = {tuple(getattr(error, "path", "").split(".")[:2]) for error in errors}
    kept = {key: value for key, value in data.items() if key in TrialCfg.model_fields and (key,) not in wrong}
    kept = {key: value for key, value in kept.items() if key in LISTS or not any(at[0] == key for at in wrong)}
    numbers, names = {}, set()
    for key in LISTS:
        found = kept.get(key)
        entries = found if isinstance(found, list) else []
        numbers[key] = [n for n in range(len(entries)) if (key, str(n)) not in wrong]
        gone = [entries[n] for n in range(len(entries)) if n not in numbers[key]]
        names |= {str(entry.get("name", entry.get("order"))) for entry in gone if isinstance(entry, dict)}
        kept[key] = [entries[n] for n in numbers[key]]
    kept["orders"] = kept["orders"] or [{"order": "left_out"}]  # a trial has at least one
    return make_trial({"trial": "unnamed"} | kept, path), numbers, names


def _trial_cell(cfg: TrialCfg) -> Cell:
    """Returns the cell of a trial.

    Raises:
        BadInput: It does not exist, or all that is wrong with it.
    """
    try:
        return with_source(read_cell(cfg.cell, cfg.seed), cfg.source)
    except ConfigError:  # a mistake in the cell's own file, which is named
        raise
    except BadInput as error:
        raise ConfigError(cfg.where, "cell", str(error)) from None


def _check_faults(cfg: TrialCfg, lab: Lab, collector: ErrorCollector, numbers: Sequence[int] | None = None) -> None:
    """Tells faults about what is not in the cell.

    Args:
        cfg: The trial.
        lab: Its laboratory.
        collector: Told what is wrong.
        numbers: Which of the file's faults the trial has; all of them when not given.
    """
    detectors = [sensor for sensor in lab.sensors if sensor.message_type is Detections]
    for number, fault in zip(range(len(cfg.faults)) if numbers is None else numbers, cfg.faults, strict=True):
        try:
            check_fault(fault, lab.world, detectors)
        except BadInput as error:
            for one in getattr(error, "errors", (error,)):
                collector.add(ConfigError(cfg.where, f"faults.{number}", str(one)))

"""Runs: trials of Cellwright's own controller, without sockets, from the drawings or from where one was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from cellwright import cells
from cellwright.catalogue import FURNITURE, BoxFigures
from cellwright.cells import CellTargetsCfg
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.loop_interrupts import ENDING_SIGNALS, ended_by
from cellwright.core.messages import ActionEvent, Detections
from cellwright.drawings.calibration import calibrated_drawings
from cellwright.drawings.prior import Drawings
from cellwright.execution import ActionRecord, ExecutionSettings, OrderReport, OrderStatus
from cellwright.execution.progress import load_progress
from cellwright.hybrid import LabTargets, read_targets, require_no_faults
from cellwright.judge import FaultCfg
from cellwright.judge.faults.spec import fault_text
from cellwright.judge.faults.validation import check_fault
from cellwright.knowledge import Database, DatabaseError
from cellwright.lab.lab import Lab
from cellwright.lab.world_file import WorldFile, WorldState
from cellwright.orders import Order
from cellwright.orders.design import PAPER_PART_SKUS, PAPER_TRAY_SKU
from cellwright.perception.calibration import Calibration
from cellwright.planning.external_plan import ExternalPlan
from cellwright.trials.announced import AnnouncedOrder
from cellwright.trials.cfg import LONGEST_S, TrialCfg, TrialOrderCfg
from cellwright.trials.controller_ports import ControllerOrders, ControllerPorts
from cellwright.trials.kitting_controller import ACTIONS_TOPIC, KittingController, controller_database
from cellwright.trials.orders import OrderBook
from cellwright.trials.report import Ending, Report
from cellwright.trials.run_files import note_world_file
from cellwright.trials.run_note import note_run
from cellwright.trials.trial import Trial

__all__ = ["RunCfg", "check_order", "run_order"]

BROKEN_OFF = (Ending.STOPPED, Ending.TIME_LIMIT)
AWAY_S = 1.0  # for how long no controller worked before a run is resumed
STOPPED = "the robots have stopped and hold what they held; --resume goes on from here when the database is back"
PAR_S_PER_PART, PAR_S_PER_TRAY, LIMIT_S_PER_PART = 20.0, 80.0, 200.0


@dataclass(frozen=True)
class RunCfg:
    """Settings of a run.

    Attributes:
        robots: The robots that work; all when None.
        settings: How the executor works, and the time that computing takes.
        faults: The faults to apply.
        database: Where belief and progress are stored; in memory by default.
        world_file: Where the world is stored; nowhere by default, and then nothing can be resumed.
        header: What was asked for, by the names of the command line: stored with the world, and noted in the log.
        on_action: Is told of every action that was tried, once it has ended or failed.
        plan: An external plan to begin with; a resumed run plans anew.
        calibration: Of the cell as it is drawn; corrects drawings and detections.
        targets: Where robots and detectors are, of a laboratory with a pace; what the cell's file says when None.
        targets_file: The file of that, which is followed when it changes.
        control_port: Where switches of targets are taken; any free port by default.
        on_targets: Given the targets before they are connected.
        say: Told of events of targets.
    """

    robots: tuple[str, ...] | None = None
    settings: ExecutionSettings = field(default_factory=ExecutionSettings)
    faults: tuple[FaultCfg, ...] = ()
    database: str | Path = "sqlite://"
    world_file: Path | None = None
    header: Mapping[str, Any] | None = None
    on_action: Callable[[ActionRecord], None] = lambda _record: None
    plan: ExternalPlan | None = None
    calibration: Calibration | None = None
    targets: CellTargetsCfg | None = None
    targets_file: Path | None = None
    control_port: int = 0
    on_targets: Callable[[LabTargets], None] = lambda _targets: None
    say: Callable[[str], None] = lambda _text: None


def check_order(lab: Lab, orders: Sequence[Order], cfg: RunCfg) -> None:
    """Refuses what the cell does not have.

    Raises:
        BadInput: One line: robots, faults, targets or parts that the cell does not have.
    """
    external = cfg.targets or (lab.cell.targets if cfg.targets_file is None else read_targets(lab, cfg.targets_file))
    require_no_faults(external, cfg.faults)
    drawings = Drawings.of(lab.cell)
    drawings.named_robots(cfg.robots)
    detectors = [sensor for sensor in lab.sensors if sensor.message_type is Detections]
    drawings.views([detector.source for detector in detectors])
    for fault in cfg.faults:
        check_fault(fault, lab.world, detectors)
    papers = {*PAPER_PART_SKUS.values(), PAPER_TRAY_SKU}
    for order in orders:
        if papers & {sku for line in order.lines for sku in (line.design.tray_sku, *line.design.parts)}:
            planned = "`cellwright plan` plans it on their workstation"
            raise BadInput(f"{order.name}: {lab.cell.name} has no parts of the kitting papers; {planned}")


def run_order(lab: Lab, orders: Sequence[Order], cfg: RunCfg | None = None, resume: WorldState | None = None) -> Report:
    """Does orders with Cellwright's own controller, and judges the result by the truth.

    Args:
        lab: A fresh laboratory.
        orders: What is wanted.
        cfg: How.
        resume: The world of a run of the same cell, seed and orders whose controller died; belief and progress are
            in the database.

    Raises:
        BadInput: The cell cannot do it at all, or has no such robot; nothing was done.
        JobFailed: The database was lost; the world, at rest, is stored for a run that goes on.
    """
    cfg = cfg or RunCfg()
    check_order(lab, orders, cfg)
    book = OrderBook.of_run(orders, lab.cell)
    if resume is None:
        known = map(AnnouncedOrder.of, book.orders.values())
        drawings = Drawings.of(lab.cell)
        drawings = drawings if cfg.calibration is None else calibrated_drawings(drawings, cfg.calibration)
        database = controller_database(drawings, known, cfg.robots, cfg.database)
    else:
        resume.restore(lab)
        lab.advance(AWAY_S)
        database = Database(cfg.database)
    with _closed_at_the_end(database):
        return _run(lab, book, cfg, database, resume)


def _run(lab: Lab, book: OrderBook, cfg: RunCfg, database: Database, resume: WorldState | None) -> Report:
    robots = Drawings.of(lab.cell).named_robots(cfg.robots)
    targets = None
    if cfg.targets is not None or cfg.targets_file is not None or lab.cell.targets.has_external:
        targets = LabTargets(lab, cfg.targets, file=cfg.targets_file, say=cfg.say, control_port=cfg.control_port)
        cfg.on_targets(targets)
    trial = Trial(
        lab,
        _trial_cfg(lab, book, cfg),
        book,
        robots=robots,
        is_run=True,
        database=cfg.database,
        calibration=cfg.calibration,
        targets=targets,
    )
    controller = KittingController(
        trial.ports, database, robots=cfg.robots, settings=cfg.settings, on_action=cfg.on_action
    )
    is_under_way = resume is not None and load_progress(database) is not None
    plan = None if resume else cfg.plan

    async def work(_ports: ControllerPorts, orders: ControllerOrders) -> None:
        await controller.build(orders, resume=is_under_way, plan=plan)

    file = _world_file(trial, cfg, database, resume)
    started_s = perf_counter()
    with ExitStack() as handlers:
        for number in ENDING_SIGNALS if targets else ():
            handlers.enter_context(ended_by(number, lambda: trial.stop(Ending.INTERRUPTED)))
        end = lab.perform(trial.run(trial.inside(work)))
    if end[0] is Ending.INTERRUPTED:
        raise KeyboardInterrupt  # robots that are not simulated have been stopped, and their sessions ended
    wall_s, lost = perf_counter() - started_s, isinstance(trial.error, DatabaseError)
    account = trial.account or _no_account(trial, cfg)
    if account is not trial.account or (account.status is not OrderStatus.DONE and end[0] in BROKEN_OFF):
        why = end[1] if end[0] in (Ending.FAILED, Ending.STOPPED) else f"not done after {end[1]}"
        trial.account = replace(account, reason=why)
    report = None if lost else trial.report(end, "internal", wall_s=wall_s)
    if report is not None:
        note_run(lab, report, _asked(lab, book, cfg), map(fault_text, cfg.faults))
    trial.judge.stop()
    if file is not None:
        file.write()
        file.close()
    if report is None:
        raise JobFailed(f"{trial.error}; {STOPPED}") from trial.error
    return report


def _asked(lab: Lab, book: OrderBook, cfg: RunCfg) -> Mapping[str, Any]:
    """Returns what was asked for, as the command line says it."""
    own = lab.cell.file is None or lab.cell.file.parent == Path(cells.__file__).parent
    cell, recovery = lab.cell.name if own else lab.cell.where, cfg.settings.recovery.value
    made = {"cell": cell, "robots": cfg.robots, "recovery": recovery, "planner": cfg.settings.planner}
    return made | {"order": ",".join(book.orders), "seed": lab.seed} | dict(cfg.header or {})


def _trial_cfg(lab: Lab, book: OrderBook, cfg: RunCfg) -> TrialCfg:
    """Returns a run as a trial: its limits grow with the parts, and with trays that are fetched and put away."""
    parts = sum(len(kit.design.slots) for kit in book.kits)
    carries = any(isinstance(FURNITURE.get(fixture.model), BoxFigures) for fixture in lab.cell.fixtures.values())
    limit_s = min(LIMIT_S_PER_PART * parts, LONGEST_S)
    return TrialCfg(
        trial="run",
        cell=lab.cell.name,
        seed=int(lab.seed),
        time_limit_s=limit_s,
        par_s=min(PAR_S_PER_PART * parts + (PAR_S_PER_TRAY * len(book.kits) if carries else 0.0), limit_s / 2),
        orders=[TrialOrderCfg(order=name) for name in book.orders],
        faults=list(cfg.faults),
        controller="internal",
    )


def _no_account(trial: Trial, cfg: RunCfg) -> OrderReport:
    """Returns the account of a controller that has given none."""
    names, recovery = tuple(order.wanted.name for order in trial.book.orders.values()), cfg.settings.recovery.value
    start_s, end_s = trial.start_s, trial.lab.clock.time_s
    return OrderReport(
        status=OrderStatus.FAILED,
        reason="",
        orders=names,
        robots=trial.robots,
        recovery=recovery,
        start_s=start_s,
        end_s=end_s,
    )


def _world_file(trial: Trial, cfg: RunCfg, database: Database, resume: WorldState | None) -> WorldFile | None:
    """Returns the file in which the world is stored with every action, and with the faults that are still to come."""
    if cfg.world_file is None:
        return None
    note_world_file(database, cfg.world_file)

    def header() -> dict[str, Any]:
        left = [fault.model_dump(exclude_none=True, mode="json") for fault in trial.judge.faults.pending]
        return {**(cfg.header or {}), "faults": left}

    made = WorldFile(cfg.world_file, trial.lab, header, resume.model if resume else None)

    def write(_topic: str, event: ActionEvent) -> None:
        if event.phase != "check":  # which moves nothing
            made.write()

    trial.lab.bus.subscribe(ACTIONS_TOPIC, write, subscriber="world file")
    return made


@contextmanager
def _closed_at_the_end(database: Database) -> Iterator[None]:
    """Closes it; that the last poses cannot be stored either must not hide what went wrong before."""
    try:
        yield
    except BaseException:
        with suppress(DatabaseError):
            database.close()
        raise
    try:
        database.close()
    except DatabaseError as error:
        raise JobFailed(f"{error}; {STOPPED}") from error

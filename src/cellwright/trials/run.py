"""Runs of orders in a laboratory, from the drawings to the verdict, with Cellwright's own controller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.catalogue import FURNITURE, BoxFigures
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.messages import Detections
from cellwright.core.messages import Order as OrderMessage
from cellwright.drawings.database import planning_database
from cellwright.execution import ActionRecord, ExecutionSettings, OrderReport, OrderStatus
from cellwright.execution.progress import load_progress
from cellwright.interfaces.crcl import CrclInterface
from cellwright.judge import FaultCfg, Judge, Recoverability
from cellwright.judge.faults.validation import check_fault
from cellwright.knowledge import Database, DatabaseError
from cellwright.lab.lab import Lab
from cellwright.lab.world_file import WorldFile, WorldState
from cellwright.orders import Order
from cellwright.orders.design import PAPER_PART_SKUS, PAPER_TRAY_SKU
from cellwright.planning import named_kits
from cellwright.planning.external_plan import ExternalPlan
from cellwright.trials.database_files import note_world_file
from cellwright.trials.fault_records import FaultRecorder
from cellwright.trials.judged_trays import wanted_trays
from cellwright.trials.kitting_controller import KittingController, detector_views, named_robots
from cellwright.trials.oracle_reach import PointReach
from cellwright.trials.run_report import KittingReport, KittingStatus, status_of

__all__ = ["RunCfg", "check_order", "resume_order", "run_order"]

ORDERS_TOPIC = "/orders"
REST_S = 0.5  # what was let go, or fell, comes to rest before it is judged
AWAY_S = 1.0  # for how long no controller worked before a run is resumed
LOOK_S = 0.25
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
        header: What else is stored with the world.
        limit_s: Simulated time after which the run ends, whatever is done; by default 200 s for each part.
        on_action: Is told of every action that was tried, once it has ended or failed.
        plan: An external plan to begin with; a resumed run plans anew.
    """

    robots: tuple[str, ...] | None = None
    settings: ExecutionSettings = field(default_factory=ExecutionSettings)
    faults: tuple[FaultCfg, ...] = ()
    database: str | Path = "sqlite://"
    world_file: Path | None = None
    header: Mapping[str, Any] | None = None
    limit_s: float | None = None
    on_action: Callable[[ActionRecord], None] = lambda _record: None
    plan: ExternalPlan | None = None


def check_order(lab: Lab, orders: Sequence[Order], cfg: RunCfg) -> None:
    """Refuses what cannot be done in this laboratory at all, before anything is written or moved.

    Raises:
        BadInput: One line: robots, faults or parts that the cell does not have.
    """
    named_robots(lab.cell, cfg.robots)
    detector_views(lab)
    detectors = [sensor for sensor in lab.sensors if sensor.message_type is Detections]
    for fault in cfg.faults:
        check_fault(fault, lab.world, detectors)
    papers = {*PAPER_PART_SKUS.values(), PAPER_TRAY_SKU}
    for order in orders:
        if papers & {sku for line in order.lines for sku in (line.design.tray_sku, *line.design.parts)}:
            planned = "`cellwright plan` plans it on their workstation"
            raise BadInput(f"{order.name}: {lab.cell.name} has no parts of the kitting papers; {planned}")


def run_order(lab: Lab, orders: Sequence[Order], cfg: RunCfg | None = None) -> KittingReport:
    """Does orders in a fresh laboratory with Cellwright's own controller, and judges the result by the truth.

    Args:
        lab: The laboratory.
        orders: What is wanted.
        cfg: How.

    Raises:
        BadInput: The cell cannot do it at all, or has no such robot; nothing was done.
    """
    cfg = cfg or RunCfg()
    check_order(lab, orders, cfg)
    database, _ = planning_database(lab.cell, orders, cfg.robots, lab.seed, cfg.database)
    with _closed_at_the_end(database):
        return _Run(lab, orders, cfg, database).report()


def resume_order(lab: Lab, orders: Sequence[Order], state: WorldState, cfg: RunCfg) -> KittingReport:
    """Goes on with orders whose controller died: the world from its file, belief and progress from the database.

    Args:
        lab: Fresh, of the same cell and seed.
        orders: What was ordered, for the judge.
        state: The world.
        cfg: As it was.
    """
    state.restore(lab)
    lab.advance(AWAY_S)
    database = Database(cfg.database)
    with _closed_at_the_end(database):
        return _Run(lab, orders, cfg, database, resumed=state).report()


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


class _Run:
    """One run: the controller on one side, the judge on the other."""

    def __init__(
        self, lab: Lab, orders: Sequence[Order], cfg: RunCfg, database: Database, resumed: WorldState | None = None
    ) -> None:
        self.lab, self.orders, self.cfg, self.resumed = lab, tuple(orders), cfg, resumed
        self.is_under_way = resumed is not None and load_progress(database) is not None
        self.interfaces = CrclInterface(lab)
        self.controller = KittingController(
            lab, self.interfaces, database, robots=cfg.robots, settings=cfg.settings, on_action=cfg.on_action
        )
        self.judge = Judge(lab.world, lab.stepper, lab.bus, lab.sensors, cfg.faults)
        self.reach = PointReach(lab)
        self.start_s = lab.clock.time_s
        self.faults = FaultRecorder(lab, "judge")
        self.file = self._world_file(database)

    def _world_file(self, database: Database) -> WorldFile | None:
        if self.cfg.world_file is None:
            return None
        note_world_file(database, self.cfg.world_file)
        header, model = dict(self.cfg.header or {}), self.resumed.model if self.resumed else None
        made = WorldFile(self.cfg.world_file, self.lab, lambda: {**header, "faults": self._faults_left()}, model)
        self.lab.bus.subscribe("/execution/actions", lambda _t, _m: made.write(), subscriber="world file")
        return made

    def _faults_left(self) -> list[dict[str, Any]]:
        """Returns the faults that are still to come."""
        return [fault.model_dump(exclude_none=True, mode="json") for fault in self.judge.faults.pending]

    def report(self) -> KittingReport:
        """Runs, and judges.

        Raises:
            JobFailed: The database was lost; the world, at rest, is stored for a run that goes on.
        """
        try:
            order = self.lab.perform(self._work())
        except DatabaseError as error:
            self._stop_watching()
            raise JobFailed(f"{error}; {STOPPED}") from error
        wanted = wanted_trays(self.judge, self.lab, self.orders, self.reach, self.controller.robots)
        parts = sum(len(line.design.slots) * line.quantity for o in self.orders for line in o.lines)
        par_s = PAR_S_PER_PART * parts + (PAR_S_PER_TRAY * len(wanted) if self._carries_trays() else 0.0)
        kits = self.judge.kits(wanted)
        scored = self.judge.score(wanted, par_s=self.start_s + par_s, limit_s=self.start_s + LIMIT_S_PER_PART * parts)
        self._stop_watching()
        status = status_of(order.done, kits)
        trays: dict[str, list[str]] = {}
        for kit in kits:
            if not kit.done:
                trays.setdefault(kit.reason, []).append(kit.tray)
        wrong = [f"{t[0] if len(t) == 1 else named_kits(t)}: {why}" for why, t in trays.items()]
        return KittingReport(
            status,
            _reason(status, order, wrong),
            order,
            kits,
            scored,
            tuple(self.faults.records),
            tuple(str(fault.model_dump(exclude_none=True, mode="json")) for fault in self.judge.faults.pending),
            tuple(self.judge.drops.drops),
            tuple(self.judge.collisions.hits),
            self.lab.clock.time_s,
            self.start_s,
            self.lab.grasp_lock.uses if self.lab.grasp_lock else 0,
        )

    def _stop_watching(self) -> None:
        """Ends the judge's work, and stores the world as it is left."""
        self.judge.stop()
        if self.file is not None:
            self.file.write()
            self.file.close()

    def _carries_trays(self) -> bool:
        """Returns whether kits are built on trays that are fetched, and put away, for which tools are changed."""
        return any(isinstance(FURNITURE.get(fixture.model), BoxFigures) for fixture in self.lab.cell.fixtures.values())

    async def _work(self) -> OrderReport:
        self._announce()
        watching = asyncio.get_running_loop().create_task(self._watch())
        parts = sum(len(line.design.slots) * line.quantity for order in self.orders for line in order.lines)
        limit_s = self.cfg.limit_s or LIMIT_S_PER_PART * parts
        lost: DatabaseError | None = None
        plan = None if self.resumed else self.cfg.plan
        try:
            async with asyncio.timeout(limit_s):
                report = await self.controller.run(self.orders, resume=self.is_under_way, plan=plan)
        except TimeoutError:
            report = self._gave_up(f"not done after {limit_s:g} s")
        except JobFailed as error:
            report = self._gave_up(str(error))
        except DatabaseError as error:
            report, lost = self._gave_up(str(error)), error
        await self.interfaces.close()
        await self.lab.clock.sleep(REST_S)
        watching.cancel()
        if lost is not None:
            raise lost
        return report

    def _gave_up(self, why: str) -> OrderReport:
        names, robots = tuple(order.name for order in self.orders), self.controller.robots
        recovery = self.controller.settings.recovery.value
        return OrderReport(
            OrderStatus.FAILED, why, names, robots, recovery, start_s=self.start_s, end_s=self.lab.clock.time_s
        )

    def _announce(self) -> None:
        for number, order in enumerate(self.orders):
            kits = tuple(line.design.name for line in order.lines)
            counts = tuple(line.quantity for line in order.lines)
            now_ns = self.lab.world.clock.time_ns
            message = OrderMessage(now_ns, number, "orders", order.name, kits, counts, order.priority)
            self.lab.bus.publish(ORDERS_TOPIC, message)

    async def _watch(self) -> None:
        """Asks the oracle about every fault, once what it moved is at rest."""
        while True:
            await self.lab.clock.sleep(LOOK_S)
            self.faults.ask(self._recoverable)

    def _recoverable(self) -> Recoverability:
        wanted = wanted_trays(self.judge, self.lab, self.orders, self.reach, self.controller.robots)
        return self.judge.recoverable(wanted, self.reach, self.controller.robots)


def _reason(status: KittingStatus, order: OrderReport, wrong: Sequence[str]) -> str:
    if status is KittingStatus.DONE:
        return order.reason
    says = "the controller says done, but " if status is KittingStatus.FALSE_DONE else f"{order.reason}; "
    return says + ("; ".join(wrong) or "by the truth, every kit is complete")

"""A trial: a laboratory with orders, faults, limits and a controller; a run is one whose controller is our own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.core.errors import BadInput, CellwrightError, JobFailed
from cellwright.core.messages import Order
from cellwright.execution import OrderReport
from cellwright.hybrid import LabTargets
from cellwright.interfaces.crcl import CrclInterface
from cellwright.judge import Judge, KitVerdict, Points, Recoverability
from cellwright.judge.faults.spec import fault_text, parse_fault
from cellwright.knowledge import DatabaseError
from cellwright.lab.camera_detector import CameraDetector
from cellwright.lab.lab import Lab
from cellwright.lab.versions import versions
from cellwright.perception.calibration import Calibration
from cellwright.trials.announced import AnnouncedOrders
from cellwright.trials.calibrated_ports import calibrated_ports, calibration_of
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.controllers import TrialController
from cellwright.trials.fault_watcher import STILL_MPS, FaultWatcher, speed_mps
from cellwright.trials.judging import assign_trays
from cellwright.trials.lab_ports import lab_ports
from cellwright.trials.oracle_reach import PointReach
from cellwright.trials.oracle_view import OracleView
from cellwright.trials.orders import OrderBook, OrderedKit, TrialOrder
from cellwright.trials.report import Ending, OrderVerdict, Report

if TYPE_CHECKING:
    from cellwright.trials.trial_interfaces import TrialInterfaces

__all__ = ["LOOK_S", "Trial", "TrialEnd"]

ORDERS_TOPIC = "/orders"
LOOK_S = 0.25  # how often orders, kits and faults are looked at
REST_S = 0.5  # what was let go, or fell, comes to rest before it is judged
MAX_NOTES = 20

TrialEnd = tuple[Ending, str]
"""What ended a trial, and more about that."""


class Trial:
    """Announces orders, watches what happens, decides when it is over, and reports what is true.

    Args:
        lab: The laboratory.
        cfg: Faults and limits; the time limit counts from now on.
        book: The orders.
        robots: The robots in service; all when None.
        is_run: Whether it ends with its controller, whose word is its claim, and needs no submission.
        database: Where its controller keeps what it knows.
        say: Told what is going on.
        calibration: Corrects the ports of a controller inside; the trial's own when None.
        targets: Robots and detectors that are somewhere else; they are connected when it is run.

    Attributes:
        judge: Sees the truth; nothing that it says reaches a controller.
        crcl: The robots' interfaces: `crcl.connect(robot)` is a connection without a socket.
        ports: All that a controller inside gets.
        watcher: The faults that were applied, with the oracle's answers.
        start_s: Simulation time at its beginning.
        account: What Cellwright's own controller says, if that works here.
        error: What the controller inside has raised.
        notes: Unusable messages of controllers, a line each.
        interfaces: The sockets for controllers outside; a run has none.
    """

    def __init__(
        self,
        lab: Lab,
        cfg: TrialCfg,
        book: OrderBook,
        *,
        robots: Collection[str] | None = None,
        is_run: bool = False,
        database: str | Path = "sqlite://",
        say: Callable[[str], None] = lambda _text: None,
        calibration: Calibration | None = None,
        targets: LabTargets | None = None,
    ) -> None:
        self.lab = lab
        self.cfg = cfg
        self.book = book
        self.is_run = is_run
        self.say = say
        self.targets = targets
        self.crcl = CrclInterface(lab, stand_in=None if targets is None else targets.stand_in)
        if targets is not None:
            targets.on_stop = lambda why: self.stop(Ending.STOPPED, why)
        ports = lab_ports(lab, self.crcl, database=database, report=self._take_account)
        if calibration is None and cfg.calibration is not None:
            calibration = calibration_of(cfg.calibration, ports.drawings)
        by_pixels = []
        if calibration is not None:
            cameras = [sensor for sensor in lab.sensors if isinstance(sensor, CameraDetector)]
            by_pixels = [sensor.source for sensor in cameras if sensor.calibrate(calibration)]
        self.ports = calibrated_ports(ports, calibration, by_pixels)
        self.judge = Judge(lab.world, lab.stepper, lab.bus, lab.sensors, cfg.faults)
        self.watcher = FaultWatcher(lab)
        self.reach = PointReach(lab)
        self.view = OracleView(lab)
        self.robots = tuple(lab.robots if robots is None else robots)
        self.start_s = lab.clock.time_s
        self.account: OrderReport | None = None
        self.error: BaseException | None = None
        self.notes: list[str] = []
        self.interfaces: TrialInterfaces | None = None
        self._quiet_s = 0.0
        self._announcements = 0
        self._stopped: asyncio.Future[TrialEnd] = lab.loop.create_future()
        book.on_announce.append(self._announce)
        book.on_submit.append(self._claim)

    # ------------------------------------------------------------ its course

    def look(self, passed_s: float = 0.0) -> TrialEnd | None:
        """Announces what is due, notes what is complete, asks about faults; returns the ending once it is over.

        Args:
            passed_s: Simulated time since the look before.
        """
        if not self.is_run:
            self._note_complete()
        self.book.announce_due(self.lab.clock.time_s)
        self.watcher.ask(self.recoverable)
        if not self.is_run:
            if self.submitted:
                return Ending.SUBMITTED, ""
            orders = self.book.orders.values()
            complete = all(order.complete_s is not None or order.submitted_s is not None for order in orders)
            self._quiet_s = self._quiet_s + passed_s if complete and self.still else 0.0
            if self._quiet_s > self.cfg.still_s:
                return Ending.COMPLETE, ""
        return (Ending.TIME_LIMIT, f"{self.cfg.time_limit_s:g} s") if self.left_s <= 0 else None

    async def until_end(
        self, ended: Callable[[float], TrialEnd | None], work: asyncio.Future[Any] | None = None
    ) -> TrialEnd:
        """Looks again and again until orders, clock or controller end the trial.

        Args:
            ended: Given the time since it was asked before, returns the ending if the controller is at its end.
            work: The controller of a run, which ends with it and not at the next look.
        """
        passed_s = 0.0
        while (over := self.look(passed_s) or ended(passed_s)) is None:
            passed_s = min(LOOK_S, self.left_s)
            if work is None:
                await self.lab.clock.sleep(passed_s)
            else:
                sleep = asyncio.ensure_future(self.lab.clock.sleep(passed_s))
                await asyncio.wait({work, sleep}, return_when=asyncio.FIRST_COMPLETED)
                sleep.cancel()
        return over

    async def inside(self, controller: TrialController) -> TrialEnd:
        """Lets a controller inside work until the trial's end; of a run, what is its caller's mistake is raised."""
        self.look()
        orders = AnnouncedOrders(self.book, lambda name: self.submit(name, "controller"))
        work = asyncio.ensure_future(controller(self.ports, orders))

        def ended(_passed_s: float) -> TrialEnd | None:
            if not work.done():
                return None
            self.error = None if work.cancelled() else work.exception()
            if self.error is None:
                return Ending.RETURNED, ""
            if self.is_run and not isinstance(self.error, JobFailed | DatabaseError):
                raise self.error
            is_ours = isinstance(self.error, CellwrightError)
            return Ending.FAILED, str(self.error) if is_ours else f"{type(self.error).__name__}: {self.error}"

        try:
            return await self.until_end(ended, work if self.is_run else None)
        finally:
            work.cancel()
            if self.is_run:
                await asyncio.wait({work})

    async def run(self, work: Coroutine[Any, Any, TrialEnd]) -> TrialEnd:
        """Waits for the end, which may come from outside; then closes all interfaces, and things come to rest.

        Raises:
            JobFailed: A robot or detector that is somewhere else is not there; nothing was done.
        """
        if self.targets is not None:
            try:
                await self.targets.start()
            except BaseException:
                work.close()
                raise
        try:
            watching = asyncio.ensure_future(work)
            await asyncio.wait({watching, self._stopped}, return_when=asyncio.FIRST_COMPLETED)
            end = self._stopped.result() if self._stopped.done() else watching.result()
            watching.cancel()
            self.say(f"{self.lab.clock.time_s:8.3f} s  {end[0].value}")
            await self.close(end[0])
            return end
        except BaseException:
            if self.targets is not None:  # interrupted: robots that are not simulated would go on
                await self.targets.close()
            raise

    def stop(self, ending: Ending, why: str = "") -> None:
        """Ends the trial from outside; may be called from any thread."""

        def end() -> None:
            if not self._stopped.done():
                self._stopped.set_result((ending, why))

        self.lab.loop.call_soon_threadsafe(end)

    async def close(self, ending: Ending) -> None:
        """Tells clients how it ended, closes the interfaces, lets everything come to rest, and looks once more."""
        if self.interfaces is not None:
            self.interfaces.tell_end(ending.value)
            if ending in (Ending.SUBMITTED, Ending.COMPLETE):
                await self.lab.clock.sleep(REST_S)  # who has submitted still waits for an answer
        await (self.interfaces or self.crcl).close()
        if self.targets is not None:
            await self.targets.close()
        await self.lab.clock.sleep(REST_S)
        self.look()

    # ------------------------------------------------------------ its orders

    @property
    def submitted(self) -> bool:
        """True if every order was submitted."""
        return all(order.submitted_s is not None for order in self.book.orders.values())

    @property
    def left_s(self) -> float:
        """Simulated time until the limit."""
        return self.start_s + self.cfg.time_limit_s - self.lab.clock.time_s

    @property
    def still(self) -> bool:
        """True if no robot moves and nothing falls."""
        if any(robot.moving for robot in self.lab.robots.values()):
            return False
        return all(speed_mps(self.lab.world, name) < STILL_MPS for name in self.lab.world.objects)

    def kits(self) -> dict[OrderedKit, KitVerdict]:
        """Returns the verdict on every kit, as it is now."""
        return assign_trays(self.book, self.lab.world, self.reach, self.robots)

    def recoverable(self) -> Recoverability:
        """Returns the oracle's answer about all orders now."""
        wanted = {verdict.tray: kit.design for kit, verdict in self.kits().items()}
        return self.judge.recoverable(wanted, self.reach, self.robots, self.view)

    @property
    def not_applied(self) -> tuple[str, ...]:
        """Faults whose moment has not come, as they are written on the command line."""
        return tuple(map(fault_text, self.judge.faults.pending))

    def add_fault(self, fault: str | dict[str, Any]) -> None:
        """Adds a fault; its events are counted from now on."""
        self.judge.faults.add(parse_fault(fault))

    def submit(self, name: str, by: str) -> None:
        """Submits an order for a controller; a wrong submission is noted."""
        try:
            self.book.submit(name, self.lab.clock.time_s)
        except BadInput as error:
            if len(self.notes) < MAX_NOTES:
                self.notes.append(f"{by}: {error}")
            raise

    def _take_account(self, account: OrderReport) -> None:
        self.account = account

    def _note_complete(self) -> None:
        now_s, kits = self.lab.clock.time_s, self.kits()
        for order in self.book.orders.values():
            done = all(kits[kit].done for kit in order.kits)
            order.complete_s = (now_s if order.complete_s is None else order.complete_s) if done else None

    def _announce(self, order: TrialOrder) -> None:
        counts = Counter(kit.design.name for kit in order.kits)
        header = (self.lab.world.clock.time_ns, self._announcements, "orders")
        message = Order(
            *header,
            order=order.name,
            kits=tuple(counts),
            quantities=tuple(counts.values()),
            priority=order.wanted.priority,
        )
        self._announcements += 1
        self.lab.bus.publish(ORDERS_TOPIC, message)
        self.say(f"{self.lab.clock.time_s:8.3f} s  order {order.name} is announced")

    def _claim(self, order: TrialOrder) -> None:
        kits = self.kits()
        order.claimed = tuple(kits[kit] for kit in order.kits)

    # ------------------------------------------------------------ its report

    def report(
        self,
        end: TrialEnd,
        controller: str,
        *,
        wall_s: float,
        possible: Recoverability | None = None,
        notes: Iterable[str] = (),
    ) -> Report:
        """Returns the report as of now; the score is told on the bus, too."""
        kits, cfg, objects = self.kits(), self.cfg, self.lab.world.objects
        orders = tuple(
            OrderVerdict(
                order=order.name,
                priority=order.wanted.priority,
                announced_s=order.announced_s,
                submitted_s=order.submitted_s,
                kits=tuple(kits[kit] for kit in order.kits),
                claimed=order.claimed,
                without_tray=frozenset(
                    kits[kit].tray for kit in order.kits if not kit.tray and kits[kit].tray not in objects
                ),
            )
            for order in self.book.orders.values()
        )
        scored = self.judge.score(
            {verdict.tray: kit.design for kit, verdict in kits.items()},
            par_s=self.start_s + (cfg.par_s or cfg.time_limit_s / 3),
            limit_s=self.start_s + cfg.time_limit_s,
            points=Points(**cfg.points),
        )
        return Report(
            trial=cfg.trial,
            cell=self.lab.cell.name,
            seed=self.lab.seed,
            controller=controller,
            is_run=self.is_run,
            ending=end[0],
            detail=end[1],
            time_s=self.lab.clock.time_s,
            start_s=self.start_s,
            wall_s=wall_s,
            possible=possible,
            orders=orders,
            account=self.account,
            faults=tuple(self.watcher.records),
            not_applied=self.not_applied,
            hits=tuple(self.judge.collisions.hits),
            drops=tuple(self.judge.drops.drops),
            scored=scored,
            notes=(
                *notes,
                *self.notes,
                *(self.account.notes if self.account else ()),
                *(self.interfaces.notes if self.interfaces else ()),
                *(self.targets.notes if self.targets else ()),
            ),
            versions=versions(),
        )

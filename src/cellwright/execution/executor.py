"""Orders to finished kits: plans, does what was planned, watches what comes of it, and tells no more than was seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.core.messages import ActionEvent, Plan
from cellwright.crcl import CrclClient
from cellwright.execution.arm import Arm, ArmFailed
from cellwright.execution.conditions import Conditions
from cellwright.execution.crew import Crew, Failure
from cellwright.execution.doing import Doing
from cellwright.execution.drawings import drawn_places, shift_of
from cellwright.execution.failure import StepFailed
from cellwright.execution.hands import held_by
from cellwright.execution.look import Look
from cellwright.execution.outcome import KitReport, OrderReport, OrderStatus, Unobtainable
from cellwright.execution.planned import Planned, make_plan
from cellwright.execution.predicates import Evaluator, ToolState
from cellwright.execution.present import PresentCell
from cellwright.execution.progress import Progress, load_progress, save_progress
from cellwright.execution.recovery import Recovery, clearing, mending
from cellwright.execution.settings import ExecutionSettings, RecoveryMode
from cellwright.execution.steps import Steps
from cellwright.execution.verify import kit_reports
from cellwright.execution.view import CellView
from cellwright.execution.waiting import Waiting
from cellwright.execution.worker import Worker
from cellwright.knowledge import Belief
from cellwright.orders import KitDesign, Order
from cellwright.planning import Action

__all__ = ["Executor"]

STABLE = "stable"


class Executor:
    """Does orders with the robots whose CRCL clients it gets, from what is believed; it sees nothing else.

    Args:
        belief: Somebody feeds it with what the sensors report, while this works.
        clients: Robot -> an open client; the executor sends InitCanon and sets units (metre, radian) itself. Poses are
            in the robot's base frame. Only these robots work.
        clock: Time to wait by, the cell's.
        settings: How to work.
        publish: Is told of every plan (`Plan`) and of every action that starts, ends or fails (`ActionEvent`).

    An instance can do several orders one after the other. It should be made before anything was seen: then it knows
    where the drawings have the trays.
    """

    def __init__(
        self,
        belief: Belief,
        clients: Mapping[str, CrclClient],
        clock: Waiting,
        *,
        settings: ExecutionSettings | None = None,
        publish: Callable[[Plan | ActionEvent], None] = lambda _message: None,
    ) -> None:
        if not clients:
            raise BadInput("an executor needs at least one robot")
        self.belief, self.clock, self.settings = belief, clock, settings or ExecutionSettings()
        self.view = CellView(belief)
        self._publish = publish
        self._look = Look(belief, clock, self.settings.sightings, self.settings.look_limit_s)
        known = [thing.name for thing in self.view.facts.of_kind("Robot")]
        for robot in clients:
            if robot not in known:
                raise UnknownName("robot", robot, known, "executor")
        recipe = self.settings.recipe
        self._workers = {
            robot: Worker(Arm(robot, client, self.view.base(robot), recipe), self.view, clock, self.view.tool(robot))
            for robot, client in clients.items()
        }
        self._drawn = drawn_places(self.view)
        self._designs: dict[str, KitDesign] = {}
        self._start_afresh([])

    def _start_afresh(self, orders: Sequence[Order]) -> None:
        self._recovery = Recovery(self.settings)
        self._progress = Progress(robots=list(self._workers), drawn=self._drawn)
        self._progress.set_orders(orders)
        self._planned: Planned | None = None
        self._missing: tuple[Unobtainable, ...] = ()
        self._notes: list[str] = []
        self._shift = ""
        self._designs.clear()
        cell = PresentCell(self.view, lambda: self.clock.time_s, self._report)
        evaluator = Evaluator(cell)
        self._doings = {name: self._doing(worker, evaluator) for name, worker in self._workers.items()}

    def _doing(self, worker: Worker, evaluator: Evaluator) -> Doing:
        return Doing(
            worker,
            Steps(worker, self._look, self._designs, self._recovery.left_out),
            Conditions(worker, evaluator),
            self._look,
            self.clock,
            self.settings,
            self._publish,
            self._mark,
        )

    def _report(self, robot: str) -> ToolState | None:
        worker = self._workers.get(robot)
        return worker.report() if worker else None

    # ------------------------------------------------------------ the order

    async def run(self, orders: Sequence[Order], *, resume: bool = False) -> OrderReport:
        """Does the orders, verifies with a last look, and reports; a failure is a report, not an exception.

        Args:
            orders: What is wanted. With `resume`, empty means what was under way by the database.
            resume: Continues what the database says was under way: looks first, then plans from what is believed.

        Raises:
            BadInput: No order, nothing to resume, or an order that cannot be planned for at all; nothing was begun.
        """
        start_s = self.clock.time_s
        self._start_afresh(orders)
        if resume:
            orders = self._restore(orders)
        if not orders:
            raise BadInput("nothing to do: give at least one order")
        kits: tuple[KitReport, ...] = ()
        try:
            await self._begin()
            reason = await self._work(orders, start_s)
        except CellwrightError as error:
            if isinstance(error, BadInput) and not self._progress.plans:
                raise  # nothing was begun
            reason = str(error)
        try:
            kits, hands = await self._end()
        except CellwrightError as error:
            hands = str(error)
        self._progress.finished = True
        save_progress(self.belief.world_model.database, self._progress)
        return self._told(orders, kits, reason, hands, start_s, resumed=resume)

    async def _begin(self) -> None:
        """Gets the robots ready and looks around."""
        held = held_by(self.belief)
        for worker in self._workers.values():
            known, point = self._progress.rest_rad.get(worker.name), self._progress.rest_point.get(worker.name)
            if known and point:
                worker.arm.rest_rad, worker.arm.rest_point = tuple(known), (point[0], point[1], point[2])
            worker.held = held.get(worker.tool, "")
            try:
                worker.reading = await worker.arm.prepare()
            except ArmFailed as error:
                worker.out_of_service = str(error)
                continue
            self._progress.rest_rad[worker.name] = list(worker.arm.rest_rad or ())
            self._progress.rest_point[worker.name] = list(worker.arm.rest_point or ())
        await self._look_around()
        for worker in self._in_service():
            found = await worker.sort_out()
            if found:
                self._notes.append(f"{worker.name}: {found}")
        if not self._in_service():
            raise JobFailed("; ".join(f"{w.name}: {w.out_of_service}" for w in self._workers.values()))
        self._note_shift()

    def _note_shift(self) -> None:
        shift = shift_of(self.view, self._drawn)
        if shift and not self._shift:
            self._notes.append(shift)
        self._shift = shift or self._shift

    async def _work(self, orders: Sequence[Order], start_s: float) -> str:
        """Plans and does until nothing is left to do; says why it ended early, or nothing."""
        end_s = start_s + self.settings.time_limit_s
        while True:
            planned = await self._plan(orders)
            actions = self._clearing(planned) or planned.result.actions or self._mending(planned)
            if not actions:
                return ""
            failures = await self._perform(planned, actions, end_s)
            if failures:
                self._note_shift()
            why = self._recovery.conclude(failures, self._workers)
            if why:
                return why
            if self.clock.time_s >= end_s:
                return f"not done after {self.settings.time_limit_s:g} s"
            if self._progress.plans > self.settings.replans:
                return f"not done with {self._progress.plans} plans"
            for failure in failures:
                await self._sort_out(self._workers[failure.robot])
            await self._look_around()
            if self.settings.recovery is not RecoveryMode.FULL:
                return ""

    async def _plan(self, orders: Sequence[Order]) -> Planned:
        await self.clock.sleep(self.settings.latencies.planning_s)
        robots = [worker.name for worker in self._in_service()]
        left_out, recipe = self._recovery.left_out, self.settings.recipe
        begun = list(self._designs) or None
        planned = make_plan(self.view, orders, robots, left_out, recipe, self.settings.planner, begun)
        self._planned, self._missing = planned, planned.missing
        self._designs.update(planned.kits)
        result = planned.result
        texts: dict[str, list[str]] = {name: [] for name in robots}
        for action in result.actions:
            texts[action.robot].append(str(action))
        self._progress.plan, self._progress.index = texts, dict.fromkeys(robots, 0)
        self._progress.plans += bool(result.actions)
        save_progress(self.belief.world_model.database, self._progress)
        self._publish(
            Plan(
                round(self.clock.time_s * 1e9),
                self._progress.plans,
                "planning",
                result.planner,
                tuple(str(action) for action in result.actions),
                result.cost,
            )
        )
        return planned

    def _clearing(self, planned: Planned) -> Sequence[Action]:
        """What has to be out of the way before the plan can be carried out."""
        if self.settings.recovery is not RecoveryMode.FULL:
            return ()
        return clearing(planned.kits, self.view, self._workers, planned.reach, self._recovery.left_out)

    def _mending(self, planned: Planned) -> Sequence[Action]:
        """What there is to do when the plan has nothing more: parts that are in their slots and not seated."""
        if self.settings.recovery is not RecoveryMode.FULL:
            return ()
        now_s = self.clock.time_s
        kits = kit_reports(self.view, planned.kits, now_s - 1.0, now_s, self.settings)
        steps = mending(kits, planned.kits, self.view, self._workers, planned.reach, self._recovery.left_out)
        self._progress.plans += bool(steps)
        return steps

    async def _perform(self, planned: Planned, actions: Sequence[Action], end_s: float) -> list[Failure]:
        def done(action: Action) -> None:
            self._progress.index[action.robot] = self._progress.index.get(action.robot, 0) + 1

        for doing in self._doings.values():
            doing.conditions.forget()
        doings = {worker.name: self._doings[worker.name] for worker in self._in_service()}
        crew = Crew(doings, planned.zones, done, lambda: self.clock.time_s < end_s)
        return await crew.perform(actions)

    async def _sort_out(self, worker: Worker) -> None:
        if worker.out_of_service:
            return
        try:
            found = await worker.sort_out()
        except StepFailed as failure:
            worker.out_of_service = str(failure)
            return
        if found:
            self._notes.append(f"{worker.name}: {found}")

    # ------------------------------------------------------------ the end

    async def _end(self) -> tuple[tuple[KitReport, ...], str]:
        """Robots out of the way, a last look; the kits as they are seen, and what is still in a hand."""
        hands = []
        for worker in self._in_service():
            try:
                await worker.withdraw()
                reading = await worker.read()
            except StepFailed as failure:
                worker.out_of_service = str(failure)
                continue
            if worker.held or reading.holding:
                hands.append(f"{worker.name} holds {worker.held or 'something'}")
        kits = await self._verify()
        return kits, "; ".join(hands)

    async def _verify(self) -> tuple[KitReport, ...]:
        since_s = self.clock.time_s
        wanted = dict(self._designs)
        while True:
            await self._look_around()
            kits = kit_reports(self.view, wanted, since_s, self.clock.time_s, self.settings)
            if all(kit.complete for kit in kits) or self.clock.time_s - since_s >= self.settings.verify_s:
                return kits

    async def _look_around(self) -> None:
        """A look at every tray; parts that are not seen although trays are, are gone."""
        held = set(self.view.facts.held.values())
        parts = [thing.name for thing in self.view.facts.of_kind("Part") if thing.name not in held]
        looked = await self._look.at(self._trays(), parts)
        self.view.gone = set(looked.unseen)

    def _trays(self) -> list[str]:
        """The trays that these robots work at."""
        robots = [worker.name for worker in self._workers.values()]
        return [t for t in self.view.trays() if any(self.view.reaches(r, self.view.pose(t).position) for r in robots)]

    def _told(
        self,
        orders: Sequence[Order],
        kits: tuple[KitReport, ...],
        reason: str,
        hands: str,
        start_s: float,
        *,
        resumed: bool,
    ) -> OrderReport:
        slots = [slot for kit in kits for slot in kit.slots]
        wrong = [f"{kit.name}/{slot.slot}: {slot.reason}" for kit in kits for slot in kit.slots if not slot.filled]
        wrong += [f"{part} lies on {kit.name}" for kit in kits for part in kit.extras]
        wanted = sum(order.kit_count for order in orders)
        complete = len(kits) == wanted and not wrong and bool(slots)
        status = OrderStatus.PARTIAL if any(slot.filled for slot in slots) else OrderStatus.FAILED
        if complete and not hands:
            status = OrderStatus.DONE
        said = [reason, self._shift, *(str(one.reason) for one in self._missing[:1]), *wrong, hands]
        records = sorted((record for doing in self._doings.values() for record in doing.records), key=lambda r: r.end_s)
        left = tuple(
            Unobtainable(self.view.facts.things[part].sku, why, part) for part, why in self._recovery.left_out.items()
        )
        return OrderReport(
            status,
            f"{len(slots)} parts seen seated in {len(kits)} kits"
            if status is OrderStatus.DONE
            else "; ".join(dict.fromkeys(text for text in said if text)),
            tuple(order.name for order in orders),
            tuple(self._workers),
            self.settings.recovery,
            kits,
            tuple(records),
            self._progress.plans,
            sum(doing.retries for doing in self._doings.values()),
            (*self._missing, *left),
            start_s,
            self.clock.time_s,
            resumed,
            tuple(self._notes),
        )

    # ------------------------------------------------------------ memory

    def _in_service(self) -> list[Worker]:
        return [worker for worker in self._workers.values() if not worker.out_of_service]

    def _mark(self) -> None:
        """All preconditions of a step are true: a state to come back to."""
        self._progress.left_out = dict(self._recovery.left_out)
        self._progress.retries = sum(doing.retries for doing in self._doings.values())
        self.belief.mark_stable(STABLE, round(self.clock.time_s * 1e9))
        save_progress(self.belief.world_model.database, self._progress)

    def _restore(self, orders: Sequence[Order]) -> Sequence[Order]:
        known = load_progress(self.belief.world_model.database)
        if known is None:
            raise BadInput("nothing to resume: the database knows of no work under way")
        self._recovery.left_out.update(known.left_out)
        self._progress.rest_rad, self._progress.rest_point = known.rest_rad, known.rest_point
        self._drawn = known.drawn or self._drawn
        self._progress.drawn = self._drawn
        orders = orders or known.get_orders()
        self._progress.set_orders(orders)
        return orders

"""The executor: plans orders, carries out the plans, checks their effects, and reports only what was seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from cellwright.catalogue import ArmFigures, FurnitureFigures
from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.core.messages import ActionEvent, Plan
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.execution.action_runner import ActionRunner
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.camera_shift import detector_shift, nominal_places
from cellwright.execution.conditions import StepConditions
from cellwright.execution.corrective_actions import Corrections
from cellwright.execution.execution_plan import ExecutionPlan, adopt_plan, make_plan
from cellwright.execution.failure import FailureKind
from cellwright.execution.inspection import CellInspector
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import ActionRecord, KitReport, OrderReport, Unobtainable
from cellwright.execution.plan_runner import ActionFailure, PlanRunner
from cellwright.execution.predicates import Evaluator
from cellwright.execution.progress import OrderProgress, load_progress, save_progress
from cellwright.execution.recovery import RecoveryPolicy
from cellwright.execution.robot_pace import robot_paces
from cellwright.execution.robot_team import RobotTeam, make_manipulators
from cellwright.execution.scene_watch import SceneWatch
from cellwright.execution.settings import ExecutionSettings, RecoveryMode
from cellwright.execution.steps import StepRunner
from cellwright.execution.strange_parts import StrangeParts
from cellwright.execution.tray_places import note_trays
from cellwright.execution.verify import conclusion, kit_reports, unseen_parts
from cellwright.knowledge import Belief, DatabaseError
from cellwright.orders import KitDesign, Order
from cellwright.perception import ViewModel
from cellwright.planning import Action, Verb
from cellwright.planning.external_plan import ExternalPlan

__all__ = ["Executor"]

STABLE = "stable"
BROKEN_OFF = "it was ended from outside while it worked"


class Executor:
    """Carries out orders with robots over CRCL, from belief alone.

    Args:
        belief: Must be updated from the sensors while the executor works.
        clients: Robot -> an open client; the executor sends InitCanon and sets units (metre, radian) itself. Poses are
            in the robot's base frame.
        clock: Time to wait by, the cell's.
        robots: The robots that work; all that have a client by default. The others only make way.
        settings: How to work.
        publish: Is told of plans (`Plan`) and of actions that start, are checked, end or fail (`ActionEvent`).
        on_action: Is told of every action that was tried, once it has ended or failed, with all that is known of it.
        models: Robot -> the figures of its arm: what it hides follows from them.
        view: What cameras can see; it is told where the arms are. Without it, arms hide nothing.
        fixtures: What stands about by the drawings, which arms go round: name, figures, pose.

    Attributes:
        broken_off: What a run had done when it was cancelled.

    An instance can do several orders one after the other. It should be made before anything was seen: then it knows
    where the drawings have the trays.
    """

    def __init__(
        self,
        belief: Belief,
        clients: Mapping[str, CrclClient],
        clock: AsyncClock,
        *,
        robots: Sequence[str] | None = None,
        settings: ExecutionSettings | None = None,
        publish: Callable[[Plan | ActionEvent], None] = lambda _message: None,
        on_action: Callable[[ActionRecord], None] = lambda _record: None,
        models: Mapping[str, ArmFigures] | None = None,
        view: ViewModel | None = None,
        fixtures: Sequence[tuple[str, FurnitureFigures, Pose]] = (),
    ) -> None:
        if not clients:
            raise BadInput("an executor needs at least one robot")
        self.belief = belief
        self.clock = clock
        self.settings = settings or ExecutionSettings()
        believed = belief.state
        self.broken_off: OrderReport | None = None
        self._publish = publish
        self._on_action = on_action
        self._manipulators = known = make_manipulators(belief, clients, clock, self.settings, models, view, fixtures)
        self._looks = LookPlanner(belief, clock, known, view, self.settings)
        believed.clock = lambda: clock.time_s
        believed.report = lambda robot: known[robot].report() if robot in known else None
        self._names = tuple(clients) if robots is None else tuple(robots)
        for robot in (name for name in self._names if name not in clients):
            raise UnknownName("robot", robot, clients, "executor")
        self._inspector = CellInspector(belief, self._looks, clock, self._names)
        self._drawn = nominal_places(believed)
        self._paces = robot_paces(models or {}, self.settings.recipe)
        believed.ordered = self._designs = dict[str, KitDesign]()
        self._start_afresh([])

    def _start_afresh(self, orders: Sequence[Order]) -> None:
        self._recovery = RecoveryPolicy(self.settings)
        self._progress = OrderProgress(robots=list(self._names), drawn=self._drawn)
        self._progress.set_orders(orders)
        before = load_progress(self.belief.world_model.database)
        self._progress.seated = before.seated if before is not None else {}
        self._strange = StrangeParts(self.belief, self.settings, self._progress.seated)
        self._external_plan: ExternalPlan | None = None
        self._missing: tuple[Unobtainable, ...] = ()
        self._team = RobotTeam(self._manipulators, self._names)
        self._shift = ""
        self._looks.records.clear()
        self._settled_s = self.clock.time_s
        self._designs.clear()
        evaluator = Evaluator(self.belief.state)
        self._runners = {name: self._make_runner(robot, evaluator) for name, robot in self._manipulators.items()}

    def _make_runner(self, manipulator: Manipulator, evaluator: Evaluator) -> ActionRunner:
        left_out, flat = self._recovery.left_out, self.settings.flat_detectors
        return ActionRunner(
            manipulator,
            StepRunner(manipulator, self._looks, self._designs, left_out, flat_detectors=flat),
            StepConditions(manipulator, evaluator),
            self.clock,
            self.settings,
            self._publish,
            self._mark,
            self._on_action,
        )

    # ------------------------------------------------------------ the order

    async def run(
        self, orders: Sequence[Order], *, resume: bool = False, plan: ExternalPlan | None = None
    ) -> OrderReport:
        """Does the orders, verifies with a last look, and reports; a failure is a report, not an exception.

        Args:
            orders: What is wanted. With `resume`, empty means what was under way by the database.
            resume: Continues what the database says was under way: looks first, then plans from what is believed.
            plan: An external plan to begin with; after a failure the executor plans anew.

        Raises:
            BadInput: No order, nothing to resume, or an order that cannot be planned for at all; nothing was begun.
            DatabaseError: What is done could not be stored; the robots are as they were told last.
        """
        start_s = self.clock.time_s
        self._start_afresh(orders)
        self._external_plan = plan
        if resume:
            orders = self._restore(orders)
        if not orders:
            raise BadInput("nothing to do: give at least one order")
        self._inspector.kit_trays = frozenset(line.design.tray_sku for order in orders for line in order.lines)
        kits: tuple[KitReport, ...] = ()
        try:
            await self._begin()
            reason = await self._work(orders, start_s)
        except asyncio.CancelledError:
            self.broken_off = self._order_report(orders, (), BROKEN_OFF, "", start_s, resumed=resume)
            raise
        except DatabaseError:
            raise  # no robot may move when its progress cannot be stored
        except CellwrightError as error:
            if isinstance(error, BadInput) and not self._progress.plans:
                raise  # nothing was begun
            reason = str(error)
        try:
            hands = await self._team.withdraw()
            await self._feel(self._designs)
            felt = self._strange.felt
            kits = await self._inspector.verify(self._team, self._designs, self.settings, self._settled_s, felt)
        except DatabaseError:
            raise
        except CellwrightError as error:
            hands = str(error)
        self._progress.finished = True
        save_progress(self.belief.world_model.database, self._progress)
        return self._order_report(orders, kits, reason, hands, start_s, resumed=resume)

    async def _begin(self) -> None:
        """Gets the robots ready and looks around."""
        await self._team.prepare(self.belief, self._progress)
        since_s = self.clock.time_s
        self.belief.watch_all(since_s)
        await self._team.tare()  # meanwhile detectors look
        await self._inspector.inspect(self._team, since_s=since_s, stock=True)
        for manipulator in self._manipulators.values():
            await self._team.recover(manipulator)
        if self._team.failure_reason:
            raise JobFailed(self._team.failure_reason)
        self._note_shift()

    def _note_shift(self) -> None:
        shift = detector_shift(self.belief.state, self._drawn)
        if shift and not self._shift:
            self._team.notes.append(shift)
        self._shift = shift or self._shift

    async def _work(self, orders: Sequence[Order], start_s: float) -> str:
        """Plans and acts until nothing is left to do; returns why it ended early, or an empty text."""
        end_s = start_s + self.settings.time_limit_s
        while True:
            if self._team.failure_reason:
                return self._team.failure_reason
            planned = await self._plan(orders)
            actions = self._clearing_actions(planned) or planned.result.actions or self._corrective_actions(planned)
            if not actions:
                if self._is_short(planned) and self._recovery.second_chance():
                    continue
                if self.settings.recovery is RecoveryMode.FULL and await self._feel(planned.kits):
                    continue
                return ""
            failures = await self._perform(planned, actions, end_s)
            self._settled_s = self.clock.time_s
            if failures:
                self._note_shift()
            why = self._recovery.conclude(failures, self._manipulators) or self._team.failure_reason
            if why:
                return why
            if self.clock.time_s >= end_s:
                return f"not done after {self.settings.time_limit_s:g} s"
            if self._progress.plans > self.settings.replans:
                last = f"; the last failure: {failures[-1].reason}" if failures else ""
                return f"not done with {self._progress.plans} plans{last}"
            for failure in failures:
                await self._team.recover(self._manipulators[failure.robot])
            if not failures:
                await self._team.withdraw()
            await self._inspector.inspect(self._team, self._designs, stock=bool(failures))
            if any(self.belief.state.is_missing(f.part) for f in failures if f.kind is FailureKind.LOST and f.part):
                await self._team.withdraw()  # it may lie below an arm
                await self._inspector.inspect(self._team, self._designs, stock=True)
            if self.settings.recovery is not RecoveryMode.FULL:
                return ""

    async def _plan(self, orders: Sequence[Order]) -> ExecutionPlan:
        await self.clock.sleep(self.settings.latencies.planning_s)
        self.belief.follow()
        self._team.notes += note_trays(self.belief)
        robots = list(self._team.working())
        left_out, recipe = self._recovery.left_out, self.settings.recipe
        begun = list(self._designs) or None
        if self._external_plan is not None:
            planned = adopt_plan(self.belief.state, orders, robots, left_out, recipe, self._external_plan)
            self._external_plan = None
        else:
            planned = make_plan(
                self.belief.state, orders, robots, left_out, recipe, self.settings.planner, begun, self._paces
            )
        self._missing = planned.missing
        for kit in [kit for kit in self._designs if kit not in planned.kits]:
            if kit not in self.belief.state.objects or self.belief.state.is_missing(kit):
                del self._designs[kit]  # was never begun, or was taken away
        self._designs.update(planned.kits)
        self._progress.plan, self._progress.index = planned.texts(robots), dict.fromkeys(robots, 0)
        self._progress.plans += bool(planned.result.actions)
        save_progress(self.belief.world_model.database, self._progress)
        self._publish(planned.message(self.clock.time_s, self._progress.plans))
        return planned

    def _corrective_actions(self, planned: ExecutionPlan) -> Sequence[Action]:
        """Returns actions after the end of a plan: for parts that are not seated, or still in hands."""
        if self.settings.recovery is not RecoveryMode.FULL:
            return ()
        corrections = self._corrections(planned)
        kits = kit_reports(self.belief, planned.kits, self._settled_s, self.settings, self._strange.felt)
        steps = corrections.reseating(kits) or corrections.put_back()
        self._progress.plans += bool(steps)
        return steps

    def _is_short(self, planned: ExecutionPlan) -> bool:
        """Returns whether something is missing of what was ordered."""
        kits = kit_reports(self.belief, planned.kits, self._settled_s, self.settings, self._strange.felt)
        return bool(planned.missing) or not all(kit.complete for kit in kits)

    async def _feel(self, designs: Mapping[str, KitDesign]) -> bool:
        """Touches gears in kits that no robot has set down there; returns whether one is not in its seat."""
        now_s, known = self.clock.time_s, len(self._strange.notes)
        found = await self._strange.feel(self._team.working().values(), designs, self._settled_s)
        self._team.notes += self._strange.notes[known:]
        if self.clock.time_s > now_s:
            self._settled_s = self.clock.time_s
        return found

    def _clearing_actions(self, planned: ExecutionPlan) -> Sequence[Action]:
        """Returns actions that clear the way before the plan can be carried out."""
        return self._corrections(planned).clearing() if self.settings.recovery is RecoveryMode.FULL else ()

    def _corrections(self, planned: ExecutionPlan) -> Corrections:
        robots, left_out = self._team.working(), self._recovery.left_out
        return Corrections(self.belief.state, planned.kits, robots, planned.reach, left_out)

    async def _perform(self, planned: ExecutionPlan, actions: Sequence[Action], end_s: float) -> list[ActionFailure]:
        scene = SceneWatch(self.belief, self._designs)

        def done(action: Action) -> None:
            self._progress.index[action.robot] = self._progress.index.get(action.robot, 0) + 1
            scene.note_done(action)
            if action.verb is Verb.PLACE_PART and (part := self._runners[action.robot].records[-1].part):
                self._strange.note_seated(part, action.kit, self._designs[action.kit])

        def changed() -> str:
            return scene.change() if self.settings.recovery is RecoveryMode.FULL else ""

        for runner in self._runners.values():
            runner.conditions.forget()
        runners = {manipulator.name: self._runners[manipulator.name] for manipulator in self._team.in_service()}
        plan_runner = PlanRunner(runners, planned.zones, done, lambda: self.clock.time_s < end_s, changed)
        failures = await plan_runner.perform(actions)
        seen = dict.fromkeys(failure.reason for failure in failures if failure.kind is FailureKind.CHANGED)
        self._team.notes += [f"{change}: noticed at {self.clock.time_s:.1f} s, planned anew" for change in seen]
        return failures

    def _order_report(
        self,
        orders: Sequence[Order],
        kits: tuple[KitReport, ...],
        reason: str,
        hands: str,
        start_s: float,
        *,
        resumed: bool,
    ) -> OrderReport:
        wanted = sum(order.kit_count for order in orders)
        unseen = unseen_parts(self.belief.state, {one.sku for one in self._missing})
        felt = [f"{name}: {text}" for name, robot in self._manipulators.items() for text in robot.heights.texts()]
        holders = [(name, each) for name, robot in self._manipulators.items() for each in robot.holders.values()]
        felt += [f"{name}: {holder.text}" for name, holder in holders if holder.text]
        felt += [text for runner in self._runners.values() for text in runner.steps.touch.asides]
        reasons = [reason, self._shift, *(one.reason for one in self._missing[:1]), unseen, *felt]
        status, why = conclusion(kits, wanted, reasons, hands)
        records = sorted((r for runner in self._runners.values() for r in runner.records), key=lambda r: r.end_s)
        things, left = self.belief.state.objects, self._recovery.left_out
        return OrderReport(
            status=status,
            reason=why,
            orders=tuple(order.name for order in orders),
            robots=self._names,
            recovery=self.settings.recovery,
            kits=kits,
            actions=tuple(records),
            plans=self._progress.plans,
            retries=sum(runner.retries for runner in self._runners.values()),
            unobtainable=(
                *self._missing,
                *(Unobtainable(things[part].sku, why_left, part) for part, why_left in left.items()),
            ),
            start_s=start_s,
            end_s=self.clock.time_s,
            resumed=resumed,
            notes=(*self._team.notes, *felt, *self.belief.detector_notes),
            looks=tuple(self._looks.records),
        )

    # ------------------------------------------------------------ memory

    def _mark(self) -> None:
        """Marks a stable state: all preconditions of a step are true."""
        self._progress.left_out = dict(self._recovery.left_out)
        self._progress.retries = sum(runner.retries for runner in self._runners.values())
        self.belief.follow()
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

"""One step of a plan from its preconditions to its effects, repeated with another grasp where that is allowed."""

from __future__ import annotations

from collections.abc import Callable

from cellwright.core.messages import ActionEvent
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.binding import candidates, wrong_part
from cellwright.execution.conditions import StepConditions, doubtful, require
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.observation import ObservationTimeout, Observer, observe_trays
from cellwright.execution.outcome import ActionRecord, Evaluated
from cellwright.execution.settings import ExecutionSettings, RecoveryMode
from cellwright.execution.steps import StepRunner
from cellwright.execution.tool_change import CHANGES, change_tool, tool_conditions
from cellwright.execution.tray_steps import TRAY_VERBS
from cellwright.planning import MOVES, Action, Verb

__all__ = ["ActionRunner"]

_PUTS = (Verb.PLACE_PART, Verb.RETURN_PART)
_FINAL = (FailureKind.UNABLE, FailureKind.UNSEEN)  # what is not seen was already waited for
_GRIP = (FailureKind.MISSED, FailureKind.LOST, FailureKind.ARM)  # with another turn of the fingers it may work
_TAKES = (Verb.TAKE_PART, Verb.REMOVE_PART)


class ActionRunner:
    """Runs the actions of one robot.

    Args:
        manipulator: The robot.
        steps: The implementation of each verb.
        conditions: What must be true before and after.
        observer: Waits for detections.
        clock: Time to wait by.
        settings: How to work.
        publish: Is told of every step that starts, ends or fails.
        before: Is called when all preconditions of a step are true, before it begins: to remember that state.
        on_action: Is told of every step that was tried, once it has ended or failed.

    Attributes:
        records: What was tried.
        retries: How many steps were repeated.
    """

    def __init__(
        self,
        manipulator: Manipulator,
        steps: StepRunner,
        conditions: StepConditions,
        observer: Observer,
        clock: AsyncClock,
        settings: ExecutionSettings,
        publish: Callable[[ActionEvent], None],
        before: Callable[[], None],
        on_action: Callable[[ActionRecord], None],
    ) -> None:
        self.manipulator = manipulator
        self.steps = steps
        self.conditions = conditions
        self._observer = observer
        self._clock = clock
        self._settings = settings
        self._publish = publish
        self._before = before
        self._on_action = on_action
        self.records: list[ActionRecord] = []
        self.retries = 0
        self._sequence = 0
        self._place = ""

    async def act(self, action: Action) -> None:
        """Does a step, as often as is allowed.

        Raises:
            StepFailed: It was not done.
        """
        most = 1 if self._settings.recovery is RecoveryMode.NONE else 1 + self._settings.retries
        row = [action]
        self.steps.turned = 0
        for attempt in range(1, most + 1):
            self.steps.attempt = attempt
            try:
                for step in row:
                    await self._attempt(step, attempt)
                return
            except StepFailed as failure:
                if attempt == most or failure.is_lost_robot or failure.kind in _FINAL:
                    raise
                again = await self._retry_steps(action, failure)
                if again is None:
                    raise
                row = again
                self.retries += 1
                self.steps.turned += failure.kind in _GRIP
            finally:
                self.steps.attempt = 1

    async def _retry_steps(self, action: Action, failure: StepFailed) -> list[Action] | None:
        """Returns the actions that repeat a step after it failed; None when repeating makes no sense."""
        await self.manipulator.recover()
        self.conditions.forget()
        held = self.manipulator.held
        if action.verb in TRAY_VERBS:  # a tray that is held and should not be, or the other way round, is for planning
            return [action] if action.verb in (Verb.TAKE_TRAY, Verb.TAKE_KIT) and not held else None
        if held and self.manipulator.held_sku != action.sku:
            return None  # another than was meant: what to do with it is a matter of planning
        fetch = [action._replace(verb=verb) for verb in (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART)]
        put = [action._replace(verb=verb) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART)]
        if action.verb is Verb.TAKE_PART:
            return [action] if held else fetch
        if action.verb in (Verb.LOOK_PART, Verb.REMOVE_PART):
            return [action]
        if action.verb is Verb.SET_GRASP:  # it names no place
            return [step._replace(place=self._place) for step in fetch[:2]] if self._place else None
        if action.verb is Verb.RETURN_PART:
            return [action] if held else None
        if held:
            return put if action.verb is Verb.PLACE_PART else [action]
        if failure.kind is FailureKind.NOT_SEATED and failure.part:
            return [*(step._replace(place=failure.part) for step in fetch), *put]
        return None

    # ------------------------------------------------------------ once

    async def _attempt(self, action: Action, attempt: int) -> None:
        start_s, part, rows = self._clock.time_s, "", list[Evaluated]()
        detail = "it is in the hand after all"
        if action.verb is Verb.LOOK_PART:
            self._place = action.place
        try:
            if action.verb in CHANGES:
                detail = await self._change(action, rows)
                self._record(action, "", "end", detail, attempt, start_s, rows)
                return
            part = self._subject(action)
            self._publish_event(action, "start", "", [])
            if action.verb not in _TAKES or not self.manipulator.held:
                rows += await self._evaluate(action, part, "precondition")
                require(rows, FailureKind.WRONG, part)
                self._before()
                await self._clock.sleep(self._settings.latencies.database_s)
                detail = await self.steps.do(action)
            part = self._after(action, part)
            self.conditions.done(action, part)
            await self._check(action, part, rows)
        except StepFailed as failure:
            failure.part = failure.part or part
            self._record(action, failure.part, "fail", str(failure), attempt, start_s, rows)
            raise
        self._record(action, part, "end", detail, attempt, start_s, rows)

    async def _change(self, action: Action, rows: list[Evaluated]) -> str:
        """Changes a tool, checked by what the robot reports of itself."""
        self._publish_event(action, "start", "", [])
        await self.manipulator.hand.read()
        rows += tool_conditions(self.manipulator, action, after=False)
        require(rows, FailureKind.WRONG, "")
        self._before()
        await self._clock.sleep(self._settings.latencies.database_s)
        detail = await change_tool(self.manipulator, action)
        await self.manipulator.hand.read()
        effects = tool_conditions(self.manipulator, action, after=True)
        rows += effects
        require(effects, FailureKind.WRONG, "")
        return detail

    def _subject(self, action: Action) -> str:
        """Returns the part that a step is about, as far as that is known before it."""
        manipulator = self.manipulator
        if action.verb in TRAY_VERBS:
            return self.steps.trays.subject(action)
        if action.verb is Verb.LOOK_PART:
            good, _ = candidates(
                manipulator.believed, action.sku, action.place, manipulator.recipe, self.steps.left_out
            )
            return good[0].name if good else ""
        if action.verb is Verb.REMOVE_PART:
            wrong, _ = wrong_part(manipulator.believed, action.kit, self.steps.designs[action.kit], action.sku)
            return wrong.name if wrong else ""
        return manipulator.held or manipulator.found

    def _after(self, action: Action, part: str) -> str:
        is_put = action.verb in (*_PUTS, Verb.PLACE_TRAY, Verb.RETURN_TRAY, Verb.CREATE_KIT, Verb.PLACE_KIT)
        return part if is_put else self.manipulator.held or self.manipulator.found

    async def _check(self, action: Action, part: str, rows: list[Evaluated]) -> None:
        """Checks the effects and adds them to the rows; what was put down must also be seated."""
        if action.verb in MOVES:
            await self._see(action, part)
        effects = await self._evaluate(action, part, "effect")
        rows += effects
        require(effects, FailureKind.NOT_SEATED if action.verb in _PUTS else FailureKind.LOST, part)
        if action.verb is Verb.PLACE_PART:
            await self._seated(action, part)

    async def _seated(self, action: Action, part: str) -> None:
        """Waits until the part is seen to be seated."""
        until_s, settings, believed = (
            self._clock.time_s + self._settings.verify_s,
            self._settings,
            self.manipulator.believed,
        )
        while True:
            seen = believed.part(part)
            slots = believed.slots_of_kit(action.kit, self.steps.designs[action.kit])
            slot = min(slots, key=lambda each: seen.across_m(each.position))
            across_m = seen.across_m(slot.position)
            above_m = float(seen.position[2] - slot.position[2])
            if settings.seated.allows(across_m, above_m):
                return
            if self._clock.time_s >= until_s:
                offset = f"{across_m * 1000:.1f} mm beside and {above_m * 1000:.1f} mm above its seat"
                raise StepFailed(FailureKind.NOT_SEATED, f"{part} is {offset} in {slot.name} of {action.kit}", part)
            await self._see(action, part)

    async def _evaluate(self, action: Action, part: str, when: str) -> list[Evaluated]:
        """Evaluates predicates; when some are unknown, once more after a look."""
        await self.manipulator.hand.read()
        await self._clock.sleep(self._settings.latencies.predicates_s)
        for _ in range(2):
            rows = self.conditions.evaluate(action, part, "precondition" if when == "precondition" else "effect")
            if not doubtful(rows):
                return rows
            await self._see(action, part)
            await self.manipulator.hand.read()
        return self.conditions.evaluate(action, part, "precondition" if when == "precondition" else "effect")

    async def _see(self, action: Action, part: str) -> None:
        believed = self.manipulator.believed
        places = [name for name in (action.place.partition("/")[0], action.kit) if name in believed.tree.index]
        anchors = [believed.detected_as(name) for name in places]
        anchors = [name for name in anchors if believed.objects[name].kind in ("PartsTray", "KitTray")]
        if action.verb in TRAY_VERBS:
            anchors, part = [believed.detected_as(part)] if part else [], ""
        try:
            await observe_trays(self._observer, anchors[:1], [part] if part else [])
        except ObservationTimeout as error:
            raise StepFailed(FailureKind.UNSEEN, str(error), part) from None

    # ------------------------------------------------------------ telling

    def _record(
        self,
        action: Action,
        part: str,
        phase: str,
        reason: str,
        attempt: int,
        start_s: float,
        rows: list[Evaluated],
    ) -> None:
        now_s = self._clock.time_s
        self.records.append(
            ActionRecord(
                robot=action.robot,
                action=str(action),
                part=part,
                phase=phase,
                reason=reason,
                attempt=attempt,
                start_s=start_s,
                end_s=now_s,
                predicates=tuple(rows),
            )
        )
        self._publish_event(action, phase, reason, rows)
        self._on_action(self.records[-1])

    def _publish_event(self, action: Action, phase: str, reason: str, rows: list[Evaluated]) -> None:
        self._publish(
            ActionEvent(
                round(self._clock.time_s * 1e9),
                self._sequence,
                "execution",
                robot=action.robot,
                action=str(action),
                phase=phase,
                reason=reason,
                predicates=tuple(f"{one.predicate}({', '.join(one.arguments)})" for one in rows),
                values=tuple(one.value for one in rows),
                evidence=tuple(one.evidence for one in rows),
            )
        )
        self._sequence += 1

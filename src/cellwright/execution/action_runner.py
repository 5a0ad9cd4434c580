"""One step of a plan from its preconditions to its effects, repeated with another grasp where that is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cellwright.core.messages import ActionEvent
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.binding import candidates, wrong_part
from cellwright.execution.conditions import StepConditions, doubtful, require
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.look_questions import ObservationTimeout
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import ActionRecord, Evaluated
from cellwright.execution.seat_touch import is_seat_height
from cellwright.execution.settings import ExecutionSettings, RecoveryMode
from cellwright.execution.steps import StepRunner
from cellwright.execution.tool_change import CHANGES, change_tool, tool_conditions
from cellwright.execution.tray_group import is_seen_aside
from cellwright.execution.tray_steps import TRAY_VERBS
from cellwright.execution.verify import seat_of
from cellwright.knowledge import BelievedSlot
from cellwright.planning import Action, Verb

__all__ = ["ActionRunner"]

_PUTS = (Verb.PLACE_PART, Verb.RETURN_PART)
_FINAL = (FailureKind.UNABLE, FailureKind.UNSEEN, FailureKind.HIDDEN)  # what is not seen was already waited for
_GRIP = (
    FailureKind.MISSED,
    FailureKind.LOST,
    FailureKind.ARM,
    FailureKind.BLOCKED,
)  # with another turn of the fingers it may work
_LEANS = (FailureKind.MISSED, FailureKind.BLOCKED)  # what was to be taken may lean
_TAKES = (Verb.TAKE_PART, Verb.REMOVE_PART)
LOOKS = 2  # for what is unknown, at least
_SET_DOWN = (*_PUTS, Verb.PLACE_TRAY, Verb.RETURN_TRAY, Verb.CREATE_KIT, Verb.PLACE_KIT)


class ActionRunner:
    """Runs the actions of one robot.

    Args:
        manipulator: The robot.
        steps: The implementation of each verb.
        conditions: What must be true before and after.
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
        clock: AsyncClock,
        settings: ExecutionSettings,
        publish: Callable[[ActionEvent], None],
        before: Callable[[], None],
        on_action: Callable[[ActionRecord], None],
    ) -> None:
        self.manipulator = manipulator
        self.steps = steps
        self.conditions = conditions
        self._clock = clock
        self._settings = settings
        self._publish = publish
        self._before = before
        self._on_action = on_action
        self.records: list[ActionRecord] = []
        self.retries = 0
        self._sequence = 0
        self._place = ""

    async def act(self, action: Action, upcoming: Sequence[Action] = ()) -> None:
        """Does a step, as often as is allowed.

        Args:
            action: The step.
            upcoming: Steps of the same robot that come next, as far as a look may serve them, too.

        Raises:
            StepFailed: It was not done.
        """
        self.steps.upcoming = upcoming
        async with self.manipulator.busy:
            await self._act(action)

    async def _act(self, action: Action) -> None:
        most = 1 if self._settings.recovery is RecoveryMode.NONE else 1 + self._settings.retries
        row, step = [action], action
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
                try:
                    again = await self._retry_steps(action, failure, step)
                except StepFailed as another:
                    another.part = another.part or failure.part  # what it was about, it is about still
                    raise
                if again is None:
                    raise
                row = again
                self.retries += 1
                self.steps.turned += failure.kind in _GRIP
            finally:
                self.steps.attempt = 1

    async def _retry_steps(self, action: Action, failure: StepFailed, step: Action) -> list[Action] | None:
        """Returns the actions that repeat an action of which a step failed; None when repeating makes no sense."""
        await self.manipulator.recover()
        self.conditions.forget()
        held = self.manipulator.held
        if action.verb in TRAY_VERBS:  # a tray that is held and should not be, or the other way round, is for planning
            return [action] if action.verb in (Verb.TAKE_TRAY, Verb.TAKE_KIT) and not held else None
        if held and self.manipulator.held_sku != action.sku:
            return None  # another than was meant: what to do with it is a matter of planning
        fetch = [action._replace(verb=verb) for verb in (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART)]
        put = [action._replace(verb=verb) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART)]
        slipped = failure.kind is FailureKind.LOST and action.verb is Verb.PLACE_PART and step.verb is Verb.TAKE_PART
        if failure.kind is not FailureKind.MISSED or held or not await self.steps.touch.is_gone(failure.part):
            await self._touch_about(failure, leans=slipped or failure.kind in _LEANS)
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
        if (slipped or failure.kind in (FailureKind.NOT_SEATED, *_LEANS)) and failure.part:
            return [*(step._replace(place=failure.part) for step in fetch), *put]
        return None

    async def _touch_about(self, failure: StepFailed, *, leans: bool) -> None:
        """Touches what may be otherwise than believed: the table's height, a part's place, a gear that leans."""
        is_height = failure.kind in (*_LEANS, FailureKind.NOT_SEATED) and await self.steps.touch.feel_height(failure)
        if self.manipulator.held or not leans or is_height:
            return
        if not await self.steps.touch.feel_aside(failure.part):
            await self.steps.touch.set_upright(failure.part)

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
            self._publish_event(action, part, "start", "", [])
            if action.verb not in _TAKES or not self.manipulator.held:
                rows += await self._evaluate(action, part, "precondition", [])
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
        self._publish_event(action, "", "start", "", [])
        await self.manipulator.hand.read()
        rows += tool_conditions(self.manipulator, action, after=False)
        self._publish_event(action, "", "check", "", rows)
        require(rows, FailureKind.WRONG, "")
        self._before()
        await self._clock.sleep(self._settings.latencies.database_s)
        detail = await change_tool(self.manipulator, action)
        await self.manipulator.hand.tare()
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
        return part if action.verb in _SET_DOWN else self.manipulator.held or self.manipulator.found

    async def _check(self, action: Action, part: str, rows: list[Evaluated]) -> None:
        """Checks the effects and adds them to the rows; what was put down must also be seated."""
        if action.verb in _SET_DOWN:
            await self._see(action, part)
        if action.verb is Verb.PLACE_TRAY:
            self.steps.trays.level(action.place, self._settings.flat_detectors)
        if action.verb is Verb.PLACE_PART:
            await self._feel(action, part)
        effects = await self._evaluate(action, part, "effect", rows)
        rows += effects
        require(effects, FailureKind.NOT_SEATED if action.verb in _PUTS else FailureKind.LOST, part)
        if action.verb is Verb.PLACE_PART:
            await self._seated(action, part)

    async def _feel(self, action: Action, part: str) -> None:
        """Touches a part that was set down, when what is seen of it is not enough.

        It may have met something on its way into the slot, or detectors see parts beside their slots, lastingly: this
        one, or most of them. What the hand feels is believed rather than what is seen.
        """
        believed, steps = self.manipulator.believed, self.steps
        if steps.touch.let_go is None or self._settings.recovery is RecoveryMode.NONE:
            return
        slot, why = self._seat(action, part)
        is_doubtful = steps.touch.let_go[1] > 0.0 or is_seen_aside(believed, steps.designs, part)
        if not slot.holds(believed.part(part)) or not (is_doubtful or why):
            return
        if not is_doubtful and not await self._lasting(action, part):
            return
        height_m = await steps.touch.feel_seat(believed.part(part), slot)
        await self._see(action, part)
        if height_m is not None and not is_seat_height(height_m):
            felt = "is not felt" if height_m < 0.0 else f"is felt {height_m * 1000:.1f} mm above its seat"
            raise StepFailed(FailureKind.NOT_SEATED, f"{part} {felt} in {slot.name} of {action.kit}", part)

    async def _seated(self, action: Action, part: str) -> None:
        """Waits until the part is seen to be seated."""
        if why := await self._lasting(action, part):
            slot, _ = self._seat(action, part)
            raise StepFailed(FailureKind.NOT_SEATED, f"{part} {why} in {slot.name} of {action.kit}", part)

    async def _lasting(self, action: Action, part: str) -> str:
        """Returns why a part does not look seated, when that lasts; empty when it does."""
        until_s = self._clock.time_s + self._settings.verify_s
        while True:
            _, why = self._seat(action, part)
            if not why or self._clock.time_s >= until_s:
                return why
            await self._clock.sleep(self._settings.verify_s / 10)

    def _seat(self, action: Action, part: str) -> tuple[BelievedSlot, str]:
        """Returns the slot that a part is seen in, and why it does not look seated there."""
        believed = self.manipulator.believed
        slots = believed.slots_of_kit(action.kit, self.steps.designs[action.kit])
        slot = min(slots, key=lambda each: believed.part(part).across_m(each.position))
        seat = seat_of(believed, action.kit, believed.part(part), slot, self._settings.flat_detectors)
        return slot, seat.reason(self._settings.seated)

    async def _evaluate(self, action: Action, part: str, when: str, before: list[Evaluated]) -> list[Evaluated]:
        """Evaluates predicates; while some are unknown, after more looks: noise is less in several frames.

        What they come to is told each time that a value is another one, with the predicates that were evaluated before.
        """
        await self.manipulator.hand.read()
        await self._clock.sleep(self._settings.latencies.predicates_s)
        until_s = self._clock.time_s + self._settings.verify_s
        looks, told = 0, tuple[str, ...]()
        while True:
            rows = self.conditions.evaluate(action, part, "precondition" if when == "precondition" else "effect")
            if (values := tuple(one.value for one in rows)) != told:
                self._publish_event(action, part, "check", "", [*before, *rows])
                told = values
            if not doubtful(rows) or (looks >= LOOKS and self._clock.time_s >= until_s):
                return rows
            looks, start_s = looks + 1, self._clock.time_s
            await self._see(action, part)
            if self._clock.time_s == start_s:  # all was seen lately, and not well enough
                self.manipulator.belief.watch_all(start_s)
                await self._clock.sleep(self._settings.verify_s / 10)
            await self.manipulator.hand.read()

    async def _see(self, action: Action, part: str) -> None:
        """Looks at what a step was about, and in the same look at what the next one is about."""
        believed, asking = self.manipulator.believed, self.steps.asking
        places = () if action.verb in TRAY_VERBS else (action.place.partition("/")[0], action.kit)
        asked = [question for name in places if name in believed.tree.index for question in asking.of_tray(name)][:1]
        thing = believed.detected_as(part) if part else ""
        if thing and part not in believed.held.values() and thing in believed.tree.index:
            asked.append(asking.of(thing))
        try:
            found = await asking.look(asked, self.steps.upcoming)
        except ObservationTimeout as error:
            raise StepFailed(FailureKind.UNSEEN, str(error), part) from None
        if any(question.name == thing for question in found.hidden):
            raise StepFailed(FailureKind.HIDDEN, f"{thing} is in no camera's view", part)

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
        self._publish_event(action, part, phase, reason, rows)
        self._on_action(self.records[-1])

    def _publish_event(self, action: Action, part: str, phase: str, reason: str, rows: list[Evaluated]) -> None:
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
                part=part,
            )
        )
        self._sequence += 1

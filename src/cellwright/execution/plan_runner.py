"""Several robots carry out one plan: each does its own actions, none enters a zone that another is in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cellwright.execution.action_runner import ActionRunner
from cellwright.execution.arm import ArmFailed
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.zones import Zones
from cellwright.planning import MOVES, Action, Verb

__all__ = ["ActionFailure", "PlanRunner"]

_EMPTY_HANDED = (Verb.LOOK_PART, Verb.REMOVE_PART, Verb.ATTACH, Verb.DETACH, Verb.TAKE_TRAY, Verb.TAKE_KIT)


@dataclass(frozen=True)
class ActionFailure:
    """An action that was given up."""

    robot: str
    action: Action
    kind: FailureKind
    reason: str
    part: str
    is_lost_robot: bool = False


class PlanRunner:
    """Carries out plans with several robots.

    Args:
        runners: Robot -> the runner of its actions.
        zones: Place -> zone; a place that is not named is one of its own.
        on_done: Is told of every step that is done.
        may_begin: Whether anything new may be begun.
        changed: Returns what is seen to be otherwise than the plan relies on; robots with empty hands stop then.
    """

    def __init__(
        self,
        runners: Mapping[str, ActionRunner],
        zones: Mapping[str, str],
        on_done: Callable[[Action], None] = lambda _action: None,
        may_begin: Callable[[], bool] = lambda: True,
        changed: Callable[[], str] = lambda: "",
    ) -> None:
        self._runners = runners
        self._places = zones
        self._on_done = on_done
        self._may_begin = may_begin
        self._changed = changed
        self._stop = False
        self._zones = Zones({name: runner.manipulator for name, runner in runners.items()}, {})

    async def perform(self, actions: Sequence[Action]) -> list[ActionFailure]:
        """Carries out the actions; after a failure the others finish with what they hold. Returns the failures."""
        self._stop = False
        used: dict[str, list[str]] = {}
        rows: dict[str, list[int]] = {}
        for index, action in enumerate(actions):
            rows.setdefault(action.robot, []).append(index)
            if action.verb in MOVES:
                used.setdefault(self._zone(action), []).append(action.robot)
        places = {zone: [place for place, its in self._places.items() if its == zone] or [zone] for zone in used}
        self._zones = Zones({name: runner.manipulator for name, runner in self._runners.items()}, used)
        try:
            await self._zones.clear(places)
        except StepFailed as failure:
            return [ActionFailure(actions[0].robot, actions[0], failure.kind, str(failure), "", failure.is_lost_robot)]
        ended = [asyncio.Event() for _ in actions]
        tasks = [asyncio.ensure_future(self._run_actions(robot, row, actions, ended)) for robot, row in rows.items()]
        try:
            found = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return [failure for failure in found if failure is not None]

    def _zone(self, action: Action) -> str:
        return self._places.get(action.place, action.place)

    async def _run_actions(
        self, robot: str, row: Sequence[int], actions: Sequence[Action], ended: Sequence[asyncio.Event]
    ) -> ActionFailure | None:
        failure_found: ActionFailure | None = None
        for number, index in enumerate(row):
            action = actions[index]
            if action.verb in _EMPTY_HANDED and (self._stop or not self._may_begin()):
                break
            try:
                await self._after_others(index, actions, ended)
                if not self._runners[robot].manipulator.held and (change := self._changed()):
                    raise StepFailed(FailureKind.CHANGED, change)
                if action.verb in MOVES:
                    await self._zones.enter(robot, self._zone(action))
                else:
                    await self._zones.make_way(robot)
                await self._runners[robot].act(action, self._upcoming(action, [actions[i] for i in row[number + 1 :]]))
            except StepFailed as failure:
                self._stop = True
                part = failure.part
                if isinstance(failure, ArmFailed) and not part:  # in a motion beside the step itself
                    manipulator = self._runners[robot].manipulator
                    part = manipulator.held or manipulator.found
                failure_found = ActionFailure(robot, action, failure.kind, str(failure), part, failure.is_lost_robot)
                break
            ended[index].set()
            self._on_done(action)
        await self._zones.give_up(robot)
        for index in row:  # no robot waits for what is not done any more
            ended[index].set()
        return failure_found

    def _upcoming(self, action: Action, rest: Sequence[Action]) -> Sequence[Action]:
        """Returns the steps that a robot may look ahead to, and go towards; none where another robot may be."""
        there = next((self._zone(other) for other in rest if other.verb in MOVES), "")
        return () if self._zones.is_contested(there) and there != self._zone(action) else rest

    async def _after_others(self, index: int, actions: Sequence[Action], ended: Sequence[asyncio.Event]) -> None:
        """Waits for the steps of others at the same place or kit that come before this one in the plan."""
        action = actions[index]
        for other, event in zip(actions, ended, strict=True):
            same = (other.kit and other.kit == action.kit) or (other.place and other.place == action.place)
            if other.robot != action.robot and same and other.end_s <= action.start_s + 1e-6 and not event.is_set():
                await self._zones.give_up(action.robot)
                await event.wait()

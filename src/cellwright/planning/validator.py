"""Checks a plan step by step, with the reason in words of the first step that cannot be done.

It shares no code with the planners: what they believe about the cell is checked here against the vocabulary's rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add, ge

from cellwright.planning.actions import MOVES, Action, Verb
from cellwright.planning.planner import PlanRequest, PlanResult, garbage_collection_off
from cellwright.planning.rules import BrokenRule, RuleState

__all__ = ["PlanValidation", "validate_sequence", "validate_timed"]

_LOOK_PART = Verb.LOOK_PART
_TOLERANCE_S = 1e-6  # sums of durations in another order differ by rounding


@dataclass(frozen=True)
class PlanValidation:
    """The verdict on a plan: it can be carried out and reaches the goal, or not.

    Attributes:
        valid: Whether it can and does.
        reason: The first thing that is wrong; empty when nothing is.
        step: Index of the step that fails, None when the goal is missed or nothing is wrong.
    """

    valid: bool
    reason: str = ""
    step: int | None = None


def validate_sequence(request: PlanRequest, result: PlanResult) -> PlanValidation:
    """Carries the steps out one after the other, whatever their times say."""
    world = RuleState(request)
    for index, action in enumerate(result.actions):
        try:
            world.do(action)
        except BrokenRule as broken:
            return _failed(index, action, str(broken))
    return _goal(world, result)


def validate_timed(request: PlanRequest, result: PlanResult) -> PlanValidation:
    """Carries the steps out at their times: a step needs its conditions at its start and has its effect at its end.

    Besides, a robot does one thing at a time, no zone is entered by two robots at once, and durations are those of
    the request.
    """
    with garbage_collection_off():
        alone = len({action[1] for action in result.actions}) < 2
        return (_one_robot if alone else _several_robots)(request, result)


def _one_robot(request: PlanRequest, result: PlanResult) -> PlanValidation:
    """Checks the steps of one robot: each ends before the next one begins, so no two robots use one thing."""
    world, ends_s = RuleState(request), 0.0
    seconds = _seconds(request, result.actions[0].robot if result.actions else "")
    in_time, at = _in_time(result.actions, seconds), 0
    numbers, actions = (range(len(result.actions)), result.actions) if in_time else _by_start(result.actions)
    do, do_part = world.do, world.do_part
    while at < len(actions):
        action = actions[at]
        if in_time and action[0] is _LOOK_PART and do_part(actions[at : at + 5]):
            at += 5
            continue
        try:
            if not in_time:
                _check_times(action, seconds[action[0]], ends_s)
                ends_s = action.end_s
            do(action)
        except BrokenRule as broken:
            return _failed(numbers[at], action, str(broken))
        at += 1
    return _goal(world, result)


def _seconds(request: PlanRequest, robot: str) -> dict[Verb, float]:
    """Returns the duration of each step that a robot does."""
    pace = next((one.pace for one in request.state.robots if one.name == robot), 1.0)
    return {verb: request.durations.of(verb) * pace for verb in Verb}


def _in_time(actions: Sequence[Action], seconds: Mapping[Verb, float]) -> bool:
    """Returns whether every step takes as long as it should and begins when the one before has ended."""
    durations = [action[8] for action in actions]
    starts = [action[7] for action in actions]
    if durations != [seconds[action[0]] for action in actions]:
        return False
    soonest = [0.0, *map(add, starts, durations)]
    return all(map(ge, starts, [time_s - _TOLERANCE_S for time_s in soonest]))


def _check_times(action: Action, seconds: float, free_s: float = 0.0) -> None:
    if not action.start_s >= -_TOLERANCE_S:  # also when it is no number
        raise BrokenRule(f"it starts at {action.start_s:g} s, before the plan")
    if not abs(action.duration_s - seconds) <= _TOLERANCE_S:
        raise BrokenRule(f"it takes {action.duration_s:g} s, not {seconds:g} s")
    if action.start_s < free_s - _TOLERANCE_S:
        raise BrokenRule(f"{action.robot} is busy until {free_s:g} s")


def _several_robots(request: PlanRequest, result: PlanResult) -> PlanValidation:
    world, zones = RuleState(request), dict(request.state.zones)
    seconds = {robot: _seconds(request, robot) for robot in {action.robot for action in result.actions}}
    zone_free_s: dict[str, tuple[float, str]] = {}
    running: dict[str, tuple[float, Action]] = {}  # robot -> its step that has not ended, and when it ends

    def finish_until(time_s: float) -> None:
        due = sorted([step for step in running.values() if step[0] <= time_s], key=lambda step: step[0])
        for _, done in due:
            del running[done[1]]
            world.finish(done)

    for index, action in zip(*_by_start(result.actions), strict=True):
        verb, robot, _, _, place, _, _, start_s, duration_s = action
        try:
            if not start_s >= -_TOLERANCE_S or duration_s != seconds[robot][verb]:
                _check_times(action, seconds[robot][verb])
            finish_until(start_s + _TOLERANCE_S)
            if robot in running:
                raise BrokenRule(f"{robot} is busy until {running[robot][0]:g} s")
            end_s = start_s + duration_s
            if verb in MOVES:
                zone = zones.get(place, place)
                until_s, other = zone_free_s.get(zone, (0.0, robot))
                if other != robot and start_s < until_s - _TOLERANCE_S:
                    raise BrokenRule(f"{other} is in zone {zone} until {until_s:g} s")
                zone_free_s[zone] = (end_s, robot)
            world.begin(action)
        except BrokenRule as broken:
            return _failed(index, action, str(broken))
        running[robot] = (end_s, action)
    finish_until(float("inf"))
    return _goal(world, result)


def _by_start(actions: tuple[Action, ...]) -> tuple[Sequence[int], Sequence[Action]]:
    """Returns the steps by start, and the number of each in the plan."""
    numbers = sorted(range(len(actions)), key=lambda number: actions[number].start_s)
    return numbers, [actions[number] for number in numbers]


def _failed(index: int, action: Action, why: str) -> PlanValidation:
    return PlanValidation(False, f"step {index + 1} {action} at {action.start_s:g} s: {why}", index)


def _goal(world: RuleState, result: PlanResult) -> PlanValidation:
    left_out = {kit.kit for kit in result.unfinished}
    for name, why in world.open_kits().items():
        if name not in left_out:
            return PlanValidation(False, f"at the end of the plan kit {name} {why}")
    return PlanValidation(True)

"""Checks a plan step by step and says in words what is wrong with the first step that cannot be done.

It shares no code with the planners: what they believe about the cell is checked here against the vocabulary's rules.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

from cellwright.planning.actions import MOVES, Action
from cellwright.planning.planner import PlanRequest, PlanResult
from cellwright.planning.rules import BrokenRule, World

__all__ = ["Verdict", "validate_sequence", "validate_timed"]

_TOLERANCE_S = 1e-6  # sums of durations in another order differ by rounding


@dataclass(frozen=True)
class Verdict:
    """Whether a plan can be carried out and reaches the goal.

    Attributes:
        valid: It does.
        reason: The first thing that is wrong; empty when nothing is.
        step: Index of the step that fails, None when the goal is missed or nothing is wrong.
    """

    valid: bool
    reason: str = ""
    step: int | None = None


def validate_sequence(request: PlanRequest, result: PlanResult) -> Verdict:
    """Carries the steps out one after the other, whatever their times say."""
    world = World(request)
    for index, action in enumerate(result.actions):
        try:
            world.begin(action)
            world.finish(action)
        except BrokenRule as broken:
            return _failed(index, action, str(broken))
    return _goal(world, result)


def validate_timed(request: PlanRequest, result: PlanResult) -> Verdict:
    """Carries the steps out at their times: a step needs its conditions at its start and has its effect at its end.

    Besides, a robot does one thing at a time, no zone is entered by two robots at once, and durations are those of
    the request.
    """
    world = World(request)
    zones = dict(request.state.zones)
    robot_free_s: dict[str, float] = {}
    zone_free_s: dict[str, tuple[float, str]] = {}
    running: list[tuple[float, int, int]] = []
    order = sorted(range(len(result.actions)), key=lambda index: (result.actions[index].start_s, index))
    ticket = count()

    def finish_until(time_s: float) -> None:
        while running and running[0][0] <= time_s + _TOLERANCE_S:
            _, _, done = heapq.heappop(running)
            world.finish(result.actions[done])

    for index in order:
        action = result.actions[index]
        if action.start_s < -_TOLERANCE_S:
            return _failed(index, action, f"it starts at {action.start_s:g} s, before the plan")
        wanted_s = request.durations.of(action.verb)
        if abs(action.duration_s - wanted_s) > _TOLERANCE_S:
            return _failed(index, action, f"it takes {action.duration_s:g} s, not {wanted_s:g} s")
        try:
            finish_until(action.start_s)
            free_s = robot_free_s.get(action.robot, 0.0)
            if action.start_s < free_s - _TOLERANCE_S:
                raise BrokenRule(f"{action.robot} is busy until {free_s:g} s")
            if action.verb in MOVES:
                zone = zones.get(action.place, action.place)
                until_s, other = zone_free_s.get(zone, (0.0, action.robot))
                if other != action.robot and action.start_s < until_s - _TOLERANCE_S:
                    raise BrokenRule(f"{other} is in zone {zone} until {until_s:g} s")
                zone_free_s[zone] = (action.end_s, action.robot)
            world.begin(action)
        except BrokenRule as broken:
            return _failed(index, action, str(broken))
        robot_free_s[action.robot] = action.end_s
        heapq.heappush(running, (action.end_s, next(ticket), index))
    finish_until(float("inf"))
    return _goal(world, result)


def _failed(index: int, action: Action, why: str) -> Verdict:
    return Verdict(False, f"step {index + 1} {action} at {action.start_s:g} s: {why}", index)


def _goal(world: World, result: PlanResult) -> Verdict:
    left_out = {kit.kit for kit in result.unfinished}
    for name, why in world.open_kits().items():
        if name not in left_out:
            return Verdict(False, f"at the end of the plan kit {name} {why}")
    return Verdict(True)

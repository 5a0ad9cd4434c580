"""The planner for several robots: lists of work, tools as roles, and a bound that says how good the plan is.

Parts are given out one by one to the robot that is free first, so the work spreads by itself. What does not is tools:
which robot should keep which is tried out, on the first few kits when there are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from cellwright.planning.bench import Bench
from cellwright.planning.bounds import makespan_bound_s
from cellwright.planning.dispatch import Dispatch, Roles
from cellwright.planning.planner import PLANNERS, PlanRequest, PlanResult, PlanStatus, Unfinished
from cellwright.planning.work import Work, find_work

__all__ = ["Scheduler"]

_SAMPLE = 6  # kits on which roles are tried when there are many
_MOST_TRIALS = 40


@dataclass(frozen=True)
class _Trial:
    left: tuple[Unfinished, ...]
    makespan_s: float
    roles: Roles
    bench: Bench

    @property
    def badness(self) -> tuple[int, float]:
        return len(self.left), self.makespan_s


@PLANNERS.register("scheduler")
class Scheduler:
    """Plans for all robots in service; `cost` is their work in sum, the bound is on the makespan."""

    def plan(self, request: PlanRequest) -> PlanResult:
        """The best of the schedules that the budget allows: `iterations` is the number of kits scheduled in trials."""
        work = find_work(request)
        if not work.jobs:
            status = PlanStatus.UNSOLVABLE if work.unfinished else PlanStatus.OPTIMAL
            return PlanResult(status, "scheduler", unfinished=tuple(work.unfinished))
        bound_s = makespan_bound_s(work)
        best, used = _best(work, bound_s, request.iterations)
        unfinished = (*work.unfinished, *best.left)
        actions = tuple(sorted(best.bench.actions, key=lambda action: action.start_s))
        if best.left:  # the bound was for more work than was done
            bound_s = min(bound_s, best.makespan_s)
        proven = not best.left and best.makespan_s <= bound_s + 1e-9
        status = PlanStatus.OPTIMAL if proven else PlanStatus.SOLVED
        if len(best.left) == len(work.jobs):
            status = PlanStatus.UNSOLVABLE
        cost = sum(action.duration_s for action in actions)
        return PlanResult(status, "scheduler", actions, cost, best.makespan_s, bound_s, unfinished, used)


def _best(work: Work, bound_s: float, iterations: int) -> tuple[_Trial, int]:
    kits = len(work.jobs)
    sample = kits if kits <= 2 * _SAMPLE else _SAMPLE + sum(job.started is not None for job in work.jobs)
    sample = min(sample, kits)
    trials: list[_Trial] = []
    used = 0
    for roles in _roles(work):
        if trials and used + sample > iterations:
            break
        trials.append(_try(work, roles, sample))
        used += sample
        if sample == kits and not trials[-1].left and trials[-1].makespan_s <= bound_s + 1e-9:
            break
    trials.sort(key=lambda trial: trial.badness)
    if sample == kits:
        return trials[0], used
    whole = [_try(work, trials[0].roles, None)]
    used += kits
    for trial in trials[1:3]:
        if (whole[0].makespan_s <= 1.02 * bound_s and not whole[0].left) or used + kits > iterations:
            break
        whole.append(_try(work, trial.roles, None))
        used += kits
    return min(whole, key=lambda trial: trial.badness), used


def _roles(work: Work) -> list[Roles]:
    """Who may use which tool: anybody any, then each way of giving a tool to one robot alone."""
    free = {robot.name: work.tools_of[robot.name] for robot in work.robots}
    contested = sorted({t for tools in free.values() for t in tools if sum(t in other for other in free.values()) > 1})
    every: list[Roles] = [free]
    for owners in product([robot.name for robot in work.robots], repeat=len(contested)):
        kept = dict(zip(contested, owners, strict=True))
        roles = {name: frozenset(t for t in tools if kept.get(t, name) == name) for name, tools in free.items()}
        if len(set(owners)) > 1:
            every.append(roles)
    return every[:_MOST_TRIALS]


def _try(work: Work, roles: Roles, kits: int | None) -> _Trial:
    dispatch = Dispatch(work, roles, kits)
    left = tuple(dispatch.run())
    makespan_s = max((action.end_s for action in dispatch.bench.actions), default=0.0)
    return _Trial(left, makespan_s, roles, dispatch.bench)

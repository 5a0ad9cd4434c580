"""The planner for several robots: lists of work, tools as roles, and a bound that says how good the plan is.

Parts are given out one by one to the robot that is free first, so the work spreads by itself. What does not is tools:
which robot should keep which is tried out, on the first few kits when there are many. Two robots with few kits also
refine the shortest plan of the counters, which changes tools as seldom and as early as it should.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

from cellwright.planning.actions import Action
from cellwright.planning.blocks import TaskBlock, blocks_of, carry_out, neighbour
from cellwright.planning.booking import Booking
from cellwright.planning.bounds import makespan_bound_s
from cellwright.planning.counter_problem import CounterProblem
from cellwright.planning.counter_refinement import refine_moves
from cellwright.planning.counter_search import search_counters
from cellwright.planning.dispatch import Dispatch, Roles
from cellwright.planning.hands import create_kits
from cellwright.planning.idle_tools import idle_tools, without_idle_tools
from cellwright.planning.occupancy import with_occupancy
from cellwright.planning.partial_schedule import PartialSchedule
from cellwright.planning.perturbation import NO_PERTURBATION, Perturbation
from cellwright.planning.planner import TASK_PLANNERS, PlanRequest, PlanResult, PlanStatus, Unfinished
from cellwright.planning.work import Work, find_work

__all__ = ["Scheduler"]

_EPS = 1e-9
_DELAYS_S = (3.0, 12.0, 30.0)
_SKIP_PROBABILITIES = (0.0, 0.1, 0.3)
_PERTURBED_KITS = 8  # kits that are scheduled with a perturbation for one iteration
_MOST_PERTURBED = 1000
_WORSE = 0.02  # by how much a schedule may be worse than the last one at first
_SAMPLE = 6  # kits on which roles are tried when there are many
_MOST_TRIALS = 40
_WEIGHTS = (1.0, 0.3, 0.15)  # of the heuristic: a good plan soon, maybe not the best one
_STATES = 80  # of the counters that are expanded for one iteration
_MOST_COUNTED = 24  # kits; with more the counters have too many states and only their first estimate is used


@dataclass(frozen=True)
class _Trial:
    left: tuple[Unfinished, ...]
    makespan_s: float
    roles: Roles
    own_first: bool
    booking: Booking
    row: tuple[TaskBlock, ...]

    @property
    def badness(self) -> tuple[int, float]:
        return len(self.left), self.makespan_s


@TASK_PLANNERS.register("scheduler")
class Scheduler:
    """Plans for all robots in service; `cost` is their work in sum, the bound is on the makespan."""

    def plan(self, request: PlanRequest) -> PlanResult:
        """Returns the best of the schedules that the budget allows.

        An iteration is a kit scheduled in a trial, eighty states of the counters, or eight kits scheduled with
        perturbation; each of the three has the whole budget.
        """
        return _plan(request, find_work(request, with_donors=True))


def _plan(request: PlanRequest, work: Work) -> PlanResult:
    if not work.jobs:
        status = PlanStatus.NOT_FOUND if work.unfinished else PlanStatus.OPTIMAL
        return PlanResult(status=status, planner="scheduler", unfinished=tuple(work.unfinished))
    bound_s = makespan_bound_s(work)
    best, used = _best(work, bound_s, request.iterations)
    if best.left:  # without those that no robot could complete; robots may have worked on them in vain
        return _plan(request, find_work(request, leave_out=(*work.left_out, *best.left), with_donors=True))
    if best.makespan_s > bound_s + _EPS:
        best, bound_s, counted = _count(work, best, bound_s, request.iterations)
        used += counted
    for better in (_perturb, _rearrange):
        if best.makespan_s > bound_s + _EPS:
            best, tried = better(work, best, bound_s, request.iterations)
            used += tried
    actions = tuple(sorted(_tidy(work, best), key=lambda action: action.start_s))
    makespan_s = max(action.end_s for action in actions)
    proven = makespan_s <= bound_s + _EPS
    status = PlanStatus.OPTIMAL if proven else PlanStatus.SOLVED
    cost = sum(action.duration_s for action in actions)
    return PlanResult(
        status=status,
        planner="scheduler",
        actions=actions,
        cost=cost,
        makespan_s=makespan_s,
        lower_bound=bound_s,
        unfinished=tuple(work.unfinished),
        iterations=used,
    )


def _tidy(work: Work, best: _Trial) -> list[Action]:
    """Returns the steps without tools that are not used, or those of a schedule that takes hardly longer."""
    rng, row = random.Random(0), best.row
    actions = without_idle_tools(best.booking.actions)
    for _ in range(_MOST_TRIALS if idle_tools(actions) and row else 0):
        again = _finish(carry_out(work, row), _free_roles(work), False)
        other = without_idle_tools(again.booking.actions)
        if not again.left and not idle_tools(other) and again.makespan_s <= best.makespan_s * (1 + _WORSE):
            return other
        row = tuple(neighbour(work, best.row, rng))
    return actions


def _perturb(work: Work, best: _Trial, bound_s: float, iterations: int) -> tuple[_Trial, int]:
    """Tries list schedules with perturbed decisions: some are better. The same request gives the same perturbations."""
    kits, rng = len(work.jobs), random.Random(0)
    if kits > _MOST_COUNTED:
        return best, 0
    roles, used, budget = _roles(work), 0, min(iterations * _PERTURBED_KITS, kits * _MOST_PERTURBED)
    while used + kits <= budget and best.makespan_s > bound_s + _EPS:
        perturbation = Perturbation(rng.choice(_DELAYS_S), rng.choice(_SKIP_PROBABILITIES), rng)
        trial = _try(work, rng.choice(roles), rng.random() < 0.5, None, perturbation)
        best = min(best, trial, key=lambda one: one.badness)
        used += kits
    return best, -(-used // _PERTURBED_KITS)


def _rearrange(work: Work, best: _Trial, bound_s: float, iterations: int) -> tuple[_Trial, int]:
    """Improves the best schedule by simulated annealing: blocks are moved, and worse schedules taken less and less.

    Robots that reach the same, with no zones between them, do not gain by it.
    """
    kits, rng, roles = len(work.jobs), random.Random(0), _free_roles(work)
    budget, used = min(iterations * _PERTURBED_KITS, kits * _MOST_PERTURBED) * 2, 0
    alike = len({(robot.reach, robot.pace) for robot in work.robots}) == 1 and not work.request.state.zones
    if alike or kits > _MOST_COUNTED or not best.row:
        return best, 0
    now = _finish(carry_out(work, best.row), roles, False)
    best = min(best, now, key=lambda one: one.badness)
    while used + kits <= budget and best.makespan_s > bound_s + _EPS:
        trial = _finish(carry_out(work, neighbour(work, now.row, rng)), roles, False)
        used += kits
        worse_s = _WORSE * best.makespan_s * (1 - used / budget) ** 2 * rng.random()
        if trial.row and len(trial.left) <= len(now.left) and trial.makespan_s <= now.makespan_s + worse_s:
            now = trial
            best = min(best, trial, key=lambda one: one.badness)
    return best, -(-used // _PERTURBED_KITS)


def _count(work: Work, best: _Trial, bound_s: float, iterations: int) -> tuple[_Trial, float, int]:
    """Searches the counters for a better bound and perhaps a better plan."""
    counters = CounterProblem.of(work)
    if counters is None:
        return best, bound_s, 0
    if len(work.jobs) <= _MOST_COUNTED:
        counters = with_occupancy(counters, iterations)
    first_s = best.makespan_s
    bound_s = max(bound_s, search_counters(counters, 0, first_s).bound_s)
    searches = [*((weight, 4) for weight in _WEIGHTS), (0.0, 1)] if len(work.jobs) <= _MOST_COUNTED else []
    budget, used = iterations * _STATES, 0
    for weight, share in searches:
        if best.makespan_s <= bound_s + _EPS:
            break
        counted = search_counters(counters, budget // share, first_s, weight)
        used += counted.states
        if counted.moves is not None:
            trial = _finish(refine_moves(work, counters, counted.moves), _free_roles(work), False)
            best = min(best, trial, key=lambda one: one.badness)
        if not weight:
            bound_s = max(bound_s, min(counted.bound_s, best.makespan_s))
    return best, bound_s, -(-used // _STATES)


def _best(work: Work, bound_s: float, iterations: int) -> tuple[_Trial, int]:
    kits = len(work.jobs)
    sample = kits if kits <= 2 * _SAMPLE else _SAMPLE + sum(job.started is not None for job in work.jobs)
    sample = min(sample, kits)
    trials: list[_Trial] = []
    used = 0
    for roles, own_first in product(_roles(work), (True, False) if _has_own(work) else (False,)):
        if trials and used + sample > iterations:
            break
        trials.append(_try(work, roles, own_first, sample))
        used += sample
        if sample == kits and not trials[-1].left and trials[-1].makespan_s <= bound_s + _EPS:
            break
    trials.sort(key=lambda trial: trial.badness)
    if sample == kits:
        return trials[0], used
    whole = [_try(work, trials[0].roles, trials[0].own_first, None)]
    used += kits
    for trial in trials[1:3]:
        if (whole[0].makespan_s <= 1.02 * bound_s and not whole[0].left) or used + kits > iterations:
            break
        whole.append(_try(work, trial.roles, trial.own_first, None))
        used += kits
    return min(whole, key=lambda trial: trial.badness), used


def _free_roles(work: Work) -> dict[str, frozenset[str]]:
    """Returns the roles in which every robot may use any tool that it can get."""
    return {robot.name: work.tools_of[robot.name] for robot in work.robots}


def _roles(work: Work) -> list[Roles]:
    """Returns assignments of tools: every robot any tool, then each way of giving a tool to one robot alone."""
    free = _free_roles(work)
    contested = sorted({t for tools in free.values() for t in tools if sum(t in other for other in free.values()) > 1})
    every: list[Roles] = [free]
    for owners in product([robot.name for robot in work.robots], repeat=len(contested)):
        kept = dict(zip(contested, owners, strict=True))
        roles = {name: frozenset(t for t in tools if kept.get(t, name) == name) for name, tools in free.items()}
        if len(set(owners)) > 1:
            every.append(roles)
    return every[:_MOST_TRIALS]


def _has_own(work: Work) -> bool:
    """Returns whether there are tables that not every robot reaches."""
    return any(table not in robot.reach for table in work.request.state.tables for robot in work.robots)


def _try(
    work: Work, roles: Roles, own_first: bool, kits: int | None, perturbation: Perturbation = NO_PERTURBATION
) -> _Trial:
    booking = Booking(work)
    started = sum(job.started is not None for job in work.jobs)
    waiting = [job for job in work.jobs if job.started is None]
    if kits is not None:
        waiting = waiting[: max(kits - started, 0)]
    create_kits(booking)
    schedule = PartialSchedule(work, booking, waiting, own_first, perturbation)
    schedule.close_full()
    return _finish(schedule, roles, own_first)


def _finish(schedule: PartialSchedule, roles: Roles, own_first: bool) -> _Trial:
    """Schedules what is left to do as a list schedule."""
    left = tuple(Dispatch(schedule, roles).run())
    makespan_s = max((action.end_s for action in schedule.booking.actions), default=0.0)
    return _Trial(left, makespan_s, roles, own_first, schedule.booking, tuple(blocks_of(schedule)))

"""The planner for one robot: the fewest tool changes by search, everything else in its natural order."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cellwright.planning.actions import Verb
from cellwright.planning.booking import Booking
from cellwright.planning.corrections import fewest_returns
from cellwright.planning.hands import empty_hands
from cellwright.planning.one_robot import OneRobot
from cellwright.planning.phase_problem import KitKind, PhaseProblem
from cellwright.planning.phases import find_phases
from cellwright.planning.planner import TASK_PLANNERS, KitJob, PlanRequest, PlanResult, PlanStatus, Unfinished
from cellwright.planning.resources import RobotSchedule
from cellwright.planning.work import Work, find_work

__all__ = ["Sequencer"]

_MANY = 40


@TASK_PLANNERS.register("sequencer")
class Sequencer:
    """Plans for one robot; with several in service, for the one that leaves out the fewest kits."""

    def plan(self, request: PlanRequest) -> PlanResult:
        """Returns the plan, optimal when the search proves it within the budget."""
        robots = [robot.name for robot in request.state.robots if robot.available]
        if not robots:
            return _plan_for(request, None)
        plans = (_best_for(request, name) for name in robots)
        return min(plans, key=lambda made: (len(made.unfinished), made.cost))


def _best_for(request: PlanRequest, robot: str) -> PlanResult:
    """Returns the better of two plans: with wrong parts the order of tools may matter, which phases do not see."""
    plans = [_plan_for(request, robot)]
    if plans[0].status is PlanStatus.SOLVED and any(kit.wrong for kit in request.state.kits):
        plans.append(_plan_for(request, robot, backwards=True))
    best = min(plans, key=lambda made: (len(made.unfinished), made.cost))
    bound = max(made.lower_bound for made in plans if made.unfinished == best.unfinished)
    status = PlanStatus.OPTIMAL if best.status is PlanStatus.SOLVED and best.cost <= bound else best.status
    return replace(best, lower_bound=bound, status=status)


def _plan_for(
    request: PlanRequest, robot: str | None, leave_out: tuple[Unfinished, ...] = (), backwards: bool = False
) -> PlanResult:
    work = find_work(request, robot, leave_out, with_donors=True)
    waiting = [job for job in work.jobs if job.started is None]
    if not work.jobs:
        status = PlanStatus.NOT_FOUND if work.unfinished else PlanStatus.OPTIMAL
        return PlanResult(status=status, planner="sequencer", unfinished=tuple(work.unfinished))
    booking = Booking(work)
    arm = booking.arms[0]
    stuck = empty_hands(booking, work, waiting).get(arm.name)
    if stuck:
        lost = (*work.unfinished, *(Unfinished(job.name, stuck) for job in work.jobs))
        return PlanResult(status=PlanStatus.NOT_FOUND, planner="sequencer", unfinished=lost)
    return _finish(request, work, booking, waiting, backwards)


def _finish(request: PlanRequest, work: Work, booking: Booking, waiting: list[KitJob], backwards: bool) -> PlanResult:
    arm = booking.arms[0]
    kinds = _Kinds(booking, arm)
    pools: dict[KitKind, deque[KitJob]] = {}
    for job in waiting:
        pools.setdefault(kinds.of(job, job.design.parts, fixed=False), deque()).append(job)
    tables = [t for t in request.state.tables if t in arm.reach and any(t in ts for ts in work.tables_of.values())]
    usable = {*tables, *(kit.place for kit in booking.kits.values() if not kit.fixed)}
    problem = PhaseProblem(
        arm.tool,
        tuple(kinds.of(kit.job, kit.missing, kit.fixed, kit.wrong) for kit in booking.kits.values()),
        tuple(sorted((kind, len(pool)) for kind, pool in pools.items())),
        len(usable),
        tuple(sorted(arm.tools, reverse=backwards)),
    )
    budget = request.iterations * _MANY // max(len(work.jobs), _MANY)  # with many kits a change more or less is nothing
    found = find_phases(problem, budget)
    if found is None:  # cannot happen for work that was found possible; reported rather than raised
        lost = (*work.unfinished, *(Unfinished(job.name, "no order of tools completes it") for job in work.jobs))
        return PlanResult(status=PlanStatus.NOT_FOUND, planner="sequencer", unfinished=lost)
    held_steps = len(booking.actions)
    wrong = [pair for kit in booking.kits.values() for pair in kit.wrong]
    at_best = fewest_returns(wrong, _openings(work, booking, len(usable))) if wrong else 0
    worker = OneRobot(booking, arm, pools, sorted(usable))
    for phase in found.phases:
        worker.carry_out(phase)
    if left := worker.carry_on():
        why = "wrong parts, or a part in hand, leave no room to work on it"
        return _plan_for(request, arm.name, (*work.left_out, *(Unfinished(name, why) for name in left)), backwards)
    cost = sum([action[8] for action in booking.actions])
    changes = [action[0] for action in booking.actions].count(Verb.ATTACH)
    spared_s = (changes - found.bound) * request.durations.change_s
    if wrong:
        returned = sum(action.verb is Verb.RETURN_PART for action in booking.actions[held_steps:])
        spared_s += (returned - at_best) * (request.durations.return_part_s + request.durations.fetch_part_s)
    spared_s = (spared_s + _spared_by_donors_s(work, booking)) * arm.pace
    return PlanResult(
        status=PlanStatus.OPTIMAL if spared_s == 0 else PlanStatus.SOLVED,
        planner="sequencer",
        actions=tuple(booking.actions),
        cost=cost,
        makespan_s=arm.time_s,
        lower_bound=cost - spared_s,
        unfinished=tuple(work.unfinished),
        iterations=found.iterations,
    )


def _spared_by_donors_s(work: Work, booking: Booking) -> float:
    """Returns by how much a plan could cost less if it took another number of parts out of donor kits."""
    donors = {donor.name: donor for donor in work.donors if donor.place in booking.arms[0].reach}
    if not donors:
        return 0.0
    needs: Counter[str] = Counter()
    for job in work.jobs:
        needs.update(job.started.needed if job.started else job.design.parts)
    most = (needs & Counter(sku for donor in donors.values() for sku, _ in donor.wrong)).total()
    used = sum(action.verb is Verb.REMOVE_PART and action.kit in donors for action in booking.actions)
    less_s = booking.durations.fetch_part_s - booking.durations.remove_part_s
    return (most - used) * less_s if less_s > 0 else -used * less_s


def _openings(work: Work, booking: Booking, tables: int) -> Counter[str]:
    """Returns SKU -> slots that could be open for a wrong part; those of kits to come, too, if one may stand beside."""
    openings: Counter[str] = Counter()
    for kit in booking.kits.values():
        openings.update(kit.missing)
    if tables > 1 or any(kit.fixed and kit.wrong for kit in booking.kits.values()):
        for job in work.jobs:
            openings.update(job.design.parts if job.started is None else {})
    return openings


class _Kinds:
    """The kinds of kits that the search for phases distinguishes."""

    def __init__(self, booking: Booking, arm: RobotSchedule) -> None:
        self._booking = booking
        self._arm = arm
        self._tools: dict[str, tuple[str, ...]] = {}
        self._made: dict[tuple[str, int], KitKind] = {}

    def of(
        self, job: KitJob, missing: Mapping[str, int], fixed: bool, wrong: Sequence[tuple[str, str]] = ()
    ) -> KitKind:
        """Returns the kind of a kit that lacks these SKUs."""
        key = (job.design.name, -job.priority)
        if missing is job.design.parts and key in self._made:
            return self._made[key]
        chains = {(self._tools_for(sku),) for sku in missing}
        removals = {(self._tools_for(there), self._tools_for(belongs)) for there, belongs in wrong}
        kind = KitKind(
            -job.priority, tuple(sorted(chains | removals)), () if fixed else self._tools_for(job.design.tray_sku)
        )
        if missing is job.design.parts:
            self._made[key] = kind
        return kind

    def _tools_for(self, sku: str) -> tuple[str, ...]:
        if sku not in self._tools:
            able = [tool for tool in self._arm.tools if sku in self._booking.handles[tool]]
            self._tools[sku] = tuple(sorted(able))
        return self._tools[sku]

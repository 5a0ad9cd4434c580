"""The planner for one robot: the fewest tool changes by search, everything else in its natural order."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from cellwright.planning.actions import Verb
from cellwright.planning.arms import Arm, OpenKit
from cellwright.planning.booking import Booking
from cellwright.planning.hands import settle, settle_part
from cellwright.planning.phases import KitKind, Phase, PhaseProblem, find_phases
from cellwright.planning.planner import PLANNERS, KitJob, PlanRequest, PlanResult, PlanStatus, Unfinished
from cellwright.planning.work import Work, find_work

__all__ = ["Sequencer"]

_MANY = 40


@PLANNERS.register("sequencer")
class Sequencer:
    """Plans for one robot; with several in service, for the one that leaves out the fewest kits."""

    def plan(self, request: PlanRequest) -> PlanResult:
        """The plan, optimal when the search proves it within the budget."""
        robots = [robot.name for robot in request.state.robots if robot.available]
        if not robots:
            return self._plan_for(request, None)
        plans = (self._plan_for(request, name) for name in robots)
        return min(plans, key=lambda made: (len(made.unfinished), made.cost))

    def _plan_for(self, request: PlanRequest, robot: str | None) -> PlanResult:
        work = find_work(request, robot)
        waiting = [job for job in work.jobs if job.started is None]
        if not work.jobs:
            status = PlanStatus.UNSOLVABLE if work.unfinished else PlanStatus.OPTIMAL
            return PlanResult(status, "sequencer", unfinished=tuple(work.unfinished))
        booking = Booking(work)
        arm = booking.arms[0]
        stuck = settle(booking, work, waiting).get(arm.name)
        if stuck:
            lost = (*work.unfinished, *(Unfinished(job.name, stuck) for job in work.jobs))
            return PlanResult(PlanStatus.UNSOLVABLE, "sequencer", unfinished=lost)
        return _finish(request, work, booking, arm, waiting)


def _finish(request: PlanRequest, work: Work, booking: Booking, arm: Arm, waiting: list[KitJob]) -> PlanResult:
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
        tuple(sorted(arm.tools)),
    )
    budget = request.iterations * _MANY // max(len(work.jobs), _MANY)  # with many kits a change more or less is nothing
    found = find_phases(problem, budget)
    if found is None:  # cannot happen for work that was found possible; said rather than raised
        lost = (*work.unfinished, *(Unfinished(job.name, "no order of tools completes it") for job in work.jobs))
        return PlanResult(PlanStatus.UNSOLVABLE, "sequencer", unfinished=lost)
    settled = len(booking.actions)
    for phase in found.phases:
        _carry_out(booking, arm, phase, pools, sorted(usable))
    cost = sum(action.duration_s for action in booking.actions)
    spared_s = (found.changes - found.bound) * request.durations.change_s
    spared_s += _detours(work, booking, settled) * (request.durations.return_part_s + request.durations.fetch_part_s)
    return PlanResult(
        PlanStatus.OPTIMAL if spared_s == 0 else PlanStatus.SOLVED,
        "sequencer",
        tuple(booking.actions),
        cost,
        arm.time_s,
        cost - spared_s,
        tuple(work.unfinished),
        found.iterations,
    )


def _detours(work: Work, booking: Booking, settled: int) -> int:
    """How many wrong parts went back into a tray though a kit somewhere lacks one: at best none had to."""
    wrong = Counter(sku for job in work.jobs if job.started for sku, _ in job.started.wrong)
    if not wrong:
        return 0
    lacking: Counter[str] = Counter()
    for job in work.jobs:
        lacking.update(job.started.needed if job.started else job.design.parts)
    returned = Counter(action.sku for action in booking.actions[settled:] if action.verb is Verb.RETURN_PART)
    return sum(max(returned[sku] - max(wrong[sku] - lacking[sku], 0), 0) for sku in wrong)


class _Kinds:
    """Turns kits into what the search sees of them."""

    def __init__(self, booking: Booking, arm: Arm) -> None:
        self._booking, self._arm = booking, arm
        self._tools: dict[str, tuple[str, ...]] = {}
        self._made: dict[tuple[str, int], KitKind] = {}

    def of(
        self, job: KitJob, missing: Mapping[str, int], fixed: bool, wrong: Sequence[tuple[str, str]] = ()
    ) -> KitKind:
        """The kind of a kit that lacks these SKUs."""
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


def _carry_out(
    booking: Booking, arm: Arm, phase: Phase, pools: dict[KitKind, deque[KitJob]], tables: list[str]
) -> None:
    """All that the phase's tool can do, and the trays that the search chose to lay."""
    if phase.tool != arm.tool and phase.tool is not None:
        booking.change_tool(arm, phase.tool)
    if arm.tool is None:
        return
    handles, lays = booking.handles[arm.tool], deque(phase.lays)
    while True:
        for kit in booking.kits.values():  # first of all: what comes out may go into another kit
            _correct(booking, arm, kit, handles)
        for kit in list(booking.kits.values()):
            _fill(booking, arm, kit, handles)
            if kit.wrong:  # filling has made room where wrong parts go
                _correct(booking, arm, kit, handles)
                _fill(booking, arm, kit, handles)
            done = not kit.missing and not kit.wrong and not kit.fixed
            if done and kit.job.design.tray_sku in handles:
                outlet = booking.outlet(arm)
                if outlet is not None:
                    booking.clear(arm, kit, outlet)
        laid = False
        for table in tables:
            if lays and table not in booking.taken:
                job = pools[lays.popleft()].popleft()
                stack = booking.stack(arm, job.design.tray_sku)
                if stack is not None:
                    booking.lay(arm, job, table, stack)
                    laid = True
        if not laid:
            return


def _correct(booking: Booking, arm: Arm, kit: OpenKit, handles: frozenset[str]) -> None:
    """Takes wrong parts out, into a kit that lacks them or back into a tray."""
    for sku, _ in list(kit.wrong):
        if sku in handles and booking.takes_part(arm, sku):
            booking.remove_part(arm, kit, sku)
            settle_part(booking, arm, sku)


def _fill(booking: Booking, arm: Arm, kit: OpenKit, handles: frozenset[str]) -> None:
    """All parts that the tool handles, from their trays into the kit."""
    for sku in [sku for sku in kit.missing if sku in handles]:
        while sku in kit.missing:
            tray = booking.source(arm, sku)
            if tray is None:
                break
            booking.move_part(arm, kit, sku, tray)

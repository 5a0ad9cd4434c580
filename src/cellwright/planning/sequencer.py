"""The planner for one robot: the fewest tool changes by search, everything else in its natural order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from cellwright.planning.bench import Arm, Bench
from cellwright.planning.hands import settle
from cellwright.planning.phases import KitKind, Phase, PhaseProblem, find_phases
from cellwright.planning.planner import PLANNERS, KitJob, PlanRequest, PlanResult, PlanStatus, Unfinished
from cellwright.planning.work import Work, find_work

__all__ = ["Sequencer"]


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
        bench = Bench(work)
        arm = bench.arms[0]
        stuck = settle(bench, work, waiting).get(arm.name)
        if stuck:
            lost = (*work.unfinished, *(Unfinished(job.name, stuck) for job in work.jobs))
            return PlanResult(PlanStatus.UNSOLVABLE, "sequencer", unfinished=lost)
        return _finish(request, work, bench, arm, waiting)


def _finish(request: PlanRequest, work: Work, bench: Bench, arm: Arm, waiting: list[KitJob]) -> PlanResult:
    kinds = _Kinds(bench, arm)
    pools: dict[KitKind, deque[KitJob]] = {}
    for job in waiting:
        pools.setdefault(kinds.of(job, job.design.parts, fixed=False), deque()).append(job)
    tables = [t for t in request.state.tables if t in arm.reach and any(t in ts for ts in work.tables_of.values())]
    usable = {*tables, *(kit.place for kit in bench.kits.values() if not kit.fixed)}
    problem = PhaseProblem(
        arm.tool,
        tuple(kinds.of(kit.job, kit.missing, kit.fixed) for kit in bench.kits.values()),
        tuple(sorted((kind, len(pool)) for kind, pool in pools.items())),
        len(usable),
        tuple(sorted(arm.tools)),
    )
    found = find_phases(problem, request.iterations)
    if found is None:  # cannot happen for work that was found possible; said rather than raised
        lost = (*work.unfinished, *(Unfinished(job.name, "no order of tools completes it") for job in work.jobs))
        return PlanResult(PlanStatus.UNSOLVABLE, "sequencer", unfinished=lost)
    for phase in found.phases:
        _carry_out(bench, arm, phase, pools, sorted(usable))
    cost = sum(action.duration_s for action in bench.actions)
    spared_s = (found.changes - found.bound) * request.durations.change_s
    return PlanResult(
        PlanStatus.OPTIMAL if spared_s == 0 else PlanStatus.SOLVED,
        "sequencer",
        tuple(bench.actions),
        cost,
        arm.time_s,
        cost - spared_s,
        tuple(work.unfinished),
        found.iterations,
    )


class _Kinds:
    """Turns kits into what the search sees of them."""

    def __init__(self, bench: Bench, arm: Arm) -> None:
        self._bench, self._arm = bench, arm
        self._tools: dict[str, tuple[str, ...]] = {}
        self._made: dict[tuple[str, int], KitKind] = {}

    def of(self, job: KitJob, missing: Mapping[str, int], fixed: bool) -> KitKind:
        """The kind of a kit that lacks these SKUs."""
        key = (job.design.name, -job.priority)
        if missing is job.design.parts and key in self._made:
            return self._made[key]
        needs = tuple(sorted({self._tools_for(sku) for sku in missing}))
        kind = KitKind(-job.priority, needs, () if fixed else self._tools_for(job.design.tray_sku))
        if missing is job.design.parts:
            self._made[key] = kind
        return kind

    def _tools_for(self, sku: str) -> tuple[str, ...]:
        if sku not in self._tools:
            able = [tool for tool in self._arm.tools if sku in self._bench.handles[tool]]
            self._tools[sku] = tuple(sorted(able))
        return self._tools[sku]


def _carry_out(bench: Bench, arm: Arm, phase: Phase, pools: dict[KitKind, deque[KitJob]], tables: list[str]) -> None:
    """All that the phase's tool can do, and the trays that the search chose to lay."""
    if phase.tool != arm.tool and phase.tool is not None:
        bench.change_tool(arm, phase.tool)
    if arm.tool is None:
        return
    handles, lays = bench.handles[arm.tool], deque(phase.lays)
    while True:
        for kit in list(bench.kits.values()):
            for sku in [sku for sku in kit.missing if sku in handles]:
                while sku in kit.missing:
                    tray = bench.source(arm, sku)
                    if tray is None:
                        break
                    bench.move_part(arm, kit, sku, tray)
            if not kit.missing and not kit.fixed and kit.job.design.tray_sku in handles:
                outlet = bench.outlet(arm)
                if outlet is not None:
                    bench.clear(arm, kit, outlet)
        laid = False
        for table in tables:
            if lays and table not in bench.taken:
                job = pools[lays.popleft()].popleft()
                stack = bench.stack(arm, job.design.tray_sku)
                if stack is not None:
                    bench.lay(arm, job, table, stack)
                    laid = True
        if not laid:
            return

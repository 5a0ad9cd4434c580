"""The kits that can be completed from a state, the robots that can do it, and why other kits cannot be completed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cellwright.planning.planner import KitJob, PlanRequest, Unfinished
from cellwright.planning.state import CellState, HeldKind, KitState, PlannerRobot

__all__ = ["Work", "find_work", "part_places"]


@dataclass
class Work:
    """The work to be done.

    Attributes:
        robots: Robots in service.
        tools_of: Robot -> tools that it has or can get.
        jobs: Kits to complete, most urgent first; those that are finished already are not among them.
        tables_of: Design -> tables on which a new kit of it can be built.
        unfinished: Kits that cannot be completed, and why.
        left_out: Those among them that were left out from the beginning.
        donors: Kits that are none of the jobs, and out of which parts may be taken: their `wrong` ones.
        hand_over: Some part gets to its kit only if one robot puts it into a tray from which another takes it.
    """

    request: PlanRequest
    robots: tuple[PlannerRobot, ...]
    tools_of: dict[str, frozenset[str]]
    jobs: list[KitJob] = field(default_factory=list)
    tables_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unfinished: list[Unfinished] = field(default_factory=list)
    left_out: tuple[Unfinished, ...] = ()
    donors: tuple[KitState, ...] = ()
    hand_over: bool = False

    @property
    def openings(self) -> Mapping[str, set[str]]:
        """SKU of a part -> tables on which a wanted kit lacks it, or may come to lack it."""
        if not self._openings:
            for job in self.request.jobs:
                kit = job.started
                for sku in kit.needed if kit else job.design.parts:
                    places = {kit.place} if kit else set(self.request.state.tables)
                    self._openings.setdefault(sku, set()).update(places)
        return self._openings

    _openings: dict[str, set[str]] = field(default_factory=dict)


def find_work(
    request: PlanRequest, only: str | None = None, leave_out: tuple[Unfinished, ...] = (), *, with_donors: bool = False
) -> Work:
    """Sorts the wanted kits into those that can be completed and those that cannot.

    Args:
        request: The planning problem.
        only: The one robot that may work; all in service when not given.
        leave_out: Kits that are known to be impossible, and why.
        with_donors: Whether parts may be taken out of kits that no order wants.
    """
    state = request.state
    robots = tuple(r for r in state.robots if r.available and only in (None, r.name))
    work = Work(request, robots, {r.name: _obtainable(state, r, robots) for r in robots}, left_out=leave_out)
    blocked = {kit.place for kit in state.kits if kit.fixed}  # a tray that stays leaves no room for another
    wanted = {job.name for job in request.jobs}
    doubtful: set[str] = set()  # kits that were possible only with their own parts as stock
    while True:
        donors = [kit for kit in state.kits if kit.created and kit.place in state.tables and kit.wrong]
        refused = {kit.kit for kit in work.unfinished} | {kit.kit for kit in leave_out}
        work.donors = tuple(k for k in donors if with_donors and (k.name in refused or k.name not in wanted))
        _allot(work, blocked)
        left_out = {kit.kit for kit in work.unfinished}
        jobs = {job.name for job in work.jobs}
        both = jobs & {kit.name for kit in work.donors}
        work.left_out += tuple(kit for kit in work.unfinished if kit.kit in doubtful - refused)
        doubtful |= both
        stuck = {k.place for k in state.kits if k.place in state.tables and (k.name in left_out or k.name not in jobs)}
        if stuck <= blocked and not both and not (with_donors and any(k.name in left_out - refused for k in donors)):
            return work
        blocked |= stuck


def _obtainable(state: CellState, robot: PlannerRobot, robots: Iterable[PlannerRobot]) -> frozenset[str]:
    """Returns tools that the robot has or can get: from a holder in reach, with another holder for its own tool."""
    own = frozenset([robot.tool] if robot.tool else [])
    reached = [holder for holder in state.holders if holder.name in robot.reach]
    if robot.tool and not any(holder.tool is None for holder in reached):
        return own
    shared = {r.tool for r in robots if r.tool and any(h.name in r.reach and h in reached for h in state.holders)}
    return own | {tool for tool in {*(holder.tool for holder in reached), *shared} if tool}


def _allot(work: Work, blocked: set[str]) -> None:
    """Gives parts, trays and outlet places to the kits, the most urgent and the started ones first."""
    state, request = work.request.state, work.request
    work.jobs, work.unfinished, work.tables_of = [], [], {}
    reached = frozenset().union(*(robot.reach for robot in work.robots)) if work.robots else frozenset[str]()
    parts: dict[str, int] = {}
    trays: dict[str, int] = {}
    gaps: dict[str, int] = {}
    for tray in state.parts_trays:
        parts[tray.sku] = parts.get(tray.sku, 0) + (tray.count if tray.name in reached else 0)
        gaps[tray.sku] = gaps.get(tray.sku, 0) + (tray.capacity - tray.count if tray.name in reached else 0)
    for stack in state.tray_stacks:
        trays[stack.sku] = trays.get(stack.sku, 0) + (stack.count if stack.name in reached else 0)
    for robot in work.robots:
        if robot.hand and robot.hand.kind is not HeldKind.KIT:
            supply = parts if robot.hand.kind is HeldKind.PART else trays
            supply[robot.hand.sku] = supply.get(robot.hand.sku, 0) + 1
    left_out = {kit.kit: kit.reason for kit in work.left_out}
    lacking: Counter[str] = Counter()  # slots that other kits than the wrong part's may have for it
    begun = [job.started for job in request.jobs if job.started and job.name not in left_out]
    for job in request.jobs:
        if job.name not in left_out:
            lacking.update(job.started.needed if job.started else job.design.parts)
    for opened in (*begun, *work.donors):
        for sku, _ in opened.wrong if opened.place in reached else ():
            parts[sku] = parts.get(sku, 0) + 1
    room = sum(outlet.capacity - outlet.count for outlet in state.outlets if outlet.name in reached)
    outlets = {outlet.name for outlet in state.outlets}
    for job in sorted(request.jobs, key=lambda job: (-job.priority, job.started is None)):
        kit = job.started
        if kit and (kit.place in outlets or (kit.fixed and not kit.open_slots and not kit.misplaced and kit.created)):
            continue
        needs = kit.needed if kit else job.design.parts
        out = dict(Counter(sku for sku, _ in kit.wrong)) if kit else {}
        why = left_out.get(job.name, "") or _why_impossible(work, job, blocked)
        for sku, number in needs.items():
            there = parts.get(sku, 0)
            if there < number and not why:
                why = f"needs {number} of {sku}, {there} left in reach"
        for sku, number in out.items():
            if not why and number - lacking[sku] > gaps.get(sku, 0):
                why = f"{_misplaced_text(job, sku)}, and no parts tray of {sku} in reach has room for it"
        if not why and kit is None and trays.get(job.design.tray_sku, 0) < 1:
            why = f"no kit tray {job.design.tray_sku} left in reach"
        if not why and not (kit and kit.fixed) and room < 1:
            why = "no outlet in reach has room for it"
        if why:
            work.unfinished.append(Unfinished(job.name, why))
            if kit and job.name not in left_out and job.name not in {donor.name for donor in work.donors}:
                for sku in out if kit.place in reached else ():
                    parts[sku] -= out[sku]  # it stays as it is
            continue
        for sku, number in needs.items():
            parts[sku] = parts.get(sku, 0) - number
        for sku, number in out.items():
            gaps[sku] = gaps.get(sku, 0) - max(number - lacking[sku], 0)
            lacking[sku] -= min(number, lacking[sku])
        if kit is None:
            trays[job.design.tray_sku] -= 1
        room -= 0 if kit and kit.fixed else 1
        work.jobs.append(job)


def _misplaced_text(job: KitJob, sku: str) -> str:
    """Returns the slot that holds that SKU and should not, in words."""
    texts = job.started.misplaced if job.started else []
    return next((text for text in texts if f" {sku}," in text), sku)


def _why_impossible(work: Work, job: KitJob, blocked: set[str]) -> str:
    """Returns the reason why no table, robot and tool can make the kit; empty when they can. Ignores quantities."""
    kit, state = job.started, work.request.state
    if not work.robots:
        return "no robot is in service"
    if kit and not kit.place:
        held_by = [r for r in work.robots if r.hand and r.hand.kit == kit.name]
        if not held_by:
            return "no robot in service holds it, and it is on no table"
        outlets = {outlet.name for outlet in state.outlets}
        return "" if outlets & held_by[0].reach else f"{held_by[0].name}, which holds it, reaches no outlet"
    if kit:
        return _why_not_on(work, job, kit.place)
    if job.design.name not in work.tables_of:
        tables = [t for t in state.tables if t not in blocked]
        work.tables_of[job.design.name] = tuple(t for t in tables if not _why_not_on(work, job, t))
    if work.tables_of[job.design.name]:
        return ""
    free = [table for table in state.tables if table not in blocked]
    if free:
        return _why_not_on(work, job, free[0])
    sku = job.design.tray_sku
    loose = [stack.sku for stack in state.tray_stacks] + [robot.hand.sku for robot in work.robots if robot.hand]
    return "no table is free or becomes free" if sku in loose else f"no kit tray {sku} left in the cell"


def _why_not_on(work: Work, job: KitJob, table: str) -> str:
    """Returns the reason why the kit cannot be made on that table; empty when it can."""
    state, kit = work.request.state, job.started
    needs = kit.needed if kit else job.design.parts
    out = {sku for sku, _ in kit.wrong} if kit else set[str]()
    for sku in sorted(out):
        roomy = {tray.name for tray in state.parts_trays if tray.sku == sku and tray.count < tray.capacity}
        takers = work.openings.get(sku, set())
        if not roomy and not takers:
            return f"{_misplaced_text(job, sku)}, and no parts tray of {sku} has room for it"
        why = _why_no_robot(work, sku, table, roomy | takers, set())
        if why:
            return f"{_misplaced_text(job, sku)}, and {why}"
    for sku in needs:
        sources = _sources(work, sku)
        held = {r.name for r in work.robots if r.hand and (r.hand.kind, r.hand.sku) == (HeldKind.PART, sku)}
        if not sources and not held:
            return f"no {sku} left"
        why = _why_no_robot(work, sku, table, sources, held)
        if why and _why_no_robot(work, sku, table, _passed_on(work, sku, sources, held), held):
            return why
        work.hand_over = work.hand_over or bool(why)
    sku = job.design.tray_sku
    outlets = {outlet.name for outlet in state.outlets}
    stacks = {stack.name for stack in state.tray_stacks if stack.sku == sku}
    held = {r.name for r in work.robots if r.hand and (r.hand.kind, r.hand.sku) == (HeldKind.KIT_TRAY, sku)}
    if kit is None:
        if not stacks and not held:
            return f"no kit tray {sku} in the cell"
        why = _why_no_robot(work, sku, table, stacks, held)
        if why:
            return why
    if kit and not kit.created and not any(table in robot.reach for robot in work.robots):
        return f"no robot in service reaches {table}"
    return "" if kit and kit.fixed else _why_no_robot(work, sku, table, outlets, set())


def part_places(work: Work, sku: str) -> set[str]:
    """Returns the places at which such a part is, or may come to be by being handed over."""
    held = {r.name for r in work.robots if r.hand and (r.hand.kind, r.hand.sku) == (HeldKind.PART, sku)}
    return _passed_on(work, sku, _sources(work, sku), held)


def _sources(work: Work, sku: str) -> set[str]:
    """Returns the places of such a part: parts trays, and kits out of whose slots it may be taken."""
    state = work.request.state
    sources = {tray.name for tray in state.parts_trays if tray.sku == sku and tray.count > 0}
    begun = [job.started for job in work.request.jobs if job.started]
    return sources | {kit.place for kit in (*begun, *work.donors) if any(there == sku for there, _ in kit.wrong)}


def _passed_on(work: Work, sku: str, sources: set[str], held: set[str]) -> set[str]:
    """Returns the places that such a part can get to when robots hand it over in trays that both reach."""
    handles = {tool.name: tool.handles for tool in work.request.state.tools}
    trays = {tray.name for tray in work.request.state.parts_trays if tray.sku == sku and tray.capacity > 0}
    able = [r for r in work.robots if any(sku in handles[tool] for tool in work.tools_of[r.name])]
    found = set(sources)
    for _ in able:  # each may be the next in a row of robots
        for robot in able:
            if robot.name in held or found & robot.reach:
                found |= trays & robot.reach
    return found


def _why_no_robot(work: Work, sku: str, table: str, others: set[str], held: set[str]) -> str:
    """Returns the reason why no robot can carry a SKU between the table and one of the places; empty when one can."""
    handles = {tool.name: tool.handles for tool in work.request.state.tools}
    if not any(sku in handles[tool] for tools in work.tools_of.values() for tool in tools):
        return f"no robot in service can get a tool for {sku}"
    for robot in work.robots:
        able = any(sku in handles[tool] for tool in work.tools_of[robot.name])
        if able and table in robot.reach and (robot.name in held or others & robot.reach):
            return ""
    return f"no robot in service with a tool for {sku} reaches both {table} and {' or '.join(sorted(others)) or 'it'}"

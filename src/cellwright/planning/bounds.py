"""How soon several robots can be done at best: the largest of several times that no schedule can beat."""

from __future__ import annotations

from dataclasses import dataclass, field

from cellwright.planning.actions import Durations
from cellwright.planning.counters import sole_tools
from cellwright.planning.planner import KitJob
from cellwright.planning.state import HandKind
from cellwright.planning.work import Work

__all__ = ["makespan_bound_s"]


@dataclass
class _Tally:
    """What all kits together need."""

    parts: int = 0
    lays: int = 0
    clears: int = 0
    by_tool_s: dict[str, float] = field(default_factory=dict)
    waiting_only: dict[str, bool] = field(default_factory=dict)
    tail_s: dict[str, float] = field(default_factory=dict)


def makespan_bound_s(work: Work) -> float:
    """A time before which the last step cannot end."""
    if not work.jobs:
        return 0.0
    d, state = work.request.durations, work.request.state
    sole = sole_tools(work)
    held = sum(1 for r in work.robots if r.hand and r.hand.kind is HandKind.PART)
    spared_s = held * (d.part_s - d.held_part_s)
    wrong = sum(len(job.started.wrong) for job in work.jobs if job.started)  # may serve where such a part is missing
    spared_s += wrong * max(d.part_s - d.held_part_s - d.remove_part_s, 0.0)
    held += wrong
    held_trays = sum(1 for r in work.robots if r.hand and r.hand.kind is HandKind.KIT_TRAY)
    spared_s += held_trays * d.take_tray_s
    mounted = {robot.tool for robot in work.robots}
    tally = _Tally()
    for job in work.jobs:
        _add(tally, job, sole, d)
    total_s = tally.parts * d.part_s + tally.lays * d.lay_s + tally.clears * d.clear_s - spared_s
    total_s += d.attach_s * len([tool for tool in tally.by_tool_s if tool not in mounted])
    most_parts = -(-tally.parts // len(work.robots))  # by one robot at least
    bounds = [total_s / len(work.robots), most_parts * d.part_s - spared_s]
    for tool, busy_s in tally.by_tool_s.items():
        head_s = 0.0 if tool in mounted else d.attach_s
        if tally.waiting_only[tool] and not held_trays:
            head_s = max(head_s, _lay_head_s(work, sole, mounted))
        bounds.append(head_s + busy_s + tally.tail_s[tool] - spared_s)
    bounds += [seconds - spared_s for seconds in _alone_s(work, d)]
    passing = [job for job in work.jobs if not (job.started and (job.started.fixed or not job.started.place))]
    chains = [_chain_s(work, job, sole, d) for job in passing]
    if passing and not held:
        head_s = (
            0.0 if any(job.started for job in passing) or held_trays else _lay_head_s(work, sole, mounted) - d.lay_s
        )
        between_s = 0.0
        if len(state.tables) == 1 and all(job.design.tray_sku in sole for job in passing):
            between_s = d.place_kit_s * (len(passing) - 1)  # the only tray tool is away with the last kit
        bounds.append(head_s + sum(chains) / max(len(state.tables), 1) + between_s + d.place_kit_s)
        bounds.append(head_s + max(chains) + d.place_kit_s)
    bounds += _zone_bounds_s(work, d, held, mounted)
    return max(bounds)


def _add(tally: _Tally, job: KitJob, sole: dict[str, str], d: Durations) -> None:
    kit, tray_tool = job.started, sole.get(job.design.tray_sku)
    if kit and not kit.place:  # in a robot's hand: only to be put down
        return
    missing = kit.open_slots if kit else job.design.parts
    tally.parts += sum(missing.values())
    fixed = bool(kit and kit.fixed)
    tally.lays += kit is None
    tally.clears += not fixed

    def book(tool: str | None, busy_s: float, tail_s: float) -> None:
        if tool is not None and busy_s > 0:
            tally.by_tool_s[tool] = tally.by_tool_s.get(tool, 0.0) + busy_s
            tally.waiting_only[tool] = tally.waiting_only.get(tool, True) and kit is None
            tally.tail_s[tool] = min(tally.tail_s.get(tool, tail_s), tail_s)

    for sku, number in missing.items():
        tool = sole.get(sku)
        book(tool, number * d.part_s, 0.0 if fixed or tool == tray_tool else d.clear_s)
    if tray_tool is not None:
        busy_s = (d.lay_s if kit is None else 0.0) + (0.0 if fixed else d.clear_s)
        book(tray_tool, busy_s, 0.0)
        if kit is None and tray_tool in tally.waiting_only:  # the tray tool itself does not wait for a tray
            tally.waiting_only[tray_tool] = False


def _alone_s(work: Work, d: Durations) -> list[float]:
    """For each robot, the work on kits that stand where nobody else gets to."""
    alone_s = []
    for robot in work.robots:
        others: frozenset[str] = frozenset().union(*(r.reach for r in work.robots if r is not robot))
        kits = [job.started for job in work.jobs if job.started and job.started.place not in others]
        alone_s.append(sum(sum(kit.open_slots.values()) for kit in kits if kit.place) * d.part_s)
    return alone_s


def _lay_head_s(work: Work, sole: dict[str, str], mounted: set[str | None]) -> float:
    """How long at least until the first tray is a kit."""
    d = work.request.durations
    tools = {sole.get(job.design.tray_sku) for job in work.jobs if job.started is None}
    return d.lay_s + (d.attach_s if tools and None not in tools and not tools & mounted else 0.0)


def _chain_s(work: Work, job: KitJob, sole: dict[str, str], d: Durations) -> float:
    """How long a kit keeps its table at least: laying, filling, taking away."""
    kit = job.started
    missing = kit.open_slots if kit else job.design.parts
    by_tool: dict[str, int] = {}
    for sku, number in missing.items():
        if sku in sole:
            by_tool[sole[sku]] = by_tool.get(sole[sku], 0) + number
    count = sum(missing.values())
    robots = len(work.robots)
    fill_s = max(
        max(by_tool.values(), default=0) * d.part_s,
        count * d.place_part_s,
        -(-count // robots) * d.part_s,
    )
    others = len(work.request.state.tables) > 1 or any(job.started and job.started.fixed for job in work.jobs)
    if others and kit is None:  # a part may have been fetched for another kit before this one was there
        fill_s = max(fill_s - (d.part_s - d.held_part_s), 0.0)
    return (d.lay_s if kit is None else 0.0) + fill_s + d.take_kit_s


def _zone_bounds_s(work: Work, d: Durations, held: int, mounted: set[str | None]) -> list[float]:
    """Placing and taking in one zone goes on one after the other."""
    state, zones = work.request.state, dict(work.request.state.zones)
    sources: dict[str, set[str]] = {}
    for tray in state.parts_trays:
        sources.setdefault(tray.sku, set()).add(zones.get(tray.name, tray.name))
    fetch_s = d.look_part_s + d.set_grasp_s + (d.attach_s if mounted == {None} else 0.0)
    busy_s: dict[str, float] = {}
    head_s: dict[str, float] = {}  # before the first visit

    def book(zone: str, seconds: float, before_s: float) -> None:
        busy_s[zone] = busy_s.get(zone, 0.0) + seconds
        head_s[zone] = 0.0 if held else min(head_s.get(zone, before_s), before_s)

    for job in work.jobs:
        kit = job.started
        missing = kit.open_slots if kit else job.design.parts
        for sku, number in missing.items():
            if len(sources.get(sku, ())) == 1:
                book(next(iter(sources[sku])), number * d.take_part_s, fetch_s)
            if kit and kit.place:
                before_s = fetch_s + d.take_part_s + d.look_slot_s
                book(zones.get(kit.place, kit.place), number * d.place_part_s, before_s)
    return [head_s[zone] + time_s - held * d.take_part_s for zone, time_s in busy_s.items()]

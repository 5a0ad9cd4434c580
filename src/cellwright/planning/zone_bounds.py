"""Lower bounds from zones: what has to be done in one goes on one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cellwright.planning.demand import Demand
from cellwright.planning.eligible import Robots

__all__ = ["zone_bounds_s"]


def zone_bounds_s(demand: Demand, changes_s: Sequence[float]) -> Iterable[float]:
    """Yields bounds of zones: only one robot is in a zone, so the work there goes on one after the other."""
    d, zones = demand.d, dict(demand.state.zones)
    busy_s: dict[str, float] = {}
    head_s: dict[str, float] = {}
    fetch_s = d.look_part_s + d.set_grasp_s + (d.attach_s if demand.mounted == {None} else 0.0)

    def book(places: Iterable[str], robots: Robots, seconds: float, before_s: float) -> None:
        reached = frozenset().union(*(demand.work.robots[number].reach for number in robots))
        there = {zones.get(place, place) for place in places if place in reached}
        if len(there) == 1 and seconds > 0.0:
            (zone,) = there
            busy_s[zone] = busy_s.get(zone, 0.0) + seconds
            head_s[zone] = min(head_s.get(zone, before_s), before_s)

    fetched = Counter(demand.spared) + demand.in_donors
    stacks = {stack.name: stack.sku for stack in demand.state.tray_stacks}
    outlets = [outlet.name for outlet in demand.state.outlets]
    held_trays = Counter(demand.held_trays)
    for job in demand.jobs:
        kit, tables, tray_sku = job.started, demand.eligible.tables(job), job.design.tray_sku
        for sku, number in demand.needs[job.name].items():
            robots = demand.fills[job.name, sku]
            spared = min(number, fetched[sku])
            fetched[sku] -= spared
            book(demand.eligible.places_of(sku), robots, (number - spared) * d.take_part_s, fetch_s)
            at_once = bool(kit) and not spared
            before_s = fetch_s + d.take_part_s + d.look_slot_s if at_once else 0.0
            book(tables, robots, number * d.place_part_s, before_s)
        for sku, _ in kit.wrong if kit else ():
            book(tables, demand.eligible.removes(job, sku), d.remove_part_s, 0.0)
        if kit is None:
            spared = min(held_trays[tray_sku], 1)
            held_trays[tray_sku] -= spared
            robots = demand.lays[job.name]
            book([s for s, sku in stacks.items() if sku == tray_sku], robots, d.take_tray_s * (1 - spared), 0.0)
            book(tables, robots, d.place_tray_s, 0.0)
        if job.name in demand.clears:
            book(tables, demand.clears[job.name], d.take_kit_s, 0.0)
            book(outlets, demand.clears[job.name], d.place_kit_s, 0.0)
    holders = [holder.name for holder in demand.state.holders]
    for number, seconds in enumerate(changes_s):
        book(holders, frozenset([number]), seconds, 0.0)
    for zone, seconds in busy_s.items():
        yield head_s[zone] + seconds

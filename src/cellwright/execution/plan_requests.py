"""Planning requests from what is believed: loose parts are supplies, what cannot be taken is excluded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement

from cellwright.execution.binding import blockers
from cellwright.execution.outcome import Unobtainable
from cellwright.execution.surroundings import reaches
from cellwright.execution.tray_places import misplaced_full_kits
from cellwright.knowledge import BeliefState, BelievedPart, BelievedSlot
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import (
    CellState,
    HeldKind,
    KitJob,
    KitState,
    PartSupply,
    PlannerRobot,
    PlanRequest,
    PlanResult,
    TrayStack,
    plan,
)
from cellwright.planning.belief import SupplyFilter, state_of

__all__ = ["PlanRequestBuilder", "left_out_parts", "partial_name"]

MOST_LEFT_OUT = 4  # slots of one kit that are given up before the kit is


def partial_name(design: str) -> str:
    """Returns the planner's name for kits of a design that lack slots, beside whole ones of it."""
    return f"{design}_partial"


@dataclass
class PlanRequestBuilder:
    """Builds planning requests for one moment.

    Attributes:
        excluded: Part -> why it cannot be taken.
        trays: Misplaced kit trays; they are taken before others of their kind.
        paces: Robot -> how many times as long as the quickest it takes for what it does; 1 where it is not there.
    """

    believed: BeliefState
    robots: Sequence[str]
    excluded: Mapping[str, str]
    planner: str | None
    kits: Collection[str] | None
    trays: Sequence[str]
    paces: Mapping[str, float] = field(default_factory=dict)

    def request(self, orders: Sequence[Order], robots: Sequence[str] | None = None) -> PlanRequest:
        """Returns the planning request; a loose part is a supply of one, for the robots that reach it."""
        believed = self.believed
        accepted = SupplyFilter(excluded=frozenset(self.excluded))
        state = state_of(believed, robots=robots or self.robots, supply_filter=accepted, orders=orders, kits=self.kits)
        loose = [
            part
            for part in believed.parts()
            if part.name not in self.excluded and _by_itself(believed, part, state.kits)
        ]
        zones = dict(state.zones)
        near = {part.name: _nearest(believed, part, list(state.places)) for part in loose}
        able = [
            replace(robot, reach=robot.reach | {p.name for p in loose if reaches(believed, robot.name, p.position)})
            for robot in state.robots
        ]
        spare = {robot.name: self._spare_slots(robot, state) for robot in able}
        able = [replace(r, reach=r.reach | {slot.name for slot in spare[r.name]}) for r in able]
        near |= {tray.name: tray.name.split("/")[0] for slots in spare.values() for tray in slots}
        stacks = [TrayStack(tray, believed.objects[tray].sku, 1) for tray in self.trays]
        loose_skus = {stack.sku for stack in stacks}
        stacks += [replace(s, count=0) if s.sku in loose_skus else s for s in state.tray_stacks]
        dropped = misplaced_full_kits(believed, accepted)
        about = [*self.trays, *(kit.name for kit in dropped)]
        able = [
            replace(
                r,
                reach=r.reach | {name for name in about if reaches(believed, r.name, believed.pose(name).position)},
                pace=self.paces.get(r.name, 1.0),
            )
            for r in able
        ]
        return PlanRequest(
            replace(
                state,
                tray_stacks=tuple(stacks),
                tables=(*state.tables, *(kit.name for kit in dropped)),
                kits=tuple(_as_ordered(kit, orders) for kit in (*state.kits, *dropped)),
                parts_trays=(
                    *state.parts_trays,
                    *(PartSupply(part.name, part.sku, 1, 1) for part in loose),
                    *{slot.name: slot for slots in spare.values() for slot in slots}.values(),
                ),
                robots=tuple(able),
                zones=(*state.zones, *((name, zones[place]) for name, place in near.items() if place in zones)),
            ),
            tuple(orders),
        )

    def alone(self, orders: Sequence[Order]) -> PlanRequest:
        """Returns the request with every zone left to one robot; those of robots that do not work stay unused."""
        all_robots = [thing.name for thing in self.believed.of_kind("Robot")]
        request = self.request(orders, all_robots)
        state = _own_places(request.state)
        kept = tuple(robot for robot in state.robots if robot.name in self.robots)
        return replace(request, state=replace(state, robots=kept))

    def own_kits(self, robot: str) -> list[str]:
        """Returns the kits that stay in place, and may be used, in the zones that are left to a robot."""
        state = state_of(self.believed, robots=[thing.name for thing in self.believed.of_kind("Robot")])
        reach = {r.name: r.reach for r in _own_places(state).robots}
        usable = self.believed.stationary if self.kits is None else set(self.kits)
        return sorted(usable & reach.get(robot, frozenset()))

    def _spare_slots(self, robot: PlannerRobot, state: CellState) -> list[PartSupply]:
        """Returns empty slots of any parts trays for parts that no parts tray of their kind takes.

        Such a part is in the robot's hand, or in a slot of a kit where it does not belong.
        """
        is_part = robot.hand is not None and robot.hand.kind is HeldKind.PART
        homeless = [robot.hand.sku] if robot.hand is not None and is_part else []
        for kit in state.kits:
            within = kit.name in robot.reach or kit.place in robot.reach
            pairs = zip(kit.filled, kit.design.slots, strict=True) if within else ()
            homeless += [sku for sku, slot in pairs if sku is not None and sku != slot.sku]
        parts, found = self.believed.parts(), list[PartSupply]()
        empty = [
            f"{tray}/{slot.name}"
            for tray in sorted(robot.reach & set(self.believed.part_sku))
            for slot in self.believed.slots_of_tray(tray)
            if self.believed.part_in(slot, parts) is None
        ]
        for sku in homeless:
            room = {tray.name for tray in state.parts_trays if tray.sku == sku and tray.count < tray.capacity}
            if not room & robot.reach and empty:
                found.append(PartSupply(empty.pop(0), sku, 0, 1))
        return found

    def without_blocked(
        self, orders: Sequence[Order], request: PlanRequest
    ) -> tuple[Sequence[Order], list[Unobtainable]]:
        """Returns the orders without slots across which a part lies that no robot can take away."""
        parts, missing = self.believed.parts(), []
        for job in request.jobs:
            for slot in _slots(self.believed, job):
                if self.believed.part_in(slot, parts) is not None:
                    continue
                for part in blockers(self.believed, slot, parts):
                    why = self.excluded.get(part.name, "" if self._reached(part) else "is out of reach")
                    if why:
                        reason = f"{part.name} lies across {slot.name} of {job.name} and {why}"
                        missing.append(Unobtainable(slot.sku, reason, part.name))
                        break
        if not missing:
            return orders, []
        full = _filled(self.believed, request)
        return _reduced(orders, Counter(one.sku for one in missing), full), missing

    def _reached(self, part: BelievedPart) -> bool:
        return any(reaches(self.believed, robot, part.position) for robot in self.robots)

    def without(
        self, orders: Sequence[Order], request: PlanRequest, result: PlanResult
    ) -> tuple[list[Order], list[Unobtainable]]:
        """Returns the orders less the fewest slots that make the rest possible; none when nothing is left.

        Kits that the plan completes stay whole.
        """
        why, left = "; ".join(result.reasons), {kit.kit for kit in result.unfinished}
        full = _filled(self.believed, request, left)
        whole = Counter((job.order, job.design.name) for job in request.jobs if job.name not in left)
        skus = sorted({slot.sku for order in orders for line in order.lines for slot in line.design.slots})
        for number in range(1, MOST_LEFT_OUT + 1):
            for given_up in combinations_with_replacement(skus, number):
                smaller = _reduced(orders, Counter(given_up), full, whole)
                if smaller and not plan(self.request(smaller), self.planner).unfinished:
                    return smaller, [Unobtainable(sku, why) for sku in (_parts(orders) - _parts(smaller)).elements()]
        return [], left_out_parts(request, result)


def _parts(orders: Sequence[Order]) -> Counter[str]:
    """Returns SKU -> how many parts orders ask for."""
    counts: Counter[str] = Counter()
    for line in (line for order in orders for line in order.lines):
        for slot in line.design.slots:
            counts[slot.sku] += line.quantity
    return counts


def left_out_parts(request: PlanRequest, result: PlanResult) -> list[Unobtainable]:
    """Returns the parts of all kits that a plan leaves out, with its reasons."""
    why, left = "; ".join(result.reasons), {kit.kit for kit in result.unfinished}
    wanted = [slot.sku for job in request.jobs if job.name in left for slot in job.design.slots]
    return [Unobtainable(sku, why) for sku in wanted]


def _own_places(state: CellState) -> CellState:
    """Returns the state with each zone left to one robot, the one with the fewest places elsewhere."""
    zones = dict(state.zones)
    there: dict[str, list[str]] = {}
    for robot in state.robots:
        for zone in sorted({zones.get(place, place) for place in robot.reach}):
            there.setdefault(zone, []).append(robot.name)
    alone = {r.name: sum(len(there[zones.get(place, place)]) == 1 for place in r.reach) for r in state.robots}
    owner = {zone: min(robots, key=lambda name: alone[name]) for zone, robots in there.items()}
    kept = [
        replace(robot, reach=frozenset(p for p in robot.reach if owner[zones.get(p, p)] == robot.name))
        for robot in state.robots
    ]
    return replace(state, robots=tuple(kept))


def _by_itself(believed: BeliefState, part: BelievedPart, kits: Sequence[KitState]) -> bool:
    """Returns whether a part counts nowhere: it is in no slot for its kind, and in none of a kit that is wanted."""
    trays = [tray.name for tray in believed.of_kind("PartsTray") if tray.name in believed.tree.index]
    slots = [slot for tray in trays for slot in believed.slots_of_tray(tray)]
    slots += [slot for kit in believed.of_kind("Kit") for slot in believed.slots_on_kit_tray(kit.name)]
    wanted = [
        slot for kit in kits if kit.name in believed.tree.index for slot in believed.slots_of_kit(kit.name, kit.design)
    ]
    return not any(slot.holds(part) for slot in (*(slot for slot in slots if slot.sku == part.sku), *wanted))


def _nearest(believed: BeliefState, part: BelievedPart, places: Sequence[str]) -> str:
    known = [place for place in places if place in believed.tree.index]
    return min(known, key=lambda place: part.across_m(believed.pose(place).position), default="")


def _slots(believed: BeliefState, job: KitJob) -> list[BelievedSlot]:
    """Returns the slots of a kit that is there; one that is to be made of a tray on a table has none yet."""
    return believed.slots_of_kit(job.name, job.design) if job.started and job.name in believed.tree.index else []


def _as_ordered(kit: KitState, orders: Sequence[Order]) -> KitState:
    """Returns a kit that was begun with the design that is ordered by now: slots may have been given up since."""
    ordered = {line.design.name: line.design for order in orders for line in order.lines}
    partial = ordered.get(partial_name(kit.design.name)) if kit.needed else None
    design = partial or ordered.get(kit.design.name)
    if design is None or kit.design == design:
        return kit
    there = {slot.name: sku for slot, sku in zip(kit.design.slots, kit.filled, strict=True)}
    return replace(kit, design=design, filled=tuple(there.get(slot.name) for slot in design.slots))


def _filled(believed: BeliefState, request: PlanRequest, kits: Collection[str] | None = None) -> set[tuple[str, str]]:
    """Returns designs and their slots that hold a part of the right SKU in some kit, or in some of these kits."""
    parts, full = believed.parts(), set()
    for job in request.jobs:
        for slot in _slots(believed, job) if kits is None or job.name in kits else ():
            there = believed.part_in(slot, parts)
            if there is not None and there.sku == slot.sku:
                full.add((job.design.name, slot.name))
    return full


def _reduced(
    orders: Sequence[Order],
    given_up: Counter[str],
    full: set[tuple[str, str]],
    whole: Mapping[tuple[str, str], int] | None = None,
) -> list[Order]:
    """Returns orders less open slots of these SKUs, the least urgent first; empty when there are not so many.

    Args:
        orders: The orders.
        given_up: SKU -> how many slots of a kit are given up.
        full: Designs and their slots that are not open.
        whole: Order and design -> how many kits keep all their slots.
    """
    left, kept = Counter(given_up), whole or {}
    smaller = []
    for order in sorted(orders, key=lambda order: order.priority):
        lines = []
        for line in order.lines:
            design, slots = line.design, list(line.design.slots)
            complete = min(kept.get((order.name, design.name), 0), line.quantity)
            for slot in reversed(design.slots) if complete < line.quantity else ():
                if left[slot.sku] > 0 and (design.name, slot.name) not in full:
                    left[slot.sku] -= 1
                    slots.remove(slot)
            if len(slots) == len(design.slots):
                lines.append(line)
                continue
            if complete:
                lines.append(OrderLine(design, complete))
            if slots:
                name = partial_name(design.name) if complete else design.name
                lines.append(OrderLine(KitDesign(name, design.tray_sku, tuple(slots)), line.quantity - complete))
        if lines:
            smaller.append(Order(order.name, tuple(lines), order.priority))
    return [] if +left else smaller

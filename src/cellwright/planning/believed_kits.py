"""The kits of a cell as they are believed to be, and the kit trays that serve the orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cellwright.knowledge import BeliefState, BelievedObject
from cellwright.knowledge.slot_contents import SlotContents
from cellwright.orders import KitDesign, Order
from cellwright.planning.state import KitState, PartSupply

__all__ = ["BelievedKits"]

Reach = Mapping[str, frozenset[str]]


class BelievedKits:
    """The kits of a cell.

    Args:
        believed: The belief.
        contents: The slots in which parts lie.
        orders: The orders.
        usable: Kit trays that stay in place and may be used.
    """

    def __init__(
        self, believed: BeliefState, contents: SlotContents, orders: Sequence[Order], usable: set[str]
    ) -> None:
        self.believed = believed
        self.contents = contents
        self.orders = orders
        self.usable = usable
        self.gripped = set(believed.held.values())

    def moving(self, outlets: set[str]) -> Iterable[KitState]:
        """Yields the kits that are carried about: on tables, in outlets, in hands."""
        for kit in self.believed.of_kind("Kit"):
            design = self.believed.relations.design(kit.name)
            is_gone = self.believed.tray_of.get(kit.name) in self.believed.missing
            if kit.name in self.believed.stationary or design is None or is_gone:
                continue
            held, reference = kit.name in self.gripped, self.believed.objects.get(kit.reference or "")
            standing = reference is not None and (reference.name in outlets or reference.kind == "WorkTable")
            place = reference.name if reference is not None and standing and not held else ""
            if held or place:
                yield KitState(kit.name, design, place, self.contents.filled(kit.name, design))

    def trays_on(self, tables: list[str]) -> Iterable[KitState]:
        """Yields kit trays on tables that are no kits yet: they become what is ordered on such a tray, if any."""
        wanted = [line.design for order in self.orders for line in order.lines]
        in_kits = set(self.believed.tray_of.values())
        for tray in self.believed.of_kind("KitTray"):
            if tray.reference not in tables or tray.name in in_kits | self.gripped | self.believed.missing:
                continue
            fitting = [
                design for design in (*wanted, *self.believed.relations.designs.values()) if design.tray_sku == tray.sku
            ]
            if fitting:
                empty = (None,) * len(fitting[0].slots)
                yield KitState(f"{tray.name}_kit", fitting[0], tray.reference, empty, created=False)

    def fixed(self, supply: Sequence[PartSupply], reach: Reach, others: Sequence[KitState]) -> list[KitState]:
        """Returns kit trays that stay in place: all of them as they are, or for orders as many as those need.

        Args:
            supply: The parts trays.
            reach: Robot in service -> places.
            others: Kits that serve the orders already.
        """
        fixed = [thing for thing in self.believed.of_kind("Kit") if thing.name in self.usable]
        if not self.orders:
            designs = {kit.name: self.believed.relations.design(kit.name) for kit in fixed}
            return [self._fixed(kit, design) for kit in fixed if (design := designs[kit.name]) is not None]
        begun = [kit.design.name for kit in others]
        left = list(fixed)
        chosen: list[KitState] = []
        for order in sorted(self.orders, key=lambda order: -order.priority):
            for line in order.lines:
                there = min(begun.count(line.design.name), line.quantity)
                begun = _without(begun, line.design.name, there)
                fitting = [kit for kit in left if self._tray_sku(kit) == line.design.tray_sku]
                states = [self._fixed(kit, line.design) for kit in fitting]
                for _ in range(min(line.quantity - there, len(states))):
                    # Of equals the first drawn; several robots share the work best if it is spread over the tables.
                    state = min(
                        states, key=lambda kit: (*self._cost(kit, supply, reach), *self._crowd(kit, chosen, reach))
                    )
                    chosen.append(state)
                    states.remove(state)
                    left = [kit for kit in left if kit.name != state.name]
        return chosen

    def _tray_sku(self, kit: BelievedObject) -> str:
        tray = self.believed.objects.get(self.believed.tray_of.get(kit.name, ""))
        return tray.sku if tray else ""

    def _fixed(self, kit: BelievedObject, design: KitDesign) -> KitState:
        return KitState(kit.name, design, kit.name, self.contents.filled(kit.name, design), fixed=True)

    def _cost(self, kit: KitState, supply: Sequence[PartSupply], reach: Reach) -> tuple[bool, int, int]:
        """Returns the cost of building there: work that no robot can do, wrong parts, parts that are missing."""
        needed = kit.needed
        able = all(self._can_bring(sku, number, kit.place, supply, reach) for sku, number in needed.items())
        return (not able, len(kit.misplaced), sum(needed.values()))

    def _crowd(self, kit: KitState, chosen: Sequence[KitState], reach: Reach) -> tuple[int, int]:
        """Returns the parts that other kits on the table lack, and the number of robots that cannot help there."""
        if len(reach) < 2:
            return 0, 0
        table = self.believed.objects[kit.name].reference
        beside = [other for other in chosen if self.believed.objects[other.name].reference == table]
        work = sum(number for other in beside for number in other.needed.values())
        return work, sum(kit.place not in places for places in reach.values())

    def _can_bring(self, sku: str, number: int, place: str, supply: Sequence[PartSupply], reach: Reach) -> bool:
        """Returns whether robots that reach the place, and a tool, have so many of a part in hand or in reach."""
        trays = {tray.name: tray.count for tray in supply if tray.sku == sku}
        reached: set[str] = set()
        held = 0
        for robot, places in reach.items():
            tool = self.believed.tool_of.get(robot, "")
            tools = {tool, *(self.believed.tool_of.get(holder, "") for holder in places)}
            if place in places and any(sku in self.believed.handles.get(one, ()) for one in tools):
                reached |= places & set(trays)
                in_hand = self.believed.objects.get(self.believed.held.get(tool, ""))
                held += in_hand is not None and in_hand.sku == sku
        return held + sum(trays[name] for name in reached) >= number


def _without(names: list[str], name: str, times: int) -> list[str]:
    kept = list(names)
    for _ in range(times):
        kept.remove(name)
    return kept

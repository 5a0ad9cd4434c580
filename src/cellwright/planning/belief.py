"""Planning requests from belief: parts are counted where they lie, kits are as full as they are seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from cellwright.core.errors import UnknownName
from cellwright.knowledge import BeliefState, BelievedObject, Database, Unknown, WorldModel, belief_state_of
from cellwright.knowledge.slot_contents import ALL_PARTS, SlotContents, SupplyFilter
from cellwright.orders import Order
from cellwright.planning.actions import Durations
from cellwright.planning.believed_kits import BelievedKits
from cellwright.planning.planner import PlanRequest
from cellwright.planning.state import (
    CellState,
    HeldItem,
    HeldKind,
    Outlet,
    PartSupply,
    PlannerRobot,
    Tool,
    ToolHolderState,
    TrayStack,
)

__all__ = ["SupplyFilter", "request_of", "state_of"]

_KEPT = ("PartsTray", "PartsBin", "LargeBoxWithEmptyKitTrays", "LargeBoxWithKits")  # on tables that are furniture


def state_of(
    source: BeliefState | WorldModel | Database,
    *,
    robots: Collection[str] | None = None,
    supply_filter: SupplyFilter = ALL_PARTS,
    orders: Sequence[Order] = (),
    kits: Collection[str] | None = None,
) -> CellState:
    """Returns the state of the cell as planners need it.

    Args:
        source: The belief.
        robots: Those in service; all when not given.
        supply_filter: Which parts to count on.
        orders: The orders: they decide what a kit tray without a design becomes, and the kit trays that stay in place
            become kits of these designs, as many as are wanted.
        kits: Those of them that may be used; all when not given.

    Raises:
        UnknownName: A robot that the cell does not have.
    """
    return _Reading(belief_state_of(source), robots, supply_filter, orders, kits).state()


def request_of(
    source: BeliefState | WorldModel | Database,
    orders: Sequence[Order],
    *,
    robots: Collection[str] | None = None,
    supply_filter: SupplyFilter = ALL_PARTS,
    durations: Durations | None = None,
    iterations: int = 400,
) -> PlanRequest:
    """Returns the planning request for what is believed and what is ordered.

    Kit trays that stay in place are given to the wanted kits, the most urgent order first: one that is partly filled
    before an empty one, one where a robot can finish the work before others, then in the order of the drawings. Those
    that no order needs are left out.
    """
    state = state_of(source, robots=robots, supply_filter=supply_filter, orders=orders)
    return PlanRequest(state, tuple(orders), durations or Durations(), iterations)


class _Reading:
    def __init__(
        self,
        believed: BeliefState,
        robots: Collection[str] | None,
        supply_filter: SupplyFilter,
        orders: Sequence[Order],
        kits: Collection[str] | None,
    ) -> None:
        self.believed = believed
        self.orders = orders
        self.usable = believed.stationary if kits is None else believed.stationary & set(kits)
        known = [thing.name for thing in believed.of_kind("Robot")]
        for name in robots or ():
            if name not in known:
                raise UnknownName("robot", name, known, "planning")
        self.in_service = [name for name in known if robots is None or name in robots]
        self.contents = SlotContents(believed, supply_filter)
        self.gripped = set(believed.held.values())

    def state(self) -> CellState:
        believed = self.believed
        stacks = tuple(self._stacks())
        outlets = tuple(self._outlets())
        supply = tuple(self._parts_trays())
        tables = [thing.name for thing in believed.of_kind("WorkTable") if not self._is_furniture(thing.name)]
        holders = tuple(
            ToolHolderState(thing.name, believed.tool_of.get(thing.name))
            for thing in believed.of_kind("EndEffectorHolder")
        )
        places = [*tables, *(p.name for group in (supply, stacks, outlets, holders) for p in group)]
        reach = {name: self._reached(name, [*places, *believed.stationary]) for name in self._robots()}
        built = BelievedKits(believed, self.contents, self.orders, self.usable)
        kits = [*built.moving({outlet.name for outlet in outlets}), *built.trays_on(tables)]
        stay = built.fixed(supply, {name: reach[name] for name in self.in_service}, kits)
        stay_names = {kit.name for kit in stay}
        used = {*places, *stay_names}
        return CellState(
            robots=tuple(self._robot(name, reach[name] & used) for name in self._robots()),
            tools=tuple(self._tools()),
            holders=holders,
            parts_trays=supply,
            tray_stacks=stacks,
            tables=(*tables, *(kit.name for kit in stay)),
            outlets=outlets,
            kits=(*kits, *stay),
            zones=self._zones(used, reach),
        )

    # ------------------------------------------------------------ robots and tools

    def _robots(self) -> list[str]:
        return [thing.name for thing in self.believed.of_kind("Robot")]

    def _tools(self) -> Iterable[Tool]:
        mounted = {*self.believed.tool_of.values(), *self.believed.held}
        for thing in self.believed.objects.values():
            if thing.name in self.believed.handles or thing.name in mounted:
                yield Tool(thing.name, frozenset(self.believed.handles.get(thing.name, ())))

    def _robot(self, name: str, reach: frozenset[str]) -> PlannerRobot:
        tool = self.believed.tool_of.get(name)
        return PlannerRobot(name, reach, tool, self._hand(tool), name in self.in_service)

    def _hand(self, tool: str | None) -> HeldItem | None:
        held = self.believed.objects.get(self.believed.held.get(tool or "", ""))
        if held is None:
            return None
        if held.kind == "Kit":
            tray = self.believed.objects.get(self.believed.tray_of.get(held.name, ""))
            return HeldItem(HeldKind.KIT, tray.sku if tray else "", held.name)
        return HeldItem(HeldKind.KIT_TRAY if held.kind == "KitTray" else HeldKind.PART, held.sku)

    def _reached(self, robot: str, places: Iterable[str]) -> frozenset[str]:
        boxes = self.believed.relations.boxes.get(robot)
        tables = {thing.name for thing in self.believed.of_kind("WorkTable")}
        found = set()
        for place in places:
            point = self.believed.point(place)
            if boxes is not None and not isinstance(point, Unknown):
                axes = 2 if place in tables else 3  # the origin of a table is below what is worked at
                inside = ((boxes[:, 0] <= point) & (point <= boxes[:, 1]))[:, :axes].all(axis=1)
                if inside.any():
                    found.add(place)
        return frozenset(found)

    def _zones(self, places: set[str], reach: dict[str, frozenset[str]]) -> tuple[tuple[str, str], ...]:
        """Returns place and zone: places on one table are one zone when several robots work at it."""
        on_table: dict[str, list[str]] = {}
        for thing in self.believed.objects.values():
            table = self.believed.objects.get(thing.reference or "")
            if thing.name in places and table is not None and table.kind == "WorkTable":
                on_table.setdefault(table.name, []).append(thing.name)
        zones = []
        for zone, names in on_table.items():
            if sum(bool(reach[robot] & set(names)) for robot in reach) > 1:
                zones += [(name, zone) for name in names]
        return tuple(zones)

    # ------------------------------------------------------------ supplies

    def _parts_trays(self) -> Iterable[PartSupply]:
        for vessel in self.believed.of_kind("PartsTray", "PartsBin"):
            found = self.contents.supply(vessel)
            if found is not None:
                yield PartSupply(vessel.name, *found)

    def _stacks(self) -> Iterable[TrayStack]:
        for box in self.believed.of_kind("LargeBoxWithEmptyKitTrays"):
            trays = [tray for tray in self.believed.of_kind("KitTray") if tray.reference == box.name]
            there = [tray for tray in trays if tray.name not in self.gripped | self.believed.missing]
            skus = [tray.sku for tray in sorted(there, key=self._height_m, reverse=True)]
            if skus:  # only what is on top can be had
                count = next((n for n, sku in enumerate(skus) if sku != skus[0]), len(skus))
                yield TrayStack(box.name, skus[0], count)

    def _height_m(self, thing: BelievedObject) -> float:
        point = self.believed.point(thing.name)
        return 0.0 if isinstance(point, Unknown) else float(point[2])

    def _outlets(self) -> Iterable[Outlet]:
        for box in self.believed.of_kind("LargeBoxWithKits"):
            inside = [kit for kit in self.believed.of_kind("Kit") if kit.reference == box.name]
            count = sum(kit.name not in self.gripped for kit in inside)
            capacity = self.believed.capacity(box.name)
            yield Outlet(box.name, count, count if isinstance(capacity, Unknown) else max(count, capacity))

    def _is_furniture(self, table: str) -> bool:
        """Returns whether a table carries parts trays, boxes or kits that stay, rather than one kit at a time."""
        on_it = [thing for thing in self.believed.objects.values() if thing.reference == table]
        return any(t.kind in _KEPT or t.name in self.believed.stationary for t in on_it)

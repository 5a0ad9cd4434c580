"""Kit trays that robots carry, as they really are: in stacks, on tables, in hands, in boxes of kits, or lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from cellwright.catalogue import FURNITURE, TrayFigures, TrayKind
from cellwright.catalogue.furniture_kinds import BoxFigures, TableFigures
from cellwright.core.pose import Pose
from cellwright.judge.boxes import boxes_of
from cellwright.judge.kit import parts_on
from cellwright.judge.takers import Takers
from cellwright.judge.tool_inventory import ToolInventory
from cellwright.orders import KitDesign
from cellwright.planning import HeldItem, HeldKind, KitState, Outlet, TrayStack
from cellwright.sim import World

__all__ = ["TrayInventory"]

ON_TABLE_M = 0.02
OVER_TABLE_M = 0.15  # what lies askew on a table, or on a tray, is not higher above it


class TrayInventory:
    """The trays of a cell: supplies, places where kits are built, and outlets.

    Trays of one kind are as good as each other: those in boxes of empty trays, and those that stand empty anywhere in
    reach, are counted; a wanted kit that has been begun is a kit where it stands.

    Attributes:
        lost: Tray -> why no robot can use it.
        places: Stack, table or outlet -> the robots in service that carry trays there.
        hands: Robot -> the tray or the kit that it holds.
        before: Table -> the tray on it that is not wanted there, and is taken away before a kit is built.
        taken_out: Kit that is not complete -> the box for finished kits that it is taken out of.
    """

    def __init__(
        self,
        world: World,
        tools: ToolInventory,
        takers: Takers,
        in_service: Collection[str],
        held: Mapping[str, str],
    ) -> None:
        self._world = world
        self._tools = tools
        self._in_service = in_service
        self._holder = {name: robot for robot, name in held.items()}
        self._boxes = boxes_of(world)
        self._stacked: dict[tuple[str, str], int] = {}
        self._inside = dict.fromkeys(self._boxes.outlets, 0)
        self._tables = _free_tables(world)
        self._taken: dict[str, str] = {}
        self.lost: dict[str, str] = {}
        self._takers = takers
        self.places: dict[str, frozenset[str]] = {}
        self.hands: dict[str, HeldItem] = {}
        self.before: dict[str, frozenset[str]] = {}
        self.taken_out: dict[str, str] = {}
        self._kit_trays = {
            name: item.figures
            for name, item in world.objects.items()
            if isinstance(item.figures, TrayFigures) and item.figures.kind is TrayKind.KIT
        }
        self._note_lost()
        for table, top in self._tables.items():
            self.places[table] = self._carriers(*((tray, top) for tray in self._kit_trays.values()))
        for box, figures in self._boxes.outlets.items():
            spots = [world.layout.fixtures[box] @ Pose.from_xyz_rpy(spot) for spot in figures.places_xyz_m]
            trays = {tray.sku: tray for tray in self._kit_trays.values()}.values()
            self.places[box] = self._carriers(*((tray, spot) for tray in trays for spot in spots))

    @property
    def stacks(self) -> tuple[TrayStack, ...]:
        """The stacks of empty trays."""
        return tuple(TrayStack(place, sku, count) for (place, sku), count in self._stacked.items())

    @property
    def tables(self) -> tuple[str, ...]:
        """The places where kits are built: tables that are kept for it, and those of kits that were begun."""
        blocked = [table for table, tray in self._taken.items() if tray in self.lost]
        adhoc = [place for place in self.places if place.startswith("place of ")]
        kept = (table for table in self._tables if self.places[table] and table not in blocked)
        return (*kept, *adhoc)

    @property
    def outlets(self) -> tuple[Outlet, ...]:
        """The outlets for finished kits."""
        boxes = self._boxes.outlets
        return tuple(Outlet(name, min(self._inside[name], box.capacity), box.capacity) for name, box in boxes.items())

    @property
    def working_places(self) -> set[str]:
        """All stacks, tables and outlets."""
        return {*self.tables, *(stack.name for stack in self.stacks), *self._boxes.outlets}

    def usable(self, tray: str) -> bool:
        """Returns whether a tray stands, or is held, where a robot in service can use it."""
        return tray not in self.lost

    def _note_lost(self) -> None:
        """Notes trays that no robot can take as they are; where such a one lies, no kit is built."""
        for tray in self._kit_trays:
            if tray not in self._holder and tray not in self._takers.of:
                self.lost[tray] = self._takers.lost[tray]
                if table := self._table_below(self._world.pose_of(tray), OVER_TABLE_M):
                    self._taken[table] = tray
                if box := self._box_of(tray, self._boxes.outlets):
                    self._inside[box] += 1

    def add_wanted(self, tray: str, design: KitDesign, filled: tuple[str | None, ...]) -> list[KitState]:
        """Adds a tray that shall become a kit: as a kit where it stands, or as one more tray."""
        sku, empty = design.tray_sku, not any(filled)
        if (robot := self._holder.get(tray)) is not None:
            return self._in_hand(robot, tray, design, filled)
        if box := self._box_of(tray, self._boxes.outlets):
            self.taken_out[tray] = box
            return self._on_free_table(tray, design, filled)
        if empty and (box := self._box_of(tray, self._boxes.supplies)):
            self._count(box, sku, tray)
            return []
        return [KitState(tray, design, self._place(tray), filled)]

    def finished(self, tray: str, design: KitDesign) -> KitState:
        """Returns a kit that is complete, in its box."""
        box = self._box_of(tray, self._boxes.outlets)
        self._inside[box] += self.lost.pop(tray, None) is None  # what is lost was counted before
        return KitState(tray, design, box, tuple(slot.sku for slot in design.slots))

    def add_others(self, wanted: Collection[str]) -> None:
        """Adds the other trays: those in stacks and boxes are counted, those on a table can be taken away."""
        for tray, figures in self._kit_trays.items():
            if tray in wanted or not self.usable(tray):
                continue
            if box := self._box_of(tray, self._boxes.outlets):
                self._inside[box] += 1
                continue
            if tray in self._holder:
                self.hands[self._holder[tray]] = HeldItem(HeldKind.KIT_TRAY, figures.sku)
                continue
            is_empty = next(parts_on(self._world, tray, figures), None) is None
            if is_empty and (box := self._box_of(tray, self._boxes.supplies)):
                self._count(box, figures.sku, tray)
                continue
            if table := self._table_below(self._world.pose_of(tray)):
                self.before[table] = self.before.get(table, frozenset()) | {tray}
            if is_empty:
                self._count(f"loose {tray}", figures.sku, tray)

    def _in_hand(self, robot: str, tray: str, design: KitDesign, filled: tuple[str | None, ...]) -> list[KitState]:
        """Returns a tray in a hand as a kit, if full, or as a tray; a kit that was begun goes back to a table first."""
        if not any(filled):
            self.hands[robot] = HeldItem(HeldKind.KIT_TRAY, design.tray_sku)
            return []
        if filled == tuple(slot.sku for slot in design.slots):
            self.hands[robot] = HeldItem(HeldKind.KIT, design.tray_sku, tray)
            return [KitState(tray, design, "", filled)]
        return self._on_free_table(tray, design, filled)

    def _on_free_table(self, tray: str, design: KitDesign, filled: tuple[str | None, ...]) -> list[KitState]:
        """Returns a kit as if it were on a free table already, to which it is brought first."""
        free = [table for table in self._tables if table not in self._taken]
        if not free:
            self.lost[tray] = "there is no table to set it down"
            return []
        self._taken[free[0]] = tray
        return [KitState(tray, design, free[0], filled)]

    def _count(self, place: str, sku: str, tray: str) -> None:
        name = place if (place, sku) in self._stacked or place not in self.places else f"{place} {sku}"
        self._stacked[name, sku] = self._stacked.get((name, sku), 0) + 1
        takers = self._carriers((self._kit_trays[tray], self._world.pose_of(tray)))
        self.places[name] = self.places.get(name, takers) & takers

    def _place(self, tray: str) -> str:
        """Returns the place where it stands: a table, or a place of its own."""
        pose = self._world.pose_of(tray)
        table = self._table_below(pose)
        place = table if table and table not in self._taken else f"place of {tray}"
        self._taken[place] = tray
        self.places[place] = self._carriers((self._kit_trays[tray], pose))
        return place

    def _carriers(self, *trays: tuple[TrayFigures, Pose]) -> frozenset[str]:
        """Returns robots in service that take such trays at all these places."""
        grips = [(tray.sku, self._tools.grip_point(tray, pose)) for tray, pose in trays]
        return frozenset(
            robot
            for robot in self._in_service
            if grips and all(self._tools.takes(robot, sku, point) for sku, point in grips)
        )

    def _box_of(self, tray: str, boxes: Mapping[str, BoxFigures]) -> str:
        if not boxes:
            return ""
        placement = self._boxes.placement(self._world, tray, boxes)
        return placement.box if placement.inside else ""

    def _table_below(self, pose: Pose, within_m: float = ON_TABLE_M) -> str:
        for name, top in self._tables.items():
            figures = FURNITURE.get(self._world.cell.fixtures[name].model)
            assert isinstance(figures, TableFigures)
            if _is_on(figures, top, pose, within_m):
                return name
        return ""


def _free_tables(world: World) -> dict[str, Pose]:
    """Returns free table -> the middle of its top, where it really is; by the drawings nothing is on it, no robot."""
    fixtures = world.cell.fixtures
    drawn = [tray.pose.pose for tray in world.cell.trays.values()]
    drawn += [fixture.pose.pose for fixture in fixtures.values()]
    bases, tables = [robot.base.pose for robot in world.cell.robots.values()], {}
    for name, fixture in fixtures.items():
        figures = FURNITURE.get(fixture.model)
        if isinstance(figures, TableFigures):
            middle = Pose.from_xyz_rpy((0.0, 0.0, figures.top_m))
            top = fixture.pose.pose @ middle
            carries = any(_is_on(figures, top, pose) for pose in drawn)
            if not carries and not any(_is_on(figures, top, base, OVER_TABLE_M) for base in bases):
                tables[name] = world.layout.fixtures[name] @ middle
    return tables


def _is_on(table: TableFigures, top: Pose, pose: Pose, within_m: float = ON_TABLE_M) -> bool:
    x, y, z = np.abs((top.inverse() @ pose).position)
    return bool(x <= table.size_m[0] / 2 and y <= table.size_m[1] / 2 and z <= within_m)

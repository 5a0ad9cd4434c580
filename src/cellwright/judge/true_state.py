"""The true state as a planner sees one: parts counted where a robot can take them, trays where they stand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cellwright.catalogue import (
    SlotFigures,
    TrayFigures,
    TrayKind,
    part_of_sku,
    seated_pose,
)
from cellwright.core.pose import Pose
from cellwright.judge.boxes import boxes_of
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.judge.kit import LEVEL, ON_TABLE, TOOL_CLEAR, KitVerdict, judge_kit
from cellwright.judge.seating import judge_slots
from cellwright.judge.support import things_on
from cellwright.judge.takers import SightTest, Takers
from cellwright.judge.tool_inventory import ReachTest, ToolInventory
from cellwright.judge.tray_inventory import TrayInventory
from cellwright.orders import KitDesign
from cellwright.planning import CellState, HeldItem, HeldKind, KitState, PartSupply, PlannerRobot, Tool, ToolHolderState
from cellwright.sim import World

__all__ = ["TrueState"]

ROOM = 100  # so many parts can be set down on tables


class TrueState:
    """The true state of the world, read once.

    Attributes:
        lost: Part or tray -> why no robot can take it.
        hopeless: Why the wanted kits cannot be completed, whatever is planned.
        before: Part, tray or table -> what must be taken away before it can be taken, is a kit, or is free.
        taken_out: Kit that is not complete -> the box for finished kits that it is taken out of.
    """

    def __init__(
        self,
        world: World,
        wanted: Mapping[str, KitDesign],
        reaches: ReachTest,
        hand_monitor: HandMonitor | None,
        robots: Collection[str] | None,
        sees: SightTest | None,
    ) -> None:
        self.world = world
        self.held = {robot: hold.part for robot, hold in (hand_monitor.held if hand_monitor else {}).items()}
        self.tool_inventory = ToolInventory(world, reaches)
        self.robots = self.tool_inventory.robots
        self.in_service = {name for name in self.robots if robots is None or name in robots}
        verdicts = {tray: judge_kit(world, tray, design) for tray, design in wanted.items()}
        things = self._concerned(wanted, verdicts.values()) - set(self.held.values())
        self.takers = Takers(world, self.tool_inventory, self.in_service, things, self._seats(wanted), sees)
        self.lost: dict[str, str] = {n: w for n, w in self.takers.lost.items() if not world.objects[n].is_tray}
        self.before: dict[str, frozenset[str]] = dict(self.takers.before)
        self.taken_out: Mapping[str, str] = {}
        self.hopeless: list[str] = []
        self.in_kits: set[str] = set()  # parts that a plan sees as part of a wanted kit, right or wrong
        self.trays = (
            TrayInventory(world, self.tool_inventory, self.takers, self.in_service, self.held)
            if boxes_of(world).outlets
            else None
        )
        self.kits = [kit for tray, design in wanted.items() for kit in self._kit(tray, design, verdicts[tray])]
        if self.trays is not None:
            self.trays.add_others(wanted)
            self.before |= self.trays.before
            self.taken_out = self.trays.taken_out
            self.lost |= self.trays.lost
        self.supplies = self._supplies()

    def state(self) -> CellState:
        """Returns the state as plain data."""
        places = {place: takers for place, (_, _, takers) in self.supplies.items()}
        moved = self.trays
        if moved is None:
            places |= {kit.place: self._takers_of_kit(kit) for kit in self.kits}
        else:
            places |= {place: takers for place, takers in moved.places.items() if place in moved.working_places}
            # Who carries the tray must also get to the slots that are still to be filled.
            places |= {kit.place: places[kit.place] & self._takers_of_kit(kit) for kit in self.kits if kit.place}
        states = tuple(
            PlannerRobot(
                name,
                frozenset(
                    {*(p for p, takers in places.items() if name in takers), *self.tool_inventory.at_holders[name]}
                ),
                self.tool_inventory.on[name],
                self._hand(name),
                name in self.in_service,
            )
            for name in self.robots
        )
        return CellState(
            robots=states,
            tools=tuple(Tool(name, self.tool_inventory.handles[name]) for name in self.tool_inventory.names),
            holders=tuple(ToolHolderState(name, tool) for name, tool in self.tool_inventory.holders.items()),
            parts_trays=tuple(
                PartSupply(place, sku, len(parts), max(self._capacity(place, sku), len(parts)))
                for place, (sku, parts, _) in self.supplies.items()
            ),
            tray_stacks=moved.stacks if moved else (),
            tables=moved.tables if moved else tuple(kit.place for kit in self.kits),
            outlets=moved.outlets if moved else (),
            kits=tuple(self.kits),
        )

    def _hand(self, robot: str) -> HeldItem | None:
        if robot not in self.held:
            return None
        item = self.world.objects[self.held[robot]]
        if not item.is_tray:
            return HeldItem(HeldKind.PART, item.sku)
        return self.trays.hands.get(robot) if self.trays is not None else None

    def _kit(self, tray: str, design: KitDesign, verdict: KitVerdict) -> list[KitState]:
        if tray not in self.world.objects or not verdict.items[0].passed:
            self.hopeless.append(f"{tray}: {verdict.items[0].reason}")
            return []
        if self.trays is not None and all(item.passed for item in verdict.items if item.name != TOOL_CLEAR):
            return [self.trays.finished(tray, design)]
        if self.trays is not None and not self.trays.usable(tray):
            return []  # another tray may serve
        filled = self._filled(design, verdict)
        ours = {seating.part for seating in verdict.seatings if seating.part}
        on_it = [thing for thing in things_on(self.world, tray, ours) if thing not in self.held.values()]
        for extra in on_it:
            if extra not in self.takers.of:
                why = self.takers.lost.get(extra, "no robot can take it away")
                self.hopeless.append(f"{tray} cannot be cleared: {extra} {why}")
        if on_it:
            self.before[tray] = frozenset(on_it)
        if self.trays is None and tray not in self.takers.of:
            askew = [item for item in verdict.items if item.name in (LEVEL, ON_TABLE) and not item.passed]
            self.hopeless += [f"{tray} cannot be put right: {item.name}: {item.reason}" for item in askew]
        if self.trays is not None:
            return self.trays.add_wanted(tray, design, filled)
        return [KitState(tray, design, f"place of {tray}", filled, fixed=True)]

    def _filled(self, design: KitDesign, verdict: KitVerdict) -> tuple[str | None, ...]:
        """Returns the SKU in each slot of a wanted kit."""
        filled: list[str | None] = []
        for slot, seating in zip(design.slots, verdict.seatings, strict=True):
            sku = self.world.objects[seating.part].sku if seating.part else None
            if seating.part and not seating.seated and not self._takers(seating.part):
                if seating.part not in self.held.values():
                    self.hopeless.append(f"{seating.slot} is blocked: {seating.part} {self.lost[seating.part]}")
                sku = None
            elif seating.part and (seating.seated or sku != slot.sku):
                self.in_kits.add(seating.part)
            else:
                sku = None  # empty, or askew: then it can be taken and used as any other that lies somewhere
            filled.append(sku)
        return tuple(filled)

    def _supplies(self) -> dict[str, tuple[str, list[str], frozenset[str]]]:
        """Returns place -> SKU, parts, robots that can take them; a tray is split where these differ."""
        found: dict[str, tuple[str, list[str], frozenset[str]]] = {}
        for tray, sku in self._parts_trays():
            found[tray] = (sku, [], self._takers_of_tray(tray))
        trays = {s.part: t for t, _ in self._parts_trays() for s in judge_slots(self.world, t) if s.seated}
        for name, item in sorted(self.world.objects.items()):
            if item.is_tray or name in self.held.values():
                continue
            takers = self._takers(name)
            tray = trays.get(name, "")
            place = tray if tray and takers == found[tray][2] else f"loose {item.sku} of {' '.join(sorted(takers))}"
            if covers := self.before.get(name):
                place = f"{name} under {' '.join(sorted(covers))}"
            if takers:  # what is in a kit is not to be had, but if it is wrong there, it can be set aside
                found.setdefault(place, (item.sku, [], takers))[1].extend([name] * (name not in self.in_kits))
        return found

    def _parts_trays(self) -> list[tuple[str, str]]:
        return [(name, tray.slots[0].accepts) for name, tray in self._trays() if tray.kind is TrayKind.PARTS]

    def _takers(self, part: str) -> frozenset[str]:
        """Returns robots in service that can take it."""
        return self.takers.of.get(part, frozenset())

    def _concerned(self, wanted: Mapping[str, KitDesign], verdicts: Iterable[KitVerdict]) -> set[str]:
        """Returns what may become part of the wanted kits, and what lies on them, or is above a slot."""
        skus = {sku for design in wanted.values() for sku in (*design.parts, design.tray_sku)}
        there = [tray for tray in wanted if tray in self.world.objects]
        lying = {thing for tray in there for thing in things_on(self.world, tray)} & self.world.objects.keys()
        on_those = {thing for part in lying for thing in things_on(self.world, part)} & self.world.objects.keys()
        trays = {name for name, tray in self._trays() if tray.kind is TrayKind.KIT}
        lying |= {seating.part for verdict in verdicts for seating in verdict.seatings if seating.part}
        return lying | on_those | trays | {name for name, item in self.world.objects.items() if item.sku in skus}

    def _trays(self) -> list[tuple[str, TrayFigures]]:
        return [(n, i.figures) for n, i in self.world.objects.items() if isinstance(i.figures, TrayFigures)]

    def _seats(self, wanted: Mapping[str, KitDesign]) -> dict[str, list[Pose]]:
        """Returns SKU -> where such parts belong in the wanted kits, as their trays stand."""
        found: dict[str, list[Pose]] = {}
        for tray, design in wanted.items():
            item = self.world.objects.get(tray)
            slots = item.figures.slots if item and isinstance(item.figures, TrayFigures) else ()
            named = {slot.name: slot for slot in slots}
            for slot in design.slots:
                if slot.name in named and item is not None and isinstance(item.figures, TrayFigures):
                    seat = seated_pose(item.figures, named[slot.name], part_of_sku(slot.sku))
                    found.setdefault(slot.sku, []).append(self.world.pose_of(tray) @ seat)
        return found

    def _capacity(self, place: str, sku: str) -> int:
        item = self.world.objects.get(place)
        if item is None:
            return ROOM
        return sum(slot.accepts == sku for slot in item.figures.slots) if isinstance(item.figures, TrayFigures) else 0

    def _takers_of_kit(self, kit: KitState) -> frozenset[str]:
        """Returns robots that reach every slot that is still to be filled."""
        pairs = zip(kit.design.slots, kit.filled, strict=True)
        return self._takers_of_tray(kit.name, {slot.name for slot, sku in pairs if sku != slot.sku})

    def _takers_of_tray(self, tray: str, only: Collection[str] | None = None) -> frozenset[str]:
        figures = self.world.objects[tray].figures
        assert isinstance(figures, TrayFigures)
        slots = [slot for slot in figures.slots if only is None or slot.name in only]
        return frozenset(name for name in self.in_service if self._gets_to(name, figures, tray, slots))

    def _gets_to(self, robot: str, figures: TrayFigures, tray: str, slots: Iterable[SlotFigures]) -> bool:
        """Returns whether a robot reaches all slots for whose parts it has a tool; there must be one."""
        poses: dict[str, list[Pose]] = {}
        for slot in slots:
            seat = seated_pose(figures, slot, part_of_sku(slot.accepts))
            poses.setdefault(slot.accepts, []).append(self.world.pose_of(tray) @ seat)
        for_it = {sku: these for sku, these in poses.items() if self.tool_inventory.holds(robot, sku)}
        return (bool(for_it) or not poses) and all(
            self.tool_inventory.takes_parts(robot, part_of_sku(sku), *these) for sku, these in for_it.items()
        )

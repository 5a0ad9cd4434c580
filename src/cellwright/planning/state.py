"""The state of the cell as planners see it: belief as plain data, parts counted and not named.

A planner never sees poses. Which part of a SKU is taken is decided when the robot looks for it, so a plan stays good
when parts are moved, and planning does not grow with the number of parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from cellwright.core.errors import BadInput, UnknownName
from cellwright.orders import KitDesign

__all__ = [
    "CellState",
    "HeldItem",
    "HeldKind",
    "KitState",
    "Outlet",
    "PartSupply",
    "PlannerRobot",
    "Tool",
    "ToolHolderState",
    "TrayStack",
]


class HeldKind(StrEnum):
    """The kinds of things that a robot may hold."""

    PART = "part"
    KIT_TRAY = "kitTray"
    KIT = "kit"


@dataclass(frozen=True, slots=True)
class HeldItem:
    """A thing that a robot holds: a part or an empty kit tray by SKU, or a kit by name."""

    kind: HeldKind
    sku: str
    kit: str = ""


@dataclass(frozen=True, slots=True)
class PlannerRobot:
    """A robot.

    Attributes:
        name: Its name.
        reach: Places it can work at: tables, parts trays, tray stacks, outlets, holders.
        tool: The tool on its flange.
        hand: The item that the tool holds.
        available: False when the robot is out of service; its tool is then lost to the others.
        pace: How many times as long as the request's durations its steps take; at least 1, which the quickest has.
    """

    name: str
    reach: frozenset[str]
    tool: str | None = None
    hand: HeldItem | None = None
    available: bool = True
    pace: float = 1.0


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and the SKUs, of parts and of kit trays, that it can hold."""

    name: str
    handles: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToolHolderState:
    """A place of a changing station for one tool, any tool."""

    name: str
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class PartSupply:
    """A supply of parts of one SKU: the number that is there, and the number that fits."""

    name: str
    sku: str
    count: int
    capacity: int


@dataclass(frozen=True, slots=True)
class TrayStack:
    """A supply of empty kit trays of one SKU."""

    name: str
    sku: str
    count: int


@dataclass(frozen=True, slots=True)
class Outlet:
    """A place for finished kits."""

    name: str
    count: int
    capacity: int


@dataclass(frozen=True, slots=True)
class KitState:
    """A kit that exists, or a kit tray on a table that is about to become one.

    Attributes:
        name: Its name.
        design: The design that it is built by.
        place: The table or the outlet where it is; empty while a robot holds it.
        filled: SKU in each of the design's slots, None where there is none.
        created: False for an empty kit tray that was put on a table and is no kit yet.
        fixed: The tray stays where it is: the kit is finished when it is full.
        apart: It is to be taken apart: it serves no order, and every part in it is stock for other kits.
    """

    name: str
    design: KitDesign
    place: str
    filled: tuple[str | None, ...]
    created: bool = True
    fixed: bool = False
    apart: bool = False

    @property
    def open_slots(self) -> dict[str, int]:
        """SKU -> how many are missing."""
        missing: dict[str, int] = {}
        for slot, sku in zip(self.design.slots, self.filled, strict=True):
            if sku is None:
                missing[slot.sku] = missing.get(slot.sku, 0) + 1
        return missing

    @property
    def wrong(self) -> list[tuple[str, str]]:
        """The SKU in a slot of another, and the SKU that belongs there; of a kit to be taken apart every part."""
        pairs = zip(self.design.slots, self.filled, strict=True)
        return [(sku, slot.sku) for slot, sku in pairs if sku is not None and (self.apart or sku != slot.sku)]

    @property
    def needed(self) -> dict[str, int]:
        """SKU -> how many have to be put in, also where a wrong part has to come out first."""
        needed = self.open_slots
        for _, sku in self.wrong:
            needed[sku] = needed.get(sku, 0) + 1
        return needed

    @property
    def misplaced(self) -> list[str]:
        """Slots with a part that does not belong there, in words."""
        pairs = zip(self.design.slots, self.filled, strict=True)
        return [f"{slot.name} holds {sku}, not {slot.sku}" for slot, sku in pairs if sku not in (None, slot.sku)]


@dataclass(frozen=True)
class CellState:
    """Everything a planner knows.

    Attributes:
        tables: Places on which kit trays can be put. Each takes one kit.
        zones: Place -> zone, for places so close together that only one robot may be there; a place that is not
            named is a zone of its own.
    """

    robots: tuple[PlannerRobot, ...]
    tools: tuple[Tool, ...] = ()
    holders: tuple[ToolHolderState, ...] = ()
    parts_trays: tuple[PartSupply, ...] = ()
    tray_stacks: tuple[TrayStack, ...] = ()
    tables: tuple[str, ...] = ()
    outlets: tuple[Outlet, ...] = ()
    kits: tuple[KitState, ...] = ()
    zones: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuses a belief that contradicts itself."""
        for kind, names in self._names().items():
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise BadInput(f"the state names the {kind} '{min(twice)}' twice")
        tools = [tool.name for tool in self.tools]
        on_robots = [robot.tool for robot in self.robots]
        mounted = [tool for tool in (*on_robots, *(holder.tool for holder in self.holders)) if tool is not None]
        for name in mounted:
            if name not in tools:
                raise UnknownName("tool", name, tools, "state")
            if mounted.count(name) > 1:
                raise BadInput(f"the state has the tool '{name}' in {mounted.count(name)} places")
        places = self.places
        for robot in self.robots:
            for place in robot.reach:
                if place not in places:
                    raise UnknownName("place", place, places, f"reach of {robot.name}")
            if robot.hand is not None and robot.tool is None:
                raise BadInput(f"the state has {robot.name} hold {robot.hand.sku} without a tool")
        self._check_counts()

    def _check_counts(self) -> None:
        stocks: list[PartSupply | Outlet] = [*self.parts_trays, *self.outlets]
        for stock in stocks:
            if not 0 <= stock.count <= stock.capacity:
                raise BadInput(f"the state has {stock.count} in '{stock.name}', which takes 0 to {stock.capacity}")
        for stack in self.tray_stacks:
            if stack.count < 0:
                raise BadInput(f"the state has {stack.count} kit trays in '{stack.name}', 0 or more are possible")
        on_tables = [kit.place for kit in self.kits if kit.place in self.tables]
        for kit in self.kits:
            if len(kit.filled) != len(kit.design.slots):
                raise BadInput(f"the state has {len(kit.filled)} slots in '{kit.name}', not {len(kit.design.slots)}")
            if on_tables.count(kit.place) > 1:
                raise BadInput(f"the state has {on_tables.count(kit.place)} kits on '{kit.place}', one is possible")
            if kit.place and kit.place not in self.places:
                raise UnknownName("place", kit.place, self.places, f"kit {kit.name}")

    def _names(self) -> dict[str, list[str]]:
        return {
            "robot": [robot.name for robot in self.robots],
            "tool": [tool.name for tool in self.tools],
            "kit": [kit.name for kit in self.kits],
            "place": self._place_names(),
        }

    def _place_names(self) -> list[str]:
        groups: tuple[Iterable[ToolHolderState | PartSupply | TrayStack | Outlet], ...] = (
            self.holders,
            self.parts_trays,
            self.tray_stacks,
            self.outlets,
        )
        return [*self.tables, *(thing.name for group in groups for thing in group)]

    @property
    def places(self) -> frozenset[str]:
        """Every place a robot can work at."""
        return frozenset(self._place_names())

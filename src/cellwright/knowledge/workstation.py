"""The description of a kitting cell as plain data: its drawings, before anything has been seen.

`fill` writes such a description into a database, which is then what the cell believes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose

__all__ = [
    "BoxOfKits",
    "FixedKit",
    "PartInTray",
    "Place",
    "ReachBox",
    "RobotDescription",
    "Spread",
    "StackOfTrays",
    "SupplyTray",
    "ToolChangingStation",
    "ToolHolder",
    "ToolKind",
    "WorkTable",
    "Workstation",
    "WorkstationTool",
]

Vector3 = tuple[float, float, float]
ToolKind = Literal[
    "ParallelGripper", "TwoJawGripper", "ThreeFingerGripper", "OtherGripper", "SingleCupEffector", "MultiCupEffector"
]


@dataclass(frozen=True)
class Spread:
    """The uncertainty of a pose in the drawings: standard deviations along and about x, y and z."""

    position_m: Vector3 = (0.0, 0.0, 0.0)
    orientation_rad: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Place:
    """The place of an object: in, on or at another, in whose frame its pose is; empty means the workstation."""

    pose: Pose = field(default_factory=Pose.identity)
    reference: str = ""
    spread: Spread = Spread()


@dataclass(frozen=True)
class ReachBox:
    """A box along the workstation's axes that a robot is known to reach."""

    name: str
    low_m: Vector3
    high_m: Vector3


@dataclass(frozen=True)
class RobotDescription:
    """A robot, the tool on its flange, and what it reaches with it."""

    name: str
    place: Place
    tool: str | None = None
    reach: tuple[ReachBox, ...] = ()
    description: str = ""


@dataclass(frozen=True)
class WorkstationTool:
    """A tool and the SKUs, of parts and of kit trays, that it can hold.

    Attributes:
        width_m: The opening of a gripper's fingers.
        cup_m: Diameter of a cup.
        cups: The number of cups, and the radius of the circle that they are on.
    """

    name: str
    kind: ToolKind
    handles: tuple[str, ...]
    description: str = ""
    mass_kg: float = 0.0
    width_m: float | None = None
    cup_m: float | None = None
    cups: tuple[int, float] | None = None


@dataclass(frozen=True)
class ToolHolder:
    """A place for one tool; with the tool that is there."""

    name: str
    place: Place
    tool: str | None = None


@dataclass(frozen=True)
class ToolChangingStation:
    """A tool changing station."""

    name: str
    place: Place
    holders: tuple[ToolHolder, ...]


@dataclass(frozen=True)
class WorkTable:
    """A table; with trays on it a piece of furniture, empty a place where one kit can be built."""

    name: str
    place: Place
    size_m: Vector3


@dataclass(frozen=True)
class PartInTray:
    """A part; in the slot of that name, or in none."""

    name: str
    sku: str
    place: Place
    slot: str = ""


@dataclass(frozen=True)
class SupplyTray:
    """A parts tray and what is in it."""

    name: str
    sku: str
    place: Place
    parts: tuple[PartInTray, ...] = ()


@dataclass(frozen=True)
class FixedKit:
    """A kit tray that stays where it is; it becomes a kit of the first design that fits."""

    name: str
    tray_sku: str
    place: Place
    parts: tuple[PartInTray, ...] = ()


@dataclass(frozen=True)
class StackOfTrays:
    """A box of empty kit trays, all of one kind.

    Attributes:
        count: The number of trays that lie on each other in its middle.
        trays: Their names and places in the box, where they are known better than that.
        size_m: Of the room in it, from its origin up.
    """

    name: str
    tray_sku: str
    place: Place
    count: int
    trays: tuple[tuple[str, Place], ...] = ()
    size_m: Vector3 | None = None


@dataclass(frozen=True)
class BoxOfKits:
    """A box for finished kits.

    Attributes:
        size_m: Of the room in it, from its origin up.
    """

    name: str
    place: Place
    capacity: int
    size_m: Vector3 | None = None


@dataclass(frozen=True)
class Workstation:
    """All of a cell.

    Attributes:
        loose: Parts that lie outside of all trays.
    """

    name: str
    tables: tuple[WorkTable, ...] = ()
    robots: tuple[RobotDescription, ...] = ()
    tools: tuple[WorkstationTool, ...] = ()
    changers: tuple[ToolChangingStation, ...] = ()
    supplies: tuple[SupplyTray, ...] = ()
    kits: tuple[FixedKit, ...] = ()
    stacks: tuple[StackOfTrays, ...] = ()
    boxes: tuple[BoxOfKits, ...] = ()
    loose: tuple[PartInTray, ...] = ()

    def __post_init__(self) -> None:
        """Checks that names are unique, and that references and tools exist."""
        named = list(self._named())
        names = [self.name, *(name for name, _ in named), *(tool.name for tool in self.tools)]
        twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
        if twice:
            raise BadInput(f"workstation '{self.name}': two objects are called '{min(twice)}'")
        known = set(names)
        for name, place in named:
            if place.reference and place.reference not in known:
                raise UnknownName("object", place.reference, known, f"workstation '{self.name}': place of {name}")
        tools = [tool.name for tool in self.tools]
        mounted = [r.tool for r in self.robots if r.tool] + [h.tool for c in self.changers for h in c.holders if h.tool]
        for tool in mounted:
            if tool not in tools:
                raise UnknownName("tool", tool, tools, f"workstation '{self.name}'")
            if mounted.count(tool) > 1:
                raise BadInput(f"workstation '{self.name}': the tool '{tool}' is in {mounted.count(tool)} places")

    def _named(self) -> Iterator[tuple[str, Place]]:
        groups: tuple[
            Iterable[
                WorkTable | RobotDescription | ToolChangingStation | SupplyTray | FixedKit | StackOfTrays | BoxOfKits
            ],
            ...,
        ] = (*(self.tables, self.robots, self.changers, self.supplies, self.kits, self.stacks, self.boxes),)
        yield from ((thing.name, thing.place) for group in groups for thing in group)
        for changer in self.changers:
            yield from ((holder.name, holder.place) for holder in changer.holders)
        yield from (tray for stack in self.stacks for tray in stack.trays)
        yield from ((part.name, part.place) for part in self.parts)

    @property
    def parts(self) -> tuple[PartInTray, ...]:
        """Every part, wherever it lies."""
        trays: list[SupplyTray | FixedKit] = [*self.supplies, *self.kits]
        return (*(part for tray in trays for part in tray.parts), *self.loose)

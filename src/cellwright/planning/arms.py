"""What a planner moves about while it plans: robots, kits on tables and stocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from cellwright.planning.planner import KitJob
from cellwright.planning.state import Hand

__all__ = ["Arm", "OpenKit", "Supply"]


@dataclass(slots=True, eq=False)
class Arm:
    """A robot: what is on it, and when it is free."""

    name: str
    reach: frozenset[str]
    tools: frozenset[str]
    tool: str | None
    hand: Hand | None
    time_s: float = 0.0


@dataclass(slots=True, eq=False)
class OpenKit:
    """A kit on a table: what it lacks, since when it exists, and since when it has its last part.

    `wrong` lists the parts that do not belong where they are, each with the SKU that its slot is for.
    """

    job: KitJob
    place: str
    missing: dict[str, int]
    fixed: bool
    ready_s: float = 0.0
    full_s: float = 0.0
    wrong: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Supply:
    """A parts tray, a stack of kit trays or an outlet: how much is in it, and since when there is something."""

    name: str
    count: int
    capacity: float
    ready_s: float = 0.0

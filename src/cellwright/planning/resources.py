"""The resources of a schedule as they change while it is made: robots, kits on tables and stocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from cellwright.planning.planner import KitJob
from cellwright.planning.state import HeldItem

__all__ = ["OpenKit", "RobotSchedule", "Supply"]


@dataclass(slots=True, eq=False)
class RobotSchedule:
    """A robot: its tool, what it holds, and the time at which it is free."""

    name: str
    reach: frozenset[str]
    tools: frozenset[str]
    tool: str | None
    hand: HeldItem | None
    time_s: float = 0.0
    pace: float = 1.0


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
    """A parts tray, a stack of kit trays, an outlet, or a kit out of whose slots parts are taken.

    Attributes:
        count: The number in it when everything booked so far is done.
        late_s: The times at which things that are still on their way arrive, the first one first.
        leaves_s: The times at which things are taken out of it; only where several robots work.
        kit: The kit, if it is one.
    """

    name: str
    count: int
    capacity: float
    late_s: list[float] = field(default_factory=list)
    leaves_s: list[float] = field(default_factory=list)
    kit: str = ""

    def next_s(self) -> float:
        """Returns the time from which the next thing can be taken."""
        return 0.0 if self.count > len(self.late_s) else self.late_s[0]

    def take(self) -> None:
        """Takes one out."""
        if self.count <= len(self.late_s):
            self.late_s.pop(0)
        self.count -= 1

    def room_s(self) -> float:
        """Returns the time from which there is room for one more: what is taken away later is still there."""
        lacking = int(self.count + len(self.leaves_s) - self.capacity)
        return sorted(self.leaves_s)[lacking] if lacking >= 0 else 0.0

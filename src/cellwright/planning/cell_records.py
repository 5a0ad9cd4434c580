"""The cell as the rules of the vocabulary see it: records that change as steps begin and end.

What a step takes is gone at its start and what it gives comes at its end, so that steps of two robots cannot both use
one thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cellwright.planning.planner import PlanRequest
from cellwright.planning.state import HeldItem, HeldKind

__all__ = ["BrokenRule", "CellRecords", "KitRecord", "RobotRecord", "Stock", "TableRecord"]


class BrokenRule(Exception):
    """The violation of a step's condition, in words."""


@dataclass(slots=True)
class RobotRecord:
    """A robot: its tool and hand, and what it has looked up for its next step."""

    reach: frozenset[str]
    available: bool
    tool: str | None
    hand: HeldItem | None
    found: tuple[str, str] | None = None  # SKU and parts tray
    grasp: str | None = None
    slot_of: str | None = None
    closed: bool = False  # the hand is closing or opening in a step that has not ended


@dataclass(slots=True)
class KitRecord:
    """A kit, also one that is only wanted."""

    tray_sku: str
    place: str
    exists: bool
    fixed: bool
    missing: dict[str, int]
    wrong: list[tuple[str, str]] = field(default_factory=list)  # SKU in a slot, SKU that belongs there
    coming: int = 0  # parts being placed or removed right now
    finished: bool = False

    @property
    def lacks(self) -> str:
        """The missing parts, in words."""
        return ", ".join(f"{number} of {sku}" for sku, number in self.missing.items())

    @property
    def ready(self) -> bool:
        """True if every slot has its part and no robot works at it."""
        return not (self.missing or self.wrong or self.coming)


@dataclass(slots=True)
class TableRecord:
    """A table: the kit on it, or the one that it is kept for."""

    kit: str | None = None
    kept_for: str | None = None


@dataclass(slots=True)
class Stock:
    """The number in a parts tray, a stack or an outlet; `promised` are on their way into it."""

    sku: str
    number: int
    capacity: float
    promised: int = 0


class CellRecords:
    """All records of a cell, made from what a plan starts with."""

    def __init__(self, request: PlanRequest) -> None:
        state = request.state
        self.robots = {r.name: RobotRecord(r.reach, r.available, r.tool, r.hand) for r in state.robots}
        self.handles = {tool.name: tool.handles for tool in state.tools}
        self.holders: dict[str, str | None] = {holder.name: holder.tool for holder in state.holders}
        self.parts = {t.name: Stock(t.sku, t.count, t.capacity) for t in state.parts_trays}
        self.stacks = {s.name: Stock(s.sku, s.count, float("inf")) for s in state.tray_stacks}
        self.outlets = {o.name: Stock("", o.count, o.capacity) for o in state.outlets}
        self.tables = {name: TableRecord() for name in state.tables}
        self._held_parts: dict[str, HeldItem] = {}
        self.kits: dict[str, KitRecord] = {}
        for kit in state.kits:
            done = kit.place in self.outlets
            made = KitRecord(kit.design.tray_sku, kit.place, kit.created and not done, kit.fixed, kit.open_slots)
            made.wrong, made.finished = kit.wrong, done
            self.kits[kit.name] = made
            if kit.place in self.tables:
                self.tables[kit.place].kit = kit.name
        for job in request.jobs:
            if job.name not in self.kits:
                self.kits[job.name] = KitRecord(job.design.tray_sku, "", False, False, dict(job.design.parts))
        self._wanted = [job.name for job in request.jobs]

    def open_kits(self) -> dict[str, str]:
        """Returns the wanted kits that are not finished, and what they lack."""
        result = {}
        for name in self._wanted:
            kit = self.kits[name]
            if kit.finished or (kit.fixed and kit.exists and kit.ready):
                continue
            wrong = "holds a wrong part" if kit.wrong else "is not in an outlet"
            result[name] = f"lacks {kit.lacks}" if kit.missing else wrong
        return result

    def held_part(self, sku: str) -> HeldItem:
        """Returns a hand with a part of that SKU in it."""
        if sku not in self._held_parts:
            self._held_parts[sku] = HeldItem(HeldKind.PART, sku)
        return self._held_parts[sku]

    def kit(self, name: str) -> KitRecord:
        """Returns the kit of that name."""
        kit = self.kits.get(name)
        if kit is None:
            raise BrokenRule(f"there is no kit {name or 'without a name'}")
        return kit

    def existing_kit(self, name: str) -> KitRecord:
        """Returns the kit of that name, which has been created and not been taken away."""
        kit = self.kits.get(name)
        if kit is None or not kit.exists:
            self.kit(name)
            raise BrokenRule(f"kit {name} does not exist yet, or no more")
        return kit

    def need_free_hand(self, robot: RobotRecord, name: str, tool: str, sku: str) -> None:
        """Checks that the robot has the tool, the tool handles the SKU, and nothing is in it."""
        if robot.tool != tool:
            raise BrokenRule(f"{name} has {robot.tool or 'no tool'}, not {tool or 'that'}")
        if robot.hand is not None or robot.closed:
            held = robot.hand.sku if robot.hand else "something"
            raise BrokenRule(f"the hand of {name} is not empty, it holds {held}")
        if sku and sku not in self.handles.get(tool, ()):
            raise BrokenRule(f"{tool} does not handle {sku}")

    @staticmethod
    def need_held(robot: RobotRecord, name: str, kind: HeldKind, sku: str) -> None:
        """Checks that the robot holds a thing of that kind and SKU."""
        hand = robot.hand
        if hand is None or hand.sku != sku or hand.kind is not kind:
            shown = f"{hand.kind} {hand.sku}" if hand else "nothing"
            raise BrokenRule(f"{name} holds {shown}, not {kind} {sku}")

"""Reports on orders: plain data about what was seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

__all__ = [
    "ActionRecord",
    "Evaluated",
    "KitReport",
    "LookRecord",
    "OrderReport",
    "OrderStatus",
    "SlotReport",
    "Unobtainable",
]


class OrderStatus(StrEnum):
    """The outcome of an order."""

    DONE = "done"
    """Every slot of every kit was seen filled and seated after the last placement, and the hands are empty."""
    PARTIAL = "partial"
    """Something is missing or in doubt; at least one slot is as it should be."""
    FAILED = "failed"
    """Nothing that was wanted is there."""


@dataclass(frozen=True)
class Evaluated:
    """A predicate of an action: its arguments, its value (`true`, `false`, `unknown`) and why; how probable it is."""

    predicate: str
    arguments: tuple[str, ...]
    value: str
    evidence: str
    when: str = "precondition"
    probability: float = 0.5


@dataclass(frozen=True, kw_only=True)
class ActionRecord:
    """An action that was tried once.

    Attributes:
        robot: The robot.
        action: As in a plan file.
        part: The part that was meant, once it was chosen.
        phase: `end` or `fail`.
        reason: Why it failed, or how it went.
        attempt: 1 for the first try.
        start_s: In the cell's time.
        end_s: Likewise.
        predicates: What had to be true before and after it, and whether it was.
    """

    robot: str
    action: str
    part: str
    phase: str
    reason: str
    attempt: int
    start_s: float
    end_s: float
    predicates: tuple[Evaluated, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LookRecord:
    """A look: the time in which robots moved or waited only to see something.

    Attributes:
        robots: Those that waited for it, the one that asked first.
        start_s: In the cell's time.
        end_s: Likewise.
        asked: Objects and slots that had to be seen.
        unseen: Those that were in view and not seen.
        hidden: Those that did not come into view.
        where: Where arms moved to for it.
        on_way_s: The part of that time in which the robot that asked came nearer to where it had to go anyway.
    """

    robots: tuple[str, ...]
    start_s: float
    end_s: float
    asked: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    on_way_s: float = 0.0

    @property
    def cost_s(self) -> float:
        """The time that was spent only to look."""
        return self.end_s - self.start_s - self.on_way_s


@dataclass(frozen=True, kw_only=True)
class SlotReport:
    """A slot of a kit as it was seen last.

    Attributes:
        slot: Its name in the kit.
        wanted: The SKU that belongs there.
        sku: The SKU that is there; None for none.
        part: Which part.
        offset_m: How far from the slot's middle.
        height_m: How far above its seat; None when no detector measures that.
        seen_s: When.
        filled: Whether it is right: the SKU, the place, the height.
        reason: Why not.
        verified: Whether it was in view; if not, it is known neither to be filled nor to be empty.
        unmeasured: What no detector measures of the part in it: `height`, `tilt`.
    """

    slot: str
    wanted: str
    sku: str | None = None
    part: str = ""
    offset_m: float = 0.0
    height_m: float | None = None
    seen_s: float = -1.0
    filled: bool = False
    reason: str = ""
    verified: bool = False
    unmeasured: tuple[str, ...] = ()


@dataclass(frozen=True)
class KitReport:
    """A kit as it was seen last.

    Attributes:
        name: Its name.
        design: What it shall be.
        slots: Its slots.
        extras: Parts that lie on it and in no slot.
        box: The box for finished kits that it is in.
        elsewhere: Why it is not where it should be: in such a box, if there is one.
    """

    name: str
    design: str
    slots: tuple[SlotReport, ...]
    extras: tuple[str, ...] = ()
    box: str = ""
    elsewhere: str = ""

    @property
    def complete(self) -> bool:
        """True if every slot is right, nothing else lies there, and it is where it should be."""
        return all(slot.filled for slot in self.slots) and not self.extras and not self.elsewhere


@dataclass(frozen=True)
class Unobtainable:
    """A part that could not be had, and why."""

    sku: str
    reason: str
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class OrderReport:
    """The report on one or more orders.

    Attributes:
        status: How it ended.
        reason: One line for people.
        orders: Their names.
        robots: The robots that worked.
        recovery: What was allowed when something went wrong.
        kits: What was built, as it was seen last.
        actions: What was tried, in the order in which it ended.
        plans: How many plans were made.
        retries: How many actions were repeated.
        unobtainable: Parts that could not be had.
        start_s: In the cell's time.
        end_s: Likewise.
        resumed: Whether earlier work was continued.
        looks: What was looked at, for how long.
    """

    status: OrderStatus
    reason: str
    orders: tuple[str, ...]
    robots: tuple[str, ...]
    recovery: str
    kits: tuple[KitReport, ...] = ()
    actions: tuple[ActionRecord, ...] = ()
    plans: int = 0
    retries: int = 0
    unobtainable: tuple[Unobtainable, ...] = ()
    start_s: float = 0.0
    end_s: float = 0.0
    resumed: bool = False
    notes: tuple[str, ...] = field(default=())
    looks: tuple[LookRecord, ...] = ()

    @property
    def look_share(self) -> float:
        """The share of the time in which robots waited or moved only to look; with several robots, their mean."""
        span_s = (self.end_s - self.start_s) * max(len(self.robots), 1)
        spent_s = sum(look.cost_s * len(set(look.robots) & set(self.robots)) for look in self.looks)
        return spent_s / span_s if span_s > 0 else 0.0

    @property
    def replans(self) -> int:
        """The number of plans after the first."""
        return max(self.plans - 1, 0)

    @property
    def done(self) -> bool:
        """True if all that was ordered is there."""
        return self.status is OrderStatus.DONE

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {**asdict(self), "replans": self.replans, "look_share": self.look_share}

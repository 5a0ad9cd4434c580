"""The verdict on a trial: what was wanted, what was claimed, what is so, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from cellwright.judge import CollisionEvent, DropEvent, KitVerdict, Recoverability, Score

__all__ = ["Ending", "FaultRecord", "OrderVerdict", "TrialVerdict"]


class Ending(StrEnum):
    """The ending of a trial."""

    SUBMITTED = "all orders were submitted"
    COMPLETE = "all orders are complete, and nothing moves any more"
    TIME_LIMIT = "the time limit was reached"
    NOBODY = "no controller connected in time"
    GONE = "the controller disconnected and did not come back"
    RETURNED = "the controller has ended"
    FAILED = "the controller failed"
    BROKEN = "the simulation broke off"
    TOO_SLOW = "real time ran out: the simulation was kept from going on"
    INTERRUPTED = "it was ended from outside"


@dataclass
class FaultRecord:
    """A fault that was applied.

    Attributes:
        time_s: When.
        fault: Its kind.
        subject: The part, tray, robot or detector that it was about.
        detail: What was done, or `over`.
        recovery: What the oracle said when everything was at rest again.
        asked_s: When it was asked.
    """

    time_s: float
    fault: str
    subject: str
    detail: str
    recovery: Recoverability | None = None
    asked_s: float | None = None

    @property
    def is_end(self) -> bool:
        """True if it tells that an earlier one is over."""
        return self.detail == "over"

    def __str__(self) -> str:
        oracle = f" ({'recoverable' if self.recovery.recoverable else 'not recoverable'})" if self.recovery else ""
        about = f" {self.subject}" if self.subject else ""
        return f"fault {self.fault}{about} at {self.time_s:.2f} s: {self.detail}{oracle}"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        made = {name: getattr(self, name) for name in ("time_s", "fault", "subject", "detail", "asked_s")}
        return {**made, "recovery": self.recovery.as_dict() if self.recovery else None}


@dataclass(frozen=True)
class OrderVerdict:
    """The verdict on an order.

    Attributes:
        order: Its name.
        priority: Its priority.
        announced_s: When it became known; None: never.
        submitted_s: When it was claimed to be done; None: never.
        kits: Each kit at the end; None where there was no tray left for it.
        claimed: Each kit at the moment of submission.
    """

    order: str
    priority: int
    announced_s: float | None
    submitted_s: float | None
    kits: tuple[KitVerdict | None, ...]
    claimed: tuple[KitVerdict, ...]

    @property
    def done(self) -> bool:
        """True if every kit is complete at the end, by the truth."""
        return all(kit is not None and kit.done for kit in self.kits)

    @property
    def false_done(self) -> bool:
        """True if it was claimed to be done when it was not."""
        return self.submitted_s is not None and not (self.claimed and all(kit.done for kit in self.claimed))

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "order": self.order,
            "priority": self.priority,
            "announced_s": self.announced_s,
            "submitted_s": self.submitted_s,
            "claimed": self.submitted_s is not None,
            "done": self.done,
            "false_done": self.false_done,
            "kits": [kit.as_dict() if kit else None for kit in self.kits],
            "kits_when_submitted": [kit.as_dict() for kit in self.claimed],
        }


@dataclass(frozen=True)
class TrialVerdict:
    """The verdict on a trial.

    Attributes:
        trial: The trial's name.
        cell: Which cell.
        seed: Its seed.
        controller: The controller's name.
        ending: What ended it.
        detail: More about that.
        time_s: How long it took, simulated.
        wall_s: How long it took.
        possible: What the oracle said before anything happened.
        orders: Order by order.
        faults: What went wrong.
        not_applied: Faults whose moment never came.
        hits: Collisions.
        drops: What fell.
        score: Points with reasons.
        notes: What else a reader should know.
        versions: What the figures depend on.
    """

    trial: str
    cell: str
    seed: int
    controller: str
    ending: Ending
    detail: str
    time_s: float
    wall_s: float
    possible: Recoverability
    orders: tuple[OrderVerdict, ...]
    faults: tuple[FaultRecord, ...]
    not_applied: tuple[str, ...]
    hits: tuple[CollisionEvent, ...]
    drops: tuple[DropEvent, ...]
    score: Score
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def done(self) -> bool:
        """True if every order is complete at the end, by the truth."""
        return all(order.done for order in self.orders)

    @property
    def false_done(self) -> bool:
        """True if any order was claimed to be done when it was not."""
        return any(order.false_done for order in self.orders)

    @property
    def reason(self) -> str:
        """The reason why it is not done, in one line."""
        wrong = [
            f"{order.order}: {kit.tray}: {kit.reason}" if kit else f"{order.order}: no tray is left for it"
            for order in self.orders
            for kit in order.kits
            if kit is None or not kit.done
        ]
        return " | ".join(wrong) or f"{sum(len(order.kits) for order in self.orders)} kits are complete"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "trial": self.trial,
            "cell": self.cell,
            "seed": self.seed,
            "controller": self.controller,
            "done": self.done,
            "false_done": self.false_done,
            "reason": self.reason,
            "ending": self.ending.name.lower(),
            "ending_text": f"{self.ending.value}{': ' if self.detail else ''}{self.detail}",
            "time_s": self.time_s,
            "wall_s": self.wall_s,
            "possible": self.possible.as_dict(),
            "orders": [order.as_dict() for order in self.orders],
            "faults": [fault.as_dict() for fault in self.faults],
            "faults_not_applied": list(self.not_applied),
            "collisions": [asdict(hit) | {"text": str(hit)} for hit in self.hits],
            "drops": [asdict(drop) | {"text": str(drop)} for drop in self.drops],
            "score": self.score.as_dict(),
            "notes": list(self.notes),
            "versions": dict(self.versions),
        }

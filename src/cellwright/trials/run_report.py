"""Reports on runs: what the controller says, and what is true."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from cellwright.execution import OrderReport
from cellwright.judge import CollisionEvent, DropEvent, KitVerdict, Score
from cellwright.trials.verdict import FaultRecord

__all__ = ["KittingReport", "KittingStatus"]


class KittingStatus(StrEnum):
    """The outcome of a run, by the truth."""

    DONE = "done"
    """Every kit is complete, and the controller says so."""
    PARTIAL = "partial"
    """Not every kit is complete, or the controller does not know; at least one part is where it belongs."""
    FAILED = "failed"
    """Nothing that was wanted is there, and the controller says so."""
    FALSE_DONE = "false_done"
    """The controller says done, and it is not: the worst that can happen."""


@dataclass(frozen=True)
class KittingReport:
    """The report on a run.

    Attributes:
        status: How it ended, by the truth.
        reason: One line for people.
        order: What the controller says of it.
        kits: The judge's verdict on each kit.
        scored: Points with reasons.
        faults: What was done to the world, and whether that could be recovered from.
        not_applied: Faults whose moment never came.
        drops: Parts that fell out of a hand.
        hits: Collisions.
        time_s: Simulation time at the end.
        start_s: At the beginning; a run that was resumed does not begin at 0.
        grasp_lock_uses: How often the grasp lock was used; 0 means friction alone.
    """

    status: KittingStatus
    reason: str
    order: OrderReport
    kits: tuple[KitVerdict, ...]
    scored: Score
    faults: tuple[FaultRecord, ...] = ()
    not_applied: tuple[str, ...] = ()
    drops: tuple[DropEvent, ...] = ()
    hits: tuple[CollisionEvent, ...] = ()
    time_s: float = 0.0
    start_s: float = 0.0
    grasp_lock_uses: int = 0

    @property
    def done(self) -> bool:
        """True if every kit is complete and the controller knows."""
        return self.status is KittingStatus.DONE

    @property
    def score(self) -> float:
        """The share of the possible points, 0 to 1."""
        return self.scored.total

    @property
    def detected_s(self) -> float | None:
        """The time from the first fault until the controller noticed that something was wrong; None if never."""
        begun = [fault.time_s for fault in self.faults if not fault.is_end]
        failed = [action.end_s for action in self.order.actions if action.phase == "fail" and begun]
        after = [time_s - min(begun) for time_s in failed if time_s >= min(begun)]
        return min(after, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "status": self.status.value,
            "reason": self.reason,
            "done": self.done,
            "score": self.score,
            "time_s": self.time_s,
            "start_s": self.start_s,
            "grasp_lock_uses": self.grasp_lock_uses,
            "order": self.order.as_dict(),
            "kits": [kit.as_dict() for kit in self.kits],
            "items": self.scored.as_dict()["items"],
            "faults": [fault.as_dict() for fault in self.faults],
            "faults_not_applied": list(self.not_applied),
            "collisions": [asdict(hit) | {"text": str(hit)} for hit in self.hits],
            "drops": [asdict(drop) | {"text": str(drop)} for drop in self.drops],
        }


def status_of(says_done: bool, kits: tuple[KitVerdict, ...]) -> KittingStatus:
    """Returns the outcome: the controller's claim compared with the truth."""
    true = bool(kits) and all(kit.done for kit in kits)
    if says_done:
        return KittingStatus.DONE if true else KittingStatus.FALSE_DONE
    there = any(item.right_part for kit in kits for item in kit.items)
    return KittingStatus.PARTIAL if there else KittingStatus.FAILED

"""Reports on trials: what was wanted, what was claimed, what is so, and why; also on a run, which is a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from cellwright.core.errors import BadInput
from cellwright.core.rich_text import html_note, html_table
from cellwright.execution import OrderReport
from cellwright.judge import CollisionEvent, DropEvent, KitVerdict, Recoverability, Score
from cellwright.planning import named_kits

__all__ = ["Ending", "FaultRecord", "OrderVerdict", "Report", "TrialStatus"]


class TrialStatus(StrEnum):
    """The outcome of a trial: the controller's claim compared with the truth."""

    DONE = "done"
    """Every kit is complete, and the controller says so."""
    PARTIAL = "partial"
    """Not every kit is complete, or the controller does not know; at least one part is where it belongs."""
    FAILED = "failed"
    """Nothing that was wanted is there, and the controller does not say so."""
    FALSE_DONE = "false_done"
    """The controller says done, and it is not: the worst that can happen."""


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
    STOPPED = "everything was stopped: a robot or detector outside was lost, or stopped in an emergency"
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


@dataclass(frozen=True, kw_only=True)
class OrderVerdict:
    """The verdict on an order.

    Attributes:
        order: Its name.
        priority: Its priority.
        announced_s: When it became known; None: never.
        submitted_s: When it was claimed to be done; None: never.
        kits: Each kit at the end.
        claimed: Each kit at the moment of submission.
        without_tray: Names of kits for which there was no tray left.
    """

    order: str
    priority: int
    announced_s: float | None
    submitted_s: float | None
    kits: tuple[KitVerdict, ...]
    claimed: tuple[KitVerdict, ...]
    without_tray: frozenset[str] = frozenset()

    @property
    def done(self) -> bool:
        """True if every kit is complete at the end, by the truth."""
        return all(kit.done for kit in self.kits)

    @property
    def false_done(self) -> bool:
        """True if it was claimed to be done when it was not."""
        return self.submitted_s is not None and not all(kit.done for kit in self.claimed)

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON; a kit without a tray is null."""
        return {
            "order": self.order,
            "priority": self.priority,
            "announced_s": self.announced_s,
            "submitted_s": self.submitted_s,
            "claimed": self.submitted_s is not None,
            "done": self.done,
            "false_done": self.false_done,
            "kits": [None if kit.tray in self.without_tray else kit.as_dict() for kit in self.kits],
            "kits_when_submitted": [kit.as_dict() for kit in self.claimed],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """The report on a trial, or on a run.

    Attributes:
        trial: The trial's name.
        cell: Which cell.
        seed: Its seed.
        controller: The controller's name.
        is_run: Whether it is of a run, which is done only when its controller says so, too; a trial is judged by the
            truth alone.
        ending: What ended it.
        detail: More about that.
        time_s: Simulation time at the end.
        start_s: At the beginning; a run that was resumed does not begin at 0.
        wall_s: How long it took in real time.
        possible: What the oracle said before anything happened; a run does not ask.
        orders: Order by order.
        account: What Cellwright's own controller says, if that worked: its actions, and what it believes.
        faults: What was done to the world, and whether that could be recovered from.
        not_applied: Faults whose moment never came.
        hits: Collisions.
        drops: What fell.
        scored: Points with reasons.
        notes: What else a reader should know.
        versions: What the figures depend on.
    """

    trial: str
    cell: str
    seed: int
    controller: str
    is_run: bool
    ending: Ending
    detail: str
    time_s: float
    start_s: float
    wall_s: float
    possible: Recoverability | None
    orders: tuple[OrderVerdict, ...]
    account: OrderReport | None
    faults: tuple[FaultRecord, ...]
    not_applied: tuple[str, ...]
    hits: tuple[CollisionEvent, ...]
    drops: tuple[DropEvent, ...]
    scored: Score
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def order(self) -> OrderReport:
        """The account of a run's controller, which always has one."""
        if self.account is None:
            raise BadInput(f"the controller '{self.controller}' gives no account of what it did")
        return self.account

    @property
    def kits(self) -> tuple[KitVerdict, ...]:
        """The verdict on each kit of all orders."""
        return tuple(kit for order in self.orders for kit in order.kits)

    @property
    def status(self) -> TrialStatus:
        """The outcome, by the truth at the end."""
        claimed = [order.done for order in self.orders if order.submitted_s is not None]
        if not all(claimed):
            return TrialStatus.FALSE_DONE
        if len(claimed) == len(self.orders):
            return TrialStatus.DONE
        there = any(item.right_part for kit in self.kits for item in kit.items)
        return TrialStatus.PARTIAL if there else TrialStatus.FAILED

    @property
    def done(self) -> bool:
        """True if every order is complete at the end, by the truth; of a run, if its controller says so, too."""
        return self.status is TrialStatus.DONE if self.is_run else all(order.done for order in self.orders)

    @property
    def false_done(self) -> bool:
        """True if any order was claimed to be done when it was not."""
        return any(order.false_done for order in self.orders)

    @property
    def score(self) -> float:
        """The share of the possible points, 0 to 1."""
        return self.scored.total

    @property
    def reason(self) -> str:
        """The reason why it is done or not, in one line."""
        if self.is_run:
            return self._reason_of_run()
        wrong = [
            f"{order.order}: no tray is left for it"
            if kit.tray in order.without_tray
            else f"{order.order}: {kit.tray}: {kit.reason}"
            for order in self.orders
            for kit in order.kits
            if not kit.done
        ]
        complete = "1 kit is complete" if len(self.kits) == 1 else f"{len(self.kits)} kits are complete"
        return " | ".join(wrong) or complete

    def _reason_of_run(self) -> str:
        """Returns what the controller says, and what the truth says against it; kits that lack the same, in one."""
        said = self.order.reason
        if self.status is TrialStatus.DONE:
            return said
        trays: dict[str, list[str]] = {}
        for kit in self.kits:
            if not kit.done:
                trays.setdefault(kit.reason, []).append(kit.tray)
        wrong = [f"{names[0] if len(names) == 1 else named_kits(names)}: {why}" for why, names in trays.items()]
        says = "the controller says done, but " if self.status is TrialStatus.FALSE_DONE else f"{said}; "
        return says + ("; ".join(wrong) or "by the truth, every kit is complete")

    @property
    def ending_text(self) -> str:
        """The ending in words."""
        return f"{self.ending.value}{': ' if self.detail else ''}{self.detail}"

    @property
    def detected_s(self) -> float | None:
        """The time from the first fault until the controller noticed that something was wrong; None if never."""
        begun = [fault.time_s for fault in self.faults if not fault.is_end]
        failed = [action.end_s for action in self.order.actions if action.phase == "fail" and begun]
        after = [time_s - min(begun) for time_s in failed if time_s >= min(begun)]
        return min(after, default=None)

    def __repr__(self) -> str:
        return f"<report on {self._title()}: {self._verdict()}>"

    def _repr_html_(self) -> str:
        word = f"{self.status.value.replace('_', ' ')}: {self.reason}"
        rows = [(item.name, item.points_text, f"{item.most:g}", item.reason) for item in self.scored.items]
        table = html_table(f"{self._title()}: {self._verdict()}", ["item", "points []", "of []", "why"], rows)
        told = [*map(str, self.faults), *map(str, self.hits), *map(str, self.drops), *self.notes]
        return f"<div>{table}{''.join(map(html_note, [word, *told]))}</div>"

    def _title(self) -> str:
        name = ", ".join(order.order for order in self.orders) if self.is_run else self.trial
        return f"{name} in {self.cell}, seed {self.seed}, by {self.controller}"

    def _verdict(self) -> str:
        word = "done" if self.done else "not done"
        false = ", claimed to be done when it was not" if self.false_done else ""
        return f"{word}{false}, score {100 * self.score:.0f} of 100, {self.time_s - self.start_s:.1f} s simulated"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "trial": self.trial,
            "cell": self.cell,
            "seed": self.seed,
            "controller": self.controller,
            "status": self.status.value,
            "done": self.done,
            "false_done": self.false_done,
            "reason": self.reason,
            "ending": self.ending.name.lower(),
            "ending_text": self.ending_text,
            "time_s": self.time_s,
            "start_s": self.start_s,
            "wall_s": self.wall_s,
            "possible": self.possible.as_dict() if self.possible else None,
            "orders": [order.as_dict() for order in self.orders],
            "order": self.account.as_dict() if self.account else None,
            "kits": [kit.as_dict() for kit in self.kits],
            "faults": [fault.as_dict() for fault in self.faults],
            "faults_not_applied": list(self.not_applied),
            "collisions": [asdict(hit) | {"text": str(hit)} for hit in self.hits],
            "drops": [asdict(drop) | {"text": str(drop)} for drop in self.drops],
            "score": self.scored.as_dict(),
            "items": self.scored.as_dict()["items"],
            "notes": list(self.notes),
            "versions": dict(self.versions),
        }

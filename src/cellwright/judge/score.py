"""The score of a run: points for each item, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cellwright.core.errors import OutOfRange
from cellwright.core.messages import Verdict
from cellwright.judge.collision import CollisionEvent
from cellwright.judge.drops import DropEvent
from cellwright.judge.kit import AT_REST, EXTRAS, IN_BOX, LEVEL, ON_TABLE, TOOL_CLEAR, KitVerdict

__all__ = ["Points", "Score", "ScoreItem", "score_run"]


@dataclass(frozen=True)
class Points:
    """The points that each item is worth.

    Attributes:
        part: The right part in or over its slot.
        seated: The same part seated.
        extras: Nothing else on the tray.
        clear: Every tool out of the way.
        level: The tray flat.
        rest: The tray at rest.
        table: The tray on its table, where the cell has no box for finished kits.
        box: The tray in a box for finished kits, where the cell has one.
        collisions: No collision; each one takes `collision` of it.
        floor: No part on the floor; each one takes `floor_drop` of it.
        time: As quick as the par; counts only when every kit is complete.
    """

    part: float = 1.0
    seated: float = 2.0
    extras: float = 1.0
    clear: float = 1.0
    level: float = 1.0
    rest: float = 1.0
    table: float = 1.0
    box: float = 2.0
    collisions: float = 2.0
    collision: float = 1.0
    floor: float = 2.0
    floor_drop: float = 1.0
    time: float = 1.0


@dataclass(frozen=True)
class ScoreItem:
    """One line of the score."""

    name: str
    points: float
    most: float
    reason: str

    @property
    def passed(self) -> bool:
        """True if it has all its points."""
        return self.points >= self.most

    @property
    def points_text(self) -> str:
        """The points as people read them: two digits, or as many as tell them from all points."""
        digits = next(n for n in range(2, 17) if self.passed or n == 16 or round(self.points, n) < self.most)
        return f"{round(self.points, digits):.15g}"


@dataclass(frozen=True)
class Score:
    """The score of a run, line by line.

    Attributes:
        done: Whether every kit is complete; the score does not decide that.
        items: Line by line.
    """

    done: bool
    items: tuple[ScoreItem, ...]

    @property
    def total(self) -> float:
        """The share of the possible points, 0 to 1."""
        most = sum(item.most for item in self.items)
        return sum(item.points for item in self.items) / most if most else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        items = [{**asdict(item), "passed": item.passed} for item in self.items]
        return {"done": self.done, "total": self.total, "items": items}

    def message(self, time_ns: int, sequence: int = 0) -> Verdict:
        """Returns the message for the bus, where only judge and recorder hear it."""
        names, passed, reasons = zip(*((i.name, i.passed, i.reason) for i in self.items), strict=True)
        return Verdict(time_ns, sequence, "judge", items=names, passed=passed, reasons=reasons, score=self.total)


def score_run(
    kits: Sequence[KitVerdict],
    hits: Sequence[CollisionEvent],
    drops: Sequence[DropEvent],
    time_s: float,
    *,
    par_s: float,
    limit_s: float,
    points: Points | None = None,
) -> Score:
    """Returns the score of a run that has ended.

    Args:
        kits: The verdicts on all wanted kits.
        hits: What collided.
        drops: What fell.
        time_s: How long it took.
        par_s: Up to here the time has all its points.
        limit_s: From here on it has none.
        points: What each item is worth.
    """
    if not 0 < par_s < limit_s:
        raise OutOfRange("par of the time", par_s, 0, limit_s, "s")
    worth = points or Points()
    done = bool(kits) and all(kit.done for kit in kits)
    items = [line for kit in kits for line in _kit_lines(kit, worth)]
    items.append(_fewer("collisions", [str(hit) for hit in hits], worth.collisions, worth.collision))
    fallen = [str(drop) for drop in drops if drop.on_floor]
    items.append(_fewer("floor", fallen, worth.floor, worth.floor_drop))
    share = min(max((limit_s - time_s) / (limit_s - par_s), 0.0), 1.0) if done else 0.0
    reason = f"{time_s:.1f} s; all points up to {par_s:g} s, none from {limit_s:g} s on"
    items.append(ScoreItem("time", share * worth.time, worth.time, reason if done else "not every kit is complete"))
    return Score(done, tuple(items))


def _kit_lines(kit: KitVerdict, worth: Points) -> list[ScoreItem]:
    lines = []
    whole = {
        EXTRAS: worth.extras,
        TOOL_CLEAR: worth.clear,
        LEVEL: worth.level,
        AT_REST: worth.rest,
        ON_TABLE: worth.table,
        IN_BOX: worth.box,
    }
    for item in kit.items:
        name = f"{kit.tray}/{item.name}"
        if (most := whole.get(item.name)) is not None:
            lines.append(ScoreItem(name, most * item.passed, most, item.reason))
        elif item.name != "tray":
            most = worth.part + worth.seated
            lines.append(ScoreItem(name, most if item.passed else worth.part * item.right_part, most, item.reason))
        elif not item.passed:
            lines.append(ScoreItem(name, 0.0, worth.extras, item.reason))
    return lines


def _fewer(name: str, found: list[str], most: float, each: float) -> ScoreItem:
    reason = "; ".join(found) or "none"
    return ScoreItem(name, max(most - each * len(found), 0.0), most, reason)

"""The nodes of the search over counters, and the moves between them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["CounterMove", "CounterNode", "MoveKind"]


class MoveKind(StrEnum):
    """The kinds of moves."""

    CHANGE = "change"
    DROP = "drop"
    LAY = "lay"
    FILL = "fill"
    FILL_STAYING = "fill what stays"
    CORRECT = "correct"
    CLEAR = "clear"
    PUT = "put"
    RETURN = "return"
    WAIT = "wait"


class CounterMove(NamedTuple):
    """One decision: which robot, what, and with which tool or which class of parts."""

    robot: int
    kind: MoveKind
    number: int = -1


class CounterNode(NamedTuple):
    """The robot that decides now, the other one, and the counters.

    `doing` is what the other robot has begun: a class for a part, `lay`, nothing of interest, or a negative number for
    a tool that it is putting down.
    """

    now_s: float
    other_s: float
    tool: int | None
    hand: int | str | None
    other_tool: int | None
    other_hand: int | str | None
    doing: int | str | None
    laid: int
    cleared: int
    placed: tuple[int, ...]
    stayed: tuple[int, ...]
    wrong: tuple[int, ...]
    robot: int
    waited: bool

"""A conformance check, and its possible verdicts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from cellwright.crcl.conform.probe import Probe

__all__ = ["REGISTERED", "Check", "CheckEnded", "CheckVerdict", "ambiguous", "check", "fail", "require"]

Run = Callable[["Probe"], Awaitable[str | None]]


class CheckVerdict(StrEnum):
    """The verdict of a check."""

    PASS = "pass"
    FAIL = "fail"
    AMBIGUOUS = "ambiguous"
    """The rule leaves it open, or the server does not let it be seen."""
    SKIPPED = "skipped"
    """It was not allowed to be tried, or could not be."""


class CheckEnded(Exception):
    """Ends a check with a verdict other than pass."""

    def __init__(self, verdict: CheckVerdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason


def fail(reason: str) -> NoReturn:
    """Ends the check as failed: the server breaks the rule."""
    raise CheckEnded(CheckVerdict.FAIL, reason)


def ambiguous(reason: str) -> NoReturn:
    """Ends the check as ambiguous: it cannot be decided whether the server breaks the rule."""
    raise CheckEnded(CheckVerdict.AMBIGUOUS, reason)


def require(holds: bool, reason: str) -> None:
    """Ends the check as failed unless a condition holds."""
    if not holds:
        fail(reason)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One rule and how it is tried.

    Attributes:
        name: For reports and options.
        area: The group of checks that it belongs to.
        clause: The rule in one sentence.
        does: What is tried, in one sentence.
        run: Tries it; returns what was observed.
        moves: Whether the robot, or what it carries, may move.
        prepared: Whether the session is opened before, with metres, radians and full reports.
        needs: The option without which it is not tried.
        harms: Whether a server may be harmed by it; such checks come last.
    """

    name: str
    area: str
    clause: str
    does: str
    run: Run
    moves: bool = False
    prepared: bool = True
    needs: str = ""
    harms: bool = False


REGISTERED: list[Check] = []
"""All checks of the modules that were imported."""


def check(
    name: str,
    clause: str,
    *,
    moves: bool = False,
    prepared: bool = True,
    needs: str = "",
    harms: bool = False,
) -> Callable[[Run], Run]:
    """Adds a function to the checks; its docstring says what it does, its module is the area."""

    def add(run: Run) -> Run:
        area = run.__module__.rsplit(".", 1)[-1]
        does = (run.__doc__ or "").strip().splitlines()[0]
        REGISTERED.append(
            Check(
                name=name,
                area=area,
                clause=clause,
                does=does,
                run=run,
                moves=moves,
                prepared=prepared,
                needs=needs,
                harms=harms,
            )
        )
        return run

    return add

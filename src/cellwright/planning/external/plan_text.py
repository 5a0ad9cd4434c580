"""Reads the steps out of a plan file, or out of the output of a planner, in the formats of different planners."""

from __future__ import annotations

import re
from typing import NamedTuple

from cellwright.planning.external.errors import PlannerFailed

__all__ = ["PlanLine", "read_plan_file", "read_printed_plan"]

_TIME = r"(?:(?:step\s+)?(?P<time>\d+(?:\.\d+)?)\s*:\s*)"
_IN_BRACKETS = re.compile(rf"{_TIME}?\((?P<words>[^()]+)\)\s*(?:\[[^\]]*\]|\([^()]*\)|;.*)?", re.IGNORECASE)
_NUMBERED = re.compile(rf"{_TIME}(?P<words>[A-Za-z][\w-]*(?:\s+[\w-]+)*)", re.IGNORECASE)
_SHOWN = 60


class PlanLine(NamedTuple):
    """A step as a planner wrote it: the line's number, the step's name and its arguments, in small letters."""

    number: int
    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"line {self.number} ({' '.join((self.name, *self.arguments))})"


def read_plan_file(text: str, planner: str) -> list[PlanLine]:
    """Returns the steps of a plan file, in which there may be nothing but steps, comments and empty lines."""
    lines = []
    for number, row in enumerate(text.splitlines(), start=1):
        row = row.strip()
        if not row or row.startswith(";"):
            continue
        found = _match(row)
        if found is None:
            shown = row[:_SHOWN] + ("..." if len(row) > _SHOWN else "")
            raise PlannerFailed(planner, f"line {number} of its plan is no step: {shown!r}")
        lines.append(_line(number, found))
    return lines


def read_printed_plan(text: str) -> list[PlanLine]:
    """Returns the steps among other output; of several plans the last: its times begin again."""
    lines: list[PlanLine] = []
    last = -1.0
    for number, row in enumerate(text.splitlines(), start=1):
        found = _match(row.strip())
        if found is None:
            continue
        time = float(found["time"]) if found["time"] else last
        if time < last:
            lines = []
        last = time
        lines.append(_line(number, found))
    return lines


def _match(row: str) -> re.Match[str] | None:
    found = _IN_BRACKETS.fullmatch(row) or _NUMBERED.fullmatch(row)
    return found if found and found["words"].strip() else None


def _line(number: int, found: re.Match[str]) -> PlanLine:
    name, *arguments = found["words"].lower().split()
    return PlanLine(number, name, tuple(arguments))

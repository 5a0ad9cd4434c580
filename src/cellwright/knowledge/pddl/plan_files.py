"""Plan instance files: a step in parentheses on each line, with times where there are any.

The reader accepts what planners print around the steps: comments, times before, durations behind, any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite

from cellwright.knowledge.pddl.model import PddlError, PddlStep

__all__ = ["read_plan", "read_steps", "write_plan"]

MOST_LINES = 20
"""The most lines of one step."""

STEP = re.compile(
    r"""^\s*(?:(?P<start>[0-9.eE+-]+)\s*:|(?:step\s+)?\d+\s*:?(?=\s*\())?\s*
    \(\s*(?P<words>[^()\[\]]*?)\s*\)
    \s*(?:\[\s*(?:D\s*:)?\s*(?P<duration>[0-9.eE+-]+)[^\]]*\])?\s*(?:;.*)?$""",
    re.VERBOSE,
)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def read_plan(text: str, where: str = "plan") -> list[PddlStep]:
    """Returns the steps of a plan's text; lines that are empty or only a comment are passed over.

    Raises:
        PddlError: A line that is no step; names it.
    """
    return [step for _, step in read_steps(text, where)]


def read_steps(text: str, where: str = "plan") -> list[tuple[int, PddlStep]]:
    """Returns the same, each with the number of the line on which it begins; a step may go on over several lines.

    Raises:
        PddlError: A line that is no step; names it.
    """
    steps, begun, first = list[tuple[int, PddlStep]](), "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip() if ")" in line.partition(";")[0] else line.partition(";")[0].strip()
        if not content:
            continue
        first, begun = first or number, f"{begun} {content}".strip()
        if "(" in begun and ")" not in begun and number - first < MOST_LINES:
            continue
        steps.append((first, _step(begun, f"{where}, line {first}")))
        begun, first = "", 0
    if begun:
        steps.append((first, _step(begun, f"{where}, line {first}")))  # which says that it is none
    return steps


def _step(content: str, where: str) -> PddlStep:
    found = STEP.match(content)
    if found is None:
        raise PddlError(
            f"{where}: '{content[:60]}' is no step; allowed is (action argument ...), before it 'time:', "
            "behind it '[duration]'"
        )
    words = found["words"].split()
    for word in words or [""]:
        if not WORD.fullmatch(word):
            raise PddlError(f"{where}: '{word}' is no name; allowed are letters, digits, - and _ after a letter")
    return PddlStep(words[0], tuple(words[1:]), _time(found["start"], where), _time(found["duration"], where))


def _time(text: str | None, where: str) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        raise PddlError(f"{where}: '{text}' is no time in seconds") from None
    if not isfinite(number) or number < 0:
        raise PddlError(f"{where}: a time of {text} s; allowed are 0 s and more")
    return number


def write_plan(steps: Iterable[PddlStep], cost: float | None = None) -> str:
    """Returns the text of a plan; times and durations are written where the steps have them."""
    lines = []
    for step in steps:
        words = f"({' '.join([step.name, *step.arguments])})"
        before = "" if step.start_s is None else f"{step.start_s:.6f}: "
        behind = "" if step.duration_s is None else f" [{step.duration_s:.6f}]"
        lines.append(f"{before}{words}{behind}\n")
    if cost is not None:
        lines.append(f"; cost = {cost:g}\n")
    return "".join(lines)

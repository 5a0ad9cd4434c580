"""Collects the problems of documents that were read all the same: each kind once, with its count."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cellwright.crcl.check import DocumentProblem

__all__ = ["DocumentFindings"]

MAX_KINDS = 100
"""So many are distinguished; a peer that invents new mistakes for ever fills no memory."""

_VARYING = re.compile(r"\[\d+\]|'[^']*'|^: \d+")


class DocumentFindings:
    """The mistakes of a peer."""

    def __init__(self) -> None:
        self._first: dict[str, DocumentProblem] = {}
        self._count: dict[str, int] = {}
        self._others = 0

    def __bool__(self) -> bool:
        return bool(self._first)

    def add(self, problems: Iterable[DocumentProblem]) -> list[DocumentProblem]:
        """Takes problems in; returns those of a kind that was not known yet."""
        fresh = []
        for problem in problems:
            kind = _VARYING.sub("", f"{problem.where}: {problem.what}")
            if kind in self._first:
                self._count[kind] += 1
            elif len(self._first) < MAX_KINDS:
                self._first[kind], self._count[kind] = problem, 1
                fresh.append(problem)
            else:
                self._others += 1
        return fresh

    @property
    def lines(self) -> list[str]:
        """A line for each kind, in the order in which they came."""
        counted = [
            " ".join(str(problem).split()) + (f", {count} times" if count > 1 else "")
            for problem, count in zip(self._first.values(), self._count.values(), strict=True)
        ]
        return [*counted, f"{self._others} more of other kinds"] if self._others else counted

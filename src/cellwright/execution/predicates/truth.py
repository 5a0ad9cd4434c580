"""Three-valued truth, and evaluations with evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Evaluation", "Truth", "all_of", "any_of"]


class Truth(StrEnum):
    """The truth value of a statement: true, false or unknown."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    def __invert__(self) -> Truth:
        return {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE, Truth.UNKNOWN: Truth.UNKNOWN}[self]

    @classmethod
    def of(cls, value: bool) -> Truth:
        """Returns the truth value of something certain."""
        return cls.TRUE if value else cls.FALSE


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A predicate about particular objects, its value, and the evidence in words.

    Attributes:
        predicate: Its name; `not` goes before one that should be false.
        objects: What it is about.
        value: Whether it is so; for `not` whether the predicate is false.
        evidence: Why, in one line.
    """

    predicate: str
    objects: tuple[str, ...]
    value: Truth
    evidence: str

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.objects)}) {self.value}: {self.evidence}"


def all_of(values: Iterable[Truth]) -> Truth:
    """Returns false when one is false, unknown when one is unknown, else true."""
    found = set(values)
    return Truth.FALSE if Truth.FALSE in found else Truth.UNKNOWN if Truth.UNKNOWN in found else Truth.TRUE


def any_of(values: Iterable[Truth]) -> Truth:
    """Returns true when one is true, unknown when one is unknown, else false."""
    return ~all_of(~value for value in values)

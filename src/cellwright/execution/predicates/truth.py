"""Three-valued truth, and evaluations with evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import NamedTuple

__all__ = ["Evaluation", "Likely", "Truth", "all_likely", "all_of", "any_likely", "any_of"]


CERTAIN = 0.95  # what is true, or false, within some deviations is so with at least this probability


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


class Likely(NamedTuple):
    """A truth value with the probability of being true; they agree."""

    value: Truth
    probability: float

    @classmethod
    def of(cls, value: Truth, probability: float = 0.5) -> Likely:
        """Makes one of a value and what is reckoned; what is true is at least nearly certain, and likewise false."""
        if value is Truth.TRUE:
            return cls(value, max(probability, CERTAIN))
        return cls(value, min(probability, 1.0 - CERTAIN) if value is Truth.FALSE else probability)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A predicate about particular objects, its value, and the evidence in words.

    Attributes:
        predicate: Its name; `not` goes before one that should be false.
        objects: What it is about.
        value: Whether it is so; for `not` whether the predicate is false.
        evidence: Why, in one line.
        probability: Of being so; one half where nothing is known.
    """

    predicate: str
    objects: tuple[str, ...]
    value: Truth
    evidence: str
    probability: float

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.objects)}) {self.value}: {self.evidence}"


def all_of(values: Iterable[Truth]) -> Truth:
    """Returns false when one is false, unknown when one is unknown, else true."""
    found = set(values)
    return Truth.FALSE if Truth.FALSE in found else Truth.UNKNOWN if Truth.UNKNOWN in found else Truth.TRUE


def any_of(values: Iterable[Truth]) -> Truth:
    """Returns true when one is true, unknown when one is unknown, else false."""
    return ~all_of(~value for value in values)


def all_likely(values: Iterable[Likely]) -> Likely:
    """Returns whether all are true, as if they were independent."""
    found = list(values)
    return Likely.of(all_of(one.value for one in found), prod(one.probability for one in found))


def any_likely(values: Iterable[Likely]) -> Likely:
    """Returns whether one is true, as if they were independent."""
    found = list(values)
    return Likely.of(any_of(one.value for one in found), 1.0 - prod(1.0 - one.probability for one in found))

"""Counts of objects that may be somewhere: what they can be, with probabilities, and how they compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cellwright.execution.predicates.truth import Likely, Truth

__all__ = ["Counts", "compare", "counted"]

Counts = dict[int, float]
"""Number -> its probability."""

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
    "greater": lambda a, b: a > b,
}


def compare(comparison: str, counts: Counts, bounds: Counts) -> Likely:
    """Compares two counts; certain if the result is the same for every number that both can have."""
    pairs = [(_COMPARE[comparison](count, bound), p * q) for count, p in counts.items() for bound, q in bounds.items()]
    found = {holds for holds, _ in pairs}
    value = Truth.UNKNOWN if len(found) == 2 else Truth.of(found.pop())
    return Likely.of(value, sum(share for holds, share in pairs if holds))


def counted(counts: Counts, found: Likely) -> Counts:
    """Returns the counts with one more object that may be there."""
    if found.value is not Truth.UNKNOWN:
        return {number + (found.value is Truth.TRUE): share for number, share in counts.items()}
    result: Counts = {}
    for number, share in counts.items():
        result[number] = result.get(number, 0.0) + share * (1.0 - found.probability)
        result[number + 1] = result.get(number + 1, 0.0) + share * found.probability
    return result

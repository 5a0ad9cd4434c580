"""The eight relations of RCC8 between two intervals, with a tolerance, and which of them are possible.

Two ends that are no farther apart than the tolerance count as equal; so intervals that nearly touch do touch (EC), and
one that nearly reaches the end of the other is tangential (TPP). For any tolerance exactly one relation holds.
"""

from __future__ import annotations

from collections.abc import Set
from enum import StrEnum
from itertools import pairwise
from math import erf, inf, sqrt
from typing import NamedTuple

__all__ = ["Interval", "Rcc8", "normal_share", "possible_rcc8", "probability_of", "rcc8"]


class Rcc8(StrEnum):
    """Disconnected, touching, partly overlapping, inside (touching the edge or not), equal, around (likewise)."""

    DC = "DC"
    EC = "EC"
    PO = "PO"
    TPP = "TPP"
    NTPP = "NTPP"
    EQ = "EQ"
    TPPI = "TPPi"
    NTPPI = "NTPPi"


class Interval(NamedTuple):
    """An interval from `low` to `high`."""

    low: float
    high: float

    @property
    def centre(self) -> float:
        """The middle of the interval."""
        return (self.low + self.high) / 2


def rcc8(first: Interval, second: Interval, tolerance: float = 0.0) -> Rcc8:
    """Returns the relation of the first interval to the second."""
    before, after = second.low - first.high, first.low - second.high
    if before > tolerance or after > tolerance:
        return Rcc8.DC
    if before >= -tolerance or after >= -tolerance:
        return Rcc8.EC
    low, high = _sign(first.low - second.low, tolerance), _sign(first.high - second.high, tolerance)
    if low == high:
        return Rcc8.EQ if low == 0 else Rcc8.PO
    if low >= 0 and high <= 0:
        return Rcc8.NTPP if low and high else Rcc8.TPP
    return Rcc8.NTPPI if low and high else Rcc8.TPPI


def possible_rcc8(first: Interval, second: Interval, tolerance: float, shift: float) -> frozenset[Rcc8]:
    """Returns the relations that hold when the first interval may be off by up to `shift` either way."""
    after, before = first.low - second.high, second.low - first.high
    if max(after, before) - shift > tolerance:
        return frozenset((Rcc8.DC,))
    ends = (-after, before, second.low - first.low, second.high - first.high)  # shifts that bring two ends together
    changes = (end + sign * tolerance for end in ends for sign in (-1, 1))
    stops = sorted({-shift, shift, *(change for change in changes if -shift < change < shift)})
    tried = [*stops, *((a + b) / 2 for a, b in pairwise(stops))]
    return frozenset(rcc8(Interval(first.low + s, first.high + s), second, tolerance) for s in tried)


def probability_of(allowed: Set[Rcc8], first: Interval, second: Interval, tolerance: float, deviation: float) -> float:
    """Returns the probability that one of some relations holds: the first interval is off by a normal deviation."""
    if deviation <= 0.0:
        return float(rcc8(first, second, tolerance) in allowed)
    ends = (second.high - first.low, second.low - first.high, second.low - first.low, second.high - first.high)
    stops = sorted({end + sign * tolerance for end in ends for sign in (-1, 1)})
    total = 0.0
    for low, high in pairwise((-inf, *stops, inf)):
        middle = (low + high) / 2 if low > -inf and high < inf else high - 1.0 if high < inf else low + 1.0
        if rcc8(Interval(first.low + middle, first.high + middle), second, tolerance) in allowed:
            total += normal_share(low / deviation, high / deviation)
    return min(total, 1.0)


def normal_share(low: float, high: float) -> float:
    """Returns the probability that a standard normal number is between two others."""
    return (erf(high / sqrt(2.0)) - erf(low / sqrt(2.0))) / 2


def _sign(difference: float, tolerance: float) -> int:
    return 0 if abs(difference) <= tolerance else (1 if difference > 0 else -1)

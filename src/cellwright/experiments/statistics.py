"""The little statistics that experiments need."""

from __future__ import annotations

from math import sqrt

__all__ = ["rate_low"]

Z_95 = 1.959964


def rate_low(successes: int, trials: int) -> float:
    """Lower end of Wilson's 95 % interval of a success rate: what so many trials allow to claim."""
    if trials == 0:
        return 0.0
    share, weight = successes / trials, Z_95**2 / trials
    spread = Z_95 * sqrt(share * (1 - share) / trials + weight / (4 * trials))
    return (share + weight / 2 - spread) / (1 + weight)

"""Statistics for benches and experiments."""

from __future__ import annotations

from math import sqrt

__all__ = ["wilson_high", "wilson_low"]

Z_95 = 1.959964


def wilson_low(successes: int, trials: int) -> float:
    """Returns the lower end of the 95 % Wilson interval of a success rate: what the trials allow to claim."""
    if trials == 0:
        return 0.0
    rate, z2 = successes / trials, Z_95**2
    centre = rate + z2 / (2 * trials)
    spread = Z_95 * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2))
    return (centre - spread) / (1 + z2 / trials)


def wilson_high(successes: int, trials: int) -> float:
    """Returns the upper end of the same interval."""
    return 1.0 - wilson_low(trials - successes, trials)

"""Statistics for benches and experiments."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, isfinite, nan, sqrt
from statistics import NormalDist, fmean, stdev

__all__ = ["mean_of", "quantile_of", "rate_of", "sd_of", "wilson_high", "wilson_low"]

Z_95 = 1.959964


def wilson_low(successes: float, trials: int) -> float:
    """Returns the lower end of the 95 % Wilson interval of a success rate: what the trials allow to claim.

    Successes need not be whole: where trials have parts that succeed together, each counts as its share.
    """
    if trials == 0:
        return 0.0
    rate, z2 = successes / trials, Z_95**2
    centre = rate + z2 / (2 * trials)
    spread = Z_95 * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2))
    return max(0.0, (centre - spread) / (1 + z2 / trials))


def wilson_high(successes: float, trials: int) -> float:
    """Returns the upper end of the same interval."""
    return 1.0 - wilson_low(trials - successes, trials)


def rate_of(name: str, successes: int, trials: int) -> dict[str, float]:
    """Returns a success rate as metrics: itself, the ends of its 95 % Wilson interval, and of how many it is."""
    rate = successes / trials if trials else nan
    return _metrics(name, rate, wilson_low(successes, trials), wilson_high(successes, trials), trials)


def quantile_of(name: str, values: Sequence[float], share: float = 0.5) -> dict[str, float]:
    """Returns a quantile as metrics, with a 95 % interval that supposes no distribution.

    Its ends are values themselves: those of the ranks that the number of values below the quantile, which is
    binomial, leaves outside once in 40 each. Where there are too few values for an end, that is not a number.
    """
    known = sorted(value for value in values if isfinite(value))
    count = len(known)
    if not count:
        return _metrics(name, nan, nan, nan, 0)
    place = share * (count - 1)
    below = int(place)
    value = known[below] + (place - below) * (known[min(below + 1, count - 1)] - known[below])
    low_rank, high_rank = _rank(count, share, 0.025), _rank(count, share, 0.975) + 1
    low = known[low_rank - 1] if low_rank >= 1 else nan
    high = known[high_rank - 1] if high_rank <= count else nan
    return _metrics(name, value, low, high, count)


def mean_of(name: str, values: Sequence[float]) -> dict[str, float]:
    """Returns a mean as metrics, with its 95 % interval by Student's distribution."""
    known = [value for value in values if isfinite(value)]
    count = len(known)
    if count < 2:
        return _metrics(name, known[0] if known else nan, nan, nan, count)
    mean, half = fmean(known), _student(count - 1) * stdev(known) / sqrt(count)
    return _metrics(name, mean, mean - half, mean + half, count)


def sd_of(name: str, values: Sequence[float]) -> dict[str, float]:
    """Returns a standard deviation as metrics, with its 95 % interval of normal values."""
    known = [value for value in values if isfinite(value)]
    count = len(known)
    if count < 2:
        return _metrics(name, nan, nan, nan, count)
    sd, free = stdev(known), count - 1
    low, high = (sd * sqrt(free / _chi_squared(free, z)) for z in (Z_95, -Z_95))
    return _metrics(name, sd, low, high, count)


def _metrics(name: str, value: float, low: float, high: float, count: int) -> dict[str, float]:
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_n": float(count)}


def _rank(count: int, share: float, chance: float) -> int:
    """Returns the largest number that a binomial variable stays below with at most that chance."""
    if count > 1000:  # as a normal variable
        return round(count * share + NormalDist().inv_cdf(chance) * sqrt(count * share * (1 - share)))
    below = 0.0
    for number in range(count + 1):
        below += comb(count, number) * share**number * (1 - share) ** (count - number)
        if below > chance:
            return number
    return count


def _student(free: int) -> float:
    """Returns the 97.5 % point of Student's distribution, by its expansion about the normal one."""
    if free <= 2:
        return (12.7062, 4.3027)[free - 1]
    z = Z_95
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / free + second / free**2 + third / free**3


def _chi_squared(free: int, z: float) -> float:
    """Returns a point of the chi-squared distribution by that of the normal one, after Wilson and Hilferty."""
    return float(free * max(1e-6, 1 - 2 / (9 * free) + z * sqrt(2 / (9 * free))) ** 3)

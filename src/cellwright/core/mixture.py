"""Mixtures of normal distributions: how many clusters numbers lie in, and where these are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput

__all__ = ["NormalMixture", "best_mixture", "fit_mixture"]

Array = npt.NDArray[np.float64]
MOST_STEPS = 300
ENOUGH = 1e-6  # change of the logarithm of the likelihood, per number, at which a fit ends
LEAST_SD = 0.02  # of the spread of all numbers: a cluster is no single number


@dataclass(frozen=True)
class NormalMixture:
    """Some normal distributions, in the order of their means.

    Attributes:
        shares: Of all numbers, one for each.
        means: Their means.
        sds: Their standard deviations.
        log_likelihood: Of the numbers to which they were fitted.
        count: How many numbers these were.
    """

    shares: Array
    means: Array
    sds: Array
    log_likelihood: float
    count: int

    @property
    def bic(self) -> float:
        """Bayesian information criterion: the less, the better the number of clusters explains the numbers."""
        return (3 * len(self.means) - 1) * math.log(self.count) - 2 * self.log_likelihood


def fit_mixture(values: npt.ArrayLike, components: int) -> NormalMixture:
    """Returns the most likely mixture of so many normal distributions, by expectation and maximisation.

    It starts once from clusters of equal numbers and once from clusters of equal width, and takes the better end.

    Args:
        values: The numbers.
        components: How many distributions.

    Raises:
        BadInput: There are too few numbers, or they do not differ.
    """
    numbers = np.sort(np.asarray(values, float).reshape(-1))
    spread = float(numbers.std()) if len(numbers) else 0.0
    if len(numbers) < 3 * components or not spread > 0 or not np.isfinite(spread):
        raise BadInput(
            f"a mixture of {components} needs at least {3 * components} finite numbers that differ, got {len(numbers)}"
        )
    middles = (np.arange(components) + 0.5) / components
    starts = np.quantile(numbers, middles), numbers[0] + (numbers[-1] - numbers[0]) * middles
    return max((_climb(numbers, means, spread) for means in starts), key=lambda fit: fit.log_likelihood)


def best_mixture(values: npt.ArrayLike, most: int = 6) -> NormalMixture:
    """Returns the mixture with the least information criterion, of one to `most` distributions.

    Once two more distributions in a row explain the numbers worse, more are not tried.
    """
    best = fit_mixture(values, 1)
    for components in range(2, most + 1):
        fit = fit_mixture(values, components)
        if fit.bic < best.bic:
            best = fit
        elif components - len(best.means) >= 2:
            break
    return best


def _climb(numbers: Array, means: Array, spread: float) -> NormalMixture:
    count = len(means)
    shares, sds = np.full(count, 1 / count), np.full(count, spread / count)
    before = -np.inf
    for _ in range(MOST_STEPS):
        logs = -0.5 * ((numbers[:, None] - means) / sds) ** 2 - np.log(sds) - 0.5 * math.log(2 * math.pi)
        logs += np.log(np.maximum(shares, 1e-300))
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        sums = weights.sum(axis=1, keepdims=True)
        likelihood = float((top + np.log(sums)).sum())
        if likelihood - before < ENOUGH * len(numbers):
            break
        before = likelihood
        weights /= sums
        mass = np.maximum(weights.sum(axis=0), 1e-12)
        shares, means = mass / len(numbers), (weights * numbers[:, None]).sum(axis=0) / mass
        variances = (weights * (numbers[:, None] - means) ** 2).sum(axis=0) / mass
        sds = np.maximum(np.sqrt(variances), LEAST_SD * spread)
    order = np.argsort(means)
    return NormalMixture(shares[order], means[order], sds[order], likelihood, len(numbers))

"""Robust nonlinear least squares for a few unknowns: Levenberg and Marquardt's steps with Huber's weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Solution", "solve_robust"]

Array = npt.NDArray[np.float64]

STEP = 1e-7  # of the differences by which derivatives are taken
ITERATIONS = 100
SETTLED = 1e-12


@dataclass(frozen=True)
class Solution:
    """The end of a fit.

    Attributes:
        unknowns: Where it ended.
        residuals: There, in standard deviations, not weighted.
        cost: Huber's, of these residuals.
    """

    unknowns: Array
    residuals: Array
    cost: float


def solve_robust(residuals_of: Callable[[Array], Array], start: npt.ArrayLike, *, bend: float = 2.0) -> Solution:
    """Returns the unknowns with the least sum of Huber's losses of the residuals, near a start.

    Args:
        residuals_of: Unknowns -> residuals, in standard deviations.
        start: The first guess.
        bend: The residual beyond which the loss grows with the residual and no longer with its square.
    """
    unknowns = np.array(start, float)
    residuals = residuals_of(unknowns)
    cost, damping = _cost(residuals, bend), 1e-3
    for _ in range(ITERATIONS):
        steps = STEP * np.eye(len(unknowns))
        jacobian = np.column_stack([(residuals_of(unknowns + step) - residuals) / STEP for step in steps])
        weights = np.minimum(1.0, bend / np.maximum(np.abs(residuals), 1e-300))
        normal = jacobian.T @ (weights[:, None] * jacobian)
        gradient = jacobian.T @ (weights * residuals)
        step = np.linalg.solve(normal + damping * np.diag(np.maximum(np.diag(normal), 1e-12)), -gradient)
        trial = residuals_of(unknowns + step)
        if _cost(trial, bend) < cost:
            unknowns, residuals, before = unknowns + step, trial, cost
            cost, damping = _cost(trial, bend), max(damping / 10, 1e-12)
            if before - cost <= SETTLED * (1.0 + cost):
                break
        else:
            damping *= 10
            if damping > 1e9:
                break
    return Solution(unknowns, residuals, cost)


def _cost(residuals: Array, bend: float) -> float:
    size = np.abs(residuals)
    return float(np.where(size <= bend, size**2 / 2, bend * (size - bend / 2)).sum())

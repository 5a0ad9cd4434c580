"""A Kalman filter for many objects at rest, coordinate by coordinate: any arrays of one shape."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["gain", "predicted_variances"]

Array = npt.NDArray[np.float64]
LEAST = 1e-18


def predicted_variances(variances: Array, seconds: Array, drift: Array, most: Array) -> Array:
    """Predicts: returns the variances some time after the last measurement.

    Args:
        variances: After that measurement, n x k.
        seconds: Since then, n; a clock that went backwards reduces no variance.
        drift: Variance that is added every second, k.
        most: No variance grows above this, k; one that is above already stays.
    """
    waited = np.minimum(np.maximum(seconds, 0.0), 1e9)[:, None]
    result: Array = np.minimum(variances + drift * waited, np.maximum(most, variances))
    return result


def gain(variances: Array, seen_variances: Array) -> Array:
    """Returns the share of the difference to a measurement by which an estimate moves: 0 none, 1 all of it.

    The variance afterwards is ``(1 - gain) * variance``.
    """
    result: Array = variances / np.maximum(variances + seen_variances, LEAST)
    return result

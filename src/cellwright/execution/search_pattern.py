"""Places to feel for something: rings of a hexagonal lattice about where it should be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["hexagon"]

Array = npt.NDArray[np.float64]


def hexagon(pitch_m: float, number: int) -> list[Array]:
    """Returns the places of one ring, x and y, each next to the one before; the middle for ring 0.

    No point between rings is farther from a place than the pitch divided by the root of three.
    """
    if number == 0:
        return [np.zeros(2)]
    corners = [pitch_m * np.array([np.cos(turn), np.sin(turn)]) for turn in np.arange(7) * np.pi / 3]
    return [number * a + step * (b - a) for a, b in pairwise(corners) for step in range(number)]

"""A piece of a mesh file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.shapes.mesh import Mesh

__all__ = ["MeshError", "MeshPart", "distinct_points"]


class MeshError(BadInput):
    """A mesh file that cannot be used."""


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Triangles of one colour.

    Attributes:
        mesh: The triangles.
        rgba: Their colour, where the file gives one.
        name: Their name in the file.
    """

    mesh: Mesh
    rgba: tuple[float, float, float, float] | None
    name: str


def distinct_points(points: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Returns points without repetition, and the index of each of the given ones among them.

    Sorting one number per point is ten times quicker than sorting rows; that two points share a number is looked for.
    """
    bits = np.ascontiguousarray(points + 0.0).view(np.uint64)  # + 0.0: the two zeros are one
    keys = np.zeros(len(points), np.uint64)
    for axis in range(3):  # numbers of single precision have their bits in the upper half
        keys = (keys ^ bits[:, axis] ^ (bits[:, axis] >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(32)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(points[first][place], points):
        unique, place = np.unique(points, axis=0, return_inverse=True)
        return unique, place.reshape(-1).astype(np.int64)
    return points[first], place.reshape(-1).astype(np.int64)

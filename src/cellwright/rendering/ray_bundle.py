"""Bundles of rays from one point against many triangles, in array operations.

Seen from the point, rays are dots in a flat picture and triangles are triangles. Dots are filed in the cells of a
grid; a triangle crosses some rows of cells, and what lies there are the dots to compare it with: a few per ray.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.rendering.projection import Projection
from cellwright.rendering.ragged import count_up, slices

__all__ = ["RayBundle", "RayIntersections"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]

MAX_CELLS = 2048  # along a side of the grid
CHUNK = 1 << 15  # pairs at a time: more would not fit into the processor's cache
EDGE = 1e-9  # so far outside a triangle, as a share of it, still counts: no gaps between neighbours


@dataclass(frozen=True)
class RayIntersections:
    """Intersections of rays and triangles: which dot, which triangle, and 1 / depth of the triangle there."""

    dot: Ids
    triangle: Ids
    inverse_depth: Array


class RayBundle:
    """A bundle of rays as dots of a picture, filed by cells.

    Args:
        rays: As `ImagePlane.flatten` gives them: (x, y, depth) of any point on each ray.
        cells_per_ray: 1 for evenly spread rays; more where they are clustered, to separate the clusters.
    """

    def __init__(self, rays: Array, cells_per_ray: float = 1.0) -> None:
        x, y = rays[:, 0] / rays[:, 2], rays[:, 1] / rays[:, 2]
        self._low = np.array([x.min(), y.min()])
        high = np.array([x.max(), y.max()])
        span = np.maximum(high - self._low, 1e-12)
        self._scale = min(np.sqrt(len(rays) * cells_per_ray / (span[0] * span[1])), MAX_CELLS / span.max())
        self._columns, self._rows = ((high - self._low) * self._scale).astype(int) + 1
        column, row = (
            ((x - self._low[0]) * self._scale).astype(np.intp),
            ((y - self._low[1]) * self._scale).astype(np.intp),
        )
        cell = row * self._columns + column
        self._order = np.argsort(cell, kind="stable")
        self._x = x[self._order]
        self._y = y[self._order]
        self._first = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=self._columns * self._rows))])

    def intersect(self, projection: Projection) -> Iterator[RayIntersections]:
        """Yields all intersections with the triangles of a projection, in portions."""
        facts = projection.facts
        for triangle, first, count in self._candidates(projection):
            for part in slices(count, CHUNK):
                at = np.repeat(triangle[part], count[part])
                dot = np.repeat(first[part], count[part]) + count_up(count[part])
                fact = facts[at]
                x, y = self._x[dot] - fact[:, 0], self._y[dot] - fact[:, 1]
                u, v = x * fact[:, 2] + y * fact[:, 3], x * fact[:, 4] + y * fact[:, 5]
                inside = np.flatnonzero((u >= -EDGE) & (v >= -EDGE) & (u + v <= 1 + EDGE))
                fact = fact[inside]
                depth = fact[:, 6] + u[inside] * fact[:, 7] + v[inside] * fact[:, 8]
                yield RayIntersections(self._order[dot[inside]], projection.name[at[inside]], depth)

    def _candidates(self, projection: Projection) -> Iterator[tuple[Ids, Ids, Ids]]:
        """Yields triangles with runs of dots that they may cover: one run per row of cells that a triangle crosses."""
        limit = np.array([self._columns - 1, self._rows - 1])
        low, high = projection.low, projection.high
        top = self._low + (limit + 1) / self._scale
        near = (low[0] <= top[0]) & (low[1] <= top[1]) & (high[0] >= self._low[0]) & (high[1] >= self._low[1])
        kept = np.flatnonzero(near)
        flat = (projection.flat[kept] - self._low) * self._scale
        lowest = np.maximum(np.floor(flat[..., 1].min(axis=1)), 0).astype(np.intp)
        rows = np.minimum(np.floor(flat[..., 1].max(axis=1)), limit[1]).astype(np.intp) - lowest + 1
        for part in slices(rows, CHUNK):
            at = np.repeat(np.arange(part.start, part.stop), rows[part])
            row = lowest[at] + count_up(rows[part])
            left, right = _span(flat[at], row)
            inside = (left <= limit[0] + 1) & (right >= 0)
            start = np.clip(np.floor(np.where(inside, left, 0)), 0, limit[0]).astype(np.intp)
            stop = np.clip(np.floor(np.where(inside, right, 0)), 0, limit[0]).astype(np.intp)
            first = self._first[row * self._columns + start]
            dots = np.where(inside, self._first[row * self._columns + stop + 1] - first, 0)
            wanted = np.flatnonzero(dots)
            yield kept[at[wanted]], first[wanted], dots[wanted]


def _span(flat: Array, row: Ids) -> tuple[Array, Array]:
    """Returns the range of triangles along the rows of unit height that they cross."""
    left, right = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for i in range(3):
        (xa, ya), (xb, yb) = flat[:, i].T, flat[:, (i + 1) % 3].T
        rise = yb - ya
        slope = np.divide(xb - xa, rise, out=np.zeros(len(row)), where=rise != 0)
        outside = (np.maximum(ya, yb) < row) | (np.minimum(ya, yb) > row + 1)
        first = np.where(rise == 0, xa, xa + (np.clip(ya, row, row + 1) - ya) * slope)
        last = np.where(rise == 0, xb, xa + (np.clip(yb, row, row + 1) - ya) * slope)
        np.minimum(left, np.where(outside, np.inf, np.minimum(first, last)), out=left)
        np.maximum(right, np.where(outside, -np.inf, np.maximum(first, last)), out=right)
    return left, right

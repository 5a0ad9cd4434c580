"""Bundles of rays from one point against many triangles, in array operations.

Seen from the point, rays are dots in a flat picture and triangles are triangles. Dots are filed in the cells of a
grid, triangles look up the cells that they cover, and what is left are pairs of a dot and a triangle to compare: a
few per ray.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Bundle", "Meeting", "Picture"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]

NEAR_M = 0.02
DOTS_PER_CELL = 4
CHUNK = 1 << 17  # pairs at a time: more would not fit into the processor's cache
EDGE = 1e-9  # so far outside a triangle, in its own units, still counts: no gaps between neighbours


@dataclass(frozen=True)
class Picture:
    """The flat picture seen from a point: columns of `axes` are right, up and forward."""

    origin_in_world_m: Array
    axes: Array

    @classmethod
    def along(cls, origin_in_world_m: Array, direction: Array) -> Picture:
        """Seen from the origin in that direction, however turned."""
        forward = direction / np.linalg.norm(direction)
        helper = np.zeros(3)
        helper[np.argmin(np.abs(forward))] = 1.0
        right = np.cross(forward, helper)
        right /= np.linalg.norm(right)
        return cls(origin_in_world_m, np.column_stack([right, np.cross(right, forward), forward]))

    def flatten(self, points_in_world_m: Array) -> Array:
        """Points as (x, y, depth); x and y are not yet divided by the depth."""
        return (points_in_world_m - self.origin_in_world_m) @ self.axes


@dataclass(frozen=True)
class Meeting:
    """Dots that lie in triangles: which dot, which triangle, and 1 / depth of the triangle there."""

    dot: Ids
    triangle: Ids
    inverse_depth: Array


class Bundle:
    """Dots of one picture, filed by cells."""

    def __init__(self, dots: Array) -> None:
        span = np.maximum(dots.max(axis=0) - dots.min(axis=0), 1e-12)
        cells = max(1.0, len(dots) / DOTS_PER_CELL)
        self._scale = np.sqrt(cells / (span[0] * span[1]))
        self._scale = min(self._scale, 4096 / span.max())
        self._low = dots.min(axis=0)
        placed = (dots - self._low) * self._scale
        self._columns, self._rows = (int(n) + 1 for n in placed.max(axis=0))
        cell = placed[:, 1].astype(np.intp) * self._columns + placed[:, 0].astype(np.intp)
        self._order = np.argsort(cell, kind="stable")
        self._x, self._y = placed[self._order].T.copy()
        self._first = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=self._columns * self._rows))])

    def meet(self, corners: Array) -> Iterator[Meeting]:
        """All meetings with triangles given by their corners (n, 3, (x, y, depth)), counter-clockwise.

        Triangles that turn their back, or lie off the dots, meet nothing; those that reach behind the eye are cut.
        """
        corners, name = _cut_near(corners)
        flat = (corners[..., :2] / corners[..., 2:] - self._low) * self._scale
        a, b = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
        area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        low, high = np.floor(flat.min(axis=1)), np.floor(flat.max(axis=1))
        limit = np.array([self._columns - 1, self._rows - 1])
        kept = np.flatnonzero((area > 1e-18) & (low <= limit).all(axis=1) & (high >= 0).all(axis=1))
        low, high = np.maximum(low[kept], 0).astype(np.intp), np.minimum(high[kept], limit).astype(np.intp)
        a, b, area, start = a[kept], b[kept], area[kept], flat[kept, 0]
        inverse = 1 / corners[kept, :, 2]
        # Rows: start x, y; the two barycentric weights' slopes; inverse depth at the start and its slopes per weight.
        facts = np.column_stack(
            [start, b[:, 1] / area, -b[:, 0] / area, -a[:, 1] / area, a[:, 0] / area]
            + [inverse[:, 0], inverse[:, 1] - inverse[:, 0], inverse[:, 2] - inverse[:, 0]]
        )
        for triangle, cell in self._covered_cells(low, high, facts):
            first, count = self._first[cell], self._first[cell + 1] - self._first[cell]
            for part in _slices(count, CHUNK):
                pair = np.repeat(np.arange(part.start, part.stop), count[part])
                dot = first[pair] + _count_up(count[part])
                at = triangle[pair]
                fact = facts[at]
                x, y = self._x[dot] - fact[:, 0], self._y[dot] - fact[:, 1]
                u, v = x * fact[:, 2] + y * fact[:, 3], x * fact[:, 4] + y * fact[:, 5]
                inside = np.flatnonzero((u >= -EDGE) & (v >= -EDGE) & (u + v <= 1 + EDGE))
                fact, u, v = fact[inside], u[inside], v[inside]
                depth = fact[:, 6] + u * fact[:, 7] + v * fact[:, 8]
                yield Meeting(self._order[dot[inside]], name[kept[at[inside]]], depth)

    def _covered_cells(self, low: Ids, high: Ids, facts: Array) -> Iterator[tuple[Ids, Ids]]:
        """Pairs of a triangle and a cell with dots that it may cover."""
        width = high[:, 0] - low[:, 0] + 1
        count = width * (high[:, 1] - low[:, 1] + 1)
        reach_u, reach_v = np.abs(facts[:, 2:4]).sum(axis=1) / 2, np.abs(facts[:, 4:6]).sum(axis=1) / 2
        reach_w = np.abs(facts[:, 2:4] + facts[:, 4:6]).sum(axis=1) / 2
        for part in _slices(count, CHUNK):
            triangle = np.repeat(np.arange(part.start, part.stop), count[part])
            row, column = np.divmod(_count_up(count[part]), width[triangle])
            row += low[triangle, 1]
            column += low[triangle, 0]
            cell = row * self._columns + column
            fact = facts[triangle]
            x, y = column + 0.5 - fact[:, 0], row + 0.5 - fact[:, 1]
            u, v = x * fact[:, 2] + y * fact[:, 3], x * fact[:, 4] + y * fact[:, 5]
            near = (u >= -reach_u[triangle] - EDGE) & (v >= -reach_v[triangle] - EDGE)
            near &= u + v <= 1 + reach_w[triangle] + EDGE
            near &= self._first[cell + 1] > self._first[cell]
            yield triangle[near], cell[near]


def _count_up(count: Ids) -> Ids:
    """0, 1, .. count[0] - 1, 0, 1, .. count[1] - 1, and so on."""
    ends = np.cumsum(count)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)


def _slices(count: Ids, limit: int) -> Iterator[slice]:
    """Consecutive slices whose counts add up to about the limit."""
    ends = np.cumsum(count)
    start = 0
    while start < len(count):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + limit, side="right")))
        yield slice(start, stop)
        start = stop


def _cut_near(corners: Array) -> tuple[Array, Ids]:
    """Triangles cut off at the near plane, and the number of the triangle that each piece comes from."""
    behind = corners[..., 2] < NEAR_M
    number = behind.sum(axis=1)
    whole = np.flatnonzero(number == 0)
    pieces, names = [corners[whole]], [whole]
    for hidden in (1, 2):
        name = np.flatnonzero(number == hidden)
        # Turn each so that the odd corner out is the first.
        odd = np.argmax(behind[name] == (hidden == 1), axis=1)
        p, q, r = (corners[name, (odd + i) % 3] for i in range(3))
        pq = p + ((NEAR_M - p[:, 2]) / (q[:, 2] - p[:, 2]))[:, None] * (q - p)
        pr = p + ((NEAR_M - p[:, 2]) / (r[:, 2] - p[:, 2]))[:, None] * (r - p)
        if hidden == 1:
            pieces += [np.stack([pq, q, r], axis=1), np.stack([pq, r, pr], axis=1)]
            names += [name, name]
        else:
            pieces.append(np.stack([p, pq, pr], axis=1))
            names.append(name)
    return np.concatenate(pieces), np.concatenate(names)

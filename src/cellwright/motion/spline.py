"""A cubic spline through evenly spaced configurations, smooth up to its second derivative."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cellwright.core.slices import Slices, at_once

__all__ = ["Spline"]

Array = npt.NDArray[np.float64]
SLICE_ROWS = 1000  # that are solved in some milliseconds
MANY_ROWS = 10_000  # whose coefficients take some milliseconds


class Spline:
    """A spline through rows at 0, 1/n, 2/n ... 1; the outermost two pieces at each end share one cubic ("not a knot").

    Args:
        rows: Configurations (n + 1, joints); one piece is a straight line, two are a parabola.
    """

    def __init__(self, rows: Array) -> None:
        at_once(self._make(rows))

    @classmethod
    def in_slices(cls, rows: Array) -> Slices[Self]:
        """Makes the same spline in slices."""
        spline = cls.__new__(cls)
        yield from spline._make(rows)
        return spline

    def _make(self, rows: Array) -> Slices[None]:
        self.pieces = n = len(rows) - 1
        self.rows = rows
        h = 1.0 / n
        bends = np.zeros_like(rows)  # second derivatives at the rows
        if n == 2:
            bends[:] = (rows[0] - 2 * rows[1] + rows[2]) / h**2
        elif n > 2:
            inner = yield from _solve_inner((rows[:-2] - 2 * rows[1:-1] + rows[2:]) * (6 / h**2))
            bends[1:-1] = inner
            bends[0], bends[-1] = (2 * inner[0] - inner[1], 2 * inner[-1] - inner[-2]) if n > 3 else inner[[0, -1]]
        if n > MANY_ROWS:
            yield
        rise = np.diff(rows, axis=0) / h
        # Per piece, by the parameter since its start: ((c3 t + c2) t + c1) t + c0.
        self._c3 = np.diff(bends, axis=0) / (6 * h)
        self._c2 = bends[:-1] / 2
        self._c1 = rise - h * (2 * bends[:-1] + bends[1:]) / 6
        self._c0 = rows[:-1]
        if n > MANY_ROWS:
            yield

    def at(self, fraction: float) -> tuple[Any, Any, Any]:
        """Returns the row and its first two derivatives at a fraction of the whole."""
        index = min(max(int(fraction * self.pieces), 0), self.pieces - 1)
        t = fraction - index / self.pieces
        c3, c2, c1 = self._c3[index], self._c2[index], self._c1[index]
        return (
            ((c3 * t + c2) * t + c1) * t + self._c0[index],
            (3 * c3 * t + 2 * c2) * t + c1,
            6 * c3 * t + 2 * c2,
        )

    def at_many(self, fractions: Array) -> tuple[Array, Array, Array]:
        """Returns the same at many fractions, in rows."""
        index = np.clip((fractions * self.pieces).astype(np.intp), 0, self.pieces - 1)
        t = (fractions - index / self.pieces)[:, None]
        c3, c2, c1 = self._c3[index], self._c2[index], self._c1[index]
        return (
            ((c3 * t + c2) * t + c1) * t + self._c0[index],
            (3 * c3 * t + 2 * c2) * t + c1,
            6 * c3 * t + 2 * c2,
        )

    def middles(self) -> Array:
        """Returns the rows in the middle of every piece."""
        t = 0.5 / self.pieces
        return np.asarray(((self._c3 * t + self._c2) * t + self._c1) * t + self._c0)

    def steepness(self) -> tuple[Array, Array, Array]:
        """Returns magnitudes of the three derivatives per piece, the largest in it or a little more."""
        h = 1.0 / self.pieces
        ends = [self._c1, (3 * self._c3 * h + 2 * self._c2) * h + self._c1]
        bends = [2 * self._c2, 6 * self._c3 * h + 2 * self._c2]
        second = np.maximum(*np.abs(bends))
        first = np.maximum(*np.abs(ends)) + second * h / 8  # a parabola rises at most so far above its ends
        return first, second, np.abs(6 * self._c3)


def _solve_inner(right: Array) -> Slices[Array]:
    """Solves m[i-1] + 4 m[i] + m[i+1] = right for the bends at inner rows, the outermost continued linearly."""
    count = len(right)
    diagonal = np.full(count, 4.0)
    upper = np.ones(count)
    lower = np.ones(count)
    if count > 2:  # m[-1] = 2 m[0] - m[1]
        diagonal[[0, -1]] = 6.0
        upper[0] = lower[-1] = 0.0
    else:
        diagonal[:] = 5.0  # m[-1] = m[0]
    result = right.copy()
    for i in range(1, count):
        if i % SLICE_ROWS == 0:
            yield
        factor = lower[i] / diagonal[i - 1]
        diagonal[i] -= factor * upper[i - 1]
        result[i] -= factor * result[i - 1]
    result[-1] /= diagonal[-1]
    for i in range(count - 2, -1, -1):
        if i % SLICE_ROWS == SLICE_ROWS - 1:
            yield
        result[i] = (result[i] - upper[i] * result[i + 1]) / diagonal[i]
    return result

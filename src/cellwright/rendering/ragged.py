"""Lists of lists of different lengths, as flat arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["count_up", "slices"]

Ids = npt.NDArray[np.intp]


def count_up(count: Ids) -> Ids:
    """Returns 0, 1, .. count[0] - 1, 0, 1, .. count[1] - 1, and so on."""
    ends = np.cumsum(count)
    return np.asarray(np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count))


def slices(count: Ids, limit: int) -> Iterator[slice]:
    """Yields consecutive slices whose counts add up to about the limit."""
    ends = np.cumsum(count)
    start = 0
    while start < len(count):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + limit, side="right")))
        yield slice(start, stop)
        start = stop

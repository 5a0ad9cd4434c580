"""Keys of all that moved in a log, between which any moment can be asked for."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MotionKeys"]

Array = npt.NDArray[np.float64]


class MotionKeys:
    """Rows of numbers (poses, or positions of joints), each with keys at the moments when it moved.

    Nothing is told of what stands still. So a thing stays where it was until one period before its next key: it
    must not creep there through all the time since its last one.

    Args:
        width: Numbers of a row: 7 for poses (position, quaternion), 1 for joints.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._times: dict[str, list[float]] = {}
        self._rows: dict[str, list[Array]] = {}

    def add(self, time_s: float, names: tuple[str, ...], values: Array) -> None:
        """Adds a key of each thing; in the order of time."""
        for name, row in zip(names, values.reshape(-1, self._width), strict=True):
            self._times.setdefault(name, []).append(time_s)
            self._rows.setdefault(name, []).append(row)

    def close(self, period_s: float) -> None:
        """Makes it ready to be asked; `period_s` is the time between two messages of what moves all the time."""
        self.names = tuple(self._times)
        self._period_s = period_s
        self._key_times = [self._times[name] for name in self.names]
        counts = [len(times) for times in self._key_times]
        self._firsts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp) if counts else np.empty(0, np.intp)
        rows = [np.asarray(self._rows[name]) for name in self.names]
        self._values = np.concatenate([*rows, np.empty((0, self._width))])
        del self._rows

    def first(self, name: str) -> Array:
        """Returns a thing's first key."""
        return np.asarray(self._values[self._firsts[self.names.index(name)]])

    def at(self, time_s: float) -> Array:
        """Returns the row of each thing at a moment, in the order of `names`."""
        count = len(self.names)
        before, share = np.zeros(count, np.intp), np.zeros(count)
        for row, times in enumerate(self._key_times):
            number = bisect_right(times, time_s) - 1
            before[row] = max(number, 0)
            if 0 <= number < len(times) - 1:
                end_s = times[number + 1]
                start_s = max(times[number], end_s - self._period_s)
                share[row] = max(0.0, time_s - start_s) / (end_s - start_s)
        before += self._firsts
        rows = self._values[before].copy()
        moving = np.flatnonzero(share)
        if len(moving):
            a, b, t = self._values[before[moving]], self._values[before[moving] + 1], share[moving, None]
            rows[moving] = a + t * (b - a)
            if self._width == 7:
                rows[moving, 3:] = _slerp(a[:, 3:], b[:, 3:], t)
        return rows


def _slerp(a: Array, b: Array, share: Array) -> Array:
    """Returns quaternions between two of them, on the shorter way."""
    cosine = (a * b).sum(axis=1, keepdims=True)
    b = np.where(cosine < 0, -b, b)
    angle: Any = np.arccos(np.clip(np.abs(cosine), 0, 1))
    sine = np.sin(angle)
    is_far = sine > 1e-6
    divisor = np.where(is_far, sine, 1.0)
    first = np.where(is_far, np.sin((1 - share) * angle) / divisor, 1 - share)
    second = np.where(is_far, np.sin(share * angle) / divisor, share)
    mixed = first * a + second * b
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))

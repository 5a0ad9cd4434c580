"""A motion through joint positions at given times, as ROS programs send it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutOfRange

__all__ = ["TimedJoints"]

Array = npt.NDArray[np.float64]

LONGEST_S = 36_000.0
SOONEST_S = 1e-4  # from one point to the next


class TimedJoints:
    """Joint positions over time, cubic between the points; it begins and ends at rest.

    Attributes:
        duration_s: Until it rests.

    Args:
        times_s: Of the points, increasing.
        rows_rad: The positions there.
        speeds_radps: The speeds there; None where the motion is to find one itself.
    """

    def __init__(
        self, times_s: Sequence[float] | Array, rows_rad: Sequence[Array], speeds_radps: Sequence[Array | None]
    ) -> None:
        times = np.asarray(times_s, float)
        for number, (before, after) in enumerate(zip((0.0, *times), times, strict=False), 1):
            least = before if number == 1 else before + SOONEST_S
            if not least <= after <= LONGEST_S:
                raise OutOfRange(f"time_from_start of point {number}", float(after), float(least), LONGEST_S, "s")
        self._times, self._rows, self._given = times, np.array(rows_rad, float), list(speeds_radps)
        self._speeds = np.zeros_like(self._rows)
        self.duration_s = float(times[-1])

    def beginning_at(self, start_rad: Array) -> Self:
        """Returns the motion from where an arm stands; a first point at time 0 must be there already."""
        times, rows, given = self._times, self._rows, self._given
        if times[0] > 0.0:
            times, rows, given = np.array([0.0, *times]), np.vstack([start_rad, rows]), [None, *given]
        if len(times) < 2:
            raise BadInput("a trajectory of one point needs a time_from_start above 0")
        motion = type(self)(times, list(rows), given)
        slopes = np.diff(rows, axis=0) / np.diff(times)[:, None]
        for number in range(1, len(times) - 1):
            own = given[number]
            before, after = slopes[number - 1], slopes[number]
            middle = np.where(before * after > 0, (before + after) / 2, 0.0)  # no swinging beyond a turning point
            motion._speeds[number] = middle if own is None else own
        for number in (0, len(times) - 1):
            own = given[number]
            if own is not None:
                motion._speeds[number] = own
        return motion

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Returns joint positions and velocities at a time."""
        times = self._times
        time_s = min(max(time_s, 0.0), self.duration_s)
        piece = min(int(np.searchsorted(times, time_s, side="right")), len(times) - 1)
        begin, end = self._rows[piece - 1], self._rows[piece]
        span_s = times[piece] - times[piece - 1]
        first, last = self._speeds[piece - 1] * span_s, self._speeds[piece] * span_s
        s = (time_s - times[piece - 1]) / span_s
        square, cube = s * s, s * s * s
        position = (
            (2 * cube - 3 * square + 1) * begin
            + (cube - 2 * square + s) * first
            + (3 * square - 2 * cube) * end
            + (cube - square) * last
        )
        rate = (
            6 * (square - s) * begin
            + (3 * square - 4 * s + 1) * first
            + 6 * (s - square) * end
            + (3 * square - 2 * s) * last
        )
        return position, rate / span_s

"""Reparametrisation of a path: a change of its parameter after which one constant rate suits all of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.slices import Slices, spans
from cellwright.motion.limits import JointLimits

__all__ = ["time_spaced_places"]

Array = npt.NDArray[np.float64]

FINE = 8  # places to a piece, for the computation
SLOWEST = 1e-3  # of the fastest rate
SLICE_PLACES = 4000  # that are gone through in some milliseconds
SLICE_WINDOWS = 2_000_000  # places in all windows that are looked at in one


def time_spaced_places(
    steepness: tuple[Array, Array, Array],
    limits: JointLimits,
    fastest: float,
    share: float,
    smooth_s: float,
    count: int,
) -> Slices[tuple[Array, float]]:
    """Returns places on a path, evenly spaced in the time that it takes to run along it, and that time.

    Every piece of the path has its largest rate, by the bends there; between slow and fast pieces the rate rises and
    falls evenly, and its corners are smoothed. This is only a proposal: the limits are checked by
    `PathLimits.within`.

    Args:
        steepness: Magnitudes of the path's first three derivatives (even pieces, columns).
        limits: Of the columns.
        fastest: Rate of the path's parameter that is nowhere exceeded.
        share: Of acceleration and jerk, for bends, and for speeding up and slowing down.
        smooth_s: The time over which corners are smoothed.
        count: The number of pieces to divide the time into.
    """
    first, second, third = (np.repeat(rows + 1e-12, FINE, axis=0) for rows in steepness)
    pieces = len(first)
    rate = np.empty(pieces)
    for part in spans(pieces, SLICE_PLACES):
        rate[part] = np.minimum.reduce(
            [
                np.full(part.stop - part.start, fastest),
                (limits.velocity_radps / first[part]).min(axis=1),
                np.sqrt(share * limits.acceleration_radps2 / second[part]).min(axis=1),
                np.cbrt(share * limits.jerk_radps3 / third[part]).min(axis=1),
            ]
        )
        yield
    energy = np.maximum(rate, SLOWEST * fastest) ** 2
    gain = 2 * share * (limits.acceleration_radps2 / first).min(axis=1) / pieces
    for order in (range(1, pieces), range(pieces - 2, -1, -1)):
        for k in order:
            if k % SLICE_PLACES == SLICE_PLACES - 1:
                yield
            energy[k] = min(energy[k], energy[k - order.step] + gain[k])
    rate = np.sqrt(energy)
    edges = np.linspace(0.0, 1.0, pieces + 1)
    times = np.concatenate([[0.0], np.cumsum(1 / (rate * pieces))])
    even = np.linspace(0.0, times[-1], pieces + 1)
    places = np.interp(even, times, edges)
    rate_then = np.interp(places, (edges[:-1] + edges[1:]) / 2, rate)
    slower = yield from _smooth(rate_then, max(1, round(smooth_s / 4 / even[1])))
    longer = (rate_then / slower)[:-1] / 2 + (rate_then / slower)[1:] / 2
    after = np.concatenate([[0.0], np.cumsum(longer * even[1])])
    chosen = np.interp(np.linspace(0.0, after[-1], count + 1), after, places)
    chosen[[0, -1]] = 0.0, 1.0
    return chosen, float(after[-1])


def _smooth(rate: Array, half: int) -> Slices[Array]:
    """Returns the rate without corners, nowhere more than before: the least around each place, averaged twice."""
    padded = np.pad(rate, 2 * half, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 4 * half + 1)
    least = np.empty(len(windows))
    for part in spans(len(windows), max(1, SLICE_WINDOWS // windows.shape[1])):
        least[part] = windows[part].min(axis=1)
        yield
    width = 2 * half + 1
    for _ in range(2):
        sums = np.cumsum(np.pad(np.pad(least, half, mode="edge"), (1, 0)))
        least = (sums[width:] - sums[:-width]) / width
    return np.asarray(least)

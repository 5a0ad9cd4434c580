"""The roughness of the floor, as wheels and skids feel it.

A contact with a height field jumps from facet to facet, which an accelerometer shows as blows. So the floor stays a
plane, and before each physics step the height of the floor below a wheel or a skid is added to its radius: the axle
rises as it would on the bump. What this leaves out: forces stay vertical on a slope, and a wheel follows bumps shorter
than the patch on which it stands.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cellwright.cells.mobiles import RoughnessCfg
from cellwright.core.rng import RandomStreams

__all__ = ["FloorHeights", "floor_table"]

Array = npt.NDArray[np.float64]

PITCH_M = 0.0005  # of the table; the shortest roughness is more than twice as long
CELLS = 512  # along each side: the floor repeats itself every 256 mm
ROW = 1024  # in memory, so that a place in the table is found by bits
PARTS = 1024  # of a cell, for each of which the weights are known


@lru_cache(maxsize=4)
def floor_table(seed: int, roughness: tuple[RoughnessCfg, ...]) -> Array:
    """Returns the control points of a floor's heights: periodic, by the seed alone, three rows and columns repeated.

    Each kind of roughness is Gaussian noise whose autocorrelation falls to 1/e over its length.
    """
    noise = np.fft.rfft2(RandomStreams(seed).stream("floor").standard_normal((CELLS, CELLS)))
    waves_y = 2 * np.pi * np.fft.fftfreq(CELLS, PITCH_M)[:, None]
    waves_x = 2 * np.pi * np.fft.rfftfreq(CELLS, PITCH_M)[None, :]
    density = np.zeros((CELLS, CELLS // 2 + 1))
    for kind in roughness:
        share = np.exp(-((waves_y * kind.length_m) ** 2) / 4) * np.exp(-((waves_x * kind.length_m) ** 2) / 4)
        share[0, 0] = 0.0  # a floor that is higher everywhere is no rougher
        both = 2 * share.sum() - share[:, 0].sum() - share[:, -1].sum()  # with the half that real noise leaves out
        density += kind.rms_m**2 * CELLS**2 / both * share
    blur = (2 + np.cos(waves_y * PITCH_M)) * (2 + np.cos(waves_x * PITCH_M)) / 9  # of the splines between the points
    density /= blur**2
    heights = np.fft.irfft2(noise * np.sqrt(density), (CELLS, CELLS))
    table = np.zeros((CELLS + 3, ROW))
    table[:, : CELLS + 3] = np.pad(heights, ((0, 3), (0, 3)), mode="wrap")
    table.flags.writeable = False
    return table


def _weights() -> Array:
    """Returns the weights of the four control points around each part of a cell, of a cubic B-spline."""
    t = np.arange(PARTS) / PARTS
    return np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3], axis=1) / 6


WEIGHTS = _weights()


class FloorHeights:
    """The heights of the floor below a number of points: cubic B-splines, smooth to their second derivative.

    It is called once per physics step, so every array is made beforehand.

    Args:
        table: From `floor_table`.
        places: Where x and y of each point are in the array of coordinates: (points, 2).
    """

    def __init__(self, table: Array, places: npt.NDArray[np.intp]) -> None:
        count = len(places)
        self._table = table.ravel()
        self._places = places
        self._at = np.empty((count, 2))
        self._fine = np.empty((count, 2), np.intp)
        self._part = np.empty((count, 2), np.intp)
        self._corner = np.empty(count, np.intp)
        self._weights = np.empty((count, 2, 4))
        self._products = np.empty((count, 4, 4))
        self._points = np.empty((count, 4, 4))
        self._around = np.arange(4)[:, None] + np.arange(4)[None, :] * ROW
        self._indices = np.empty((count, 4, 4), np.intp)
        self._views = (
            self._weights[:, 0, :, None],
            self._weights[:, 1, None, :],
            self._corner[:, None, None],
            self._products.reshape(count, 16),
            self._points.reshape(count, 16),
        )
        self._strides = np.array([1, ROW])
        self._scale, self._within, self._shift, self._round = (
            np.array(number) for number in (PARTS / PITCH_M, PARTS - 1, PARTS.bit_length() - 1, CELLS - 1)
        )  # arrays: a number would be made into one each time

    def heights_m(self, coordinates_m: Array) -> Array:
        """Returns the heights below the points, given the flat array of coordinates."""
        at, fine, part = self._at, self._fine, self._part
        weights_x, weights_y, corners, products, points = self._views
        coordinates_m.take(self._places, out=at, mode="clip")
        np.multiply(at, self._scale, out=at)
        np.floor(at, out=at)
        np.copyto(fine, at, casting="unsafe")
        np.bitwise_and(fine, self._within, out=part)
        WEIGHTS.take(part, 0, self._weights, "clip")
        np.right_shift(fine, self._shift, out=fine)
        np.bitwise_and(fine, self._round, out=fine)
        np.vecdot(fine, self._strides, out=self._corner)
        np.add(corners, self._around, out=self._indices)
        self._table.take(self._indices, out=self._points, mode="clip")
        np.multiply(weights_x, weights_y, out=self._products)
        return np.asarray(np.vecdot(points, products))

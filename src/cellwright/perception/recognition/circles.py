"""Places where circles of given radii may be, by votes of edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cellwright.perception.recognition.clean import SmallPicture
from cellwright.perception.recognition.lens import CalibratedLens
from cellwright.perception.support import Surface

__all__ = ["CircleGuess", "TopView", "guess_circles", "top_view"]

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
EDGE_PX = 1.4  # blur of the map before edges are looked for
LEAST_STEP, FULL_STEP = 0.05, 0.15  # of features across an edge: nothing below counts, nothing above counts more
STEPS_OF_NOISE = 3.0
LEAST_SHARE = 0.22  # of a circle's edge that must have voted


class CircleGuess(NamedTuple):
    """A place at which a circle may be, at the height of the map."""

    x_m: float
    y_m: float
    radius_m: float
    share: float


class TopView(NamedTuple):
    """A map of one table as seen from straight above, as if all lay at one height.

    Attributes:
        features: (rows, columns, 3); rows along y, columns along x.
        seen: (rows, columns): whether the picture shows it.
        low_m: x and y of the middle of the first pixel.
        pixel_m: Side of a pixel.
        height_m: The height.
        noise: Of one feature.
    """

    features: Floats
    seen: npt.NDArray[np.bool_]
    low_m: Array
    pixel_m: float
    height_m: float
    noise: float


def top_view(
    small: SmallPicture, lens: CalibratedLens, surface: Surface, height_m: float, pixel_m: float
) -> TopView | None:
    """Returns the map of a table, or None where the camera sees nothing of it."""
    seen = lens.footprint_m(height_m)
    if seen is None:
        return None
    low, high = np.maximum(seen[0], surface.min_xy_m), np.minimum(seen[1], surface.max_xy_m)
    columns, rows = np.ceil((high - low) / pixel_m).astype(int).tolist()
    if min(columns, rows) < 8:
        return None
    y, x = np.mgrid[:rows, :columns] * pixel_m
    points = np.stack([x + low[0], y + low[1], np.full(x.shape, height_m)], axis=-1)
    found = small.sampled(lens.pixels(points))
    inside = np.isfinite(found[..., 0])
    if not inside.any():
        return None
    return TopView(np.where(inside[..., None], found, 0), inside, low, pixel_m, height_m, 2 * small.noise)


def guess_circles(view: TopView, radii_m: Sequence[float]) -> list[CircleGuess]:
    """Returns where circles of these radii may be: edges vote for the places that their normals point to."""
    import cv2

    rows, columns = view.seen.shape
    across, down, strength = _edges(view)
    j, i = np.nonzero(strength)
    weight, nx, ny = strength[j, i], across[j, i], down[j, i]
    guesses = []
    for radius_m in radii_m:
        reach = radius_m / view.pixel_m
        votes = np.zeros(rows * columns, np.float32)
        for sign in (-reach, reach):
            x, y = np.round(i + sign * nx).astype(np.intp), np.round(j + sign * ny).astype(np.intp)
            inside = (x >= 0) & (y >= 0) & (x < columns) & (y < rows)
            votes += np.bincount(y[inside] * columns + x[inside], weight[inside], minlength=rows * columns)
        spread = max(1.2, 0.06 * reach)
        total = cv2.GaussianBlur(votes.reshape(rows, columns).astype(np.float32), (0, 0), spread)
        total *= np.float32(2 * math.pi * spread**2 / (2 * math.pi * reach))
        size = 2 * int(0.5 * reach) + 1
        peaks = (total >= cv2.dilate(total, np.ones((size, size), np.uint8))) & (total > LEAST_SHARE)
        for row, column in zip(*np.nonzero(peaks), strict=True):
            x_m, y_m = view.low_m + view.pixel_m * np.array([column, row])
            guesses.append(CircleGuess(float(x_m), float(y_m), radius_m, float(total[row, column])))
    return guesses


def _edges(view: TopView) -> tuple[Floats, Floats, Floats]:
    """Returns directions and strengths of thin edges; where there is none, the strength is zero."""
    import cv2

    blurred = cv2.GaussianBlur(view.features, (0, 0), EDGE_PX)
    step = np.float32(EDGE_PX * math.sqrt(2 * math.pi) * 0.5)  # of the derivative below, at the middle of a step
    gx = cv2.Sobel(blurred, cv2.CV_32F, 1, 0, ksize=1) * step
    gy = cv2.Sobel(blurred, cv2.CV_32F, 0, 1, ksize=1) * step
    sizes = np.hypot(gx, gy)
    best = sizes.argmax(axis=2)[..., None]
    size = np.take_along_axis(sizes, best, axis=2)[..., 0]
    unit = np.maximum(size, 1e-6)
    nx, ny = (np.take_along_axis(part, best, axis=2)[..., 0] / unit for part in (gx, gy))
    least = max(LEAST_STEP, STEPS_OF_NOISE * view.noise / (2 * math.sqrt(math.pi) * EDGE_PX))
    strong = (size > least) & cv2.erode(view.seen.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
    strong[[0, -1]] = strong[:, [0, -1]] = False
    j, i = np.nonzero(strong)
    own = size[j, i]
    dx, dy = np.round(nx[j, i]).astype(np.intp), np.round(ny[j, i]).astype(np.intp)
    thin = (own >= size[j + dy, i + dx]) & (own > size[j - dy, i - dx])
    strength = np.zeros_like(size)
    strength[j[thin], i[thin]] = np.minimum(own[thin] / FULL_STEP, 1)
    return nx, ny, strength

"""Evidence in a picture that something stands on the plate: per pixel, against the plate in light and in shadow."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from cellwright.perception.picture import Picture
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.perception.stereo.sparse_projection import project

__all__ = ["CAP", "PlateEvidence", "PlateModel", "learn_plate", "plate_evidence"]

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

BINNING = 2  # pixels along each axis that become one: noise halves, edges stay sharp enough for a tenth of a pixel
CAP = 3.0  # most that one pixel tells, for or against, in nats
LEAST_FAR = 2.5  # in units of the noise; from there on a colour is rather something than the plate
ASIDE = -0.75, 1.5  # the same beside the plate, where arms move, and where looking alike proves little
LEAST_SD = 3.0  # grey levels; what no model of light explains
TALLEST_M = 0.12  # a cube whose size is not known is looked for up to there
SHADOW_RATIO = 1.25  # of lit to shaded, from where on they are told apart
USUAL_SHADOW = np.array([0.50, 0.515, 0.54], np.float32)  # of the light, where a picture has no shadow to learn from
MARGIN_PX = 2


@dataclass(frozen=True)
class PlateEvidence:
    """One picture's evidence, on the part of it that can show the cube.

    Attributes:
        nats: (rows, columns): logarithm of the likelihood ratio of something against the bare plate.
        origin_px: Column and row of its corner in the picture.
        sd: Noise of the smoothed colours, grey levels.
        mean_px: Pixels of the picture over which the noise of one was averaged.
    """

    nats: Floats
    origin_px: tuple[int, int]
    sd: float
    mean_px: float

    @property
    def binning(self) -> int:
        """Pixels of the picture along each axis that one of its own covers."""
        return BINNING


@dataclass(frozen=True)
class PlateModel:
    """The looks of the bare plate from one camera.

    Attributes:
        lit: (rows, columns, 3) in full light.
        shaded: The same in shadow.
        on_plate: Pixels of the plate.
        explained: Pixels on which lit and shaded explain the reference; all of the plate without one.
        reference: The reference's own colours, beside the plate too; None without a reference.
        sd: Deviation of the plate from lit and shaded, its noise left out.
    """

    lit: Floats
    shaded: Floats
    on_plate: Mask
    explained: Mask
    reference: Floats | None
    sd: float


@dataclass(frozen=True)
class _Window:
    """The part of a picture that can show the cube, made smaller and smooth."""

    colours: Floats
    origin_px: tuple[int, int]
    sd: float
    mean_px: float
    blur_px: float


def learn_plate(picture: Picture, task: CubeOnPlate, *, is_empty: bool) -> PlateModel | None:
    """Returns how the plate looks, from a picture of it; None where the plate is not in view.

    Args:
        picture: With nothing on the plate where `is_empty`; arms may hide some of it, and shadows lie on it.
        task: The plate and the cube.
        is_empty: Whether it is a reference.
    """
    window = _window(picture, task)
    if window is None:
        return None
    rows, columns = window.colours.shape[:2]
    on_plate = _plate_mask(picture, task, window)
    if on_plate.sum() < 400:
        return None
    y, x = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j].astype(np.float32)
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y, x**3, x * x * y], axis=-1)
    grey = window.colours.sum(axis=2)
    limit, _ = cv2.threshold(
        np.clip(grey[on_plate] / 3, 0, 255).astype(np.uint8), 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU
    )
    bright = on_plate & (grey / 3 > limit)
    dark = on_plate & ~bright
    ratio = window.colours[bright].mean() / max(float(window.colours[dark].mean()), 1.0) if dark.any() else 1.0
    has_shadow = ratio > SHADOW_RATIO and dark.sum() > 100
    lit, sd = _surface(window.colours, terms, bright if has_shadow else on_plate)
    shaded = _shade(window.colours, lit, dark, trusted=is_empty) if has_shadow else None
    if shaded is None:
        shaded = lit * USUAL_SHADOW
    extra = float(np.sqrt(max(sd**2 - window.sd**2, 0.0)))
    if not is_empty:
        return PlateModel(lit, shaded, on_plate, on_plate, None, extra)
    far2 = _distance2(window.colours, shaded, lit) / (window.sd**2 + extra**2 + LEAST_SD**2)
    return PlateModel(lit, shaded, on_plate, on_plate & (far2 < LEAST_FAR**2), window.colours, extra)


def plate_evidence(picture: Picture, task: CubeOnPlate, plate: PlateModel) -> PlateEvidence | None:
    """Returns the evidence that something stands on the plate; None where the plate is not in view."""
    window = _window(picture, task)
    if window is None or window.colours.shape != plate.lit.shape:
        return None
    colours = window.colours
    noise2, wide = window.sd**2, window.blur_px
    far2 = (_distance2(colours, plate.shaded, plate.lit) - 2 * noise2) / (noise2 + plate.sd**2 + LEAST_SD**2)
    if plate.reference is None:
        nats = np.where(plate.on_plate, _nats(far2, wide), 0.0)
        return PlateEvidence(nats.astype(np.float32), window.origin_px, window.sd, window.mean_px)
    share = (plate.shaded / np.maximum(plate.lit, 1)).astype(np.float32)
    reference = plate.reference
    as_before2 = np.minimum(
        _distance2(colours, reference * share, reference), _distance2(colours, reference, reference / share)
    )
    as_before2 = (as_before2 - 4 * noise2) / (2 * noise2 + LEAST_SD**2)
    nats = _nats(np.where(plate.explained, far2, as_before2), wide)
    nats = np.where(plate.on_plate, nats, np.clip(nats / 2, *ASIDE))
    return PlateEvidence(nats.astype(np.float32), window.origin_px, window.sd, window.mean_px)


def _nats(far2: Floats, blur_px: float) -> Floats:
    """Returns evidence from squared distances in units of the noise; half of an edge's contrast tells nothing."""
    far: Floats = np.sqrt(np.maximum(far2, 0))
    size = 2 * int(np.ceil(1.5 * blur_px)) + 3
    most = cv2.dilate(far, np.ones((size, size), np.uint8))
    return np.asarray(CAP * np.clip(2 * far / np.maximum(most, 2 * LEAST_FAR) - 1, -1, 1), np.float32)


def _distance2(colours: Floats, start: Floats, end: Floats) -> Floats:
    """Returns the squared distance of colours from the line between two others."""
    way = end - start
    off = colours - start
    length2 = np.maximum(np.einsum("...i,...i", way, way), 1e-3)
    part = np.clip(np.einsum("...i,...i", off, way) / length2, 0.0, 1.0)
    off -= part[..., None] * way
    return np.asarray(np.einsum("...i,...i", off, off), np.float32)


def _window(picture: Picture, task: CubeOnPlate) -> _Window | None:
    tall_m = task.edge_m or TALLEST_M
    corners = [
        (x, y, z)
        for x in (task.min_xy_m[0], task.max_xy_m[0])
        for y in (task.min_xy_m[1], task.max_xy_m[1])
        for z in (task.plate_z_m, task.plate_z_m + tall_m)
    ]
    seen = project(picture, corners)
    rows, columns = picture.pixels.shape[:2]
    if not np.isfinite(seen).all():
        return None
    low = np.maximum(np.floor(seen.min(axis=0)).astype(int) - 8, 0) // BINNING * BINNING
    high = np.minimum(np.ceil(seen.max(axis=0)).astype(int) + 8, [columns, rows]) // BINNING * BINNING
    if (high - low < 32).any():
        return None
    part = picture.pixels[low[1] : high[1], low[0] : high[0]]
    size = (part.shape[1] // BINNING, part.shape[0] // BINNING)
    colours = cv2.resize(part, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    step = colours[1:, 1:] - colours[:-1, :-1]
    sd = float(np.median(np.abs(step[::2, ::2])) / 0.6745 / np.sqrt(2))
    mean_px, width = float(BINNING**2), 0.0
    if sd > 1.0:
        width = min(0.6 + sd / 20, 1.8)
        colours = cv2.GaussianBlur(colours, (0, 0), width)
        shrink = 4 * np.pi * width**2
        sd, mean_px = sd / float(np.sqrt(shrink)), mean_px * float(shrink)
    return _Window(colours, (int(low[0]), int(low[1])), sd, mean_px, width)


def _plate_mask(picture: Picture, task: CubeOnPlate, window: _Window) -> Mask:
    (x0, y0), (x1, y1) = task.min_xy_m, task.max_xy_m
    corners = [(x, y, task.plate_z_m) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]
    outline = (project(picture, corners) - window.origin_px) / BINNING - 0.5
    mask = np.zeros(window.colours.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(outline).astype(np.int32), 1)
    inside = cv2.erode(mask, np.ones((2 * MARGIN_PX + 1,) * 2, np.uint8), borderType=cv2.BORDER_REPLICATE)
    return np.asarray(inside > 0)


def _surface(colours: Floats, terms: Floats, mask: Mask) -> tuple[Floats, float]:
    """Returns a smooth surface of colours through the pixels of a mask without outliers, and how far these are off."""
    rows, columns = np.nonzero(mask)
    step = max(len(rows) // 4000, 1)
    x = terms[rows[::step], columns[::step]].astype(np.float64)
    y = colours[rows[::step], columns[::step]].astype(np.float64)
    kept = np.ones(len(x), bool)
    weights: Array = np.zeros((terms.shape[-1], 3))
    sd = 1.0
    for _ in range(6):
        own = x[kept]
        weights = np.asarray(np.linalg.solve(own.T @ own + 1e-3 * np.eye(own.shape[1]), own.T @ y[kept]), float)
        off = np.abs(y - x @ weights).max(axis=1)
        sd = float(np.median(off[kept])) / 1.1  # the largest of three normal values has the median 1.1
        kept = off < 3.5 * sd + 1e-3
    return terms @ weights.astype(np.float32), sd


def _shade(colours: Floats, lit: Floats, dark: Mask, *, trusted: bool) -> Floats | None:
    """Returns the plate's colour in shadow, the same everywhere: highlights are the key light's, which is hidden there.

    Args:
        colours: Of the picture.
        lit: The plate in full light.
        dark: Pixels that are not in full light.
        trusted: Whether all of these are the plate; else those that have the hue of a shadow are taken.
    """
    own = colours[dark]
    if not trusted:
        shares = own / np.maximum(lit[dark], 1)
        hue = shares / np.maximum(shares.mean(axis=1, keepdims=True), 1e-3)
        own = own[(np.abs(hue - USUAL_SHADOW / USUAL_SHADOW.mean()) < 0.08).all(axis=1)]
    if len(own) < 50:
        return None
    shade = np.median(own, axis=0)
    near = own[np.abs(own - shade).max(axis=1) < 25]
    return np.broadcast_to((np.median(near, axis=0) if len(near) else shade).astype(np.float32), lit.shape)

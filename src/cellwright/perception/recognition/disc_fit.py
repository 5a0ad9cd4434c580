"""Discs fitted by their own colour, where a shadow has edges beside theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cellwright.perception.recognition.clean import SmallPicture
from cellwright.perception.recognition.lens import CalibratedLens
from cellwright.perception.recognition.model import RoundOutline
from cellwright.perception.recognition.round_fit import FittedCircle, points_about, with_insides

__all__ = ["refit_discs"]

Array = npt.NDArray[np.float64]
ANGLES, OFFSETS = 72, 31
REACH_M, MOST_REACH = 0.007, 0.32  # how far beyond teeth colours are looked at, inwards and outwards; of the radius
BLURRED_M = 0.0015  # how far beyond teeth a picture still shows some of them
TOOTH = range(-2, 3)  # neighbouring angles that are taken together: at least one tooth of a gear
ROUNDS = 2
TOLERANCE = 0.055  # of the radius: as for edges
SHADOW = 0.15  # share of what lies outside in one direction that is shadow, where there is any
LEAST_DEPTH, DEPTHS_OF_NOISE = 0.12, 4.0  # what is less different outside is no end of the disc
KNOWN = 24.0  # directions that the radius of the drawings counts as
NEAR = 0.16  # of the radius: what is farther off is not tried
LEAST_SHARE, LEAST_SOLID = 0.5, 0.6
SURE = 0.03  # of the radius: what has a colour and is nearer is fitted well enough


def refit_discs(
    small: SmallPicture,
    lens: CalibratedLens,
    circles: Sequence[FittedCircle],
    outlines: Sequence[RoundOutline],
    height_m: float,
) -> list[FittedCircle]:
    """Returns the circles; those that may be parts, but have the colour of shadows, are fitted by all of their inside.

    Args:
        small: The picture.
        lens: Its lens.
        circles: As they were fitted to edges.
        outlines: Of the parts.
        height_m: The height of the map.
    """
    tried: dict[int, FittedCircle] = {}
    for number, circle in enumerate(circles if outlines else ()):
        outline = min(outlines, key=lambda one: abs(one.radius_m / circle.radius_m - 1))
        off = abs(circle.radius_m / outline.radius_m - 1)
        if off > NEAR or (circle.is_coloured and off < SURE):
            continue
        if circle.share < LEAST_SHARE or circle.solid < LEAST_SOLID or not circle.is_disc:
            continue
        if any(_is_same(circle, circles[other]) for other in tried):
            continue
        again = _refit(small, lens, circle, outline, height_m)
        if again is not None and _worth(again, outline) >= _worth(circle, outline):
            tried[number] = again
    result = list(circles)
    if tried:
        for number, again in zip(tried, with_insides(small, lens, list(tried.values()), height_m), strict=True):
            result[number] = again
    return result


def _is_same(one: FittedCircle, other: FittedCircle) -> bool:
    """Returns whether two circles were fitted to the same edges."""
    near = SURE * other.radius_m
    return abs(one.radius_m - other.radius_m) < near and float(np.hypot(*(one.xy_m - other.xy_m))) < near


def _worth(circle: FittedCircle, outline: RoundOutline) -> float:
    return circle.share - 2 * abs(circle.radius_m / outline.radius_m - 1)


def _refit(
    small: SmallPicture, lens: CalibratedLens, circle: FittedCircle, outline: RoundOutline, height_m: float
) -> FittedCircle | None:
    """Returns the disc by where its colour ends in each direction; its radius is known but for teeth and height."""
    angles = 2 * np.pi * (np.arange(ANGLES) + 0.5) / ANGLES
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    design = np.column_stack([ways, np.ones(ANGLES)])
    radius_m = outline.radius_m
    reach = min(MOST_REACH, (outline.teeth_m + REACH_M) / radius_m)
    offsets = np.linspace(-reach, reach, OFFSETS)
    beyond = min(0.7 * reach, (outline.teeth_m + BLURRED_M) / radius_m)
    centre, radius, share, spread = circle.xy_m, radius_m, 0.0, 1.0
    for _ in range(ROUNDS):
        found = small.sampled(points_about(lens, centre[None], ways, radius_m * (1 + offsets)[None], height_m))[0]
        ends, strong = _ends(found.astype(float), offsets, beyond, small.noise)
        if strong.sum() < ANGLES // 3:
            return None
        fit = np.array([0.0, 0.0, radius / radius_m - 1])
        for limit in (3.0, 1.5, 1.0):
            used = strong & (np.abs(ends - design @ fit) < limit * TOLERANCE)
            some = design[used]
            square, right = some.T @ some, some.T @ ends[used]
            square[2, 2] += KNOWN
            if used.sum() < ANGLES // 4:
                return None
            fit = np.linalg.solve(square, right)
        off = ends - design @ fit
        used = strong & (np.abs(off) < TOLERANCE)
        share, spread = float(used.mean()), float(off[used].std()) if used.any() else 1.0
        measured = float(np.median((ends - ways @ fit[:2])[used])) if used.any() else 0.0
        centre, radius = centre + fit[:2] * radius_m, radius_m * (1 + measured)
    return replace(circle, xy_m=centre, radius_m=radius, share=share, spread_m=spread * radius_m)


def _ends(found: Array, offsets: Array, beyond: float, noise: float) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Returns where the disc ends in each direction, in radii, and where that can be told.

    Between roots and tips of teeth both colours are seen: the end is where the part of its own colour would end.
    """
    inner = found[:, offsets < -beyond].reshape(-1, 3)
    own = np.median(inner[np.isfinite(inner[:, 0])], axis=0)
    away = found - own
    around = _smooth(away[:, offsets > beyond].mean(axis=1))
    unit = around / np.maximum(np.linalg.norm(around, axis=1), 1e-9)[:, None]
    depths = np.einsum("aok,ak->ao", away, unit)
    outer = depths[:, offsets > beyond]
    least = max(LEAST_DEPTH, DEPTHS_OF_NOISE * noise)
    near = np.concatenate([np.roll(outer, turn, axis=0) for turn in TOOTH], axis=1)
    rank = int(SHADOW * near.shape[1])
    lowest = np.nan_to_num(np.partition(near, rank, axis=1)[:, rank])
    told = lowest > least
    other = np.clip(depths / np.maximum(lowest, least)[:, None], 0, 1)
    inside = _smooth((1 - other).mean(axis=1))
    step = offsets[1] - offsets[0]
    ends = offsets[0] - step / 2 + len(offsets) * step * inside
    return np.nan_to_num(ends), told & np.isfinite(ends)


def _smooth(values: Array) -> Array:
    """Returns the mean of each direction and those beside it."""
    total: Array = np.sum([np.roll(values, turn, axis=0) for turn in TOOTH], axis=0) / len(TOOTH)
    return total

"""Yaw: turns about the vertical, how they wrap, and the symmetries that hide them.

A gear that is turned by a tooth, and a square tray that is turned by a quarter, look as before; recognition reports
such an object now this way and now that way round. Its turn is followed modulo that period.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, TRAYS, GearFigures, TrayFigures

__all__ = ["period_of", "swing_between", "swung", "turned", "twist_between"]

Array = npt.NDArray[np.float64]
ALIKE_M = 0.003
"""Slots that are no farther apart are the same: a part lies in either."""


@cache
def period_of(sku: str) -> float:
    """Returns the turn after which an object of the kind looks the same, in radians; a full one for most."""
    for name in TRAYS:
        if TRAYS.get(name).sku == sku:
            return 2 * np.pi / _folds(TRAYS.get(name))
    for name in PARTS:
        part = PARTS.get(name)
        if part.sku == sku and isinstance(part, GearFigures):
            return 2 * np.pi / part.tooth_count
    return 2 * np.pi


def _folds(tray: TrayFigures) -> int:
    x, y = (np.array([slot.xy_m[axis] for slot in tray.slots]) for axis in (0, 1))
    skus = np.array([slot.accepts for slot in tray.slots])
    square = abs(tray.size_m[0] - tray.size_m[1]) <= ALIKE_M
    if square and _same((x, y), (-y, x), skus):
        return 4
    return 2 if _same((x, y), (-x, -y), skus) else 1


def _same(places: tuple[Array, Array], others: tuple[Array, Array], skus: npt.NDArray[np.str_]) -> bool:
    apart = np.hypot(places[0][:, None] - others[0], places[1][:, None] - others[1])
    return bool((((apart <= ALIKE_M) & (skus[:, None] == skus)).sum(axis=1) == 1).all())


def twist_between(before: Array, after: Array) -> Array:
    """Returns the turns about the vertical from one orientation to another, quaternions n x 4 each, in -pi to pi."""
    bw, bx, by, bz = before.T
    aw, ax, ay, az = after.T
    real = aw * bw + ax * bx + ay * by + az * bz
    vertical = az * bw - aw * bz + ay * bx - ax * by
    result: Array = 2 * np.arctan2(vertical, real)
    return np.asarray((result + np.pi) % (2 * np.pi) - np.pi)


def turned(quaternions: Array, angles: Array) -> Array:
    """Returns orientations turned about the vertical."""
    w, x, y, z = quaternions.T
    c, s = np.cos(angles / 2), np.sin(angles / 2)
    result = np.empty_like(quaternions)
    result[:, 0], result[:, 1], result[:, 2], result[:, 3] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
    return result


def swing_between(before: Array, after: Array) -> Array:
    """Returns the leans from one orientation to another that differs by no turn about the vertical, n x 2.

    They are vectors of rotation about the world's x and y axes.
    """
    bw, bx, by, bz = before.T
    aw, ax, ay, az = after.T
    real = aw * bw + ax * bx + ay * by + az * bz
    sign = np.where(real < 0.0, -1.0, 1.0)
    x = sign * (ax * bw - aw * bx - ay * bz + az * by)
    y = sign * (ay * bw - aw * by - az * bx + ax * bz)
    sine = np.hypot(x, y)
    angle = 2 * np.arctan2(sine, np.abs(real))
    scale = np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0)
    return np.column_stack([scale * x, scale * y])


def swung(quaternions: Array, leans: Array) -> Array:
    """Returns orientations that lean farther, by vectors of rotation about the world's x and y axes."""
    angle = np.hypot(leans[:, 0], leans[:, 1])
    c, s = np.cos(angle / 2), np.where(angle > 1e-12, np.sin(angle / 2) / np.maximum(angle, 1e-12), 0.5)
    x, y = s * leans[:, 0], s * leans[:, 1]
    w, i, j, k = quaternions.T
    return np.column_stack([c * w - x * i - y * j, c * i + x * w + y * k, c * j + y * w - x * k, c * k + x * j - y * i])

"""Many rotations at once, as quaternions w, x, y, z in rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["combined", "from_rotation_vectors", "from_yaws", "yaws"]

Array = npt.NDArray[np.float64]


def combined(after: Array, before: Array) -> Array:
    """Returns first rotations `before`, then `after`, about fixed axes, n x 4."""
    aw, ax, ay, az = after.T
    bw, bx, by, bz = before.T
    return np.column_stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def from_rotation_vectors(vectors: Array) -> Array:
    """Returns rotations about axes by their lengths in radians, n x 3 -> n x 4."""
    angles = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return np.hstack([np.cos(angles / 2), np.sinc(angles / (2 * np.pi)) / 2 * vectors])


def from_yaws(yaws_rad: Array) -> Array:
    """Returns rotations about the vertical, n -> n x 4."""
    zeros = np.zeros_like(yaws_rad)
    return np.column_stack([np.cos(yaws_rad / 2), zeros, zeros, np.sin(yaws_rad / 2)])


def yaws(quaternions: Array) -> Array:
    """Returns the directions of the x axes in the plane, n x 4 -> n."""
    w, x, y, z = quaternions.T
    result: Array = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
    return result

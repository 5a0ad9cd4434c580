"""Many rotations at once, as quaternions w, x, y, z in rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["combined", "from_rotation_vectors", "from_yaws", "yaws"]

Array = npt.NDArray[np.float64]


def combined(after: Array, before: Array) -> Array:
    """Returns first rotations `before`, then `after`, about fixed axes, n x 4; one of them may be a single row."""
    aw, ax, ay, az = after.T
    bw, bx, by, bz = before.T
    scalar = aw * bw - ax * bx - ay * by - az * bz
    result = np.empty((len(scalar), 4))
    result[:, 0] = scalar
    result[:, 1] = aw * bx + ax * bw + ay * bz - az * by
    result[:, 2] = aw * by - ax * bz + ay * bw + az * bx
    result[:, 3] = aw * bz + ax * by - ay * bx + az * bw
    return result


def from_rotation_vectors(vectors: Array) -> Array:
    """Returns rotations about axes by their lengths in radians, n x 3 -> n x 4."""
    angles = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return np.hstack([np.cos(angles / 2), np.sinc(angles / (2 * np.pi)) / 2 * vectors])


def from_yaws(yaws_rad: Array) -> Array:
    """Returns rotations about the vertical, n -> n x 4."""
    result = np.zeros((len(yaws_rad), 4))
    half = yaws_rad / 2
    result[:, 0], result[:, 3] = np.cos(half), np.sin(half)
    return result


def yaws(quaternions: Array) -> Array:
    """Returns the directions of the x axes in the plane, n x 4 -> n."""
    w, x, y, z = quaternions.T
    result: Array = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
    return result

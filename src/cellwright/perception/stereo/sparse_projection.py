"""Projection of points into pictures with lens distortion, and back along rays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.perception.picture import Picture

__all__ = ["project", "rays"]

Array = npt.NDArray[np.float64]
UNDISTORT_STEPS = 8


def project(picture: Picture, points_in_world_m: npt.ArrayLike) -> Array:
    """Returns columns and rows (..., 2) of points (..., 3); not a number for those behind the camera."""
    points = np.asarray(points_in_world_m, float)
    pose = picture.pose_camera_in_world.inverse()
    seen = points.reshape(-1, 3) @ pose.rotation_matrix.T + pose.position
    ahead = np.where(seen[:, 2:] > 0, seen[:, 2:], np.nan)
    bent = _distorted(seen[:, :2] / ahead, picture.distortion)
    pixels = bent @ picture.matrix[:2, :2].T + picture.matrix[:2, 2]
    return np.asarray(pixels.reshape(*points.shape[:-1], 2))


def rays(picture: Picture, pixels: npt.ArrayLike) -> Array:
    """Returns unit directions (n, 3) in the world of columns and rows (n, 2), from the camera's place."""
    bent = np.linalg.solve(picture.matrix[:2, :2], (np.asarray(pixels, float) - picture.matrix[:2, 2]).T).T
    slopes = bent.copy()
    for _ in range(UNDISTORT_STEPS if np.any(picture.distortion) else 0):
        slopes += bent - _distorted(slopes, picture.distortion)
    directions = np.column_stack([slopes, np.ones(len(slopes))]) @ picture.pose_camera_in_world.rotation_matrix.T
    return np.asarray(directions / np.linalg.norm(directions, axis=1, keepdims=True))


def _distorted(slopes: npt.NDArray[np.floating], coefficients: Array) -> Array:
    """Returns slopes as the lens bends them, by Brown's model."""
    if not np.any(coefficients):
        return np.asarray(slopes, float)
    k1, k2, p1, p2, k3 = coefficients
    x, y = slopes.T
    r2 = x * x + y * y
    radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
    return np.column_stack(
        [
            x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
            y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
        ]
    )

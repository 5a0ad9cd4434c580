"""The way from points of the world to pixels of a picture, by what was calibrated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.perception.picture import Picture

__all__ = ["CalibratedLens"]

Array = npt.NDArray[np.float64]
BEYOND = 1.3  # slopes this many times those of the corners have no place: a lens formula folds them back


class CalibratedLens:
    """Projects points by the intrinsics, the distortion and the pose of a picture.

    Attributes:
        eye_m: The centre of projection in the world.
        focal_px: The focal length.
        size_px: Columns and rows of the picture.
    """

    def __init__(self, picture: Picture) -> None:
        self.eye_m = np.array(picture.pose_camera_in_world.position)
        self.size_px = picture.pixels.shape[1], picture.pixels.shape[0]
        self.focal_px = float(np.sqrt(abs(picture.matrix[0, 0] * picture.matrix[1, 1])))
        self._matrix = picture.matrix
        self._turn = picture.pose_camera_in_world.rotation_matrix
        k1, k2, p1, p2, k3 = (*picture.distortion.reshape(-1).tolist(), 0.0, 0.0, 0.0, 0.0, 0.0)[:5]
        self._distortion = k1, k2, p1, p2, k3
        corners = np.array([(x, y) for x in (0, self.size_px[0]) for y in (0, self.size_px[1])], float)
        self._slopes = self._ideal(corners)
        self._most = BEYOND * float(np.hypot(*self._slopes.T).max())

    def _ideal(self, pixels: Array) -> Array:
        """Returns the slopes of pixels of a perfect lens."""
        fx, fy, cx, cy = self._matrix[0, 0], self._matrix[1, 1], self._matrix[0, 2], self._matrix[1, 2]
        return np.column_stack([(pixels[:, 0] - cx) / fx, (pixels[:, 1] - cy) / fy])

    def pixels(self, points_m: Array) -> Array:
        """Returns columns and rows of points, (..., 3) -> (..., 2); not a number for what cannot be in the picture."""
        inside = (points_m - self.eye_m) @ self._turn
        ahead = np.where(inside[..., 2] > 0, inside[..., 2], np.nan)
        x, y = inside[..., 0] / ahead, inside[..., 1] / ahead
        k1, k2, p1, p2, k3 = self._distortion
        if any(self._distortion):
            square = x * x + y * y
            radial = 1 + square * (k1 + square * (k2 + square * k3))
            radial = np.where(square > self._most**2, np.nan, radial)
            across = x * radial + 2 * p1 * x * y + p2 * (square + 2 * x * x)
            y = y * radial + p1 * (square + 2 * y * y) + 2 * p2 * x * y
            x = across
        matrix = self._matrix
        return np.stack([matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2], matrix[1, 1] * y + matrix[1, 2]], axis=-1)

    def footprint_m(self, height_m: float) -> tuple[Array, Array] | None:
        """Returns lowest and highest x and y of what may be seen at a height; None where it looks past it."""
        rays = np.column_stack([self._slopes, np.ones(4)]) @ self._turn.T
        drop = height_m - self.eye_m[2]
        if drop >= 0 or (rays[:, 2] >= -0.05).any():
            return None
        spots = self.eye_m[:2] + rays[:, :2] * (drop / rays[:, 2])[:, None]
        middle, half = (spots.min(axis=0) + spots.max(axis=0)) / 2, np.ptp(spots, axis=0) / 2 * 1.05
        return middle - half, middle + half

    def at_height(self, spots_m: Array, from_m: npt.ArrayLike, to_m: npt.ArrayLike) -> Array:
        """Returns where lines of sight through points of one height are at another, (n, 2) -> (n, 2)."""
        share = (self.eye_m[2] - np.asarray(to_m, float)) / (self.eye_m[2] - np.asarray(from_m, float))
        result: Array = self.eye_m[:2] + (spots_m - self.eye_m[:2]) * np.reshape(share, (-1, 1))
        return result

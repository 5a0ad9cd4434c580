"""Cameras as pinholes: where they are, what they look at, and where in their picture a point is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose

__all__ = ["Camera"]

Array = npt.NDArray[np.float64]
FAR_M = 100.0


@dataclass(frozen=True)
class Camera:
    """A camera of a cell: one configuration for detectors and for images.

    Attributes:
        name: Its name in the cell.
        pose_in_world: Its centre of projection; x is the way it looks, y the left of its picture, z the top. Where it
            is thought to be (calibrated) by the drawings, where it really is in the actual layout.
        fov_rad: Angle of view across the columns.
        resolution_px: Columns and rows of the picture.
        rate_hz: Pictures per second.
        range_m: Nearest and farthest that it sees, along its axis.
        noise_sd: Standard deviation of the grey values, 0 to 1.
        fixture: What carries it; empty when nothing does.
        lens: Its name on that.
    """

    name: str
    pose_in_world: Pose
    fov_rad: float
    resolution_px: tuple[int, int] = (2048, 2048)
    rate_hz: float = 30.0
    range_m: tuple[float, float] = (0.02, 300.0)
    noise_sd: float = 0.0
    fixture: str = ""
    lens: str = ""

    @classmethod
    def straight_down(cls, min_xy_m: tuple[float, float], max_xy_m: tuple[float, float]) -> Camera:
        """Returns an eye far above a rectangle, which looks down on all of it: that of a detector without a camera."""
        ends = np.clip([min_xy_m, max_xy_m], -FAR_M, FAR_M)
        eye = Pose.from_xyz_rpy([*ends.mean(axis=0), FAR_M], [0, np.pi / 2, np.pi / 2])
        return cls("", eye, float(2 * np.arctan(np.ptp(ends, axis=0).max() / FAR_M)))

    @property
    def focal_px(self) -> float:
        """Its focal length in pixels."""
        return float(self.resolution_px[0] / 2 / np.tan(self.fov_rad / 2))

    def in_camera(self, points_in_world: Array) -> Array:
        """Returns points in its own frame, n x 3 -> n x 3."""
        pose = self.pose_in_world
        result: Array = (np.asarray(points_in_world, float) - pose.position) @ pose.rotation_matrix
        return result

    def pixels(self, points_in_world: Array) -> Array:
        """Returns column and row of points, n x 3 -> n x 2; not a number for what is behind it."""
        x, y, z = self.in_camera(points_in_world).T
        scale = np.divide(self.focal_px, x, out=np.full_like(x, np.nan), where=x > 0)
        columns, rows = self.resolution_px
        return np.column_stack([columns / 2 - scale * y, rows / 2 - scale * z])

    def sees(self, points_in_world: Array) -> npt.NDArray[np.bool_]:
        """Returns which points are in its picture, if nothing is in between, n x 3 -> n."""
        x, y, z = self.in_camera(points_in_world).T
        columns, rows = self.resolution_px
        half = np.tan(self.fov_rad / 2)
        inside: npt.NDArray[np.bool_] = (
            (x >= self.range_m[0])
            & (x <= self.range_m[1])
            & (np.abs(y) <= half * x)
            & (np.abs(z) <= half * rows / columns * x)
        )
        return inside

    def on_plane(self, pixels: Array, heights_m: npt.ArrayLike) -> Array:
        """Returns where pixels lie if they show something at these heights, n x 2 -> n x 3.

        Not a number where the line of sight does not come down to that height.
        """
        columns, rows = self.resolution_px
        column, row = np.asarray(pixels, float).reshape(-1, 2).T
        ahead = np.full_like(column, self.focal_px)
        rays = np.column_stack([ahead, columns / 2 - column, rows / 2 - row]) @ self.pose_in_world.rotation_matrix.T
        eye = self.pose_in_world.position
        drop = np.asarray(heights_m, float) - eye[2]
        way = np.divide(drop, rays[:, 2], out=np.full(len(rays), np.nan), where=rays[:, 2] * drop > 0)
        result: Array = eye + way[:, None] * rays
        return result

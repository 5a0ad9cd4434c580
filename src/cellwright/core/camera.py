"""Cameras as pinholes: where they are, what they look at, and where in their picture a point is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
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

    Raises:
        BadInput: Its field of view or its picture is none.
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

    def __post_init__(self) -> None:
        columns, rows = self.resolution_px
        if not 0.0 < self.fov_rad < np.pi or columns < 1 or rows < 1:
            raise BadInput(
                f"camera: a field of view of {self.fov_rad:g} rad with {columns} x {rows} pixels shows nothing; "
                "allowed: an angle between 0 and pi, at least one pixel"
            )

    @classmethod
    def straight_down(cls, min_xy_m: tuple[float, float], max_xy_m: tuple[float, float]) -> Camera:
        """Returns an eye far above a rectangle, which looks down on all of it: that of a detector without a camera."""
        ends = np.clip([min_xy_m, max_xy_m], -FAR_M, FAR_M)
        eye = Pose.from_xyz_rpy([*ends.mean(axis=0), FAR_M], [0, np.pi / 2, np.pi / 2])
        return cls("", eye, float(2 * np.arctan(np.ptp(ends, axis=0).max() / FAR_M)))

    @cached_property
    def focal_px(self) -> float:
        """Its focal length in pixels."""
        return float(self.resolution_px[0] / 2 / np.tan(self.fov_rad / 2))

    @cached_property
    def _rotation(self) -> Array:
        return self.pose_in_world.rotation_matrix

    def in_camera(self, points_in_world: Array) -> Array:
        """Returns points in its own frame, n x 3 -> n x 3."""
        result: Array = (np.asarray(points_in_world, float) - self.pose_in_world.position) @ self._rotation
        return result

    def pixels(self, points_in_world: Array) -> Array:
        """Returns column and row of points, n x 3 -> n x 2; not a number for what is behind it."""
        inside = self.in_camera(points_in_world)
        ahead, aside = inside[:, :1], inside[:, 1:]
        scale = self.focal_px / np.where(ahead > 0, ahead, np.nan)
        columns, rows = self.resolution_px
        result: Array = np.array([columns / 2, rows / 2]) - scale * aside
        return result

    def sees(self, points_in_world: Array, radii_m: npt.ArrayLike = 0.0) -> npt.NDArray[np.bool_]:
        """Returns about which points a ball is wholly in its picture, if nothing is in between, n x 3 -> n.

        Args:
            points_in_world: The points.
            radii_m: Of the balls, one or n; 0 asks for the points alone.
        """
        x, y, z = self.in_camera(points_in_world).T
        columns, rows = self.resolution_px
        nearest_m, farthest_m = self.range_m
        inside: npt.NDArray[np.bool_] = (x - radii_m >= nearest_m) & (x + radii_m <= farthest_m)
        wide = float(np.tan(self.fov_rad / 2))
        for aside, slope in ((y, wide), (z, wide * rows / columns)):
            inside &= slope * x - np.abs(aside) >= np.asarray(radii_m) * np.hypot(1.0, slope)
        return inside

    def on_plane(self, pixels: Array, heights_m: npt.ArrayLike) -> Array:
        """Returns where pixels lie if they show something at these heights, n x 2 -> n x 3.

        Not a number where the line of sight does not come down to that height.
        """
        return self.down_to(self.rays(pixels), heights_m)

    def rays(self, pixels: Array) -> Array:
        """Returns the directions in the world in which pixels look, n x 2 -> n x 3; not of unit length."""
        columns, rows = self.resolution_px
        rays = np.empty((len(pixels), 3))
        rays[:, 0] = self.focal_px
        np.subtract([columns / 2, rows / 2], pixels, out=rays[:, 1:])
        result: Array = rays @ self._rotation.T
        return result

    def down_to(self, rays: Array, heights_m: npt.ArrayLike) -> Array:
        """Returns where rays from its centre of projection are at these heights; not a number where they never are."""
        eye = self.pose_in_world.position
        drop, fall = np.asarray(heights_m, float) - eye[2], rays[:, 2]
        way = drop / np.where(fall * drop > 0, fall, np.nan)
        result: Array = eye + way[:, None] * rays
        return result

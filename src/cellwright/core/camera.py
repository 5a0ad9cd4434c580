"""Cameras: where they are, what they look at, and where in their picture a point is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose

__all__ = ["Camera", "LensError"]

Array = npt.NDArray[np.float64]
FAR_M = 100.0
NEWTON_STEPS = 8  # an error of a third of the radius is gone to the last digit after six


@dataclass(frozen=True)
class LensError:
    """The deviation of a lens from a perfect one: radial distortion, and an axis that is not in the picture's middle.

    Attributes:
        edge_px: How far the middle of the picture's left and right edge is displaced outwards. With the distance r from
            the axis, in focal lengths, what belongs at r is at ``r (1 + k1 r^2)``, as in Brown's model.
        centre_px: Where the axis is, in columns and rows from the picture's middle.
    """

    edge_px: float = 0.0
    centre_px: tuple[float, float] = (0.0, 0.0)


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
        lens_error: Of its lens, in the actual layout alone; None for a perfect one.

    Raises:
        BadInput: Its field of view or its picture is none, or its lens folds the picture.
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
    lens_error: LensError | None = None

    def __post_init__(self) -> None:
        columns, rows = self.resolution_px
        if not 0.0 < self.fov_rad < np.pi or columns < 1 or rows < 1:
            raise BadInput(
                f"camera: a field of view of {self.fov_rad:g} rad with {columns} x {rows} pixels shows nothing; "
                "allowed: an angle between 0 and pi, at least one pixel"
            )
        most_px = columns**3 / (6 * (columns**2 + rows**2))  # beyond, the corners come back towards the middle
        if self.lens_error is not None and not -most_px < self.lens_error.edge_px < columns / 2:
            raise BadInput(
                f"camera {self.name}: a lens error of {self.lens_error.edge_px:g} px at the edge of {columns} x {rows} "
                f"pixels shows no picture; allowed: {-most_px:.1f} to {columns / 2:g} px"
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

    @cached_property
    def _k1(self) -> float:
        """The first coefficient of Brown's radial distortion."""
        edge_px = 0.0 if self.lens_error is None else self.lens_error.edge_px
        return float(edge_px / (self.focal_px * np.tan(self.fov_rad / 2) ** 3))

    def _bent(self, slopes: Array) -> Array:
        """Returns the slopes at which a perfect lens would show what this lens shows at some, n x 2."""
        if self.lens_error is None:
            return slopes
        bent = slopes * (1 + self._k1 * (slopes**2).sum(axis=1, keepdims=True))
        result: Array = bent - np.array(self.lens_error.centre_px) / self.focal_px
        return result

    def _straight(self, slopes: Array) -> Array:
        """Returns the slopes that a lens shows at some: the inverse of `_bent`, by Newton's method for the radius."""
        if self.lens_error is None:
            return slopes
        slopes = slopes + np.array(self.lens_error.centre_px) / self.focal_px
        shown = np.sqrt((slopes**2).sum(axis=1, keepdims=True))
        radius, k1 = shown, self._k1
        for _ in range(NEWTON_STEPS):
            radius = radius - (radius * (1 + k1 * radius**2) - shown) / (1 + 3 * k1 * radius**2)
        result: Array = slopes * np.divide(radius, shown, out=np.ones_like(shown), where=shown > 0)
        return result

    def in_camera(self, points_in_world: Array) -> Array:
        """Returns points in its own frame, n x 3 -> n x 3."""
        result: Array = (np.asarray(points_in_world, float) - self.pose_in_world.position) @ self._rotation
        return result

    def pixels(self, points_in_world: Array) -> Array:
        """Returns column and row of points, n x 3 -> n x 2; not a number for what is behind it."""
        inside = self.in_camera(points_in_world)
        ahead, aside = inside[:, :1], inside[:, 1:]
        ahead = np.where(ahead > 0, ahead, np.nan)
        columns, rows = self.resolution_px
        off = self.focal_px / ahead * aside if self.lens_error is None else self.focal_px * self._bent(aside / ahead)
        result: Array = np.array([columns / 2, rows / 2]) - off
        return result

    def seeming(self, points_in_world: Array) -> Array:
        """Returns where points seem to be if its lens is taken for a perfect one, at their true depth, n x 3."""
        if self.lens_error is None:
            return points_in_world
        inside = self.in_camera(points_in_world)
        inside[:, 1:] = inside[:, :1] * self._bent(inside[:, 1:] / inside[:, :1])
        result: Array = inside @ self._rotation.T + self.pose_in_world.position
        return result

    def sees(self, points_in_world: Array, radii_m: npt.ArrayLike = 0.0) -> npt.NDArray[np.bool_]:
        """Returns about which points a ball is wholly in its picture, if nothing is in between, n x 3 -> n.

        The pixels at the border that a lens error adds or takes are left out.

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
        if self.lens_error is not None:
            rays[:, 1:] = self.focal_px * self._straight(rays[:, 1:] / self.focal_px)
        result: Array = rays @ self._rotation.T
        return result

    def down_to(self, rays: Array, heights_m: npt.ArrayLike) -> Array:
        """Returns where rays from its centre of projection are at these heights; not a number where they never are."""
        eye = self.pose_in_world.position
        drop, fall = np.asarray(heights_m, float) - eye[2], rays[:, 2]
        way = drop / np.where(fall * drop > 0, fall, np.nan)
        result: Array = eye + way[:, None] * rays
        return result

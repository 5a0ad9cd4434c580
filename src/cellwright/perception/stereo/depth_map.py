"""Depths by stereo: what of the space above a table is seen, as a picture of depths and as points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.perception.stereo.rectified_pair import StereoPair

__all__ = ["GREEN", "RED", "DepthMap", "Workspace", "match"]

Array = npt.NDArray[np.float64]
RED, GREEN = 0, 1
"""Channels of a picture."""
HALF = 2  # pixels along each axis that become one: noise is halved, matching takes an eighth of the time
BLOCK_PX = 7
BLUR_PX = 0.8
STEPS = 16  # in which disparities are told
SPECKLE_PX = 40
SAME_PLACE = 0.5  # of two radii: what is nearer than that is one object, and not two


@dataclass(frozen=True)
class Workspace:
    """The space in which objects stand upright, by the drawings.

    Attributes:
        min_xy_m: Its least x and y in the world.
        max_xy_m: Its largest.
        surface_m: Height of the surface on which they stand.
        surface_sd_m: How well that height is known.
        others: x, y and radius of other things that are known to stand there; what is sought is in no such place.
    """

    min_xy_m: tuple[float, float]
    max_xy_m: tuple[float, float]
    surface_m: float
    surface_sd_m: float = 0.001
    others: tuple[tuple[float, float, float], ...] = ()

    def is_taken(self, x_m: float, y_m: float, radius_m: float) -> bool:
        """Returns whether another thing stands in a place, so that one of a radius cannot."""
        return any(np.hypot(x_m - x, y_m - y) < SAME_PLACE * (radius_m + other) for x, y, other in self.others)

    def corners(self, height_m: float) -> Array:
        """Returns the corners (8, 3) of the space up to a height above the surface."""
        heights = self.surface_m, self.surface_m + height_m
        xs, ys = zip(self.min_xy_m, self.max_xy_m, strict=True)
        return np.array(list(product(xs, ys, heights)))


@dataclass(frozen=True, eq=False)
class DepthMap:
    """Depths along the optical axis as one camera sees them.

    Attributes:
        depth_m: (rows, columns); not a number where none was measured.
        matrix: (3, 3) intrinsics of these pixels.
        pose_camera_in_world: x to the right, y down, z ahead.
    """

    depth_m: npt.NDArray[np.float32]
    matrix: Array
    pose_camera_in_world: Pose

    @cached_property
    def points_in_world(self) -> Array:
        """All points (n, 3) that were measured, row by row."""
        row, column = np.nonzero(np.isfinite(self.depth_m))
        z = self.depth_m[row, column].astype(float)
        x = (column + 0.5 - self.matrix[0, 2]) / self.matrix[0, 0] * z
        y = (row + 0.5 - self.matrix[1, 2]) / self.matrix[1, 1] * z
        return self.pose_camera_in_world.apply(np.column_stack([x, y, z]))

    def in_view(self, points_in_world: Array) -> npt.NDArray[np.bool_]:
        """Returns which of some points (..., 3) are inside the picture."""
        return self._cells(points_in_world)[2]

    def measured_at(self, points_in_world: Array) -> tuple[Array, Array]:
        """Returns the depths of points (..., 3), and the depths that were measured where they are seen.

        Not a number where none was measured, or the point is not in the picture.
        """
        z, place, seen = self._cells(points_in_world)
        return z, np.where(seen, self.depth_m.reshape(-1)[place], np.float32(np.nan))

    def _cells(self, points_in_world: Array) -> tuple[Array, npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Returns the depths of points, the pixels that they are in, and whether these are in the picture."""
        back = self.pose_camera_in_world.inverse()
        inside = points_in_world.astype(np.float32) @ back.rotation_matrix.T.astype(np.float32)
        x, y, z = np.moveaxis(inside + back.position.astype(np.float32), -1, 0)
        rows, columns = self.depth_m.shape
        z = np.maximum(z, np.float32(1e-3))
        column = (x / z * np.float32(self.matrix[0, 0]) + np.float32(self.matrix[0, 2])).astype(np.int32)
        row = (y / z * np.float32(self.matrix[1, 1]) + np.float32(self.matrix[1, 2])).astype(np.int32)
        seen = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        return z, np.where(seen, row * columns + column, 0), seen


def match(pair: StereoPair, workspace: Workspace, height_m: float, channel: int = RED) -> DepthMap | None:
    """Returns the depths of a workspace up to a height, or None where it is out of view.

    One channel is matched, at half the size; only where the workspace is in the picture, and only disparities that it
    can have.

    Args:
        pair: The pictures.
        workspace: Where to look.
        height_m: Up to which height above its surface.
        channel: `RED`, in which the projector's pattern is, or `GREEN`, for what it does not reach.
    """
    import cv2

    matrix = pair.left.matrix.copy()
    matrix[:2] /= HALF
    inside = pair.left.pose_camera_in_world.inverse().apply(workspace.corners(height_m))
    if inside[:, 2].min() <= 0.05:
        return None
    rows, columns = (side // HALF for side in pair.left.pixels.shape[:2])
    seen = inside @ matrix.T
    seen = seen[:, :2] / seen[:, 2:]
    low = np.maximum(np.floor(seen.min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(seen.max(axis=0)).astype(int), (columns, rows))
    if (high - low < 4 * BLOCK_PX).any():
        return None
    focal_baseline = matrix[0, 0] * pair.baseline_m
    least = int(focal_baseline / inside[:, 2].max()) - 1
    count = -(-(int(focal_baseline / inside[:, 2].min()) + 2 - least) // 16) * 16
    beyond = least + count  # columns to the left of the workspace that are matched with it in the right picture
    first = max(int(low[0]) - beyond, 0)
    window = slice(int(low[1]), int(high[1])), slice(first, int(high[0]))
    margin = beyond - (int(low[0]) - first)  # what the pictures do not have of these
    views = [_reduced(picture.pixels[:, :, channel], window, margin) for picture in (pair.left, pair.right)]
    matcher = cv2.StereoSGBM.create(
        minDisparity=least,
        numDisparities=count,
        blockSize=BLOCK_PX,
        P1=4 * BLOCK_PX**2,
        P2=16 * BLOCK_PX**2,
        disp12MaxDiff=1,
        preFilterCap=63,
        uniquenessRatio=5,
        mode=cv2.StereoSGBM_MODE_SGBM_3WAY,
    )
    steps = matcher.compute(*views)
    cv2.filterSpeckles(steps, (least - 1) * STEPS, SPECKLE_PX, STEPS)
    steps = steps[:, beyond:]
    with np.errstate(divide="ignore"):
        depth = np.where(steps >= least * STEPS, np.float32(focal_baseline * STEPS) / steps, np.float32(np.nan))
    matrix[:2, 2] -= low
    return DepthMap(depth.astype(np.float32), matrix, pair.left.pose_camera_in_world)


def _reduced(channel: npt.NDArray[np.uint8], window: tuple[slice, slice], margin: int) -> npt.NDArray[np.uint8]:
    """Returns a part of one channel at half its size, smoothed a little, with a margin to its left."""
    import cv2

    rows, columns = (slice(HALF * side.start, HALF * side.stop) for side in window)
    part = channel[rows, columns]
    size = part.shape[1] // HALF, part.shape[0] // HALF
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    smooth = cv2.GaussianBlur(small, (3, 3), BLUR_PX)
    return np.asarray(cv2.copyMakeBorder(smooth, 0, 0, margin, 0, cv2.BORDER_REPLICATE), np.uint8)

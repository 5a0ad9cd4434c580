"""The ROVI paper's method of sparse stereo, with the parameters of its code: a white top, its four corners."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.perception.stereo.sparse_projection import rays
from cellwright.perception.stereo.stereo_pair import pair_fault

__all__ = ["PaperSparseStereo", "match_corners"]

Array = npt.NDArray[np.float64]

WHITE = 220  # least value of each colour
CANNY = 0, 100
CORNERS, CORNER_QUALITY, CORNER_DISTANCE_PX, CORNER_BLOCK_PX = 4, 0.01, 50, 5
MOST_APART_PX = 10  # rows between the two pictures
MOST_BENT_M = 0.022  # between the middles of the diagonals, at a quality of zero


class PaperSparseStereo:
    """Measures a white cube by the four corners of its top, as the ROVI project did.

    It needs rectified pictures in which the top alone is white. Corners are matched to the nearest ones by the sum of
    absolute differences; the cube's place is the middle of a diagonal, its height is the plate's.

    Args:
        task: Of which it takes the plate's height.
    """

    def __init__(self, task: CubeOnPlate) -> None:
        self.task = task

    def measure(self, left: Picture | None, right: Picture | None) -> PoseMeasurement:
        """Returns the pose of the cube; its yaw is one of four that are alike, from -45 to 45 degrees."""
        fault = pair_fault(left, right)
        if fault is not None:
            return fault
        assert left is not None
        assert right is not None
        corners = [top_corners(picture.pixels) for picture in (left, right)]
        for side, found in zip(("left", "right"), corners, strict=True):
            if len(found) < CORNERS:
                return _not_seen(f"{len(found)} of 4 corners were found in the {side} picture")
        matches = match_corners(*corners)
        if matches is None:
            return _not_seen("a corner has no match in the right picture")
        points = _triangulated(left, right, corners[0], corners[1][matches])
        if points is None:
            return _not_seen("matched corners have no point in common in front of the cameras")
        return _square(points, self.task.plate_z_m)


def top_corners(pixels: npt.NDArray[np.uint8]) -> Array:
    """Returns columns and rows (n, 2) of up to four corners of what is white."""
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    mask = np.where((pixels >= WHITE).all(axis=2), 255, 0).astype(np.uint8)
    mask = cv2.dilate(cv2.morphologyEx(mask, cv2.MORPH_OPEN, cross), cross)
    contours, _ = cv2.findContours(cv2.Canny(mask, *CANNY), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros_like(mask)
    cv2.drawContours(filled, contours, -1, 255, cv2.FILLED)
    found = cv2.goodFeaturesToTrack(filled, CORNERS, CORNER_QUALITY, CORNER_DISTANCE_PX, blockSize=CORNER_BLOCK_PX)
    return np.zeros((0, 2)) if found is None else found.reshape(-1, 2).astype(float) + 0.5


def match_corners(left: Array, right: Array) -> list[int] | None:
    """Returns for each corner of the left picture the nearest of the right one that is not further right."""
    matches = []
    for corner in left:
        off = corner - right
        cost = np.abs(off).sum(axis=1)
        cost[(off[:, 0] < 0) | (np.abs(off[:, 1]) > MOST_APART_PX)] = np.inf
        if not np.isfinite(cost.min()):
            return None
        matches.append(int(cost.argmin()))
    return matches


def _triangulated(left: Picture, right: Picture, a: Array, b: Array) -> Array | None:
    ways_a, ways_b = rays(left, a), rays(right, b)
    eyes = left.pose_camera_in_world.position, right.pose_camera_in_world.position
    points = []
    for way_a, way_b in zip(ways_a, ways_b, strict=True):
        along, *_ = np.linalg.lstsq(np.column_stack([way_a, -way_b]), eyes[1] - eyes[0], rcond=None)
        if min(along) <= 0 or max(along) > 100:
            return None
        points.append((eyes[0] + along[0] * way_a + eyes[1] + along[1] * way_b) / 2)
    return np.array(points)


def _square(points: Array, z_m: float) -> PoseMeasurement:
    """Returns the pose of the square through four points: a corner, its two nearest ones, and the one across."""
    order = np.argsort(np.linalg.norm(points - points[0], axis=1), kind="stable")
    corner, near, other, across = points[order]
    centre = (corner + across)[:2] / 2
    bent_m = float(np.linalg.norm(centre - (near + other)[:2] / 2))
    way = (near - corner)[:2]
    yaw = (np.arctan2(way[1], way[0]) + np.pi / 4) % (np.pi / 2) - np.pi / 4
    spread = max(bent_m, 0.001) ** 2
    size_m = max(float(np.linalg.norm(way)), 0.01)
    return PoseMeasurement(
        status=MeasurementStatus.FOUND,
        pose_in_world=Pose.from_xyz_rpy((*centre, z_m), (0, 0, yaw)),
        variances=np.array([spread, spread, np.inf, np.inf, np.inf, spread / size_m**2]),
        quality=float(np.clip(1 - bent_m / MOST_BENT_M, 0, 1)),
    )


def _not_seen(reason: str) -> PoseMeasurement:
    return PoseMeasurement(status=MeasurementStatus.NOT_SEEN, reason=reason)

"""The relative pose of two cameras that see the same board at the same moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration.intrinsics import Intrinsics
from cellwright.perception.camera_calibration.views import PatternView

__all__ = ["StereoPairFit", "fit_stereo_pair"]

LEAST_VIEWS = 4
LEAST_CORNERS = 8  # that both see in a view
LARGEST_RMS_PX = 1.0


@dataclass(frozen=True, eq=False)
class StereoPairFit:
    """Two cameras relative to each other.

    Attributes:
        pose_right_in_left: The frame of the right picture in that of the left one.
        rms_px: Root mean square of the distances between seen and computed corners, over both.
        epipolar_px: Root mean square of the distances of right corners from the lines of the left ones.
        views: How many moments it rests on.
    """

    pose_right_in_left: Pose
    rms_px: float
    epipolar_px: float
    views: int


def fit_stereo_pair(
    left: Sequence[PatternView], right: Sequence[PatternView], of_left: Intrinsics, of_right: Intrinsics
) -> StereoPairFit:
    """Returns the relative pose of a pair, with intrinsics that are known.

    Raises:
        JobFailed: Too few moments in which both see the board, or views that contradict each other.
    """
    import cv2

    points, seen = [], ([], [])  # type: ignore[var-annotated]
    for one, other in zip(left, right, strict=True):
        if not (one.is_found and other.is_found):
            continue
        _, at, other_at = np.intersect1d(one.numbers, other.numbers, return_indices=True)
        if len(at) >= LEAST_CORNERS:
            points.append(one.points_m[at].astype(np.float32))
            seen[0].append(one.pixels[at].astype(np.float32))
            seen[1].append(other.pixels[other_at].astype(np.float32))
    if len(points) < LEAST_VIEWS:
        names = " and ".join(dict.fromkeys([*(v.source for v in left[:1]), *(v.source for v in right[:1])]))
        raise JobFailed(
            f"{names}: too few views that both have of the board: {len(points)} of {len(left)}, needed {LEAST_VIEWS}; "
            "show it where both look"
        )
    rms, *_, turn, shift, _, fundamental = cv2.stereoCalibrate(
        points, seen[0], seen[1], of_left.matrix, of_left.distortion, of_right.matrix, of_right.distortion,
        of_left.size_px, flags=cv2.CALIB_FIX_INTRINSIC,
        criteria=(cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 200, 1e-10),
    )  # fmt: skip
    if rms > LARGEST_RMS_PX:
        raise JobFailed(
            f"{left[0].source} and {right[0].source}: corners are {rms:.2f} px beside where they are computed, allowed "
            f"{LARGEST_RMS_PX:g}: were the pictures of each pair taken at the same moment?"
        )
    pose = Pose.from_matrix(np.column_stack([np.asarray(turn, float), np.asarray(shift, float).reshape(3)])).inverse()
    off = [_off_line(a, b, of_left, of_right, np.asarray(fundamental, float)) for a, b in zip(*seen, strict=True)]
    return StereoPairFit(pose, float(rms), float(np.sqrt(np.mean(np.concatenate(off) ** 2))), len(points))


def _off_line(
    left: np.ndarray, right: np.ndarray, of_left: Intrinsics, of_right: Intrinsics, fundamental: np.ndarray
) -> np.ndarray:
    """Returns how far right corners are from the epipolar lines of left ones, in pixels without distortion."""
    import cv2

    straight = [
        np.asarray(cv2.undistortPoints(pixels.reshape(-1, 1, 2), one.matrix, one.distortion, P=one.matrix)).reshape(
            -1, 2
        )
        for pixels, one in ((left, of_left), (right, of_right))
    ]
    a, b = (np.column_stack([pixels, np.ones(len(pixels))]) for pixels in straight)
    lines = a @ fundamental.T
    return np.asarray((b * lines).sum(axis=1) / np.hypot(lines[:, 0], lines[:, 1]))

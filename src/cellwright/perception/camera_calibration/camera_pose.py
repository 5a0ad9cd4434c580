"""The pose of a camera from points whose places are known, with how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.core.registration_points import check_points
from cellwright.perception.camera_calibration.intrinsics import Intrinsics, pose_of
from cellwright.perception.camera_calibration.views import PatternView

__all__ = ["CameraPoseFit", "locate_camera"]

Array = npt.NDArray[np.float64]
LARGEST_RMS_PX = 2.0
LEAST_TAGS = 3


@dataclass(frozen=True, eq=False)
class CameraPoseFit:
    """The fitted pose of a camera.

    Attributes:
        pose: Of the frame of the picture (x right, y down, z ahead) in the frame of the points.
        rms_px: Root mean square of the distances between seen and computed corners.
        sd: (6,): deviations of the position in m and of the turn in rad, by the scatter of the corners.
        count: Pictures or points that it rests on.
    """

    pose: Pose
    rms_px: float
    sd: Array
    count: int


def locate_camera(view: PatternView, intrinsics: Intrinsics) -> CameraPoseFit:
    """Returns the pose of a camera that sees tags whose corners are known in the world.

    Raises:
        JobFailed: They are too few, on a line, or contradict each other: says what to do.
    """
    import cv2

    if not view.is_found:
        raise JobFailed(f"{view.reason}; put tags where it looks, face up")
    middles = [view.points_m[view.numbers == number].mean(axis=0) for number in np.unique(view.numbers)]
    try:
        check_points(middles, f"tags in view of {view.source}")
    except BadInput as error:
        raise JobFailed(str(error)) from None
    _, turn, shift = cv2.solvePnP(view.points_m, view.pixels, intrinsics.matrix, intrinsics.distortion)

    def misses(numbers: Array) -> Array:
        inside = pose_of(numbers[:3], numbers[3:]).apply(view.points_m)
        return np.asarray((intrinsics.project(inside) - view.pixels).ravel())

    numbers, rms_px, _ = refined(misses, np.concatenate([np.ravel(turn), np.ravel(shift)]))
    if rms_px > LARGEST_RMS_PX:
        worst = _worst(view, misses(numbers))
        raise JobFailed(
            f"{view.source}: the tags contradict each other: {rms_px:.1f} px, allowed {LARGEST_RMS_PX:g}; tag {worst} "
            "is off the most: is it where the drawings have it, and the right way round?"
        )
    pose = pose_of(numbers[:3], numbers[3:]).inverse()

    def moved(step: Array) -> Array:
        return misses_from(pose @ pose_of(step[3:], step[:3]))

    def misses_from(pose_camera: Pose) -> Array:
        return np.asarray((intrinsics.project(pose_camera.inverse().apply(view.points_m)) - view.pixels).ravel())

    return CameraPoseFit(pose, rms_px, deviations(moved, rms_px), len(middles))


def refined(misses: Callable[[Array], Array], start: Array) -> tuple[Array, float, Array]:
    """Returns the numbers with the least squares of misses, their root mean square per point, and the misses."""
    from scipy.optimize import least_squares

    result = least_squares(misses, start, method="lm", x_scale="jac", xtol=1e-12, ftol=1e-12)
    return result.x, rms_of(result.fun), result.fun


def rms_of(misses: Array) -> float:
    """Returns the root mean square of distances, from misses along columns and rows."""
    return float(np.sqrt(np.mean((misses.reshape(-1, 2) ** 2).sum(axis=1))))


def deviations(moved: Callable[[Array], Array], rms_px: float, count: int = 6, step: float = 1e-6) -> Array:
    """Returns standard deviations of six numbers about zero, for misses of that size."""
    slopes = np.column_stack([(moved(step * e) - moved(-step * e)) / (2 * step) for e in np.eye(count)])
    information = slopes.T @ slopes
    return np.asarray(np.sqrt(np.maximum(np.diag(np.linalg.pinv(information)), 0.0)) * rms_px / np.sqrt(2))


def _worst(view: PatternView, misses: Array) -> int:
    """Returns the tag whose corners are off the most."""
    off: Sequence[float] = np.hypot(*misses.reshape(-1, 2).T)
    numbers = np.unique(view.numbers)
    return int(max(numbers, key=lambda number: float(np.mean(np.asarray(off)[view.numbers == number]))))

"""Intrinsics of a camera from views of a board: focal length, axis, lens distortion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration.views import LEAST_CORNERS, PatternView

__all__ = ["Intrinsics", "IntrinsicsFit", "board_pose", "fit_intrinsics"]

Array = npt.NDArray[np.float64]
LEAST_VIEWS = 6  # of which each fixes two of the intrinsics, with room for a check
LEAST_SPREAD_DEG = 10.0  # between the directions in which boards faced
LARGEST_SD = 0.005  # of the focal length, as a share of it
LARGEST_RMS_PX = 1.0
WORSE = 4.0  # times the median error: a view that is left out
WORSE_PX = 0.3
COVERED = 0.6  # of the picture's width and height, that corners span, below which the edges are guessed


@dataclass(frozen=True, eq=False)
class Intrinsics:
    """The mapping of directions to pixels: a matrix and Brown's distortion.

    Attributes:
        size_px: Columns and rows of the picture.
        matrix: (3, 3).
        distortion: k1, k2, p1, p2, k3.
    """

    size_px: tuple[int, int]
    matrix: Array
    distortion: Array

    @cached_property
    def focal_px(self) -> tuple[float, float]:
        """Along columns and rows."""
        return float(self.matrix[0, 0]), float(self.matrix[1, 1])

    @cached_property
    def centre_px(self) -> tuple[float, float]:
        """Column and row of the axis."""
        return float(self.matrix[0, 2]), float(self.matrix[1, 2])

    def project(self, points_in_camera_m: Array) -> Array:
        """Returns the pixels of points in the frame of the picture, n x 3 -> n x 2."""
        x, y = (points_in_camera_m[:, :2] / points_in_camera_m[:, 2:]).T
        k1, k2, p1, p2, k3 = self.distortion
        r2 = x * x + y * y
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        across = x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x)
        down = y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.column_stack([fx * across + cx, fy * down + cy])


@dataclass(frozen=True, eq=False)
class IntrinsicsFit:
    """Fitted intrinsics, and how well they fit.

    Attributes:
        intrinsics: The result.
        rms_px: Root mean square of the distances between seen and computed corners.
        view_rms_px: (n,): the same of each view.
        focal_sd_px: Standard deviation of the focal length.
        used: (n,): whether a view was used; others fitted too badly.
        notes: What a person should know.
    """

    intrinsics: Intrinsics
    rms_px: float
    view_rms_px: Array
    focal_sd_px: float
    used: npt.NDArray[np.bool_]
    notes: tuple[str, ...] = ()


def fit_intrinsics(views: Sequence[PatternView]) -> IntrinsicsFit:
    """Returns intrinsics from views of a flat board in different directions.

    Raises:
        BadInput: Views of pictures of different sizes, or of none.
        JobFailed: Too few views, or all alike, or a fit that is no good: says what to do.
    """
    found = [view for view in views if view.is_found]
    source = views[0].source if views else "a camera"
    if len(found) < LEAST_VIEWS:
        why = next((view.reason for view in views if view.reason), "")
        raise JobFailed(
            f"{source}: too few views of the board: {len(found)} of {len(views)}, and {LEAST_VIEWS} are needed"
            f"{f' ({why})' if why else ''}; show it in other places of the picture"
        )
    sizes = {view.size_px for view in found}
    if len(sizes) > 1:
        raise BadInput(f"{source}: pictures of different sizes, {sorted(sizes)}: take all of one size")
    used = np.array([view.is_found for view in views])
    fit = _fit(found)
    views = [_trimmed(view, fit[0]) for view in views]
    fit = _fit([view for view in views if view.is_found])
    bad = (fit[1] > WORSE * np.median(fit[1])) & (fit[1] > WORSE_PX)
    if bad.any() and (~bad).sum() >= LEAST_VIEWS:
        used[np.flatnonzero(used)[bad]] = False
        fit = _fit([view for view, is_used in zip(views, used, strict=True) if is_used])
    intrinsics, rms, normals, focal_sd = fit
    spread_deg = _spread_deg(normals)
    if spread_deg < LEAST_SPREAD_DEG or focal_sd > LARGEST_SD * intrinsics.focal_px[0]:
        raise JobFailed(
            f"{source}: the views are too much alike: the board faced within {spread_deg:.1f} degrees, which leaves "
            f"the focal length open by {focal_sd:.1f} px; tilt it by 20 to 40 degrees to all sides"
        )
    whole = float(np.sqrt(np.mean(rms**2)))
    if whole > LARGEST_RMS_PX:
        raise JobFailed(
            f"{source}: corners are {whole:.2f} px beside where they are computed, allowed {LARGEST_RMS_PX:g}: is it "
            "this board, flat, and held still?"
        )
    every = np.full(len(views), np.nan)
    every[used] = rms
    notes = _coverage(source, [view for view, is_used in zip(views, used, strict=True) if is_used])
    return IntrinsicsFit(intrinsics, whole, every, focal_sd, used, notes)


def board_pose(view: PatternView, intrinsics: Intrinsics) -> Pose:
    """Returns the pose of a flat pattern in the frame of the picture."""
    import cv2

    matrix, distortion = intrinsics.matrix, intrinsics.distortion
    _, turn, shift = cv2.solvePnP(view.points_m, view.pixels, matrix, distortion, flags=cv2.SOLVEPNP_ITERATIVE)
    return pose_of(turn, shift)


def pose_of(turn: npt.ArrayLike, shift: npt.ArrayLike) -> Pose:
    """Returns the pose of a rotation vector and a translation."""
    return Pose(
        np.asarray(shift, float).reshape(3), rotation.quaternion_from_vector(np.asarray(turn, float).reshape(3))
    )


def _trimmed(view: PatternView, intrinsics: Intrinsics) -> PatternView:
    """Returns a view without corners that are off by far more than the others: in the edge of a shadow, or hidden."""
    if not view.is_found:
        return view
    off = np.linalg.norm(intrinsics.project(board_pose(view, intrinsics).apply(view.points_m)) - view.pixels, axis=1)
    good = off <= max(WORSE * float(np.median(off)), WORSE_PX)
    if good.all() or good.sum() < LEAST_CORNERS:
        return view
    return replace(view, numbers=view.numbers[good], points_m=view.points_m[good], pixels=view.pixels[good])


def _fit(views: Sequence[PatternView]) -> tuple[Intrinsics, Array, Array, float]:
    """Returns intrinsics, the error of each view, the direction in which each board faced, and the focal deviation.

    Of models with more and more numbers, that which the views support: least Bayesian information criterion.
    """
    import cv2

    points = [(view.points_m * [1, 1, 0]).astype(np.float32) for view in views]
    pixels = [view.pixels.astype(np.float32) for view in views]
    size, count = views[0].size_px, 2 * sum(len(view.numbers) for view in views)
    square, radial, straight = cv2.CALIB_FIX_ASPECT_RATIO, cv2.CALIB_FIX_K2, cv2.CALIB_ZERO_TANGENT_DIST
    best, least = None, np.inf
    for numbers, flags in ((4, square | radial | straight), (5, square | straight), (7, square), (8, 0)):
        start = np.array([[size[0], 0, size[0] / 2], [0, size[0], size[1] / 2], [0, 0, 1.0]])
        fit = cv2.calibrateCameraExtended(points, pixels, size, start, np.zeros(5), flags=flags | cv2.CALIB_FIX_K3)
        criterion = count * np.log(fit[0] ** 2) + numbers * np.log(count)
        if criterion < least:
            best, least = fit, criterion
    assert best is not None
    _, matrix, distortion, turns, _, deviations, _, errors = best
    normals = np.array([pose_of(turn, np.zeros(3)).rotation_matrix[:, 2] for turn in turns])
    intrinsics = Intrinsics(size, np.asarray(matrix, float), np.asarray(distortion, float).reshape(-1)[:5])
    focal_sd = float(np.max(np.asarray(deviations).reshape(-1)[:2]))
    return intrinsics, np.asarray(errors, float).reshape(-1), normals, focal_sd


def _spread_deg(normals: Array) -> float:
    """Returns the largest angle between the directions in which boards faced."""
    return float(np.degrees(np.arccos(np.clip((normals @ normals.T).min(), -1, 1))))


def _coverage(source: str, views: Sequence[PatternView]) -> tuple[str, ...]:
    pixels = np.concatenate([view.pixels for view in views])
    share = (np.ptp(pixels, axis=0) / views[0].size_px).min()
    if share >= COVERED:
        return ()
    return (f"{source}: corners span {share:.0%} of the picture: its edges are guessed; show the board there too",)

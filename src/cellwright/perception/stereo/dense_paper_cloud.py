"""Point clouds as the ROVI project made them: whole-pixel disparities, without the table, thinned, with normals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.perception.stereo.depth_map import Workspace
from cellwright.perception.stereo.rectified_pair import StereoPair

__all__ = [
    "NORMAL_NEIGHBOURS",
    "VOXEL_M",
    "disparities",
    "normals_towards",
    "points_above_table",
    "thinned_cloud",
    "without_outliers",
]

Array = npt.NDArray[np.float64]
DISPARITIES, BLOCK_PX = 128, 5
BLUR_PX = 0.1
WLS_LAMBDA, WLS_SIGMA = 2.0, 5.0
BOX_BESIDE_Y_M, BOX_BELOW_M, BOX_ABOVE_M = 0.05, 0.05, 0.50  # of the workspace: their box around their pick area
PLANE_M, ABOVE_PLANE_M = 0.01, 0.025
PLANE_DRAWS = 50
VOXEL_M = 0.01
"""The side of the cubes of which each keeps one point."""
OUTLIER_NEIGHBOURS = 10
NORMAL_NEIGHBOURS = 25
"""How many points tell a normal."""


def disparities(pair: StereoPair) -> npt.NDArray[np.uint8] | None:
    """Returns disparities in whole pixels, 0 where there is none; None for pictures that are too narrow.

    The picture of disparities was made to be looked at, in 8 bits, and was then used: steps of about 10 mm.
    """
    import cv2

    if pair.left.pixels.shape[1] < 2 * DISPARITIES or pair.left.pixels.shape[0] < 4 * BLOCK_PX:
        return None
    views = [
        cv2.GaussianBlur(cv2.cvtColor(picture.pixels, cv2.COLOR_RGB2GRAY), (3, 3), BLUR_PX)
        for picture in (pair.left, pair.right)
    ]
    matcher = cv2.StereoSGBM.create(
        minDisparity=0,
        numDisparities=DISPARITIES,
        blockSize=BLOCK_PX,
        P1=100,
        P2=400,
        disp12MaxDiff=1,
        preFilterCap=2,
        uniquenessRatio=5,
        speckleWindowSize=0,
        speckleRange=1,
        mode=cv2.StereoSGBM_MODE_SGBM_3WAY,
    )
    smoother = cv2.ximgproc.createDisparityWLSFilter(matcher)
    back = cv2.ximgproc.createRightMatcher(matcher)
    smoother.setLambda(WLS_LAMBDA)
    smoother.setSigmaColor(WLS_SIGMA)
    ahead_steps, back_steps = matcher.compute(*views), back.compute(*views[::-1])
    smooth = smoother.filter(ahead_steps, pair.left.pixels, disparity_map_right=back_steps)
    return np.asarray(cv2.ximgproc.getDisparityVis(smooth), np.uint8)


def points_above_table(
    pair: StereoPair, disparity_px: npt.NDArray[np.uint8], workspace: Workspace, rng: np.random.Generator
) -> Array:
    """Returns the points (n, 3) in the world that are in the workspace's box and clearly above its largest plane."""
    row, column = np.nonzero(disparity_px)
    matrix = pair.left.matrix
    z = matrix[0, 0] * pair.baseline_m / disparity_px[row, column]
    x = (column + 0.5 - matrix[0, 2]) / matrix[0, 0] * z
    y = (row + 0.5 - matrix[1, 2]) / matrix[1, 1] * z
    points = pair.left.pose_camera_in_world.apply(np.column_stack([x, y, z]))
    beside = np.array([0.0, BOX_BESIDE_Y_M])
    low = np.append(np.array(workspace.min_xy_m) - beside, workspace.surface_m - BOX_BELOW_M)
    high = np.append(np.array(workspace.max_xy_m) + beside, workspace.surface_m + BOX_ABOVE_M)
    points = points[((points >= low) & (points <= high)).all(axis=1)]
    if len(points) < 3:
        return points
    level_m = _plane_height(points, rng)
    return points[points[:, 2] > level_m + ABOVE_PLANE_M]


def _plane_height(points: Array, rng: np.random.Generator) -> float:
    """Returns the mean height of the points of the plane that has most of them."""
    best = np.zeros(len(points), bool)
    for a, b, c in points[rng.integers(0, len(points), (PLANE_DRAWS, 3))]:
        normal = np.cross(b - a, c - a)
        length = np.linalg.norm(normal)
        if length < 1e-9:
            continue
        near = np.abs((points - a) @ (normal / length)) < PLANE_M
        if near.sum() > best.sum():
            best = near
    if best.sum() < 3:
        return float(points[:, 2].min())
    middle = points[best].mean(axis=0)
    _, _, axes = np.linalg.svd(np.cov((points[best] - middle).T))
    near = np.abs((points - middle) @ axes[2]) < PLANE_M
    return float(points[near if near.any() else best, 2].mean())


def thinned_cloud(points: Array) -> Array:
    """Returns the mean of the points in each cube of a grid."""
    if not len(points):
        return points
    _, owner, counts = np.unique(
        np.floor(points / VOXEL_M).astype(np.int64), axis=0, return_inverse=True, return_counts=True
    )
    owner = owner.reshape(-1)
    means: Array = np.column_stack([np.bincount(owner, points[:, axis]) / counts for axis in range(3)])
    return means


def without_outliers(points: Array) -> Array:
    """Returns the points whose neighbours are not further than those of others are, by one standard deviation."""
    from scipy.spatial import cKDTree

    distance, _ = cKDTree(points).query(points, OUTLIER_NEIGHBOURS + 1)
    mean = distance[:, 1:].mean(axis=1)
    kept: Array = points[mean <= mean.mean() + mean.std(ddof=1)]
    return kept


def normals_towards(points: Array, eye: Array) -> Array:
    """Returns the normals (n, 3) of a cloud of at least 25 points, all of them towards an eye."""
    from scipy.spatial import cKDTree

    _, near = cKDTree(points).query(points, NORMAL_NEIGHBOURS)
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    _, axes = np.linalg.eigh(np.einsum("nki,nkj->nij", around, around))
    normals: Array = axes[:, :, 0]
    away = np.einsum("ni,ni->n", normals, eye - points) < 0
    return np.asarray(np.where(away[:, None], -normals, normals))

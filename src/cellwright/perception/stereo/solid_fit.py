"""The fit of an upright solid of any shape to points: x, y and yaw by the planes of its nearest visible points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.perception.stereo.hypotheses import UprightPose, visible
from cellwright.perception.stereo.sought_model import STEP_M, SoughtModel

__all__ = ["fit_solid"]

Array = npt.NDArray[np.float64]
GATES_M = 0.025, 0.012  # how far a point may be from the surface, at first and from the fourth step on
WIDE_STEPS, STEPS = 3, 20
MOST_POINTS, LEAST_POINTS = 1200, 60
DONE_M, DONE_RAD = 5e-5, 5e-4


def fit_solid(
    model: SoughtModel, points: Array, start: UprightPose, eye_in_world: Array
) -> tuple[UprightPose, Array, float] | None:
    """Fits a pose by robust iterative closest points, point to plane: x, y and yaw, or x and y of what is round.

    Args:
        model: The object.
        points: (n, 3) in the world, but heights above the object's origin.
        start: Where to begin; the surface that is seen from there is fitted.
        eye_in_world: The camera, with the same heights.

    Returns:
        The pose, the weighted normal matrix of the last step (3, 3) for x and y of the model's own axes and yaw, and
        the scatter of the points that count in metres; None where too few points are near.
    """
    from scipy.spatial import KDTree

    points = points[:: max(len(points) // MOST_POINTS, 1)]
    xy, yaw = np.array([start.x_m, start.y_m]), start.yaw_rad
    seen = visible(model.surface, _turned(eye_in_world - [*xy, 0.0], -yaw), STEP_M)
    surface, normals = (values[seen] for values in model.surface)
    if len(surface) < LEAST_POINTS:
        return None
    tree = KDTree(surface)
    for step in range(STEPS):
        inside = _turned(points - [*xy, 0.0], -yaw)
        distance, nearest = tree.query(inside, distance_upper_bound=GATES_M[step >= WIDE_STEPS])
        near = np.isfinite(distance)
        if np.count_nonzero(near) < LEAST_POINTS:
            return None
        own, normal = inside[near], normals[nearest[near]]
        off = ((own - surface[nearest[near]]) * normal).sum(axis=1)
        jacobian = -np.column_stack([normal[:, 0], normal[:, 1], own[:, 0] * normal[:, 1] - own[:, 1] * normal[:, 0]])
        if model.period_rad == 0.0:
            jacobian[:, 2] = 0.0
        spread = float(np.clip(1.4826 * np.median(np.abs(off)), 0.0008, 0.004))
        weight = np.maximum(1 - (off / (4.685 * spread)) ** 2, 0.0) ** 2
        matrix = (jacobian * weight[:, None]).T @ jacobian
        change = np.linalg.lstsq(matrix, -(jacobian * weight[:, None]).T @ off, rcond=1e-9)[0]
        change = np.clip(change, [-0.01, -0.01, -0.15], [0.01, 0.01, 0.15])
        xy = xy + _turned(np.array([[change[0], change[1], 0.0]]), yaw)[0, :2]
        yaw += float(change[2])
        if step > WIDE_STEPS and np.abs(change[:2]).max() < DONE_M and abs(change[2]) < DONE_RAD:
            break
    period = model.period_rad
    yaw = (yaw + period / 2) % period - period / 2 if period else 0.0
    return UprightPose(float(xy[0]), float(xy[1]), float(yaw)), matrix, spread


def _turned(points: Array, yaw_rad: float) -> Array:
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    result: Array = points @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return result

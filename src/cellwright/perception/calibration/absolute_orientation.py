"""Horn's solution of absolute orientation: the transform between two frames from points known in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.registration_points import check_points

__all__ = ["Similarity", "absolute_orientation"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Similarity:
    """A rigid transform with a scale: ``p_to = scale R p_from + t``.

    Attributes:
        pose: Rotation and translation.
        scale: 1 for a rigid transform.
    """

    pose: Pose
    scale: float = 1.0

    def apply(self, points: npt.ArrayLike) -> Array:
        """Maps one point (3) or many (n, 3)."""
        return self.pose.apply(self.scale * np.asarray(points, float))


def absolute_orientation(points_from: npt.ArrayLike, points_to: npt.ArrayLike, *, scaled: bool = False) -> Similarity:
    """Returns the transform that takes points to others with the least sum of squares (Horn 1987).

    The rotation is the quaternion that belongs to the largest eigenvalue of Horn's symmetric 4 x 4 matrix of the
    centred points' products: in closed form, without a first guess, and a rotation whatever the points are, also for
    coplanar ones and mirror images. The scale is Horn's symmetric one, the ratio of the root mean squares about the
    centroids.

    Args:
        points_from: Coordinates in the one frame, (n, 3).
        points_to: Those of the same points in the other frame.
        scaled: Whether lengths differ by a factor; otherwise it is 1.

    Raises:
        BadInput: Too few points, or they lie on a line, or one is there twice.
    """
    start, end = _table(points_from), _table(points_to)
    if start.shape != end.shape:
        raise BadInput(f"absolute orientation: {len(start)} points against {len(end)}; each needs its partner")
    for points in (start, end):
        check_points(points)
    return fitted(start, end, scaled=scaled)


def fitted(start: Array, end: Array, *, scaled: bool) -> Similarity:
    """Returns Horn's solution for points that were checked."""
    middle_from, middle_to = start.mean(axis=0), end.mean(axis=0)
    a, b = start - middle_from, end - middle_to
    s = a.T @ b
    across = np.array([s[1, 2] - s[2, 1], s[2, 0] - s[0, 2], s[0, 1] - s[1, 0]])
    horn = np.empty((4, 4))
    horn[0, 0] = np.trace(s)
    horn[0, 1:] = horn[1:, 0] = across
    horn[1:, 1:] = s + s.T - np.trace(s) * np.eye(3)
    quaternion = rotation.normalised(np.linalg.eigh(horn)[1][:, -1])
    scale = float(np.sqrt((b**2).sum() / (a**2).sum())) if scaled else 1.0
    turned = scale * (rotation.matrix_from_quaternion(quaternion) @ middle_from)
    return Similarity(Pose(middle_to - turned, quaternion), scale)


def _table(points: npt.ArrayLike) -> Array:
    table = np.array(points, float)
    if table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table).all():
        raise BadInput(f"absolute orientation: points are rows of 3 finite numbers, not of shape {table.shape}")
    return table

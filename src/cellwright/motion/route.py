"""Straight lines through poses whose corners are rounded so smoothly that speed need not jump anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.errors import OutOfRange
from cellwright.core.pose import Pose

__all__ = ["Route"]

Array = npt.NDArray[np.float64]

SAME_M = 1e-6
NARROWEST_BLEND_M, WIDEST_BLEND_M = 1e-3, 10.0


class Route:
    """A route through poses in turn, by the way along it; inner ones are passed by, the last is reached.

    A corner begins and ends at the blend distance before and after its pose, or half a line where that is shorter.
    In between, the direction changes with bounded curvature that grows from zero, unlike on an arc, so that joints
    can keep their jerk limits; the pose is passed within 3/8 of the blend distance. A way straight back is a corner
    like any other.

    Attributes:
        lengths_m: Of the lines, those without any left out; a turn counts like its angle times the equivalent radius.
        length_m: Of all of them.
        turn_rad: Of all turns.

    Args:
        poses: The first is where it begins.
        blend_m: The blend distance.
        equivalent_radius_m: Of turns.
    """

    def __init__(self, poses: Sequence[Pose], blend_m: float, equivalent_radius_m: float) -> None:
        if not NARROWEST_BLEND_M <= blend_m <= WIDEST_BLEND_M:
            raise OutOfRange("blend distance", blend_m, NARROWEST_BLEND_M, WIDEST_BLEND_M, "m")
        self._poses = [poses[0]]
        lengths: list[float] = []
        for pose in poses[1:]:
            last = self._poses[-1]
            length_m = max(last.distance_m(pose), last.angle_rad(pose) * equivalent_radius_m)
            if length_m > SAME_M:
                self._poses.append(pose)
                lengths.append(length_m)
        self._ways = [_way(a, b) / length for (a, b), length in zip(pairwise(self._poses), lengths, strict=True)]
        self._ends = np.cumsum(lengths)
        self._blends = [min(blend_m, a / 2, b / 2) for a, b in pairwise(lengths)]
        self.lengths_m = lengths
        self.length_m = float(sum(lengths))
        self.turn_rad = float(sum(a.angle_rad(b) for a, b in pairwise(self._poses)))

    def at(self, fraction: float) -> Pose:
        """Returns the pose at a fraction of the way."""
        if not self._ways:
            return self._poses[0]
        way_m = fraction * self.length_m
        number = min(int(np.searchsorted(self._ends, way_m)), len(self._ways) - 1)
        for corner in (number - 1, number):
            if 0 <= corner < len(self._blends) and abs(way_m - self._ends[corner]) < self._blends[corner]:
                return self._in_corner(corner, (way_m - self._ends[corner]) / self._blends[corner])
        begin_m = self._ends[number - 1] if number else 0.0
        return _moved(self._poses[number], self._ways[number] * (way_m - begin_m))

    def _in_corner(self, corner: int, share: float) -> Pose:
        """Returns the pose in a corner, from -1, where it begins, to 1: one way fades out while the next fades in."""
        blend_m, u = self._blends[corner], (1 + share) / 2
        back = _moved(self._poses[corner + 1], self._ways[corner] * (-blend_m * _faded_in(1 - u)))
        return _moved(back, self._ways[corner + 1] * (blend_m * _faded_in(u)))


def _faded_in(u: float) -> float:
    """Returns a blend from 0 to 1 whose second derivative is 0 at both ends, and whose first is 0 at the beginning."""
    return u**3 * (2 - u)


def _way(start: Pose, end: Pose) -> Array:
    """Returns shift and turn (6) from one pose to another, in the parent's axes."""
    turn = rotation.multiply(end.quaternion, start.quaternion * np.array([1.0, -1.0, -1.0, -1.0]))
    return np.concatenate([end.position - start.position, rotation.vector_from_quaternion(turn)])


def _moved(pose: Pose, way: Array) -> Pose:
    turn = rotation.quaternion_from_vector(way[3:])
    return Pose(pose.position + way[:3], rotation.multiply(turn, pose.quaternion))

"""Pieces of a Cartesian path: straight lines and the arcs that join them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.pose import Pose

__all__ = ["Arc", "Line", "PathPiece"]

Array = npt.NDArray[np.float64]


class PathPiece(Protocol):
    """A stretch of path, by the way along it."""

    length_m: float

    def at(self, way_m: float) -> tuple[Pose, Array, Array]:
        """Returns the pose, and the first and second derivative of position and rotation (6) by the way."""


class _Turn:
    """The rotation from one pose to another about one axis, evenly along a piece."""

    def __init__(self, start: Pose, end: Pose) -> None:
        self._start = start.quaternion
        between = rotation.multiply(start.quaternion * np.array([1.0, -1.0, -1.0, -1.0]), end.quaternion)
        self._vector = rotation.vector_from_quaternion(between)
        self.angle_rad = float(np.linalg.norm(self._vector))
        self.vector = rotation.rotate(start.quaternion, self._vector)  # in the parent's axes

    def at(self, fraction: float) -> Array:
        return rotation.multiply(self._start, rotation.quaternion_from_vector(self._vector * fraction))


class Line:
    """A straight line from one pose to another; the longer of the way and the turn is its length."""

    def __init__(self, start: Pose, end: Pose, equivalent_radius_m: float) -> None:
        self._start = start.position
        self._way = end.position - start.position
        self._turn = _Turn(start, end)
        self.length_m = max(float(np.linalg.norm(self._way)), self._turn.angle_rad * equivalent_radius_m)

    def at(self, way_m: float) -> tuple[Pose, Array, Array]:
        """Returns the pose and its derivatives."""
        fraction = way_m / self.length_m if self.length_m else 0.0
        pose = Pose(self._start + self._way * fraction, self._turn.at(fraction))
        slope = np.concatenate([self._way, self._turn.vector]) / (self.length_m or 1.0)
        return pose, slope, np.zeros(6)


class Arc:
    """A circle that leaves one line and meets the next without a corner."""

    def __init__(self, start: Pose, end: Pose, along: Array, bend_rad: float, radius_m: float, equal_m: float) -> None:
        chord = end.position - start.position
        inward = chord - along * (chord @ along)
        self._along = along
        self._inward = inward / np.linalg.norm(inward)
        self._centre = start.position + radius_m * self._inward
        self._bend_rad = bend_rad
        self._radius_m = radius_m
        self._turn = _Turn(start, end)
        self.length_m = max(radius_m * bend_rad, self._turn.angle_rad * equal_m)

    def at(self, way_m: float) -> tuple[Pose, Array, Array]:
        """Returns the pose and its derivatives."""
        fraction = way_m / self.length_m
        sine, cosine = np.sin(self._bend_rad * fraction), np.cos(self._bend_rad * fraction)
        rate = self._bend_rad / self.length_m
        outward = self._along * sine - self._inward * cosine
        tangent = self._along * cosine + self._inward * sine
        pose = Pose(self._centre + self._radius_m * outward, self._turn.at(fraction))
        slope = np.concatenate([tangent * self._radius_m * rate, self._turn.vector / self.length_m])
        return pose, slope, np.concatenate([-outward * self._radius_m * rate**2, np.zeros(3)])

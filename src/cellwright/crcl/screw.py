"""The geometry of MoveScrew: a turn about an axis while the tool advances along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_vector

__all__ = ["Screw"]

STEP_RAD = 0.1  # between the points at which the extent of a part of a turn is taken


@dataclass(frozen=True, slots=True)
class Screw:
    """A motion about the tool's own z axis, or about a parallel one.

    The z axis points away from the end effector, so a positive distance leads away from it, and a positive turn is
    counterclockwise as seen from the point at which the tool points: the right-hand rule about z.

    Attributes:
        pose_start_in_base: The tool at the beginning.
        axis_point_m: A point of the axis in the base frame.
        distance_m: How far it advances.
        turn_rad: How far it turns; any number of revolutions.
    """

    pose_start_in_base: Pose
    axis_point_m: tuple[float, float, float]
    distance_m: float
    turn_rad: float

    @property
    def radius_m(self) -> float:
        """The distance of the controlled point from the axis."""
        offset = self.pose_start_in_base.position - np.array(self.axis_point_m)
        axis = self.pose_start_in_base.rotation_matrix[:, 2]
        return float(np.linalg.norm(offset - axis * (offset @ axis)))

    @property
    def length_m(self) -> float:
        """The length of the controlled point's path."""
        return math.hypot(self.distance_m, self.radius_m * self.turn_rad)

    def bounds_m(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Returns the least and the greatest coordinates of the controlled point; a little more beyond a full turn."""
        begin, end = self.pose_at(0.0).position, self.pose_at(1.0).position
        if abs(self.turn_rad) < 2.0 * math.pi:
            steps = 1 + math.ceil(abs(self.turn_rad) / STEP_RAD)
            ways = np.array([self.pose_at(step / steps).position for step in range(steps + 1)])
            return tuple(ways.min(axis=0).tolist()), tuple(ways.max(axis=0).tolist())
        axis = self.pose_start_in_base.rotation_matrix[:, 2]
        arm = begin - np.array(self.axis_point_m)
        arm = arm - axis * (arm @ axis)
        swing = np.hypot(arm, np.cross(axis, arm))  # how far the circle reaches along each axis of the base
        centre, far = begin - arm, begin - arm + axis * self.distance_m
        low, high = np.minimum(centre, far) - swing, np.maximum(centre, far) + swing
        return tuple(np.minimum(low, end).tolist()), tuple(np.maximum(high, end).tolist())

    def pose_at(self, fraction: float) -> Pose:
        """Returns the tool in the base frame at a fraction of the motion."""
        start = self.pose_start_in_base
        axis, pivot = start.rotation_matrix[:, 2], np.array(self.axis_point_m)
        turn = Pose(np.zeros(3), quaternion_from_vector(axis * (self.turn_rad * fraction)))
        position = turn.apply(start.position - pivot) + pivot + axis * (self.distance_m * fraction)
        return Pose(position, (turn @ Pose(np.zeros(3), start.quaternion)).quaternion)

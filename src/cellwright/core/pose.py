"""Rigid poses, SE(3): composition, exponential and logarithm, interpolation, and poses that know their frames.

A `Pose` written `pose_part_in_world` maps coordinates given in the part's frame to the world's:
``p_world = pose_part_in_world.apply(p_part)``, and ``pose_b_in_a @ pose_c_in_b`` is ``pose_c_in_a``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.errors import FrameMismatch

__all__ = ["FramedPose", "Pose"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pose:
    """A rigid transform: a position in metres and a unit quaternion w, x, y, z with w >= 0.

    The sign of the quaternion is fixed so that equal rotations have equal numbers.

    >>> pose_tray_in_world = cw.Pose.from_xyz_rpy([0.4, -1.0, 0.9])
    >>> pose_part_in_tray = cw.Pose.from_xyz_rpy([0.05, 0.0, 0.02])
    >>> (pose_tray_in_world @ pose_part_in_tray).position.round(3).tolist()
    [0.45, -1.0, 0.92]
    """

    position: Array
    quaternion: Array

    def __post_init__(self) -> None:
        position = np.array(self.position, dtype=np.float64)
        quaternion = rotation.normalised(np.array(self.quaternion, dtype=np.float64))
        if position.shape != (3,) or not math.isfinite(math.hypot(*position.tolist())):
            raise ValueError(f"a position has 3 finite numbers, not {position.tolist()}")
        position.flags.writeable = False
        quaternion.flags.writeable = False
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "quaternion", quaternion)

    @classmethod
    def identity(cls) -> Self:
        """Returns the pose of a frame in itself."""
        return cls(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    @classmethod
    def from_xyz_rpy(cls, xyz: npt.ArrayLike, rpy: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """Makes a pose from a position and roll, pitch, yaw in radians (fixed axes x, then y, then z)."""
        return cls(np.asarray(xyz, float), rotation.quaternion_from_rpy(np.asarray(rpy, float)))

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Self:
        """Makes a pose from a homogeneous 4 x 4 (or 3 x 4) matrix."""
        m = np.asarray(matrix, float)
        if m.shape not in ((4, 4), (3, 4)):
            raise ValueError(f"a pose is a matrix of 4 x 4 or 3 x 4 numbers, not {m.shape}")
        return cls(m[:3, 3], rotation.quaternion_from_matrix(m[:3, :3]))

    @classmethod
    def exp(cls, twist: npt.ArrayLike) -> Self:
        """Returns the pose reached by the constant twist (v, omega) in one unit of time.

        With angle ``theta = |omega|`` and W the cross-product matrix of omega, the position is V v, where
        ``V = 1 + (1 - cos theta) / theta^2 W + (theta - sin theta) / theta^3 W^2``.
        """
        xi = np.asarray(twist, float)
        return cls(rotation.left_jacobian(xi[3:]) @ xi[:3], rotation.quaternion_from_vector(xi[3:]))

    def log(self) -> Array:
        """Returns the twist (v, omega) whose exponential is this pose; the angle is at most pi."""
        omega = rotation.vector_from_quaternion(self.quaternion)
        return np.concatenate([np.linalg.solve(rotation.left_jacobian(omega), self.position), omega])

    @property
    def rotation_matrix(self) -> Array:
        """The 3 x 3 rotation."""
        return rotation.matrix_from_quaternion(self.quaternion)

    @property
    def matrix(self) -> Array:
        """The homogeneous 4 x 4 matrix."""
        w, i, j, k = self.quaternion.tolist()
        x, y, z = self.position.tolist()
        return np.array(  # all at once: twice as quick as from its parts, and asked for by every inverse
            [
                [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j), x],
                [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i), y],
                [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j), z],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )

    @property
    def rpy(self) -> Array:
        """Roll, pitch, yaw in radians (fixed axes x, y, z); pitch within +-pi/2."""
        return rotation.rpy_from_matrix(self.rotation_matrix)

    def inverse(self) -> Pose:
        """Returns the pose of the parent frame in this one."""
        back = rotation.conjugate(self.quaternion)
        return Pose(-rotation.rotate(back, self.position), back)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.apply(other.position), rotation.multiply(self.quaternion, other.quaternion))

    def apply(self, points: npt.ArrayLike) -> Array:
        """Maps one point (3) or many (n, 3) from this frame to its parent."""
        p = np.asarray(points, float)
        return np.asarray(p @ self.rotation_matrix.T + self.position)

    def interpolate(self, other: Pose, fraction: float) -> Pose:
        """Returns the pose at `fraction` of the way: straight line for the position, shortest arc for the rotation.

        Industrial controllers move like this; the screw motion of SE(3)'s geodesic would bend the path.
        """
        return self.towards(other)(fraction)

    def towards(self, other: Pose) -> Callable[[float], Pose]:
        """Returns `interpolate` as a function of the fraction; what many points of one way share is computed once."""
        turn = rotation.vector_from_quaternion(rotation.multiply(rotation.conjugate(self.quaternion), other.quaternion))
        way, start, quaternion = other.position - self.position, self.position, self.quaternion

        def at(fraction: float) -> Pose:
            step = rotation.quaternion_from_vector(turn * fraction)
            return Pose(start + way * fraction, rotation.multiply(quaternion, step))

        return at

    def distance_m(self, other: Pose) -> float:
        """Returns the distance between the two origins."""
        way = self.position - other.position
        return math.sqrt(way.dot(way))

    def angle_rad(self, other: Pose) -> float:
        """Returns the angle of the rotation between the two."""
        return rotation.angle_between(self.quaternion, other.quaternion)

    def is_close(self, other: Pose, *, tolerance_m: float = 1e-9, tolerance_rad: float = 1e-9) -> bool:
        """Returns whether both poses agree within the tolerances."""
        return self.distance_m(other) <= tolerance_m and self.angle_rad(other) <= tolerance_rad

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.position, self.quaternion)  # a copy is read-only too

    def __repr__(self) -> str:
        xyz, rpy = ((np.round(numbers, 6) + 0.0).tolist() for numbers in (self.position, self.rpy))  # no -0.0
        return f"Pose(xyz={xyz}, rpy={rpy})"


@dataclass(frozen=True)
class FramedPose:
    """A pose that carries the names of its frames, so that a wrong chain is an error and not a wrong number."""

    child: str
    parent: str
    pose: Pose

    def __matmul__(self, other: FramedPose) -> FramedPose:
        if self.child != other.parent:
            raise FrameMismatch(self.child, other.parent)
        return FramedPose(other.child, self.parent, self.pose @ other.pose)

    def inverse(self) -> FramedPose:
        """Returns the parent's pose in the child's frame."""
        return FramedPose(self.parent, self.child, self.pose.inverse())

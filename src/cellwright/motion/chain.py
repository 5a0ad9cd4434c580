"""A serial chain of revolute joints: pose and Jacobian of its flange, for many configurations at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ArmFigures
from cellwright.core.pose import Pose

__all__ = ["SerialChain"]

Array = npt.NDArray[np.float64]
_EYE = np.eye(3)


class SerialChain:
    """The axes of an arm and the offsets between them at zero angles, in its base frame.

    Attributes:
        axes: Directions of the joints (joints, 3).
        offsets: From the base's origin to the first joint, from each to the next, to the flange (joints + 1, 3).
        flange_rotation: The flange's rotation at zero angles.
    """

    def __init__(self, arm: ArmFigures) -> None:
        pose, points, axes = Pose.identity(), [np.zeros(3)], []
        for joint in arm.joints:
            pose = pose @ Pose.from_xyz_rpy(joint.origin_xyz_m, joint.origin_rpy_rad)
            points.append(pose.position)
            axes.append(pose.rotation_matrix @ np.array(joint.axis, float))
        pose = pose @ Pose.from_xyz_rpy(arm.flange_xyz_m, arm.flange_rpy_rad)
        points.append(pose.position)
        self.axes = np.array(axes)
        self.offsets = np.diff(np.array(points), axis=0)
        self.flange_rotation = pose.rotation_matrix
        self._cross = np.array([[[0, -z, y], [z, 0, -x], [-y, x, 0]] for x, y, z in self.axes])
        self._cross_squared = self._cross @ self._cross

    def forward(self, joints: Array) -> tuple[Array, Array]:
        """Returns rotations (n, 3, 3) and positions (n, 3) of the flange for configurations (n, joints)."""
        turns = self._turns(joints)
        position, rotation = self.offsets[0], turns[:, 0]
        for number, offset in enumerate(self.offsets[1:-1], 1):
            position = position + rotation @ offset
            rotation = rotation @ turns[:, number]
        return rotation @ self.flange_rotation, position + rotation @ self.offsets[-1]

    def link_frames(self, joints: Array) -> tuple[Array, Array]:
        """Returns the turns (joints + 1, 3, 3) of base and links since zero angles, and the places of their joints.

        Args:
            joints: One configuration.
        """
        turns = self._turns(joints[None])[0]
        rotations, points = [np.eye(3)], [np.zeros(3)]
        for turn, offset in zip(turns, self.offsets[:-1], strict=True):
            points.append(points[-1] + rotations[-1] @ offset)
            rotations.append(rotations[-1] @ turn)
        return np.array(rotations), np.array(points)

    def distance(self, joints: Array, targets: Array) -> Array:
        """Returns distances of configurations (n, joints) from poses (n or 1, 4, 4): metres or radians, the larger."""
        rotations, positions = self.forward(joints)
        # For small angles the norm of the difference of two rotation matrices is sqrt(2) times the angle.
        turned2 = ((rotations - targets[:, :3, :3]) ** 2).sum(axis=(1, 2)) / 2
        return np.asarray(np.sqrt(np.maximum(turned2, ((positions - targets[:, :3, 3]) ** 2).sum(axis=1))))

    def jacobian(self, joints: Array) -> tuple[Array, Array, Array]:
        """Returns rotations and positions of the flange, and its Jacobians (n, 6, joints): linear rows, then angular.

        A joint at p that turns about a moves the flange at f with ``a x (f - p)`` and turns it with a.
        """
        turns = self._turns(joints)
        rotation = np.broadcast_to(np.eye(3), (len(joints), 3, 3))
        position = np.zeros((len(joints), 3))
        axes, points = np.empty((2, len(joints), len(self.axes), 3))
        for number, (offset, axis) in enumerate(zip(self.offsets[:-1], self.axes, strict=True)):
            position = position + rotation @ offset
            points[:, number], axes[:, number] = position, rotation @ axis
            rotation = rotation @ turns[:, number]
        position = position + rotation @ self.offsets[-1]
        columns = np.empty((len(joints), len(self.axes), 6))
        (ax, ay, az), (x, y, z) = axes.T, (position[:, None] - points).T
        columns[:, :, 0], columns[:, :, 1], columns[:, :, 2] = (
            (ay * z - az * y).T, (az * x - ax * z).T, (ax * y - ay * x).T,
        )  # fmt: skip
        columns[:, :, 3:] = axes
        return rotation @ self.flange_rotation, position, columns.swapaxes(1, 2)

    def places(self, joints: Array) -> Array:
        """Returns the places (n, joints + 1, 3) of all joints and of the flange for configurations (n, joints)."""
        turns = self._turns(joints)
        position = np.broadcast_to(self.offsets[0], (len(joints), 3))
        places, rotation = [position], turns[:, 0]
        for number, offset in enumerate(self.offsets[1:], 1):
            position = position + rotation @ offset
            places.append(position)
            if number < len(self.axes):
                rotation = rotation @ turns[:, number]
        return np.stack(places, axis=1)

    def _turns(self, joints: Array) -> Array:
        angles = joints[:, :, None, None]
        return np.asarray(_EYE + np.sin(angles) * self._cross + (1 - np.cos(angles)) * self._cross_squared)

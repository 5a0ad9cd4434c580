"""Forward and inverse kinematics of serial arms: closed form, every branch."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from eaik.IK_HP import HPRobot

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose

__all__ = ["ArmKinematics", "Unreachable", "checked_angles"]

Array = npt.NDArray[np.float64]

POSITION_TOLERANCE_M = 1e-6
ROTATION_TOLERANCE_RAD = 1e-6
REDUNDANT_JOINT = 2  # of a seven-axis arm: the turn of the upper arm about itself moves the elbow
REDUNDANCY_STEP_RAD = np.radians(15.0)


class Unreachable(JobFailed):
    """A pose that the arm cannot take within its joint limits."""

    def __init__(self, arm: str, pose: Pose, why: str) -> None:
        super().__init__(f"{arm} cannot reach {pose} of its flange in its base frame: {why}")


def checked_angles(arm: ArmFigures, joints_rad: npt.ArrayLike) -> Array:
    """One finite angle per joint, as an array."""
    joints = np.asarray(joints_rad, float)
    count = len(arm.joints)
    if joints.shape != (count,) or not np.isfinite(joints).all():
        raise BadInput(f"{arm.name} has {count} joints and needs {count} finite angles, got {joints.tolist()}")
    return joints


class ArmKinematics:
    """One arm's geometry, from its catalogue figures alone: the nominal robot, not the one in the cell."""

    def __init__(self, arm: ArmFigures) -> None:
        self.arm = arm
        self.lower_rad = np.array([j.position_limits_rad[0] for j in arm.joints])
        self.upper_rad = np.array([j.position_limits_rad[1] for j in arm.joints])
        self._origins = [Pose.from_xyz_rpy(j.origin_xyz_m, j.origin_rpy_rad) for j in arm.joints]
        self._axes = [np.array(j.axis, float) for j in arm.joints]
        self._flange = Pose.from_xyz_rpy(arm.flange_xyz_m, arm.flange_rpy_rad)
        self._h, self._p, self._flange_rotation = self._zero_configuration()
        self._cross = np.array([[[0, -z, y], [z, 0, -x], [-y, x, 0]] for x, y, z in self._h])
        self._cross_squared = self._cross @ self._cross
        self._solver = lru_cache(maxsize=256)(self._make_solver)

    def forward(self, joints_rad: npt.ArrayLike) -> Pose:
        """The flange's pose in the base."""
        rotations, positions = self._forward_all(checked_angles(self.arm, joints_rad)[None])
        return Pose.from_matrix(np.column_stack([rotations[0], positions[0]]))

    def inverse(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike | None = None) -> list[Array]:
        """Every configuration within the limits that takes the pose, nearest to `near_rad` first.

        Turns by 2 pi that the limits allow count as configurations of their own. A seven-axis arm is solved for
        a fan of values of its redundant joint, beginning with the one it has. In a singular configuration, where
        two joints turn about one axis, the first of them stays as in `near_rad`.
        """
        near = self._near(near_rad)
        return self._within_limits(self._solve(pose_flange_in_base, near, self._fan(near)), near)

    def nearest(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike) -> Array:
        """The configuration nearest to a given one; a redundant joint stays as it is whenever that is possible.

        Raises:
            Unreachable: when there is none, with the reason: out of reach, or outside the joint limits.
        """
        near = self._near(near_rad)
        fan = self._fan(near)
        for redundancies in (fan[:1], fan[1:]):
            solutions = self._within_limits(self._solve(pose_flange_in_base, near, redundancies), near)
            if solutions:
                return solutions[0]
        raise Unreachable(self.arm.name, pose_flange_in_base, self._why_not(pose_flange_in_base, near, fan))

    def _near(self, near_rad: npt.ArrayLike | None) -> Array:
        return np.zeros(len(self._axes)) if near_rad is None else checked_angles(self.arm, near_rad)

    def _why_not(self, pose: Pose, near: Array, redundancies: list[float | None]) -> str:
        """Out of reach, or the joint that is least beyond its limits in the best of all configurations."""
        beyond = self._solve(pose, near, redundancies)
        if not len(beyond):
            return "out of reach"
        excess = np.maximum(self.lower_rad - beyond, beyond - self.upper_rad)
        best = int(excess.max(axis=1).argmin())
        joint = int(excess[best].argmax())
        low, high = np.degrees([self.lower_rad[joint], self.upper_rad[joint]])
        return (
            f"{self.arm.joints[joint].name} would be at {np.degrees(beyond[best, joint]):.2f} deg, "
            f"allowed {low:.2f} to {high:.2f} deg"
        )

    def _forward_all(self, joints: Array) -> tuple[Array, Array]:
        """Rotations (n, 3, 3) and positions (n, 3) of the flange for many configurations (n, joints) at once."""
        angles = joints[:, :, None, None]
        turns = np.eye(3) + np.sin(angles) * self._cross + (1 - np.cos(angles)) * self._cross_squared
        rotation = np.broadcast_to(np.eye(3), (len(joints), 3, 3))
        position = np.zeros((len(joints), 3))
        for number, offset in enumerate(self._p[:-1]):
            position = position + rotation @ offset
            rotation = rotation @ turns[:, number]
        return rotation @ self._flange_rotation, position + rotation @ self._p[-1]

    def _zero_configuration(self) -> tuple[Array, Array, Array]:
        """Joint axes and the offsets between them at zero angles, in the base frame, and the flange's rotation."""
        pose, points, axes = Pose.identity(), [np.zeros(3)], []
        for origin, axis in zip(self._origins, self._axes, strict=True):
            pose = pose @ origin
            points.append(pose.position)
            axes.append(pose.rotation_matrix @ axis)
        pose = pose @ self._flange
        points.append(pose.position)
        return np.array(axes), np.diff(np.array(points), axis=0), pose.rotation_matrix

    def _make_solver(self, redundancy_rad: float | None) -> Any:
        fixed = [] if redundancy_rad is None else [(REDUNDANT_JOINT, redundancy_rad)]
        return HPRobot(self._h, self._p, fixed)

    def _fan(self, near: Array) -> list[float | None]:
        """The values to try for the redundant joint, the present one first."""
        if len(self._axes) == 6:
            return [None]
        low, high = self.lower_rad[REDUNDANT_JOINT], self.upper_rad[REDUNDANT_JOINT]
        present = float(near[REDUNDANT_JOINT])
        fan = [float(value) for value in np.arange(low, high, REDUNDANCY_STEP_RAD)]
        return [present, *(value for value in fan if value != present)]

    def _solve(self, pose: Pose, near: Array, redundancies: list[float | None]) -> Array:
        """Configurations (n, joints) that take the pose, whatever the limits."""
        target = pose.matrix
        goal = target.copy()
        goal[:3, :3] = target[:3, :3] @ self._flange_rotation.T
        rows: list[Array] = []
        for redundancy in redundancies:
            answer = self._solver(redundancy).IK(goal)
            for joints, approximate in zip(answer.Q, answer.is_LS, strict=True):
                rows.append(np.asarray(joints, float))
                if approximate:  # perhaps out of reach, perhaps singular: then this is another try
                    rows.append(self._unwound(rows[-1], target, near))
        candidates = np.array(rows).reshape(-1, len(self._axes))
        rotations, positions = self._forward_all(candidates)
        # For small angles the norm of the difference of two rotation matrices is sqrt(2) times the angle.
        turned_rad = np.linalg.norm(rotations - target[:3, :3], axis=(1, 2)) / np.sqrt(2)
        moved_m = np.linalg.norm(positions - target[:3, 3], axis=1)
        found = candidates[(moved_m <= POSITION_TOLERANCE_M) & (turned_rad <= ROTATION_TOLERANCE_RAD)]
        _, first = np.unique(np.round(found, 9) + 0.0, axis=0, return_index=True)
        return np.asarray(found[first])

    def _unwound(self, joints: Array, target: Array, near: Array) -> Array:
        """The same with the wrist's first joint as in `near`, its last turned so that the flange is right.

        With a straight wrist both turn about one axis; the solver then sets both to zero and gives up.
        """
        joints = joints.copy()
        joints[-3], joints[-1] = near[-3], 0.0
        rotation = self._forward_all(joints[None])[0][0]
        axis = self._flange_rotation.T @ self._h[-1]  # of the last joint, in the flange
        turn = rotation.T @ target[:3, :3]
        sine = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) @ axis
        joints[-1] = np.arctan2(sine, np.trace(turn) - 1)
        return joints

    def _within_limits(self, joints: Array, near: Array) -> list[Array]:
        """The configurations and their turns by 2 pi that the limits allow, nearest first."""
        found: list[Array] = []
        for row in joints:
            turns = row + 2 * np.pi * np.arange(-1, 2)[:, None]
            allowed = (turns >= self.lower_rad - 1e-9) & (turns <= self.upper_rad + 1e-9)
            found.extend(np.array(q) for q in product(*(turns[ok, i] for i, ok in enumerate(allowed.T))))
        return sorted(found, key=lambda q: float(np.sum((q - near) ** 2)))

"""Forward and inverse kinematics of serial arms: closed form, every branch."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from eaik.IK_HP import HPRobot

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose

__all__ = ["ArmKinematics", "Unreachable"]

Array = npt.NDArray[np.float64]

POSITION_TOLERANCE_M = 1e-6
ROTATION_TOLERANCE_RAD = 1e-6
REDUNDANT_JOINT = 2  # of a seven-axis arm: the turn of the upper arm about itself moves the elbow
REDUNDANCY_STEP_RAD = np.radians(15.0)


class Unreachable(JobFailed):
    """A pose that the arm cannot take within its joint limits."""

    def __init__(self, arm: str, pose: Pose, why: str) -> None:
        super().__init__(f"{arm} cannot reach {pose} of its flange in its base frame: {why}")


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
        angles = np.asarray(joints_rad, float)[:, None, None]
        turns = np.eye(3) + np.sin(angles) * self._cross + (1 - np.cos(angles)) * self._cross_squared
        rotation, position = np.eye(3), np.zeros(3)
        for offset, turn in zip(self._p, turns, strict=False):
            position = position + rotation @ offset
            rotation = rotation @ turn
        matrix = np.eye(4)
        matrix[:3, :3] = rotation @ self._flange_rotation
        matrix[:3, 3] = position + rotation @ self._p[-1]
        return Pose.from_matrix(matrix)

    def inverse(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike | None = None) -> list[Array]:
        """Every configuration within the limits that takes the pose, nearest to `near_rad` first.

        Turns by 2 pi that the limits allow count as configurations of their own. A seven-axis arm is solved for
        a fan of values of its redundant joint, beginning with the one it has.
        """
        near = np.zeros(len(self._axes)) if near_rad is None else np.asarray(near_rad, float)
        solutions: list[Array] = []
        for redundancy in self._redundancies(near):
            for joints in self._branches(pose_flange_in_base, redundancy):
                solutions.extend(self._windings(joints))
        return sorted(solutions, key=lambda q: float(np.sum((q - near) ** 2)))

    def nearest(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike) -> Array:
        """The configuration nearest to a given one.

        Raises:
            Unreachable: when there is none, with the reason: out of reach, or outside the joint limits.
        """
        solutions = self.inverse(pose_flange_in_base, near_rad)
        if solutions:
            return solutions[0]
        near = np.asarray(near_rad, float)
        beyond = [q for r in self._redundancies(near) for q in self._branches(pose_flange_in_base, r)]
        if not beyond:
            raise Unreachable(self.arm.name, pose_flange_in_base, "out of reach")
        excess = [np.maximum(self.lower_rad - q, q - self.upper_rad) for q in beyond]
        best = min(range(len(beyond)), key=lambda i: float(excess[i].max()))
        joint = int(np.argmax(excess[best]))
        low, high = np.degrees([self.lower_rad[joint], self.upper_rad[joint]])
        why = (
            f"{self.arm.joints[joint].name} would be at {np.degrees(beyond[best][joint]):.1f} deg, "
            f"allowed {low:.1f} to {high:.1f} deg"
        )
        raise Unreachable(self.arm.name, pose_flange_in_base, why)

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

    def _redundancies(self, near: Array) -> list[float | None]:
        if len(self._axes) == 6:
            return [None]
        low, high = self.lower_rad[REDUNDANT_JOINT], self.upper_rad[REDUNDANT_JOINT]
        fan = np.arange(low, high, REDUNDANCY_STEP_RAD)
        return [float(near[REDUNDANT_JOINT]), *(float(value) for value in fan)]

    def _branches(self, pose: Pose, redundancy_rad: float | None) -> list[Array]:
        target = pose.matrix
        target[:3, :3] = target[:3, :3] @ self._flange_rotation.T
        answer = self._solver(redundancy_rad).IK(target)
        if answer.num_solutions() == 0:
            return []
        found = []
        for joints, least_squares in zip(answer.Q, answer.is_LS, strict=True):
            if least_squares:  # the nearest pose it could find, not the one asked for
                continue
            q = np.asarray(joints, float)
            reached = self.forward(q)
            if reached.is_close(pose, tolerance_m=POSITION_TOLERANCE_M, tolerance_rad=ROTATION_TOLERANCE_RAD):
                found.append(q)
        return found

    def _windings(self, joints: Array) -> list[Array]:
        choices = []
        for angle, low, high in zip(joints, self.lower_rad, self.upper_rad, strict=True):
            turns = [angle + 2 * np.pi * k for k in (-1, 0, 1)]
            choices.append([a for a in turns if low - 1e-9 <= a <= high + 1e-9])
        return [np.array(q) for q in product(*choices)]

"""Forward and inverse kinematics of serial arms: closed form with every branch, numerical where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from eaik.IK_HP import HPRobot

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.motion.chain import SerialChain
from cellwright.motion.numerical import random_starts, solve_numerically

__all__ = ["ArmKinematics", "Choice", "Unreachable", "checked_angles"]

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-6  # metres and radians
SINGULAR = 0.1  # metres and radians: so near, a pose that the closed form misses is searched for
REDUNDANT_JOINT = 2  # of a seven-axis arm: the turn of the upper arm about itself moves the elbow
FULL_TURNS_RAD = 2 * np.pi * np.arange(-1.0, 2.0)
REDUNDANCY_STEP_RAD = np.radians(15.0)
ENOUGH_LIMIT_DISTANCE_RAD = np.radians(15.0)  # farther from its limits a joint is no better off
ENOUGH_CLEARANCE_M = 0.05


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


@dataclass(frozen=True)
class Choice:
    """A configuration that takes a pose, and what speaks for it.

    Attributes:
        joints_rad: The configuration.
        limit_distance_rad: Of the joint that is nearest to one of its limits.
        clearance_m: From what the caller's function looks at; infinite without one.
    """

    joints_rad: Array
    limit_distance_rad: float
    clearance_m: float

    @property
    def worth(self) -> float:
        """1 when limits and obstacles are far enough away not to matter, less by the nearer of the two."""
        nearer = min(self.limit_distance_rad / ENOUGH_LIMIT_DISTANCE_RAD, self.clearance_m / ENOUGH_CLEARANCE_M)
        return float(min(1.0, nearer))


class ArmKinematics:
    """One arm's geometry, from its catalogue figures alone: the nominal robot, not the one in the cell.

    Attributes:
        arm: The figures.
        method: `analytic` when the geometry has a closed form, so that every branch is found; otherwise `numerical`:
            a search from many starts, a hundred times slower, that may miss branches.
    """

    def __init__(self, arm: ArmFigures) -> None:
        self.arm = arm
        self.lower_rad = np.array([j.position_limits_rad[0] for j in arm.joints])
        self.upper_rad = np.array([j.position_limits_rad[1] for j in arm.joints])
        self._chain = SerialChain(arm)
        self._solver = lru_cache(maxsize=256)(self._make_solver)
        self.method: Literal["analytic", "numerical"] = "analytic" if self._has_closed_form() else "numerical"

    def forward(self, joints_rad: npt.ArrayLike) -> Pose:
        """The flange's pose in the base."""
        rotations, positions = self._chain.forward(checked_angles(self.arm, joints_rad)[None])
        return Pose.from_matrix(np.column_stack([rotations[0], positions[0]]))

    def jacobian(self, joints_rad: npt.ArrayLike) -> Array:
        """The flange's motion per joint speed, 6 x joints: velocity of its origin, then its turn, in base axes."""
        return np.asarray(self._chain.jacobian(checked_angles(self.arm, joints_rad)[None])[2][0])

    def manipulability(self, joints_rad: npt.ArrayLike) -> float:
        """Yoshikawa's measure ``sqrt(det(J J'))``: 0 where the flange cannot move in some direction."""
        return float(np.prod(np.linalg.svd(self.jacobian(joints_rad), compute_uv=False)))

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
        if self.method == "numerical":  # one search from where it stands is quick and mostly enough
            found = self._nearest_within_limits(self._solve(pose_flange_in_base, near, fan, starts=near[None]), near)
            if found is not None:
                return found
        for redundancies in filter(None, (fan[:1], fan[1:])):
            found = self._nearest_within_limits(self._solve(pose_flange_in_base, near, redundancies), near)
            if found is not None:
                return found
        raise Unreachable(self.arm.name, pose_flange_in_base, self._why_not(pose_flange_in_base, near, fan))

    def ranked(
        self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike, clearance: Callable[[Array], float] | None = None
    ) -> list[Choice]:
        """Every configuration of `inverse`, best first: away from limits and obstacles, then nearest.

        Args:
            pose_flange_in_base: What to reach.
            near_rad: Where the arm stands.
            clearance: Distance in metres to what a configuration must not touch; those without any are left out.
        """
        choices = []
        for joints in self.inverse(pose_flange_in_base, near_rad):
            clearance_m = np.inf if clearance is None else float(clearance(joints))
            if clearance_m > 0:
                limit_rad = float(np.minimum(joints - self.lower_rad, self.upper_rad - joints).min())
                choices.append(Choice(joints, limit_rad, clearance_m))
        return sorted(choices, key=lambda choice: -choice.worth)  # stable: of equals the nearest stays first

    def choose(
        self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike, clearance: Callable[[Array], float] | None = None
    ) -> Array:
        """The best of `ranked`: where a seven-axis arm should put its elbow, a six-axis arm its shoulder and wrist.

        Raises:
            Unreachable: when there is none, with the reason.
        """
        choices = self.ranked(pose_flange_in_base, near_rad, clearance)
        if choices:
            return choices[0].joints_rad
        self.nearest(pose_flange_in_base, near_rad)  # says what is wrong, unless only the clearance is
        raise Unreachable(self.arm.name, pose_flange_in_base, "every configuration touches something")

    def _near(self, near_rad: npt.ArrayLike | None) -> Array:
        return np.zeros(len(self.lower_rad)) if near_rad is None else checked_angles(self.arm, near_rad)

    def _why_not(self, pose: Pose, near: Array, redundancies: list[float | None]) -> str:
        """Out of reach, or the joint that is least beyond its limits in the best of all configurations."""
        beyond = self._solve(pose, near, redundancies, limited=False)
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

    def _make_solver(self, redundancy_rad: float | None) -> Any:
        fixed = [] if redundancy_rad is None else [(REDUNDANT_JOINT, redundancy_rad)]
        return HPRobot(self._chain.axes, self._chain.offsets, fixed)

    def _has_closed_form(self) -> bool:
        if len(self.arm.joints) > 7:
            return False
        home = None if len(self.arm.joints) < 7 else self.arm.home_rad[REDUNDANT_JOINT]
        return bool(self._solver(home).hasKnownDecomposition())

    def _fan(self, near: Array) -> list[float | None]:
        """The values to try for the redundant joint, the present one first."""
        if len(near) != 7 or self.method == "numerical":
            return [None]
        low, high = self.lower_rad[REDUNDANT_JOINT], self.upper_rad[REDUNDANT_JOINT]
        present = float(near[REDUNDANT_JOINT])
        fan = [float(value) for value in np.arange(low, high, REDUNDANCY_STEP_RAD)]
        return [present, *(value for value in fan if value != present)]

    def _solve(
        self,
        pose: Pose,
        near: Array,
        redundancies: list[float | None],
        limited: bool = True,
        starts: Array | None = None,
    ) -> Array:
        """Configurations (n, joints) that take the pose; only a search heeds the limits, and may be told not to."""
        target = pose.matrix
        if self.method == "analytic":
            candidates = self._closed_form(target, near, redundancies)
        else:
            if starts is None:
                starts = np.vstack([near, self.arm.home_rad, random_starts(self.lower_rad, self.upper_rad)])
            room_rad = 0.0 if limited else np.pi
            low, high = self.lower_rad - room_rad, self.upper_rad + room_rad
            candidates = solve_numerically(self._chain, target, starts, low, high)
        found = candidates[self._distance(candidates, target) <= TOLERANCE]
        if not len(found) and self.method == "analytic":
            starts = np.vstack([candidates, near])
            starts = starts[self._distance(starts, target) <= SINGULAR]
            if len(starts):  # a closed form may fail where the arm is singular; from near by a search does not
                low, high = np.full_like(near, -np.inf), np.full_like(near, np.inf)
                polished = solve_numerically(self._chain, target, starts, low, high)
                found = polished[self._distance(polished, target) <= TOLERANCE]
        _, first = np.unique(np.round(found, 9 if self.method == "analytic" else 6) + 0.0, axis=0, return_index=True)
        return np.asarray(found[first])

    def _distance(self, joints: Array, target: Array) -> Array:
        """How far configurations (n, joints) are from a pose: metres or radians, the larger."""
        rotations, positions = self._chain.forward(joints)
        # For small angles the norm of the difference of two rotation matrices is sqrt(2) times the angle.
        turned_rad = np.linalg.norm(rotations - target[:3, :3], axis=(1, 2)) / np.sqrt(2)
        return np.asarray(np.maximum(turned_rad, np.linalg.norm(positions - target[:3, 3], axis=1)))

    def _closed_form(self, target: Array, near: Array, redundancies: list[float | None]) -> Array:
        goal = target.copy()
        goal[:3, :3] = target[:3, :3] @ self._chain.flange_rotation.T
        rows: list[Array] = []
        for redundancy in redundancies:
            answer = self._solver(redundancy).IK(goal)
            for joints, approximate in zip(answer.Q, answer.is_LS, strict=True):
                rows.append(np.asarray(joints, float))
                if approximate:  # perhaps out of reach, perhaps singular: then this is another try
                    rows.append(self._unwound(rows[-1], target, near))
        return np.array(rows).reshape(-1, len(near))

    def _unwound(self, joints: Array, target: Array, near: Array) -> Array:
        """The same with the wrist's first joint as in `near`, its last turned so that the flange is right.

        With a straight wrist both turn about one axis; the solver then sets both to zero and gives up.
        """
        joints = joints.copy()
        joints[-3], joints[-1] = near[-3], 0.0
        rotation = self._chain.forward(joints[None])[0][0]
        axis = self._chain.flange_rotation.T @ self._chain.axes[-1]  # of the last joint, in the flange
        turn = rotation.T @ target[:3, :3]
        sine = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) @ axis
        joints[-1] = np.arctan2(sine, np.trace(turn) - 1)
        return joints

    def _nearest_within_limits(self, joints: Array, near: Array) -> Array | None:
        """What `_within_limits` would put first, without making all the others."""
        turns = joints + FULL_TURNS_RAD[:, None, None]
        allowed = (turns >= self.lower_rad - 1e-9) & (turns <= self.upper_rad + 1e-9)
        away = np.where(allowed, (turns - near) ** 2, np.inf)
        total = away.min(axis=0).sum(axis=1)
        if not np.isfinite(total).any():
            return None
        best = int(total.argmin())
        return np.asarray(np.take_along_axis(turns[:, best], away[:, best].argmin(axis=0)[None], axis=0)[0])

    def _within_limits(self, joints: Array, near: Array) -> list[Array]:
        """The configurations and their turns by 2 pi that the limits allow, nearest first."""
        found: list[Array] = []
        for row in joints:
            turns = row + FULL_TURNS_RAD[:, None]
            allowed = (turns >= self.lower_rad - 1e-9) & (turns <= self.upper_rad + 1e-9)
            found.extend(np.array(q) for q in product(*(turns[ok, i] for i, ok in enumerate(allowed.T))))
        return sorted(found, key=lambda q: float(np.sum((q - near) ** 2)))

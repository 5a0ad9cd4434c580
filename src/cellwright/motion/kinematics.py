"""Forward and inverse kinematics of serial arms: closed form with every branch, numerical where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import BadInput, OutOfReach
from cellwright.core.pose import Pose
from cellwright.motion.branches import distinct, nearest_within_limits, within_limits
from cellwright.motion.chain import SerialChain
from cellwright.motion.closed_form import REDUNDANT_JOINT, TOLERANCE, ClosedForm
from cellwright.motion.numerical import random_starts, solve_numerically

__all__ = ["ArmKinematics", "IkSolution", "Unreachable", "checked_angles"]

Array = npt.NDArray[np.float64]

SEARCH_DECIMALS = 6  # that tell two results of a search apart
ENOUGH_LIMIT_DISTANCE_RAD = np.radians(15.0)  # farther from its limits a joint is no better off
ENOUGH_CLEARANCE_M = 0.05


class Unreachable(OutOfReach):
    """A pose that the arm cannot take within its joint limits."""

    def __init__(self, arm: str, pose: Pose, why: str, frame: str = "its flange in its base frame") -> None:
        (x, y, z), turns = pose.position + 0.0, np.degrees(pose.rpy)
        roll, pitch, yaw = np.round(turns, 1) + 0.0  # no -0.0
        at = f"x {x:.3f}, y {y:.3f}, z {z:.3f} m, roll {roll:.1f}, pitch {pitch:.1f}, yaw {yaw:.1f} deg"
        super().__init__(f"{arm} cannot reach {at} ({frame}): {why}")
        self.pose = pose
        self.why = why


def checked_angles(arm: ArmFigures, joints_rad: npt.ArrayLike) -> Array:
    """Returns one finite angle per joint, as an array."""
    joints = np.asarray(joints_rad, float)
    count = len(arm.joints)
    if joints.shape != (count,) or not isfinite(joints.dot(joints)):  # quicker than to ask each of them
        raise BadInput(f"{arm.name} has {count} joints and needs {count} finite angles, got {joints.tolist()}")
    return joints


@dataclass(frozen=True)
class IkSolution:
    """A solution of the inverse kinematics, with its rating.

    Attributes:
        joints_rad: The configuration.
        limit_distance_rad: Of the joint that is nearest to one of its limits.
        clearance_m: By the caller's function; infinite without one.
    """

    joints_rad: Array
    limit_distance_rad: float
    clearance_m: float

    @property
    def score(self) -> float:
        """A rating: 1 when limits and obstacles are far enough away not to matter, less by the nearer of the two."""
        nearer = min(self.limit_distance_rad / ENOUGH_LIMIT_DISTANCE_RAD, self.clearance_m / ENOUGH_CLEARANCE_M)
        return float(min(1.0, nearer))


class ArmKinematics:
    """One arm's geometry, from its catalogue figures alone: the nominal robot, not the one in the cell.

    Attributes:
        arm: The figures.
        effort: The cost of solving a pose, as a multiple of that in closed form.
        method: `analytic` when the geometry has a closed form, so that every branch is found; otherwise `numerical`:
            a search from many starts, a hundred times slower, that may miss branches.
    """

    def __init__(self, arm: ArmFigures) -> None:
        self.arm = arm
        self.lower_rad = np.array([j.position_limits_rad[0] for j in arm.joints])
        self.upper_rad = np.array([j.position_limits_rad[1] for j in arm.joints])
        self._chain = SerialChain(arm)
        self._closed_form = ClosedForm(self._chain, arm.home_rad, self.lower_rad, self.upper_rad)
        self.method: Literal["analytic", "numerical"] = "analytic" if self._closed_form.known else "numerical"
        self.effort = 1 if self.method == "analytic" else 12
        self._stretched_m = float(np.linalg.norm(self._chain.offsets[1:], axis=1).sum())  # nothing is farther away

    def forward(self, joints_rad: npt.ArrayLike) -> Pose:
        """Returns the flange's pose in the base."""
        rotations, positions = self._chain.forward(checked_angles(self.arm, joints_rad)[None])
        return Pose.from_matrix(np.column_stack([rotations[0], positions[0]]))

    def forward_of_many(self, joints_rad: Array) -> Array:
        """Returns the flange's poses in the base (n, 4, 4) for configurations (n, joints)."""
        poses = np.zeros((len(joints_rad), 4, 4))
        poses[:, :3, :3], poses[:, :3, 3] = self._chain.forward(joints_rad)
        poses[:, 3, 3] = 1.0
        return poses

    def jacobian(self, joints_rad: npt.ArrayLike) -> Array:
        """Returns the flange's Jacobian, 6 x joints, in base axes: velocity of its origin, then its turn."""
        return np.asarray(self._chain.jacobian(checked_angles(self.arm, joints_rad)[None])[2][0])

    def manipulability(self, joints_rad: npt.ArrayLike) -> float:
        """Returns Yoshikawa's measure ``sqrt(det(J J'))``: 0 where the flange cannot move in some direction."""
        return float(np.prod(np.linalg.svd(self.jacobian(joints_rad), compute_uv=False)))

    def inverse(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike | None = None) -> list[Array]:
        """Returns every configuration within the limits that takes the pose, nearest to `near_rad` first.

        Turns by 2 pi that the limits allow count as configurations of their own. A seven-axis arm is solved for
        a fan of values of its redundant joint, beginning with the one it has. In a singular configuration, where
        two joints turn about one axis, the first of them stays as in `near_rad`.
        """
        near, target = self._near(near_rad), pose_flange_in_base.matrix
        if self.method == "numerical":
            return list(self._all_of_search(target, near))
        return list(self._closed_form.configurations(target, near))

    def inverse_of_many(
        self, poses_flange_in_base: Sequence[Pose], near_rad: npt.ArrayLike | None = None
    ) -> list[Array]:
        """Solves `inverse` of many poses at once, several times faster than one by one: (n, joints) for each of them.

        Args:
            poses_flange_in_base: The poses to reach.
            near_rad: One configuration for all of them, or one for each.
        """
        count = len(poses_flange_in_base)
        nears = np.zeros(len(self.lower_rad)) if near_rad is None else np.asarray(near_rad, float)
        if nears.ndim == 2 and len(nears) != count:
            raise BadInput(f"{count} poses need {count} configurations to be near to, or one; got {len(nears)}")
        nears = np.array([self._near(row) for row in nears] if nears.ndim == 2 else [self._near(nears)] * count)
        targets = _matrices(poses_flange_in_base)
        if self.method == "numerical" or not count:
            return [self._all_of_search(target, near) for target, near in zip(targets, nears, strict=True)]
        return self._closed_form.configurations_of_many(targets, nears)

    def nearest(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike) -> Array:
        """Returns the configuration nearest to a given one; a redundant joint stays as it is whenever that is possible.

        Raises:
            Unreachable: when there is none, with the reason: out of reach, or outside the joint limits.
        """
        self._require_near(pose_flange_in_base)
        near, target = self._near(near_rad), pose_flange_in_base.matrix
        for found in self._tries(target, near):
            if len(found):
                return np.asarray(found[0])
        raise Unreachable(self.arm.name, pose_flange_in_base, self._why_not(target, near))

    def require_reachable(self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike) -> None:
        """Refuses a pose that the arm cannot take, without a numerical search, which may miss solutions.

        Raises:
            Unreachable: when it is beyond the stretched arm, or no configuration within the limits takes it.
        """
        if self.method == "analytic":
            self.nearest(pose_flange_in_base, near_rad)
        else:
            self._require_near(pose_flange_in_base)

    def _require_near(self, pose_flange_in_base: Pose) -> None:
        away_m = float(np.linalg.norm(pose_flange_in_base.position - self._chain.offsets[0]))
        if not away_m <= self._stretched_m:
            why = f"out of reach, {away_m:.6g} m from its first joint (allowed: {self._stretched_m:.3g} m)"
            error = Unreachable(self.arm.name, pose_flange_in_base, why)
            error.away_m, error.reach_m = away_m, float(self._stretched_m)
            raise error

    def nearest_along(self, poses_flange_in_base: Sequence[Pose], start_rad: npt.ArrayLike) -> list[Array]:
        """Solves `nearest` of each pose on a way, to the configuration before; several times faster than one by one.

        Raises:
            Unreachable: when there is none, as `nearest`.
        """
        near, found = self._near(start_rad), list[Array]()
        branches: list[Array | None] = [None] * len(poses_flange_in_base)
        redundant = self._closed_form.fan(near)[0]  # stays as it is for as long as there is a branch with it
        if self.method == "analytic" and branches:
            targets = np.array([pose.matrix for pose in poses_flange_in_base])
            branches = self._closed_form.branches_of_many(targets, redundant)
        for pose, rows in zip(poses_flange_in_base, branches, strict=True):
            best: Sequence[Array] | Array = ()
            if rows is not None and (redundant is None or near[REDUNDANT_JOINT] == redundant):
                best = nearest_within_limits(rows, near, self.lower_rad, self.upper_rad)
            near = best[0] if len(best) else self.nearest(pose, near)
            found.append(near)
        return found

    def _tries(self, target: Array, near: Array) -> Iterator[Array]:
        """Yields the results of several methods to find a configuration near by, the cheapest first."""
        if self.method == "numerical":
            for starts in (near[None], None):  # one search from where it stands is quick, and mostly enough
                found = self._search(target, near, starts=starts)
                yield nearest_within_limits(found, near, self.lower_rad, self.upper_rad)
            return
        fan = self._closed_form.fan(near)
        yield self._closed_form.configurations(target, near, fan[:1], only_nearest=True)
        if fan[1:]:
            yield self._closed_form.configurations(target, near, fan[1:], only_nearest=True)

    def ranked(
        self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike, clearance: Callable[[Array], float] | None = None
    ) -> list[IkSolution]:
        """Returns every configuration of `inverse`, best first: away from limits and obstacles, then nearest.

        Args:
            pose_flange_in_base: The pose to reach.
            near_rad: The present configuration.
            clearance: Distance in metres of a configuration to obstacles; those without any are left out.
        """
        choices = []
        for joints in self.inverse(pose_flange_in_base, near_rad):
            clearance_m = np.inf if clearance is None else float(clearance(joints))
            if clearance_m > 0:
                limit_rad = float(np.minimum(joints - self.lower_rad, self.upper_rad - joints).min())
                choices.append(IkSolution(joints, limit_rad, clearance_m))
        return sorted(choices, key=lambda choice: -choice.score)  # stable: of equals the nearest stays first

    def choose(
        self, pose_flange_in_base: Pose, near_rad: npt.ArrayLike, clearance: Callable[[Array], float] | None = None
    ) -> Array:
        """Returns the best of `ranked`, which decides on elbow, shoulder and wrist.

        Raises:
            Unreachable: when there is none, with the reason.
        """
        choices = self.ranked(pose_flange_in_base, near_rad, clearance)
        if choices:
            return choices[0].joints_rad
        self.nearest(pose_flange_in_base, near_rad)  # says what is wrong, unless only the clearance is
        raise Unreachable(self.arm.name, pose_flange_in_base, "every configuration touches something")

    def _near(self, near_rad: npt.ArrayLike | None) -> Array:
        return np.zeros(len(self.lower_rad)) if near_rad is None else checked_angles(self.arm, near_rad).copy()

    def _why_not(self, target: Array, near: Array) -> str:
        """Returns the reason: out of reach, or the joint that is least beyond its limits in the best configuration."""
        if self.method == "numerical":
            beyond = self._search(target, near, limited=False)
        else:
            beyond = self._closed_form.solve(target, near, self._closed_form.fan(near))
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

    def _search(self, target: Array, near: Array, *, limited: bool = True, starts: Array | None = None) -> Array:
        """Returns configurations (n, joints) by a numerical search, which keeps the limits if `limited`."""
        if starts is None:
            starts = np.vstack([near, self.arm.home_rad, random_starts(self.lower_rad, self.upper_rad)])
        room_rad = 0.0 if limited else np.pi
        low, high = self.lower_rad - room_rad, self.upper_rad + room_rad
        ends = solve_numerically(self._chain, target, starts, low, high)
        found = ends[self._chain.distance(ends, target[None]) <= TOLERANCE]
        return distinct(found, np.zeros(len(found), np.intp), SEARCH_DECIMALS)[0]

    def _all_of_search(self, target: Array, near: Array) -> Array:
        found = self._search(target, near)
        owner = np.zeros(len(found), np.intp)
        return within_limits(found, owner, near[None], self.lower_rad, self.upper_rad)[0]


def _matrices(poses: Sequence[Pose]) -> Array:
    """Returns `Pose.matrix` of many (n, 4, 4): at once, it takes a tenth of the time."""
    w, x, y, z = np.array([pose.quaternion for pose in poses]).reshape(-1, 4).T
    matrices = np.zeros((len(poses), 4, 4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    matrices[:, :3, :3] = np.moveaxis(np.array(rows), 2, 0)
    matrices[:, :3, 3] = np.array([pose.position for pose in poses]).reshape(-1, 3)
    matrices[:, 3, 3] = 1.0
    return matrices

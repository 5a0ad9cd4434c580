"""Goal configurations from poses: every branch of the arm, as far as it is free."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.core.rotation import quaternion_from_vector
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.planning.checker import CollisionChecker, CollisionPair

__all__ = ["GoalSet", "goals_from_poses", "grasps_about"]

Array = npt.NDArray[np.float64]

MOST_GOALS = 32


@dataclass(frozen=True, eq=False)
class GoalSet:
    """Configurations that take one of the poses.

    Attributes:
        free_rad: (n, joints) those that are free, nearest first.
        reachable_rad: (n, joints) all, free or not, accepted or not, nearest first.
        touches: The collisions of those that are not free, as far as they were checked.
    """

    free_rad: Array
    reachable_rad: Array
    touches: tuple[CollisionPair, ...] = ()


def grasps_about(
    pose_object_in_world: Pose, pose_tool_in_object: Pose, count: int, axis: tuple[float, float, float] = (0, 0, 1)
) -> list[Pose]:
    """Returns the same grasp turned about an axis of the object, evenly all round; a round object may be taken by any.

    Returns:
        Poses of the tool in the world, the given one first.
    """
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    turns = [2 * np.pi * number / count for number in range(count)]
    return [
        pose_object_in_world @ Pose(np.zeros(3), quaternion_from_vector(unit * turn)) @ pose_tool_in_object
        for turn in turns
    ]


def goals_from_poses(
    kinematics: ArmKinematics,
    ring: KinematicRing,
    poses_tool_in_world: Iterable[Pose],
    checker: CollisionChecker,
    near_rad: npt.ArrayLike | None = None,
    most: int = MOST_GOALS,
    accept: Callable[[Array], bool] = lambda _joints_rad: True,
) -> GoalSet:
    """Returns the free configurations that bring the tool to any of the poses.

    Args:
        kinematics: Of the arm.
        ring: Base and tool.
        poses_tool_in_world: Of the tool's centre point.
        checker: The collision checker.
        near_rad: Those nearest to this one come first.
        most: The number that is enough.
        accept: Returns whether a configuration is wanted, such as one within narrower limits.
    """
    near = np.zeros(len(kinematics.lower_rad)) if near_rad is None else np.asarray(near_rad, float)
    found = [joints for pose in poses_tool_in_world for joints in kinematics.inverse(ring.flange_for_tool(pose), near)]
    reachable = np.array(found).reshape(-1, len(near))
    reachable = reachable[np.argsort(np.linalg.norm(reachable - near, axis=1), kind="stable")]
    free: list[Array] = []
    touches: list[CollisionPair] = []
    for joints in filter(accept, reachable):
        if len(free) == most:
            break
        touch = checker.touch(joints)
        if touch is None:
            free.append(joints)
        else:
            touches.append(touch)
    return GoalSet(np.array(free).reshape(-1, len(near)), reachable, tuple(touches))

"""Straight collision-free paths to a grasp and away from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.motion import Unreachable
from cellwright.motion.grasps import Grasp
from cellwright.motion.planning import ExactChecker, MotionPlanner
from cellwright.motion.planning.checker import between

__all__ = ["GraspPath", "find_grasp_paths", "line_checker"]

Array = npt.NDArray[np.float64]

STEP_M = 0.02
STEP_RAD = 0.02
FARTHEST_RAD = 4.0  # of a joint from where it is: half a turn to either side, and some more where both are as near
LARGEST_TURN_RAD = 0.4  # of a joint in one step of the line: more is too near a singular configuration
POSTURE_RAD = 1.0  # two arms with any joint but the last farther apart stand in different postures


@dataclass(frozen=True, eq=False)
class GraspPath:
    """A grasp with three configurations, and a free straight line from each to the next."""

    grasp: Grasp
    before_rad: Array
    at_rad: Array
    after_rad: Array

    def is_alike(self, at_rad: Array) -> bool:
        """Returns whether an arm with these joint angles at the grasp stands in the same posture."""
        return bool(np.abs(self.at_rad - at_rad)[:-1].max() <= POSTURE_RAD)


def find_grasp_paths(
    poses: Iterable[tuple[Grasp, Pose, Pose, Pose]],
    first: ExactChecker,
    second: ExactChecker,
    planner: MotionPlanner,
    near_rad: Array,
    most: int,
    most_alike: int | None = None,
) -> list[GraspPath]:
    """Returns grasp paths through poses of the tool in the world, nearest first.

    Args:
        poses: Each with a pose before the grasp, at it and after it.
        first: Says what is free until the grasp.
        second: The same from then on.
        planner: Provides kinematics and base.
        near_rad: The current joint angles.
        most: So many are enough.
        most_alike: So many in one posture of the arm are enough; any number by default.
    """
    candidates = [
        (joints, row)
        for row in poses
        for joints in _near(planner.kinematics.inverse(planner.ring.flange_for_tool(row[2]), near_rad), near_rad)
        if first.is_free(joints) and second.is_free(joints)
    ]
    candidates.sort(key=lambda found: float(np.linalg.norm(found[0] - near_rad)))
    paths: list[GraspPath] = []
    for at_rad, (grasp, before, _, after) in candidates:
        if most_alike is not None and sum(path.is_alike(at_rad) for path in paths) >= most_alike:
            continue
        there, away = _line(planner, at_rad, before), _line(planner, at_rad, after)
        if there is None or away is None:
            continue
        if first.first_blocked(there) is None and second.first_blocked(away) is None:
            paths.append(GraspPath(grasp, there[-1], at_rad, away[-1]))
        if len(paths) == most:
            break
    return paths


def line_checker(believed: ExactChecker, margin_m: float, near_rad: Array, close: tuple[str, str]) -> ExactChecker:
    """Returns a checker with a margin, except for pairs that are nearer at the start, and for the `close` pair."""
    strict = ExactChecker(believed.bodies, margin_m)
    near = {frozenset((touch.first, touch.second)) for touch in strict.touches(near_rad)}
    strict.relaxed = frozenset(near | {frozenset(close)})
    return strict


def _near(found: list[Array], near_rad: Array) -> list[Array]:
    """Drops solutions for which a joint would turn farther than to either side of where it is: there are hundreds."""
    return [joints for joints in found if np.abs(joints - near_rad).max() <= FARTHEST_RAD]


def _line(planner: MotionPlanner, start_rad: Array, pose_tool_in_world: Pose) -> Array | None:
    """Returns configurations along the straight line; None when the arm cannot follow it."""
    goal = planner.ring.flange_for_tool(pose_tool_in_world)
    start = planner.kinematics.forward(start_rad)
    pieces = max(1, int(np.ceil(start.distance_m(goal) / STEP_M)))
    rows = [start_rad]
    for number in range(1, pieces + 1):
        try:
            joints = planner.kinematics.nearest(start.interpolate(goal, number / pieces), rows[-1])
        except Unreachable:
            return None
        if np.abs(joints - rows[-1]).max() > LARGEST_TURN_RAD:
            return None
        rows.append(joints)
    return between(np.array(rows), STEP_RAD)

"""Retreats from tight places: from a configuration that is free, but so close to something that spheres touch it.

A hand at a part that it is about to grasp, or a bottle just above the table, is free by the exact checker only. The
retreat is found with that one; from its end on the fast search takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.planning.exact import ExactChecker

__all__ = ["retreat_path"]

Array = npt.NDArray[np.float64]

STEP_RAD = 0.01
RETREAT_STEP_M = 0.01
RETREAT_STEPS = 20
LARGEST_TURN_RAD = 0.3  # for one step: more is too near a singular configuration
DAMPING = 1e-3
RANDOM_TRIES = 400
WIDEST_RAD = 0.8


def retreat_path(
    joints_rad: Array,
    is_clear: Callable[[Array], bool],
    exact: ExactChecker,
    kinematics: ArmKinematics,
    ring: KinematicRing,
    random: np.random.Generator,
) -> Array | None:
    """Returns a path (n, joints) from a free configuration to a clear one, or None; one row if it is clear itself.

    Tries to draw the tool straight back, up and sideways, takes the shortest, and at last tries random turns.
    """
    if is_clear(joints_rad):
        return joints_rad[None]
    best: Array | None = None
    for direction in _directions(ring.tool_in_world(kinematics.forward(joints_rad))):
        most = RETREAT_STEPS if best is None else len(best) - 2  # a shorter way is better: it leads elsewhere less
        path = _retreat(joints_rad, direction, most, is_clear, exact, kinematics, ring)
        best = best if path is None else path
    if best is not None:
        return best
    for number in range(RANDOM_TRIES):
        turn = random.normal(size=len(joints_rad))
        turn *= WIDEST_RAD * (number + 1) / RANDOM_TRIES / np.linalg.norm(turn)
        end = np.clip(joints_rad + turn, kinematics.lower_rad, kinematics.upper_rad)
        if is_clear(end) and exact.is_motion_free(joints_rad, end, STEP_RAD):
            return np.array([joints_rad, end])
    return None


def _directions(pose_tool_in_world: Pose) -> Iterator[Array]:
    """Yields where to draw the tool: up, back along its axis, between the two, then sideways."""
    back, up = -pose_tool_in_world.rotation_matrix[:, 2], np.array([0.0, 0.0, 1.0])
    yield up
    yield back
    if np.linalg.norm(back + up) > 0.1:
        yield (back + up) / np.linalg.norm(back + up)
    for turn in np.arange(4) * np.pi / 2:
        yield np.array([np.cos(turn), np.sin(turn), 0.0])


def _retreat(
    joints_rad: Array,
    direction: Array,
    most: int,
    is_clear: Callable[[Array], bool],
    exact: ExactChecker,
    kinematics: ArmKinematics,
    ring: KinematicRing,
) -> Array | None:
    """Returns a path straight along a direction of the world without a turn, by the least motion of the joints."""
    wanted = np.concatenate([ring.pose_base_in_world.rotation_matrix.T @ direction, np.zeros(3)]) * RETREAT_STEP_M
    path = [joints_rad]
    for _ in range(most):
        jacobian = kinematics.jacobian(path[-1])
        damped = jacobian @ jacobian.T + DAMPING**2 * np.eye(6)
        turn = jacobian.T @ np.linalg.solve(damped, wanted)
        there = path[-1] + turn
        outside = (there < kinematics.lower_rad).any() or (there > kinematics.upper_rad).any()
        if outside or np.abs(turn).max() > LARGEST_TURN_RAD or not exact.is_motion_free(path[-1], there, STEP_RAD):
            return None
        path.append(there)
        if is_clear(there):
            return np.array(path)
    return None

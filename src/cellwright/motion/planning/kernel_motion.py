"""Compiled: whether a straight motion of all joints is free, and how to keep the tool upright on the way.

`limit` holds a tilt limit as seven numbers: the angle (rad), the tool's axis in the last link's frame, the direction
in the world that it must stay near to. An angle of pi or more is no limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.motion.planning.arrays import JOINT_AXIS, SceneArrays
from cellwright.motion.planning.jit import compiled
from cellwright.motion.planning.kernel_state import FREE, first_pair, place_links

__all__ = ["distance", "motion_is_free", "state_is_free", "stepped", "tilt_rad", "turned_upright"]

UPRIGHT_TRIES = 12
INSIDE = 0.85  # share of the limit that a corrected state keeps, so that the motion to it stays within


@compiled
def distance(a: Any, b: Any) -> float:
    """Returns the Euclidean distance over all joints."""
    total = 0.0
    for joint in range(len(a)):
        total += (a[joint] - b[joint]) ** 2
    return float(np.sqrt(total))


@compiled
def tilt_rad(limit: Any, frames: Any) -> float:
    """Returns the angle between the tool's axis and its direction, for links that are placed."""
    last = len(frames) - 2
    cosine = 0.0
    for row in range(3):
        along = frames[last, 4 * row] * limit[1] + frames[last, 4 * row + 1] * limit[2]
        cosine += (along + frames[last, 4 * row + 2] * limit[3]) * limit[4 + row]
    return float(np.arccos(min(max(cosine, -1.0), 1.0)))


@compiled
def state_is_free(scene: SceneArrays, limit: Any, joints: Any, margins: Any, space: Any, checks: Any) -> bool:
    """Returns whether nothing touches and the tool is upright enough; counts the check."""
    checks[0] += 1
    if limit[0] < np.pi:
        place_links(scene.base, scene.joints, joints, space[0])
        if tilt_rad(limit, space[0]) > limit[0]:
            return False
    return first_pair(scene, joints, margins, space) == FREE


@compiled
def motion_is_free(
    scene: SceneArrays, limit: Any, a: Any, b: Any, step: float, margins: Any, space: Any, checks: Any
) -> bool:
    """Returns whether all states on the line are free, its first assumed to be; checks likely collisions first.

    That is at the end and then in the middle of ever smaller pieces: 1/2, 1/4, 3/4, 1/8 and so on.
    """
    pieces = max(1, int(np.ceil(distance(a, b) / step)))
    if not state_is_free(scene, limit, b, margins, space, checks):
        return False
    between = np.empty(len(a))
    stride = 1
    while stride < pieces:
        stride *= 2
    stride //= 2
    while stride >= 1:
        for number in range(stride, pieces, 2 * stride):
            for joint in range(len(a)):
                between[joint] = a[joint] + (b[joint] - a[joint]) * number / pieces
            if not state_is_free(scene, limit, between, margins, space, checks):
                return False
        stride //= 2
    return True


@compiled
def turned_upright(scene: SceneArrays, limit: Any, lower: Any, upper: Any, joints: Any, space: Any) -> bool:
    """Moves the joints, as little as possible, until the tool is upright; false if that did not succeed.

    The tilt falls by d when the tool turns by d about u, the normal of the plane of axis and direction. A joint with
    axis z contributes u . z, so the least change that turns by d is d (u . z) / sum (u . z)^2.
    """
    if limit[0] >= np.pi:
        return True
    frames, last = space[0], len(joints)
    axis, share = np.empty(3), np.empty(last)
    for _ in range(UPRIGHT_TRIES):
        place_links(scene.base, scene.joints, joints, frames)
        tilt = tilt_rad(limit, frames)
        if tilt <= limit[0] * (INSIDE + 0.05):
            return True
        for row in range(3):
            along = frames[last, 4 * row] * limit[1] + frames[last, 4 * row + 1] * limit[2]
            axis[row] = along + frames[last, 4 * row + 2] * limit[3]
        x = axis[1] * limit[6] - axis[2] * limit[5]
        y = axis[2] * limit[4] - axis[0] * limit[6]
        z = axis[0] * limit[5] - axis[1] * limit[4]
        length = np.sqrt(x * x + y * y + z * z)
        if length < 1e-9:  # upside down: any way is up
            return False
        total = 1e-12
        for joint in range(last):
            share[joint] = 0.0
            for row in range(3):
                along = 0.0
                for column in range(3):
                    along += frames[joint + 1, 4 * row + column] * scene.joints[joint, JOINT_AXIS + column]
                share[joint] += (x if row == 0 else (y if row == 1 else z)) / length * along
            total += share[joint] ** 2
        turn = tilt - limit[0] * INSIDE
        for joint in range(last):
            moved = joints[joint] + turn * share[joint] / total
            joints[joint] = min(max(moved, lower[joint]), upper[joint])
    return False


@compiled
def stepped(
    scene: SceneArrays,
    limit: Any,
    lower: Any,
    upper: Any,
    here: Any,
    goal: Any,
    reach: float,
    step: float,
    margins: Any,
    space: Any,
    checks: Any,
    there: Any,
) -> int:
    """Goes from here towards a goal, at most `reach` far, and fills in where it ends.

    Returns 0 when the way is blocked, 1 when there is more to go, 2 at the goal. Under a tilt limit each step is
    corrected until the tool is upright, and one that brings the goal hardly nearer counts as blocked.
    """
    far = distance(here, goal)
    if far <= reach:
        there[:] = goal
    else:
        for joint in range(len(here)):
            there[joint] = here[joint] + (goal[joint] - here[joint]) * reach / far
        if limit[0] < np.pi:
            if not turned_upright(scene, limit, lower, upper, there, space):
                return 0
            if distance(there, goal) > far - 0.1 * reach or distance(here, there) > 3.0 * reach:
                return 0
    if not motion_is_free(scene, limit, here, there, step, margins, space, checks):
        return 0
    return 2 if far <= reach else 1

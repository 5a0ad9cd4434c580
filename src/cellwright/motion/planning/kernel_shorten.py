"""Compiled: shortens a path by straight cuts between random points of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.motion.planning.arrays import SceneArrays
from cellwright.motion.planning.jit import compiled
from cellwright.motion.planning.kernel_motion import distance, state_is_free, stepped
from cellwright.motion.planning.kernel_search import next_random
from cellwright.motion.planning.kernel_state import room

__all__ = ["shorten"]

MOST_FAILED_CUTS = 15  # cuts in a row that did not help
WORTH_RAD = 0.01  # that a cut must save


@compiled
def shorten(
    scene: SceneArrays,
    limit: Any,
    path: Any,
    lower: Any,
    upper: Any,
    reach: float,
    step: float,
    margins: Any,
    tries: int,
    random: Any,
    checks: Any,
) -> Any:
    """Returns the path after so many tries, fewer when they do not help any more; its ends stay."""
    space = room(scene)
    count = path.shape[1]
    first, second = np.empty(count), np.empty(count)
    cut = np.empty((256, count))
    failures = 0
    for _ in range(tries):
        if len(path) < 3 or failures >= MOST_FAILED_CUTS:
            break
        failures += 1
        lengths = _lengths(path)
        total = lengths[-1]
        a, b = next_random(random) * total, next_random(random) * total
        a, b = min(a, b), max(a, b)
        i, j = _point(path, lengths, a, first), _point(path, lengths, b, second)
        if i == j or b - a - distance(first, second) < WORTH_RAD:
            continue
        if not state_is_free(scene, limit, first, margins, space, checks):
            continue
        rows = _walk(scene, limit, lower, upper, first, second, reach, step, margins, space, checks, cut)
        if rows == 0:
            continue
        length = distance(first, cut[0])
        for row in range(rows - 1):
            length += distance(cut[row], cut[row + 1])
        if b - a - length < WORTH_RAD:
            continue
        shorter = np.empty((i + 2 + rows + len(path) - 1 - j, count))
        shorter[: i + 1] = path[: i + 1]
        shorter[i + 1] = first
        shorter[i + 2 : i + 2 + rows] = cut[:rows]
        shorter[i + 2 + rows :] = path[j + 1 :]
        path = shorter
        failures = 0
    return path


@compiled
def _lengths(path: Any) -> Any:
    """Returns the length of the path up to each point."""
    lengths = np.zeros(len(path))
    for row in range(1, len(path)):
        lengths[row] = lengths[row - 1] + distance(path[row - 1], path[row])
    return lengths


@compiled
def _point(path: Any, lengths: Any, along: float, point: Any) -> int:
    """Fills in the point so far along the path; returns the row before it."""
    row = 0
    while row < len(path) - 2 and lengths[row + 1] < along:
        row += 1
    share = (along - lengths[row]) / max(lengths[row + 1] - lengths[row], 1e-12)
    for joint in range(len(point)):
        point[joint] = path[row, joint] + (path[row + 1, joint] - path[row, joint]) * share
    return row


@compiled
def _walk(
    scene: SceneArrays,
    limit: Any,
    lower: Any,
    upper: Any,
    start: Any,
    goal: Any,
    reach: float,
    step: float,
    margins: Any,
    space: Any,
    checks: Any,
    cut: Any,
) -> int:
    """Fills in steps from start to goal; returns how many, 0 when the goal is not reached."""
    here = start
    for row in range(len(cut)):
        outcome = stepped(scene, limit, lower, upper, here, goal, reach, step, margins, space, checks, cut[row])
        if outcome == 0:
            return 0
        if outcome == 2:
            return row + 1
        here = cut[row]
    return 0

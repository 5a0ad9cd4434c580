"""Configurations from the answers of a closed form for one pose, by compiled code: some ten times faster than numpy.

It decides, and calculates nothing: the numbers of a configuration are those of the closed form, with or without full
turns, the same that `branches.py` finds to the last bit. What needs more than a decision it hands back.

All in one file, because numba, which keeps compiled code on disk, notices only changes of the file itself. Importing
it needs numba.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["announce", "find", "pack"]

Array = npt.NDArray[np.float64]

FIRST_TIME_S = 15
UNDECIDED = -1
TOLERANCE, SINGULAR, ROUNDING = 1e-6, 0.1, 1e9  # as in `closed_form.py`; compiled in, so they must be in this file
TWO_PI = 2 * math.pi

_log = logging.getLogger(__name__)


def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written: compile anew in every process
        return njit(error_model="numpy")(function)


@_compiled
def times(v, m):
    """Returns a row vector times a matrix of three rows. Both are tuples: compiled, those need no memory."""
    return (
        v[0] * m[0][0] + v[1] * m[1][0] + v[2] * m[2][0],
        v[0] * m[0][1] + v[1] * m[1][1] + v[2] * m[2][1],
        v[0] * m[0][2] + v[1] * m[1][2] + v[2] * m[2][2],
    )


@_compiled
def dot(a, b):
    """Returns the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@_compiled
def forward(joints, axes, offsets, flange_rotation):
    """Returns the flange's rotation and position."""
    a, b, c = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    px, py, pz = offsets[0, 0], offsets[0, 1], offsets[0, 2]
    for k in range(len(joints)):
        x, y, z = axes[k, 0], axes[k, 1], axes[k, 2]
        sine, cosine = math.sin(joints[k]), math.cos(joints[k])
        rest = 1.0 - cosine
        spin = (  # Rodrigues' formula
            (cosine + rest * x * x, rest * x * y - sine * z, rest * x * z + sine * y),
            (rest * x * y + sine * z, cosine + rest * y * y, rest * y * z - sine * x),
            (rest * x * z - sine * y, rest * y * z + sine * x, cosine + rest * z * z),
        )
        a, b, c = times(a, spin), times(b, spin), times(c, spin)
        offset = offsets[k + 1]
        px, py, pz = px + dot(a, offset), py + dot(b, offset), pz + dot(c, offset)
    return (times(a, flange_rotation), times(b, flange_rotation), times(c, flange_rotation)), (px, py, pz)


@_compiled
def distance(joints, target, axes, offsets, flange_rotation):
    """Returns the distance between the flange and a pose, metres or radians, the larger."""
    rotation, position = forward(joints, axes, offsets, flange_rotation)
    away = turned = 0.0
    for i in range(3):
        away += (position[i] - target[i, 3]) ** 2
        for j in range(3):
            turned += (rotation[i][j] - target[i, j]) ** 2
    return math.sqrt(max(away, turned / 2))


@_compiled
def unwind(joints, near, target, axes, offsets, flange_rotation):
    """Sets the wrist's first joint as in `near`, its last so that the flange is turned right."""
    joints[-3], joints[-1] = near[-3], 0.0
    r, _ = forward(joints, axes, offsets, flange_rotation)
    sine, trace = 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turned = across = axis = 0.0
        for n in range(3):
            trace += r[n][i] * target[n, i]
            turned += r[n][k] * target[n, j]
            across += r[n][j] * target[n, k]
            axis += flange_rotation[n, i] * axes[-1, n]  # the last joint's, in the flange
        sine += (turned - across) * axis
    joints[-1] = math.atan2(sine, trace - 1.0)


@_compiled
def compare(a, b):
    """Compares two rows by their rounded numbers: negative, positive, or 0 when they are the same."""
    for k in range(len(a)):
        x, y = np.rint(a[k] * ROUNDING), np.rint(b[k] * ROUNDING)
        if x != y:
            return -1 if x < y else 1
    return 0


@_compiled
def sort_in(row, index, order, count):
    """Enters a row into those that are sorted already, unless one is the same; returns how many there are then."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        side = compare(row[index], row[order[middle]])
        if side == 0:
            return count
        if side < 0:
            high = middle
        else:
            low = middle + 1
    for k in range(count, low, -1):
        order[k] = order[k - 1]
    order[low] = index
    return count + 1


@_compiled
def verify(rows, approximate, target, near, axes, offsets, flange_rotation, order):
    """Writes the rows that take the pose, sorted and each once, into `order`; returns how many, or UNDECIDED."""
    tried = np.empty(rows.shape[1])
    count, closest = 0, np.inf
    for index in range(len(rows)):
        away = distance(rows[index], target, axes, offsets, flange_rotation)
        closest = min(closest, away)
        if away <= TOLERANCE:
            count = sort_in(rows, index, order, count)
        if approximate[index]:  # would it be right with a straight wrist unwound? Then it must be solved for
            tried[:] = rows[index]
            unwind(tried, near, target, axes, offsets, flange_rotation)
            away = distance(tried, target, axes, offsets, flange_rotation)
            closest = min(closest, away)
            if away <= 2 * TOLERANCE:
                return UNDECIDED
    if count == 0:
        closest = min(closest, distance(near, target, axes, offsets, flange_rotation))
        if closest <= 1.01 * SINGULAR:
            return UNDECIDED
    return count


def pack(axes: Array, offsets: Array, flange_rotation: Array, low: Array, high: Array) -> Array:
    """Returns all of an arm in one array, because every array that is handed to compiled code takes time."""
    joints = len(axes)
    geometry = np.zeros((joints + 4, 8))
    geometry[:joints, :3], geometry[: joints + 1, 3:6] = axes, offsets
    geometry[:joints, 6], geometry[:joints, 7] = low, high
    geometry[joints + 1 :, :3] = flange_rotation
    return geometry


@_compiled
def find(columns, approximate, target, near, geometry, only_nearest):
    """Returns the configurations within the limits that take a pose, nearest first, and whether these are all.

    Args:
        columns: The answers of the closed form (joints, n).
        approximate: True where it did not meet the pose exactly.
        target: The pose's matrix.
        near: The configuration to be near to.
        geometry: The arm, as `pack` gives it.
        only_nearest: Whether one is enough.
    """
    rows = columns.T
    joints = rows.shape[1]
    axes, offsets, flange_rotation = geometry[:joints, :3], geometry[: joints + 1, 3:6], geometry[joints + 1 :, :3]
    low, high = geometry[:joints, 6], geometry[:joints, 7]
    order = np.empty(len(rows), np.int64)
    count = verify(rows, approximate, target, near, axes, offsets, flange_rotation, order)
    if count == UNDECIDED:
        return False, np.empty((0, joints))
    first, turns = np.empty((count, joints), np.int64), np.empty((count, joints), np.int64)
    total = 0
    for n in range(count):
        ways = 1
        for k in range(joints):
            turns[n, k] = 0
            for turn in range(-1, 2):
                angle = rows[order[n], k] + turn * TWO_PI
                if low[k] <= angle <= high[k]:
                    if turns[n, k] == 0:
                        first[n, k] = turn
                    turns[n, k] += 1
            ways *= turns[n, k]
        total += ways
    made, apart = np.empty((total, joints)), np.empty(total)
    at = 0
    for n in range(count):
        ways = 1
        for k in range(joints):
            ways *= turns[n, k]
        for way in range(ways):
            rest, away = way, 0.0
            for k in range(joints - 1, -1, -1):  # the last joint turns fastest, like the digits of a number
                made[at, k] = rows[order[n], k] + (first[n, k] + rest % turns[n, k]) * TWO_PI
                rest //= turns[n, k]
            for k in range(joints):
                away += (made[at, k] - near[k]) ** 2
            apart[at] = away
            at += 1
    if only_nearest:
        return True, made[apart.argmin() :][:1] if total else made
    return True, made[np.argsort(apart, kind="mergesort")]


def announce() -> None:
    """Logs a note when the first call will have to compile, because nothing is on disk yet."""
    folder = getattr(find._cache, "cache_path", None)
    if folder is None or not any(Path(folder).glob("branch_kernel.find-*.nbi")):
        _log.warning("compiling inverse kinematics, once for this version: about %d s", FIRST_TIME_S)

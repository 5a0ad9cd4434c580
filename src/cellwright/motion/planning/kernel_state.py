"""Compiled: where the links are, and which pair touches first. Arrays are those of `SceneArrays`.

Views of arrays are counted references and cost as much as the arithmetic, hence the indices instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.motion.planning.arrays import (
    FRAME,
    JOINT_OFFSET,
    KIND,
    MOVER_BALL,
    MOVER_END,
    MOVER_FRAME,
    PAIR_MOVER,
    PAIR_SOLID,
    PLANES,
    PLANES_END,
    SOLID_BALL,
    SOLID_SIZE,
    TRIANGLES,
    TRIANGLES_END,
    SceneArrays,
)
from cellwright.motion.planning.jit import compiled, inlined
from cellwright.motion.planning.kernel_distance import MESH, mesh_reaches, plain_reaches

__all__ = ["FREE", "first_pair", "place_links", "room"]

FREE = -1


@compiled
def room(scene: SceneArrays) -> Any:
    """Returns working memory: frames of world and links and one to spare, centres of movers and of solids."""
    frames = np.zeros((len(scene.joints) + 2, 12))
    frames[0, 0] = frames[0, 5] = frames[0, 10] = 1.0
    return frames, np.zeros((len(scene.movers), 3)), scene.solids[:, SOLID_BALL : SOLID_BALL + 3].copy()


@compiled
def place_links(base: Any, rows: Any, joints: Any, frames: Any) -> None:
    """Computes forward kinematics: the frame of every link in the world."""
    for j in range(len(joints)):
        sine, cosine = np.sin(joints[j]), np.cos(joints[j])
        r00 = rows[j, 0] + sine * rows[j, 9] + cosine * rows[j, 18]
        r01 = rows[j, 1] + sine * rows[j, 10] + cosine * rows[j, 19]
        r02 = rows[j, 2] + sine * rows[j, 11] + cosine * rows[j, 20]
        r10 = rows[j, 3] + sine * rows[j, 12] + cosine * rows[j, 21]
        r11 = rows[j, 4] + sine * rows[j, 13] + cosine * rows[j, 22]
        r12 = rows[j, 5] + sine * rows[j, 14] + cosine * rows[j, 23]
        r20 = rows[j, 6] + sine * rows[j, 15] + cosine * rows[j, 24]
        r21 = rows[j, 7] + sine * rows[j, 16] + cosine * rows[j, 25]
        r22 = rows[j, 8] + sine * rows[j, 17] + cosine * rows[j, 26]
        a, b, c = rows[j, JOINT_OFFSET], rows[j, JOINT_OFFSET + 1], rows[j, JOINT_OFFSET + 2]
        for row in range(0, 12, 4):
            if j == 0:
                x, y, z, w = base[row], base[row + 1], base[row + 2], base[row + 3]
            else:
                x, y, z, w = frames[j, row], frames[j, row + 1], frames[j, row + 2], frames[j, row + 3]
            frames[j + 1, row] = x * r00 + y * r10 + z * r20
            frames[j + 1, row + 1] = x * r01 + y * r11 + z * r21
            frames[j + 1, row + 2] = x * r02 + y * r12 + z * r22
            frames[j + 1, row + 3] = x * a + y * b + z * c + w


@compiled
def first_pair(scene: SceneArrays, joints: Any, margins: Any, space: Any) -> int:
    """Returns the first pair that may be nearer than its margin, or `FREE`; leaves the frames placed."""
    _, joint_rows, balls, skip, movers, solids, solid_rows, planes, triangles, pairs = scene
    frames, mover_centres, solid_centres = space
    place_links(scene.base, joint_rows, joints, frames)
    for mover in range(len(movers)):
        _place(frames, movers[mover, MOVER_FRAME], balls, movers[mover, MOVER_BALL], 0, mover_centres, mover)
    for solid in range(len(solids)):
        if solid_rows[solid, FRAME] > 0:
            _place(frames, solid_rows[solid, FRAME], solids, solid, SOLID_BALL, solid_centres, solid)
    for pair in range(len(pairs)):
        mover, solid = pairs[pair, PAIR_MOVER], pairs[pair, PAIR_SOLID]
        margin = margins[pair]
        x = mover_centres[mover, 0] - solid_centres[solid, 0]
        y = mover_centres[mover, 1] - solid_centres[solid, 1]
        z = mover_centres[mover, 2] - solid_centres[solid, 2]
        reach = balls[movers[mover, MOVER_BALL], 3] + solids[solid, SOLID_BALL + 3] + margin
        if x * x + y * y + z * z <= reach * reach:
            _relate(frames, movers[mover, MOVER_FRAME], solid_rows[solid, FRAME], solids, solid)
            if _tree_touches(frames, balls, skip, movers, mover, solids, solid_rows, solid, planes, triangles, margin):
                return pair
    return FREE


@inlined
def _place(frames: Any, frame: int, balls: Any, ball: int, column: int, centres: Any, row: int) -> None:
    """Brings the centre of a sphere into the world."""
    x, y, z = balls[ball, column], balls[ball, column + 1], balls[ball, column + 2]
    centres[row, 0] = frames[frame, 0] * x + frames[frame, 1] * y + frames[frame, 2] * z + frames[frame, 3]
    centres[row, 1] = frames[frame, 4] * x + frames[frame, 5] * y + frames[frame, 6] * z + frames[frame, 7]
    centres[row, 2] = frames[frame, 8] * x + frames[frame, 9] * y + frames[frame, 10] * z + frames[frame, 11]


@inlined
def _relate(frames: Any, mover: int, other: int, solids: Any, solid: int) -> None:
    """Leaves in the spare frame the transform from a mover's frame into a solid's own."""
    spare = len(frames) - 1
    for column in range(4):
        x, y, z = frames[mover, column], frames[mover, 4 + column], frames[mover, 8 + column]
        if other > 0:
            if column == 3:
                x, y, z = x - frames[other, 3], y - frames[other, 7], z - frames[other, 11]
            u = frames[other, 0] * x + frames[other, 4] * y + frames[other, 8] * z
            v = frames[other, 1] * x + frames[other, 5] * y + frames[other, 9] * z
            z = frames[other, 2] * x + frames[other, 6] * y + frames[other, 10] * z
            x, y = u, v
        if column == 3:
            x, y, z = x - solids[solid, 3], y - solids[solid, 7], z - solids[solid, 11]
        frames[spare, column] = solids[solid, 0] * x + solids[solid, 4] * y + solids[solid, 8] * z
        frames[spare, 4 + column] = solids[solid, 1] * x + solids[solid, 5] * y + solids[solid, 9] * z
        frames[spare, 8 + column] = solids[solid, 2] * x + solids[solid, 6] * y + solids[solid, 10] * z


@inlined
def _tree_touches(
    frames: Any,
    balls: Any,
    skip: Any,
    movers: Any,
    mover: int,
    solids: Any,
    solid_rows: Any,
    solid: int,
    planes: Any,
    triangles: Any,
    margin: float,
) -> bool:
    """Returns whether a leaf sphere reaches the solid, into whose own frame the spare frame transforms it."""
    spare = len(frames) - 1
    m00, m01, m02, m03 = frames[spare, 0], frames[spare, 1], frames[spare, 2], frames[spare, 3]
    m10, m11, m12, m13 = frames[spare, 4], frames[spare, 5], frames[spare, 6], frames[spare, 7]
    m20, m21, m22, m23 = frames[spare, 8], frames[spare, 9], frames[spare, 10], frames[spare, 11]
    kind = solid_rows[solid, KIND]
    sx, sy, sz = solids[solid, SOLID_SIZE], solids[solid, SOLID_SIZE + 1], solids[solid, SOLID_SIZE + 2]
    ball, end = movers[mover, MOVER_BALL], movers[mover, MOVER_END]
    touches = False
    while ball < end:
        u, v, w, reach = balls[ball, 0], balls[ball, 1], balls[ball, 2], balls[ball, 3] + margin
        x = m00 * u + m01 * v + m02 * w + m03
        y = m10 * u + m11 * v + m12 * w + m13
        z = m20 * u + m21 * v + m22 * w + m23
        if kind == MESH:
            reaches = mesh_reaches(
                planes,
                solid_rows[solid, PLANES],
                solid_rows[solid, PLANES_END],
                triangles,
                solid_rows[solid, TRIANGLES],
                solid_rows[solid, TRIANGLES_END],
                x,
                y,
                z,
                reach,
            )
        else:
            reaches = plain_reaches(kind, sx, sy, sz, x, y, z, reach)
        if not reaches:
            ball = skip[ball]
        elif skip[ball] == ball + 1:
            touches = True
            break
        else:
            ball += 1
    return touches

"""Compiled: whether a solid is within reach of a point. Arrays are those of `SceneArrays`."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.motion.planning.arrays import KINDS
from cellwright.motion.planning.jit import compiled, inlined

__all__ = ["MESH", "mesh_reaches", "plain_reaches"]

BOX, CYLINDER, SPHERE, PLANE, MESH = range(len(KINDS))


@inlined
def plain_reaches(kind: int, sx: float, sy: float, sz: float, x: float, y: float, z: float, reach: float) -> bool:
    """Returns whether a solid at the origin that is no mesh is within reach of a point; avoids slow square roots."""
    if kind == BOX:
        dx, dy, dz = max(abs(x) - sx, 0.0), max(abs(y) - sy, 0.0), max(abs(z) - sz, 0.0)
        reaches = dx * dx + dy * dy + dz * dz <= reach * reach
    elif kind == CYLINDER:
        dz, square = max(abs(z) - sy, 0.0), x * x + y * y
        if dz > reach or square > (sx + reach) * (sx + reach):
            reaches = False
        elif dz == 0.0 or square <= sx * sx:
            reaches = True
        else:
            dr = np.sqrt(square) - sx
            reaches = dr * dr + dz * dz <= reach * reach
    elif kind == SPHERE:
        reaches = x * x + y * y + z * z <= (sx + reach) * (sx + reach)
    else:
        reaches = z <= reach
    return reaches


@compiled
def mesh_reaches(
    planes: Any,
    plane: int,
    end_plane: int,
    triangles: Any,
    triangle: int,
    end_triangle: int,
    x: float,
    y: float,
    z: float,
    reach: float,
) -> bool:
    """Returns the same for a convex mesh.

    The farthest face plane bounds the distance from below; only when that is near, the triangles must be asked.
    """
    bound = -np.inf
    for row in range(plane, end_plane):
        bound = max(bound, planes[row, 0] * x + planes[row, 1] * y + planes[row, 2] * z - planes[row, 3])
        if bound > reach:
            return False
    if bound <= 0.0:
        return True
    for row in range(triangle, end_triangle):
        if _triangle_distance_squared(triangles, row, x, y, z) <= reach * reach:
            return True
    return False


@compiled
def _triangle_distance_squared(triangles: Any, row: int, x: float, y: float, z: float) -> float:
    """Returns the squared distance: inside its prism to the triangle's plane, elsewhere to the nearest side."""
    ax, ay, az = triangles[row, 0], triangles[row, 1], triangles[row, 2]
    ux, uy, uz = triangles[row, 3] - ax, triangles[row, 4] - ay, triangles[row, 5] - az
    vx, vy, vz = triangles[row, 6] - ax, triangles[row, 7] - ay, triangles[row, 8] - az
    px, py, pz = x - ax, y - ay, z - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    pu, pv = px * ux + py * uy + pz * uz, px * vx + py * vy + pz * vz
    determinant = uu * vv - uv * uv
    if determinant > 1e-24:
        s, t = (vv * pu - uv * pv) / determinant, (uu * pv - uv * pu) / determinant
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            return float((px - s * ux - t * vx) ** 2 + (py - s * uy - t * vy) ** 2 + (pz - s * uz - t * vz) ** 2)
    third = _side_distance_squared(px - ux, py - uy, pz - uz, vx - ux, vy - uy, vz - uz)
    return min(_side_distance_squared(px, py, pz, ux, uy, uz), _side_distance_squared(px, py, pz, vx, vy, vz), third)


@compiled
def _side_distance_squared(px: float, py: float, pz: float, ux: float, uy: float, uz: float) -> float:
    """Returns the squared distance from a point to the segment from the origin to u."""
    length = ux * ux + uy * uy + uz * uz
    along = min(max((px * ux + py * uy + pz * uz) / max(length, 1e-30), 0.0), 1.0)
    return (px - along * ux) ** 2 + (py - along * uy) ** 2 + (pz - along * uz) ** 2

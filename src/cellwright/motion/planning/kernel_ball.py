"""Compiled: the geometry of covering convex pieces with spheres; a cell is given by its edges (n, 2, 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.motion.planning.jit import compiled

__all__ = ["clipped", "flattest_ball"]

FINEST_M = 2e-4


@compiled
def flattest_ball(points: Any, planes: Any, ball: Any) -> float:
    """Fills in centre and radius; returns how far the sphere sticks out, or its radius when there are no planes.

    That is its radius less the depth of its centre, a convex function of the centre: the farthest of points is
    convex and the nearest of planes concave. So going downhill finds the best. A centre deep inside makes a large
    sphere that is flat where it leaves the piece.
    """
    stride = 0.0
    for axis in range(3):
        low, high = points[:, axis].min(), points[:, axis].max()
        ball[axis] = (low + high) / 2
        stride = max(stride, (high - low) / 2)
    best = _sticks_out(points, planes, ball[0], ball[1], ball[2])
    while stride > FINEST_M:
        least, x, y, z = best - 1e-3 * stride, 0.0, 0.0, 0.0
        found = False
        for number in range(27):
            i, j, k = number // 9 - 1, number // 3 % 3 - 1, number % 3 - 1
            u, v, w = ball[0] + stride * i, ball[1] + stride * j, ball[2] + stride * k
            out = _sticks_out(points, planes, u, v, w)
            if out < least:
                least, x, y, z, found = out, u, v, w, True
        if found:
            best, ball[0], ball[1], ball[2] = least, x, y, z
        else:
            stride /= 2
    ball[3] = _radius(points, ball[0], ball[1], ball[2])
    return best


@compiled
def _radius(points: Any, x: float, y: float, z: float) -> float:
    farthest = 0.0
    for row in range(len(points)):
        farthest = max(farthest, (points[row, 0] - x) ** 2 + (points[row, 1] - y) ** 2 + (points[row, 2] - z) ** 2)
    return float(np.sqrt(farthest))


@compiled
def _sticks_out(points: Any, planes: Any, x: float, y: float, z: float) -> float:
    height = -np.inf if len(planes) else 0.0
    for row in range(len(planes)):
        height = max(height, planes[row, 0] * x + planes[row, 1] * y + planes[row, 2] * z - planes[row, 3])
    return _radius(points, x, y, z) + height


@compiled
def clipped(edges: Any, axis: int, at: float, side: float) -> Any:
    """Returns the edges of a convex cell's part on one side (1 below, -1 above) of a plane across a coordinate axis."""
    count, crossings = 0, 0
    for edge in range(len(edges)):
        a, b = side * (edges[edge, 0, axis] - at), side * (edges[edge, 1, axis] - at)
        count += a <= 0.0 or b <= 0.0
        crossings += (a <= 0.0) != (b <= 0.0)
    part = np.empty((count + crossings, 2, 3))
    rim, angle = np.empty((crossings, 3)), np.empty(crossings)
    row, crossing = 0, 0
    for edge in range(len(edges)):
        a, b = side * (edges[edge, 0, axis] - at), side * (edges[edge, 1, axis] - at)
        if a > 0.0 and b > 0.0:
            continue
        for k in range(3):  # numba takes seconds to compile the assignment of a whole row
            part[row, 0, k], part[row, 1, k] = edges[edge, 0, k], edges[edge, 1, k]
        if (a <= 0.0) != (b <= 0.0):
            for k in range(3):
                rim[crossing, k] = edges[edge, 0, k] + (edges[edge, 1, k] - edges[edge, 0, k]) * a / (a - b)
                part[row, 1 if a <= 0.0 else 0, k] = rim[crossing, k]
            crossing += 1
        row += 1
    if crossings == 0:
        return part
    u, v = (axis + 1) % 3, (axis + 2) % 3
    middle_u, middle_v = rim[:, u].mean(), rim[:, v].mean()
    for crossing in range(crossings):
        angle[crossing] = np.arctan2(rim[crossing, v] - middle_v, rim[crossing, u] - middle_u)
    order = np.argsort(angle)
    for crossing in range(crossings):
        here, after = order[crossing], order[(crossing + 1) % crossings]
        for k in range(3):
            part[count + crossing, 0, k], part[count + crossing, 1, k] = rim[here, k], rim[after, k]
    return part

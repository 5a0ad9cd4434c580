"""Flat outlines: rounded rectangles, convex hulls, and triangles that fill an outline with holes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["convex_polygon", "depths_m", "fill", "rounded_rectangle"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

SAME_M = 1e-7  # points that are no farther apart are one


def rounded_rectangle(size_m: tuple[float, float], radius_m: float, segments_per_corner: int = 8) -> Array:
    """Returns corners (n, 2) of a centred rectangle with round corners, counter-clockwise."""
    x, y = size_m[0] / 2 - radius_m, size_m[1] / 2 - radius_m
    sweep = np.linspace(0, np.pi / 2, segments_per_corner + 1)
    arcs = []
    for quarter, centre in enumerate([(x, y), (-x, y), (-x, -y), (x, -y)]):
        angles = sweep + quarter * np.pi / 2
        arcs.append(np.array(centre) + radius_m * np.column_stack([np.cos(angles), np.sin(angles)]))
    return np.concatenate(arcs)


def convex_polygon(points: Array) -> Array:
    """Returns the corners of the convex hull of points in a plane, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(np.round(points / SAME_M) * SAME_M, axis=0).tolist()
    halves = []
    for way in (ordered, ordered[::-1]):
        chain: list[list[float]] = []
        for x, y in way:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                    break
                chain.pop()
            chain.append([x, y])
        halves.append(chain[:-1])
    return np.array([*halves[0], *halves[1]])


def depths_m(corners: Array, points: Array) -> Array:
    """Returns how deep points (n, 2) are inside of a convex polygon, counter-clockwise; negative outside."""
    sides = np.roll(corners, -1, axis=0) - corners
    outward = np.column_stack([sides[:, 1], -sides[:, 0]]) / np.hypot(*sides.T)[:, None]
    result: Array = ((outward * corners).sum(axis=1) - points @ outward.T).min(axis=1)
    return result


def fill(outline: Array, holes: Sequence[Array] = ()) -> tuple[Array, Indices]:
    """Returns triangles that fill the outline except for the holes.

    Each hole is joined to the outline by a cut without width, then ears are clipped off the one polygon that is
    left (Eberly's way).

    Args:
        outline: Corners (n, 2), counter-clockwise.
        holes: Corners of each hole, counter-clockwise, inside the outline and apart from each other.

    Returns:
        The points (outline, then holes, in the given order) and counter-clockwise triangles of their indices.
    """
    points = np.concatenate([outline, *holes])
    loop = list(range(len(outline)))
    starts = len(outline) + np.cumsum([0] + [len(hole) for hole in holes[:-1]])
    rings = [list(range(start, start + len(hole)))[::-1] for start, hole in zip(starts.tolist(), holes, strict=False)]
    for ring in sorted(rings, key=lambda ring: -points[ring, 0].max()):
        loop = _joined(points, loop, ring)
    return points, np.array(_ears(points, loop), np.int64)


def _cross(o: Array, a: Array, b: Array) -> Array:
    """Returns twice the signed area of the triangles o, a, b; arrays broadcast."""
    return np.asarray(
        (a[..., 0] - o[..., 0]) * (b[..., 1] - o[..., 1]) - (a[..., 1] - o[..., 1]) * (b[..., 0] - o[..., 0])
    )


def _joined(points: Array, loop: list[int], ring: list[int]) -> list[int]:
    """Returns the loop with the ring cut in, from the ring's rightmost point to the nearest visible loop point."""
    first = int(np.argmax(points[ring, 0]))
    ring = ring[first:] + ring[:first]
    origin = points[ring[0]]
    a, b = points[loop], points[np.roll(loop, -1)]
    order = np.argsort(np.linalg.norm(a - origin, axis=1), kind="stable")
    for k in order.tolist():
        target = a[k]
        splits = (_cross(origin, target, a) * _cross(origin, target, b) < 0) & (
            _cross(a, b, origin) * _cross(a, b, target) < 0
        )
        opens = _in_cone(points, loop, k, origin)
        if not splits.any() and opens:
            return [*loop[: k + 1], *ring, ring[0], *loop[k:]]
    raise ValueError("a hole lies outside the outline")


def _in_cone(points: Array, loop: list[int], k: int, towards: Array) -> bool:
    """Returns whether the direction from loop point k starts inside the polygon."""
    before, here, after = (points[loop[(k + d) % len(loop)]] for d in (-1, 0, 1))
    left_of_out, left_of_in = _cross(here, after, towards) > 0, _cross(before, here, towards) > 0
    convex = _cross(before, here, after) > 0
    return bool(left_of_out and left_of_in) if convex else bool(left_of_out or left_of_in)


def _ears(points: Array, loop: list[int]) -> list[tuple[int, int, int]]:
    loop = list(loop)
    x, y = points[:, 0].tolist(), points[:, 1].tolist()
    times_left = np.bincount(loop, minlength=len(points))  # the ends of a cut occur twice
    triangles: list[tuple[int, int, int]] = []
    k, idle = 0, 0
    while len(loop) > 3:
        if idle > len(loop):
            raise ValueError("the outline crosses itself")
        i, j, m = loop[k - 1], loop[k], loop[(k + 1) % len(loop)]
        turn = (x[j] - x[i]) * (y[m] - y[i]) - (y[j] - y[i]) * (x[m] - x[i])
        if turn > 1e-16 and not _covers_any(points, (i, j, m), times_left > 0):
            triangles.append((i, j, m))
            times_left[j] -= 1
            del loop[k]
            idle, k = 0, k % len(loop)
        else:
            idle, k = idle + 1, (k + 1) % len(loop)
    triangles.append((loop[0], loop[1], loop[2]))
    return triangles


def _covers_any(points: Array, triangle: tuple[int, int, int], left: npt.NDArray[np.bool_]) -> bool:
    """Returns whether a point that is left, other than the corners and points in their places, is in a triangle."""
    corners = points[list(triangle)]
    a, b, c = corners
    inside = left & (_cross(a, b, points) >= 0) & (_cross(b, c, points) >= 0) & (_cross(c, a, points) >= 0)
    inside[list(triangle)] = False
    if not inside.any():
        return False
    twin = (np.abs(points[inside][:, None] - corners).max(axis=2) < 1e-12).any(axis=1)
    return bool((~twin).any())

"""Sphere trees: covers convex pieces with trees of spheres that stick out no farther than a given bulge.

A tree's root covers the whole piece, its children the two halves, and so on until a sphere sticks out so little that
it may stand for its cell. Whatever keeps clear of a sphere keeps clear of its cell, so a search of the tree ends at
the first level that is clear, and many small spheres cost hardly more than few large ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.motion.planning.pieces import ConvexPiece

__all__ = ["SphereTree", "bounding_ball", "build_sphere_tree", "face_planes"]

Array = npt.NDArray[np.float64]

SLACK_M = 1e-6  # the engine keeps meshes in single precision
PRISM_SIDES = 24  # of the prism that stands for a cylinder: 0.9 % wider at its corners
DEEPEST = 12  # levels of halving: at most 4096 spheres, which stick out farther on a piece of half a metre


@dataclass(frozen=True, eq=False)
class SphereTree:
    """A bounding-sphere hierarchy, in preorder.

    Attributes:
        balls: Centre and radius (n, 4), in the piece's own frame.
        skip: For each sphere the number of the next one that is not below it; a leaf's is the next.
    """

    balls: Array
    skip: npt.NDArray[np.int64]

    @property
    def leaves(self) -> int:
        """The number of spheres that stand for the piece itself."""
        return int((self.skip == np.arange(1, len(self.skip) + 1)).sum())


def build_sphere_tree(piece: ConvexPiece, bulge_m: float) -> SphereTree:
    """Returns the tree of a piece, in the piece's own frame; pieces of the same size share one."""
    if piece.kind == "plane":
        raise BadInput("a plane has no end and cannot be moved; only what stands still may have one")
    vertices = tuple(map(tuple, piece.vertices_m.tolist()))
    return _build(piece.kind, piece.size_m, vertices, tuple(map(tuple, piece.triangles.tolist())), bulge_m)


@lru_cache(maxsize=512)
def _build(
    kind: str,
    size_m: tuple[float, ...],
    vertices: tuple[tuple[float, ...], ...],
    triangles: tuple[tuple[int, ...], ...],
    bulge_m: float,
) -> SphereTree:
    if kind == "sphere":
        return SphereTree(np.array([[0.0, 0.0, 0.0, size_m[0] + SLACK_M]]), np.array([1]))
    if kind == "mesh":
        edges, planes = _mesh(np.array(vertices), np.array(triangles))
    else:
        edges, planes = _box(size_m) if kind == "box" else _prism(*size_m)
    balls: list[Array] = []
    skip: list[int] = []
    _grow(edges, planes, bulge_m, DEEPEST, balls, skip)
    return SphereTree(np.array(balls), np.array(skip))


def _grow(edges: Array, planes: Array, bulge_m: float, levels: int, balls: list[Array], skip: list[int]) -> None:
    """Adds the tree of a cell, which is given by its edges (n, 2, 3)."""
    from cellwright.motion.planning.kernel_ball import clipped

    points = edges.reshape(-1, 3)
    number = len(balls)
    ball, sticks_out_m = _flattest_ball(points, planes)
    leaf = sticks_out_m <= bulge_m or levels == 0
    balls.append(ball if leaf else bounding_ball(points))
    skip.append(number + 1)
    if not leaf:
        low, high = points.min(axis=0), points.max(axis=0)
        axis = int((high - low).argmax())
        for side in (1.0, -1.0):
            half = clipped(edges, axis, (low[axis] + high[axis]) / 2, side)
            _grow(half, planes, bulge_m, levels - 1, balls, skip)
    skip[number] = len(balls)


def _flattest_ball(points: Array, planes: Array) -> tuple[Array, float]:
    """Returns the sphere about the points that sticks out of the piece the least, and by how much."""
    from cellwright.motion.planning.kernel_ball import flattest_ball

    ball = np.empty(4)
    sticks_out_m = float(flattest_ball(np.ascontiguousarray(points), planes, ball))
    ball[3] += SLACK_M
    return ball, sticks_out_m


def bounding_ball(points: Array) -> Array:
    """Returns the smallest sphere about all points, and a little more."""
    return _flattest_ball(points, np.empty((0, 4)))[0]


def _box(half_m: tuple[float, ...]) -> tuple[Array, Array]:
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(half_m)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b).bit_count() == 1]
    planes = np.concatenate([np.column_stack([sign * np.eye(3), half_m]) for sign in (1.0, -1.0)])
    return corners[pairs], planes


def _prism(radius_m: float, half_length_m: float) -> tuple[Array, Array]:
    """Returns the prism around a cylinder."""
    turn = 2 * np.pi * np.arange(PRISM_SIDES) / PRISM_SIDES
    outer = radius_m / np.cos(np.pi / PRISM_SIDES)
    rims = [
        np.column_stack([outer * np.cos(turn), outer * np.sin(turn), np.full(PRISM_SIDES, z)])
        for z in (-half_length_m, half_length_m)
    ]
    rings = [np.stack([rim, np.roll(rim, -1, axis=0)], axis=1) for rim in rims]
    middle = turn + np.pi / PRISM_SIDES
    sides = np.column_stack([np.cos(middle), np.sin(middle), np.zeros(PRISM_SIDES), np.full(PRISM_SIDES, radius_m)])
    caps = np.array([[0.0, 0.0, 1.0, half_length_m], [0.0, 0.0, -1.0, half_length_m]])
    return np.concatenate([*rings, np.stack(rims, axis=1)]), np.concatenate([sides, caps])


def _mesh(vertices: Array, triangles: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    pairs = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])), axis=0
    )
    return vertices[pairs], face_planes(vertices, triangles)


def face_planes(vertices: Array, triangles: npt.NDArray[np.int64]) -> Array:
    """Returns the planes (n, 4) of a convex mesh's faces, as normal and distance from the origin, each once."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    normals, a = normals[area > 1e-14] / area[area > 1e-14, None], a[area > 1e-14]
    planes = np.column_stack([normals, np.einsum("ij,ij->i", normals, a)])
    _, first = np.unique(np.round(planes, 6), axis=0, return_index=True)
    return np.asarray(planes[np.sort(first)])

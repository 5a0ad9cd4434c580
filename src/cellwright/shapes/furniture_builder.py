"""Builder of furniture shapes: profiles, slabs and boxes, collected into one shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.shapes.body_shape import Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, cuboid, loft
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import ALONG_X, ALONG_Y, placed

__all__ = ["BODY", "FurnitureBuilder", "FurnitureShape", "halves", "slab"]

BODY = "furniture"
Point = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class FurnitureShape:
    """The parts of a piece of furniture.

    Attributes:
        pieces: Visual meshes.
        hulls: Collision hulls.
        panes: Transparent collision hulls.
    """

    pieces: tuple[MeshPiece, ...]
    hulls: tuple[Hull, ...]
    panes: tuple[Hull, ...] = ()


class FurnitureBuilder:
    """Collects meshes and hulls while a shape is put together."""

    def __init__(self) -> None:
        self.pieces: list[MeshPiece] = []
        self.hulls: list[Hull] = []
        self.panes: list[Hull] = []

    def add_visual(self, finish: str, mesh: Mesh) -> None:
        """Adds a visual mesh."""
        self.pieces.append(MeshPiece(BODY, finish, mesh))

    def add_box(self, finish: str, low: Point, high: Point, *, touch: bool = True) -> None:
        """Adds a box from its lowest corner to its highest."""
        self.add_visual(finish, cuboid(low, high))
        if touch:
            self.hulls.append(Hull.box(BODY, low, high))

    def add_profile(self, side: float, start: Point, end: Point, *, touch: bool = True) -> None:
        """Adds an aluminium profile with a groove on each side, along x, y or z."""
        (a, b), half = np.sort(np.array([start, end], float), axis=0), side / 2
        axis = int(np.argmax(b - a))
        length = float(b[axis] - a[axis])
        turn = (ALONG_X, ALONG_Y, (0.0, 0.0, 0.0))[axis]
        self.add_visual("silver", placed(_profile(side, length), a, turn))
        if touch:
            grow = np.full(3, half)
            grow[axis] = 0.0
            self.hulls.append(Hull.box(BODY, a - grow, b + grow))

    def build(self) -> FurnitureShape:
        """Returns the shape as it is now."""
        return FurnitureShape(tuple(self.pieces), tuple(self.hulls), tuple(self.panes))


def halves(size_m: tuple[float, float]) -> tuple[float, float]:
    """Returns half of each extent."""
    return size_m[0] / 2, size_m[1] / 2


def slab(size_m: tuple[float, float], radius_m: float, low_m: float, high_m: float, bevel_m: float) -> Mesh:
    """Returns a plate with round corners and broken edges."""
    small = (size_m[0] - 2 * bevel_m, size_m[1] - 2 * bevel_m)
    outer, inner = rounded_rectangle(size_m, radius_m, 4), rounded_rectangle(small, radius_m - bevel_m, 4)
    rings = ((inner, low_m), (outer, low_m + bevel_m), (outer, high_m - bevel_m), (inner, high_m))
    return loft([np.column_stack([ring, np.full(len(ring), z)]) for ring, z in rings])


def _profile(side_m: float, length_m: float) -> Mesh:
    """Returns a square bar along z from the origin with a groove along the middle of each face."""
    h, slot, deep = side_m / 2, side_m * 0.11, side_m * 0.10
    face = np.array([(h, -h), (h, -slot), (h - deep, -slot), (h - deep, slot), (h, slot)])
    quarter = np.array([[0, 1], [-1, 0]])
    outline = np.concatenate([face @ np.linalg.matrix_power(quarter, k) for k in range(4)])
    return loft([np.column_stack([outline, np.full(len(outline), z)]) for z in (0.0, length_m)])

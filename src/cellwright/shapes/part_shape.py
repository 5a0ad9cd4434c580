"""The shape of a part of any kind: its convex solids, points all over it, its outline as it is seen from above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, PartFigures
from cellwright.catalogue.objects import BoundedFigures, ObjectFigures
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.shapes.body_shape import Hull
from cellwright.shapes.gear import HULL_SEGMENTS, gear_cone_hull, gear_disc_hull
from cellwright.shapes.mesh import Mesh, cuboid, lathe
from cellwright.shapes.objects import object_shape
from cellwright.shapes.polygon import convex_polygon, depths_m

__all__ = ["STEP_M", "PartShape", "part_shape"]

Array = npt.NDArray[np.float64]

STEP_M = 0.001
"""The distance between two points of a surface; what lies between them is missed by less than half of it."""
FOOT_M = 0.0005  # what is no higher above a part's lowest point is its foot

_known: dict[str, tuple[PartFigures, PartShape]] = {}


@dataclass(frozen=True, eq=False)
class PartShape:
    """The shape of a part, in its own frame.

    Attributes:
        solids: Convex meshes, as they collide.
    """

    solids: tuple[Mesh, ...]

    @cached_property
    def corners(self) -> Array:
        """The corners (n, 3) of all solids: whatever direction one looks in, one of them is the farthest point."""
        return np.concatenate([solid.vertices for solid in self.solids])

    @cached_property
    def surface(self) -> Array:
        """Points (n, 3) all over the solids: their corners, and others `STEP_M` apart."""
        others = np.concatenate([_points(triangle) for s in self.solids for triangle in s.vertices[s.faces]])
        _, first = np.unique(np.round(others / STEP_M).astype(np.int64), axis=0, return_index=True)
        return np.concatenate([self.corners, others[first]])

    @cached_property
    def extent_m(self) -> tuple[Array, Array]:
        """The lowest and the highest x, y and z."""
        return self.corners.min(axis=0), self.corners.max(axis=0)

    @cached_property
    def centre_m(self) -> Array:
        """The centre of the volume."""
        volumes = np.array([solid.volume_m3 for solid in self.solids])
        result: Array = volumes @ [solid.inertia(1.0)[0] for solid in self.solids] / volumes.sum()
        return result

    def underside(self, spacing_m: float) -> Array:
        """Returns the lowest points (n, 3) of the part as it stands upright, one for each square of the plane."""
        by_height = self.surface[np.argsort(self.surface[:, 2], kind="stable")]
        _, first = np.unique(np.round(by_height[:, :2] / spacing_m).astype(np.int64), axis=0, return_index=True)
        return by_height[first]

    def foot(self, pose: Pose) -> Array:
        """Returns the lowest points (n, 3) of the part in a pose: those that it stands on, if it stands on a plane."""
        points: Array = pose.apply(self.surface)
        lowest: Array = points[points[:, 2] <= points[:, 2].min() + FOOT_M]
        return lowest

    def stands(self, pose: Pose) -> bool:
        """Returns whether the part stays as it is on a plane, with nothing to lean on: its centre is over its foot."""
        corners = convex_polygon(self.foot(pose)[:, :2])
        return len(corners) > 2 and bool(depths_m(corners, pose.apply(self.centre_m)[None, :2])[0] > 0.0)

    def outlines(self, pose: Pose) -> list[Array]:
        """Returns convex polygons (n, 2), counter-clockwise, that the part covers together when seen from above."""
        return [convex_polygon(pose.apply(solid.vertices)[:, :2]) for solid in self.solids]


def part_shape(figures: PartFigures) -> PartShape:
    """Returns the shape of a part, computed once; one of a kind whose shape is not known is a cylinder."""
    known = _known.get(figures.sku)
    if known is None or known[0] is not figures:
        known = _known[figures.sku] = figures, PartShape(tuple(_solids(figures)))
    return known[1]


def _solids(figures: PartFigures) -> Sequence[Mesh]:
    if isinstance(figures, BoundedFigures):
        return figures.solids
    low_m, high_m = figures.bottom_m, figures.bottom_m + figures.height_m
    if isinstance(figures, GearFigures):
        peg_m = figures.peg_radius_m
        peg = lathe([(peg_m, figures.disc_top_m), (peg_m, figures.height_m)], HULL_SEGMENTS)
        return gear_cone_hull(figures), gear_disc_hull(figures), peg
    try:
        if isinstance(figures, ObjectFigures):
            shape = object_shape(figures)
            return *shape.convex, *map(_mesh, shape.hulls)
    except BadInput:
        pass
    return (lathe([(figures.radius_m, low_m), (figures.radius_m, high_m)], HULL_SEGMENTS),)


def _mesh(hull: Hull) -> Mesh:
    if hull.kind == "box":
        half = np.array(hull.size_m)
        mesh = cuboid(-half, half)
    else:
        radius_m, half_m = hull.size_m
        mesh = lathe([(radius_m, -half_m), (radius_m, half_m)], HULL_SEGMENTS)
    return Mesh(hull.pose.apply(mesh.vertices), mesh.faces)


def _points(triangle: Array) -> Array:
    """Returns points of a triangle: rows along its shortest side, which begin at the corner opposite to it."""
    sides_m = np.linalg.norm(np.roll(triangle, -1, axis=0) - triangle, axis=1)
    start = int(sides_m.argmin())
    b, c, a = (triangle[(start + turn) % 3] for turn in range(3))
    rows = max(int(np.ceil(sides_m.max() / STEP_M)), 1)
    columns = max(int(np.ceil(sides_m.min() / STEP_M)), 1)
    u, v = (grid.reshape(-1, 1) for grid in np.meshgrid(np.linspace(0, 1, rows + 1), np.linspace(0, 1, columns + 1)))
    result: Array = a + u * (b - a + v * (c - b))
    return result

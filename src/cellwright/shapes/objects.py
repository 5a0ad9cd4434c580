"""The shapes of everyday objects: a solid that has the mass, visual meshes, convex collision pieces.

A hollow object collides as hollow: a wall is a ring of wedges, and a ball dropped into a mug stays in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.objects import BlockFigures, CartonFigures, CrateFigures, ObjectFigures, TurnedFigures
from cellwright.catalogue.printed import INK, PAPER, PrintedFigures
from cellwright.core.errors import BadInput
from cellwright.shapes.body_shape import Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, cuboid, lathe, loft, merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import ALONG_MINUS_X, ALONG_MINUS_Y, ALONG_X, ALONG_Y, placed, plate, rod

__all__ = ["BODY", "ObjectShape", "convex_runs", "object_shape"]

BODY = "part"
VISUAL_SEGMENTS = 64
COLLISION_SEGMENTS = 48
WALL_WEDGES = 16
PRINT_M = 0.002  # between a print and the plate that is drawn below it
PAINT_M = 0.0003  # how far paint stands out, so that it is seen and not the body below

Profile = list[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class ObjectShape:
    """The solid, the visual meshes and the collision pieces of an object, in its own frame.

    Attributes:
        solid: The solid that has the mass.
        pieces: Visual meshes.
        convex: Collision shapes, as convex meshes.
        hulls: Collision shapes, as boxes and cylinders.
    """

    solid: Mesh
    pieces: tuple[MeshPiece, ...]
    convex: tuple[Mesh, ...] = ()
    hulls: tuple[Hull, ...] = ()


@singledispatch
def object_shape(figures: ObjectFigures) -> ObjectShape:
    """Returns the shape of an object, by the kind of its figures."""
    raise BadInput(f"no shape is known for objects of kind {type(figures).__name__}")


@object_shape.register
def _turned(figures: TurnedFigures) -> ObjectShape:
    outside = list(figures.profile_rz_m)
    solids = [lathe(outside + _inside(figures), VISUAL_SEGMENTS)]
    pieces = [
        MeshPiece(BODY, finish, lathe(_painted(figures, low, high), VISUAL_SEGMENTS))
        for finish, low, high in figures.bands
    ]
    convex = [lathe(run, COLLISION_SEGMENTS) for run in convex_runs(outside)]
    if figures.wall_m:
        convex = [lathe(_between(figures, 0.0, figures.wall_m), COLLISION_SEGMENTS), *_wall(figures)]
    hulls: list[Hull] = []
    if figures.handle is not None:
        path = [(x, 0.0, z) for x, z in figures.handle.path_xz_m]
        solids.append(rod(path, figures.handle.radius_m, points=16))
        hulls = [Hull.cylinder(BODY, figures.handle.radius_m, a, b) for a, b in pairwise(path)]
    solid = merge(solids)
    return ObjectShape(solid, (MeshPiece(BODY, "body", solid), *pieces), tuple(convex), tuple(hulls))


@object_shape.register
def _carton(figures: CartonFigures) -> ObjectShape:
    x, y = figures.size_m[0] / 2, figures.size_m[1] / 2
    top, gable, ridge, seam = figures.size_m[2], figures.gable_m, figures.ridge_m, figures.seam_m / 2
    box = cuboid((-x, -y, 0.0), (x, y, gable))
    roof = loft([_rectangle(x, y, gable), _rectangle(seam, y, ridge)])
    fold = cuboid((-seam, -y, ridge), (seam, y, top))
    band = cuboid((-x - PAINT_M, -y - PAINT_M, 0.16 * gable), (x + PAINT_M, y + PAINT_M, 0.50 * gable))
    pieces = (MeshPiece(BODY, "body", merge([box, roof])), MeshPiece(BODY, "band", band), MeshPiece(BODY, "seam", fold))
    hulls = (Hull.box(BODY, (-x, -y, 0.0), (x, y, gable)), Hull.box(BODY, (-seam, -y, ridge), (seam, y, top)))
    return ObjectShape(merge([box, roof, fold]), pieces, (roof,), hulls)


@object_shape.register
def _crate(figures: CrateFigures) -> ObjectShape:
    (long_x, long_y, high), wall = figures.size_m, figures.wall_m
    x, y = long_x / 2, long_y / 2
    boxes = [
        ((-x, -y, 0.0), (x, y, wall)),
        ((-x, -y, wall), (-x + wall, y, high)),
        ((x - wall, -y, wall), (x, y, high)),
        ((-x + wall, -y, wall), (x - wall, -y + wall, high)),
        ((-x + wall, y - wall, wall), (x - wall, y, high)),
    ]
    solid = merge(cuboid(*box) for box in boxes)
    trim = []
    for half, across, turns in ((x, long_y, (ALONG_X, ALONG_MINUS_X)), (y, long_x, (ALONG_Y, ALONG_MINUS_Y))):
        flat = turns[0] in (ALONG_X, ALONG_MINUS_X)
        for low, tall, share in ((0.80 * high, 0.10 * high, 0.34), (0.30 * high, 0.025 * high, 0.94)):
            size = (tall, share * across) if flat else (share * across, tall)
            strip = plate(rounded_rectangle(size, 0.45 * tall, 4), (half - 0.001, half + PAINT_M))
            trim += [placed(strip, (0.0, 0.0, low), turn) for turn in turns]
    hulls = tuple(Hull.box(BODY, *box) for box in boxes)
    return ObjectShape(solid, (MeshPiece(BODY, "body", solid), MeshPiece(BODY, "dark", merge(trim))), (), hulls)


@object_shape.register
def _block(figures: BlockFigures) -> ObjectShape:
    half = np.array(figures.size_m) / 2
    solid = cuboid(-half, half)
    return ObjectShape(solid, (MeshPiece(BODY, "body", solid),), (), (Hull.box(BODY, -half, half),))


@object_shape.register
def _printed(figures: PrintedFigures) -> ObjectShape:
    half = np.array(figures.size_m) / 2
    solid = cuboid(-half, half - [0.0, 0.0, PRINT_M])  # the print is the upper face, and nothing is right below it
    top = half[2]
    prints = (
        MeshPiece(BODY, finish, _modules(figures.rows, kind, figures.module_m, top))
        for finish, kind in (("paper", PAPER), ("black", INK))
    )
    rim = _rim(figures, top)
    whole = (Hull.box(BODY, -half, half),)
    return ObjectShape(cuboid(-half, half), (MeshPiece(BODY, "body", solid), *prints, *rim), (), whole)


def _modules(rows: tuple[str, ...], kind: str, module_m: float, z_m: float) -> Mesh:
    """Returns the modules of one kind as squares that look up, all with corners on one grid: no seams."""
    is_kind = np.array([list(row) for row in rows]) == kind
    down, across = np.nonzero(is_kind)
    high, wide = is_kind.shape
    y, x = np.mgrid[: high + 1, : wide + 1]
    grid = np.column_stack([(x.ravel() - wide / 2) * module_m, (high / 2 - y.ravel()) * module_m, np.full(x.size, z_m)])
    first = down * (wide + 1) + across
    corners = np.column_stack([first + wide + 1, first + wide + 2, first + 1, first])
    used, places = np.unique(corners, return_inverse=True)
    a, b, c, d = places.reshape(-1, 4).T
    return Mesh(grid[used], np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))


def _rim(figures: PrintedFigures, z_m: float) -> list[MeshPiece]:
    """Returns the paper about the print, to the plate's edges."""
    (x, y), rows = np.array(figures.size_m[:2]) / 2, figures.rows
    inner_x, inner_y = len(rows[0]) * figures.module_m / 2, len(rows) * figures.module_m / 2
    low = z_m - PRINT_M
    strips = [
        ((-x, inner_y, low), (x, y, z_m)),
        ((-x, -y, low), (x, -inner_y, z_m)),
        ((-x, -inner_y, low), (-inner_x, inner_y, z_m)),
        ((inner_x, -inner_y, low), (x, inner_y, z_m)),
    ]
    return [MeshPiece(BODY, "paper", cuboid(a, b)) for a, b in strips if min(np.subtract(b, a)) > 0]


def convex_runs(profile_rz_m: Profile) -> list[Profile]:
    """Returns the profile cut where it turns inwards: each run, turned about z, is convex."""
    runs: list[Profile] = [[profile_rz_m[0]]]
    last_slope = np.inf
    for (low_r, low), (high_r, high) in pairwise(profile_rz_m):
        slope = (high_r - low_r) / (high - low)
        if slope > last_slope + 1e-9:
            runs.append([(low_r, low)])
        runs[-1].append((high_r, high))
        last_slope = slope
    return runs


def _between(figures: TurnedFigures, low_m: float, high_m: float, grow_m: float = 0.0) -> Profile:
    """Returns the part of the outside between two heights, grown by a little."""
    inner = [(r, z) for r, z in figures.profile_rz_m if low_m < z < high_m]
    ends = [(figures.outer_radius_m(z), z) for z in (low_m, high_m)]
    return [(r + grow_m, z) for r, z in (ends[0], *inner, ends[1])]


def _painted(figures: TurnedFigures, low_m: float, high_m: float) -> Profile:
    band = _between(figures, low_m, high_m, PAINT_M)
    if high_m == figures.height_m:
        band[-1] = (band[-1][0], high_m + PAINT_M)
    return band


def _inside(figures: TurnedFigures) -> Profile:
    """Returns the inside of a hollow body, top to bottom; nothing when it is filled."""
    wall = figures.wall_m
    if not wall:
        return []
    return [(r - wall, z) for r, z in reversed(_between(figures, wall, figures.height_m))]


def _wall(figures: TurnedFigures) -> list[Mesh]:
    """Returns the wall as wedges; they begin above the floor, so that only the floor touches the table."""
    angles = 2 * np.pi * np.arange(WALL_WEDGES + 1) / WALL_WEDGES
    rings = [(figures.outer_radius_m(z), z) for z in (figures.wall_m, figures.height_m)]
    wedges = []
    for start, end in pairwise(angles):
        sides = np.array([[np.cos(start), np.sin(start)], [np.cos(end), np.sin(end)]])
        corners = []
        for outer, z in rings:
            inner = outer - figures.wall_m
            flat = np.array([inner * sides[0], outer * sides[0], outer * sides[1], inner * sides[1]])
            corners.append(np.column_stack([flat, np.full(4, z)]))
        wedges.append(loft(corners))
    return wedges


def _rectangle(x_m: float, y_m: float, z_m: float) -> npt.NDArray[np.float64]:
    return np.array([(x_m, -y_m, z_m), (x_m, y_m, z_m), (-x_m, y_m, z_m), (-x_m, -y_m, z_m)])

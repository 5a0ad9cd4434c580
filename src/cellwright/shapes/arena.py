"""The shape of an arena: a painted ground within boards set on edge."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cellwright.catalogue.arena import ArenaFigures
from cellwright.core.pose import Pose
from cellwright.shapes.body_shape import Hull
from cellwright.shapes.furniture_builder import BODY, FurnitureBuilder, FurnitureShape, halves
from cellwright.shapes.mesh import circle, cuboid
from cellwright.shapes.solids import placed, plate

__all__ = ["arena_shape"]

PAINT_M = 0.0004  # only seen: wheels roll on the floor that the cell has at its height
CAP_M = 0.002
LINE_M = 0.0006  # height of a line's upper face
SPOT_CORNERS = 24

Size2 = tuple[float, float]


def arena_shape(figures: ArenaFigures) -> FurnitureShape:
    """Returns ground and walls; the walls' inner faces are the edges of the arena's extent."""
    builder = FurnitureBuilder()
    (x, y), thick = halves(figures.size_m), figures.wall_thickness_m
    builder.add_visual("ground", cuboid((-x, -y, 0.0), (x, y, PAINT_M)))
    half = thick / 2
    for s in (-1, 1):
        _wall(builder, figures, (-x - thick, s * (y + half)), (x + thick, s * (y + half)))
        _wall(builder, figures, (s * (x + half), -y), (s * (x + half), y))
    for start, end in figures.inner_walls_m:
        _wall(builder, figures, start, end)
    for line in figures.lines_m:
        _line(builder, line, figures.line_width_m)
    return builder.build()


def _line(builder: FurnitureBuilder, points_m: tuple[Size2, ...], width_m: float) -> None:
    """Adds strips from point to point, with a round spot at each."""
    for start, end in pairwise(points_m):
        along = np.subtract(end, start)
        place = (*(np.add(start, end) / 2), 0.0), (0.0, 0.0, float(np.arctan2(along[1], along[0])))
        half = float(np.hypot(*along)) / 2, width_m / 2
        builder.add_visual("line", placed(cuboid((-half[0], -half[1], PAINT_M), (*half, LINE_M)), *place))
    for point in points_m:
        spot = circle(width_m / 2, SPOT_CORNERS)
        builder.add_visual("line", placed(plate(spot, (PAINT_M, LINE_M), (0.0, 0.0)), (*point, 0.0), (0.0, 0.0, 0.0)))


def _wall(builder: FurnitureBuilder, figures: ArenaFigures, start_m: Size2, end_m: Size2) -> None:
    """Adds a board from one point to another, with a brighter edge on top."""
    along = np.subtract(end_m, start_m)
    middle, yaw = np.add(start_m, end_m) / 2, float(np.arctan2(along[1], along[0]))
    long, half, high = float(np.hypot(*along)) / 2, figures.wall_thickness_m / 2, figures.wall_height_m
    for finish, low, top in (("wall", 0.0, high - CAP_M), ("edge", high - CAP_M, high)):
        builder.add_visual(
            finish, placed(cuboid((-long, -half, low), (long, half, top)), (*middle, 0.0), (0.0, 0.0, yaw))
        )
    pose = Pose.from_xyz_rpy((*middle, high / 2), (0.0, 0.0, yaw))
    builder.hulls.append(Hull(BODY, "box", (long, half, high / 2), pose))

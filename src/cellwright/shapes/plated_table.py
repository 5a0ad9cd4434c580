"""The shape of a perforated table with raised plates."""

from __future__ import annotations

from itertools import product

from cellwright.catalogue.furniture_kinds import PlatedTableFigures
from cellwright.shapes.body_shape import Hull
from cellwright.shapes.furniture_builder import BODY, FurnitureBuilder, FurnitureShape, halves, slab
from cellwright.shapes.solids import drum, placed

__all__ = ["plated_table_shape"]

FOOT_M = 0.020
APRON_THICKNESS_M = 0.030


def plated_table_shape(figures: PlatedTableFigures) -> FurnitureShape:
    """Returns legs, apron, top; the plates on it are collision shapes like the top."""
    builder = FurnitureBuilder()
    (x, y), top, under = halves(figures.size_m), figures.top_m, figures.top_m - figures.thickness_m
    builder.add_visual("steel", slab(figures.size_m, 0.006, under, top, 0.0015))
    builder.hulls.append(Hull.box(BODY, (-x, -y, under), (x, y, top)))
    half, inset = figures.leg_m / 2, figures.leg_inset_m
    reach_x, reach_y = x - inset - half, y - inset - half
    for sx, sy in product((-1, 1), repeat=2):
        px, py = sx * reach_x, sy * reach_y
        builder.add_visual("silver", placed(slab((2 * half, 2 * half), 0.008, FOOT_M, under, 0.001), (px, py, 0.0)))
        builder.add_visual("black", placed(drum(0.8 * half, (0.0, FOOT_M), 0.004), (px, py, 0.0)))
        builder.hulls.append(Hull.box(BODY, (px - half, py - half, 0.0), (px + half, py + half, under)))
    t, low = APRON_THICKNESS_M / 2, figures.apron_m
    for s in (-1, 1):
        builder.add_box("silver", (-reach_x + half, s * reach_y - t, low), (reach_x - half, s * reach_y + t, under))
        builder.add_box("silver", (s * reach_x - t, -reach_y + half, low), (s * reach_x + t, reach_y - half, under))
    for plate in figures.plates:
        builder.add_box(plate.name, (*plate.min_xy_m, top), (*plate.max_xy_m, plate.top_m))
    return builder.build()

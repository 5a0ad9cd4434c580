"""The visuals and the hulls of a tool changer's halves and of a tool holder."""

from __future__ import annotations

from cellwright.catalogue.changer import ChangerFigures, ToolHolderFigures
from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.furniture_builder import FurnitureBuilder, FurnitureShape
from cellwright.shapes.mesh import merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import ALONG_X, bolt_circle, drum, placed, plate

__all__ = ["coupling_shape", "holder_shape", "plate_shape"]


def plate_shape(figures: ChangerFigures) -> BodyShape:
    """Returns the robot's half, on the body `changer`, whose frame is the flange's."""
    radius, end = figures.radius_m, figures.plate_height_m
    body = drum(radius, (0.0, end), 0.0015, segments=40, steps=2)
    collar = drum(0.55 * radius, (end - 0.001, end + 0.00015), segments=32, steps=1)
    port = placed(
        drum(0.006, (0.85 * radius, 1.25 * radius), 0.001, segments=16, steps=1), (0.0, 0.0, 0.5 * end), ALONG_X
    )
    bolts = bolt_circle(0.8 * radius, 6, 0.0025, (end - 0.0005, end + 0.0001))
    pieces = [
        MeshPiece("changer", "anodised", merge([body, port])),
        MeshPiece("changer", "steel", merge([collar, bolts])),
    ]
    return BodyShape(hulls=(Hull.cylinder("changer", radius, (0.0, 0.0, 0.0), (0.0, 0.0, end)),), pieces=lambda: pieces)


def coupling_shape(figures: ChangerFigures) -> BodyShape:
    """Returns the tool's half, on the body `coupling`."""
    radius, end = figures.radius_m, figures.coupling_height_m
    along_x, along_y, thick = figures.wing_size_m
    wings = plate(rounded_rectangle((along_x, along_y), 0.004, 3), (0.0, thick), 0.0008, steps=1)
    disc = drum(radius, (0.0, end), 0.0015, segments=40, steps=2)
    pieces = [MeshPiece("coupling", "aluminium", disc), MeshPiece("coupling", "steel", wings)]
    hulls = (
        Hull.cylinder("coupling", radius, (0.0, 0.0, 0.0), (0.0, 0.0, end)),
        Hull.box("coupling", (-along_x / 2, -along_y / 2, 0.0), (along_x / 2, along_y / 2, thick)),
    )
    return BodyShape(hulls=hulls, pieces=lambda: pieces)


def holder_shape(figures: ToolHolderFigures) -> FurnitureShape:
    """Returns foot, two posts beside the tool, two rails."""
    builder = FurnitureBuilder()
    (long, wide, thick), top = figures.rail_size_m, figures.rail_top_m
    foot_x, foot_y, foot_z = figures.foot_size_m
    builder.add_box("black", (-foot_x / 2, -foot_y / 2, 0.0), (foot_x / 2, foot_y / 2, foot_z))
    for side in (1, -1):
        inner, outer = sorted((side * figures.rail_gap_m / 2, side * (figures.rail_gap_m / 2 + wide)))
        builder.add_box("black", (-long / 2, inner, top - thick), (long / 2, outer, top))
        middle = (inner + outer) / 2
        builder.add_profile(figures.post_m, (0.0, middle, foot_z), (0.0, middle, top - thick))
    return builder.build()

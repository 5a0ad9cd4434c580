"""Boxes about the solid pieces of furniture, of the catalogue or from a file: for what a rough look is enough."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import FurnitureFigures
from cellwright.catalogue.furniture_kinds import FloorFigures
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.motion.planning.pieces import ConvexPiece, shape_pieces
from cellwright.motion.planning.scene import CatalogueModel
from cellwright.shapes.furniture import furniture_shape

__all__ = ["SolidBox", "furniture_boxes"]

SolidBox = tuple[Pose, tuple[float, float, float]]
"""The pose of a box, and its half extents along its own axes."""


def furniture_boxes(figures: FurnitureFigures, *, panes: bool = True) -> list[SolidBox]:
    """Returns boxes in the frame of a piece of furniture, that contain it; none for a floor, below everything.

    Args:
        figures: The piece.
        panes: Whether clear panes count, which are solid and hide nothing.
    """
    if isinstance(figures, FloorFigures):
        return []
    try:
        shape = furniture_shape(figures)
    except BadInput:  # not of the catalogue: its collision shapes are all that is known
        pieces = shape_pieces(CatalogueModel(figures))
        return [_box_about(piece) for piece in pieces if piece.kind != "plane"]
    hulls = (*shape.hulls, *(shape.panes if panes else ()))
    return [_box_about(ConvexPiece(hull.kind, hull.size_m, hull.pose)) for hull in hulls]


def _box_about(piece: ConvexPiece) -> SolidBox:
    if piece.kind == "mesh":
        low, high = piece.vertices_m.min(axis=0), piece.vertices_m.max(axis=0)
        x, y, z = ((high - low) / 2).tolist()
        return piece.pose @ Pose.from_xyz_rpy((low + high) / 2), (x, y, z)
    size = np.array(piece.size_m)
    x, y, z = size if piece.kind == "box" else [size[0], size[0], size[-1]]
    return piece.pose, (float(x), float(y), float(z))

"""How high a gripper takes a part from above: where the part has the width that its figures give."""

from __future__ import annotations

from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.grippers import GripperFigures
from cellwright.catalogue.parts import PartFigures

__all__ = ["TIP_CLEARANCE_M", "grip_xyz_m", "ledge_m"]

TIP_CLEARANCE_M = 0.001
"""That finger tips keep from what is below them: the ground, or what of the part is wider than where it is held."""

SAME_M = 1e-6


def ledge_m(part: PartFigures) -> float:
    """Height above the part's origin below which no finger tip may go: a gear's disc, or what it stands on."""
    return part.disc_top_m if isinstance(part, GearFigures) else part.bottom_m


def grip_xyz_m(part: PartFigures, tool: object) -> tuple[float, float, float]:
    """Where a tool's centre point is in the part's frame when it takes the part.

    Long pads stand on the ledge and reach above the part; their middle is then higher than the part's own grasp point.

    Args:
        part: What is taken.
        tool: Figures of a gripper; with any other tool it is the part's own grasp point.
    """
    x, y, height_m = part.grasp_xyz_m
    if isinstance(tool, GripperFigures):
        least_m = ledge_m(part) + TIP_CLEARANCE_M + tool.pad_offset_m + tool.pad_size_m[2] / 2
        height_m = least_m if least_m > height_m + SAME_M else height_m
    return x, y, height_m

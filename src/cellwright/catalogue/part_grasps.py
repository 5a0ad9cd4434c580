"""Grasps of a part from above: the height, and the width of the part there."""

from __future__ import annotations

from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.grippers import GripperFigures
from cellwright.catalogue.objects import BoundedFigures
from cellwright.catalogue.parts import PartFigures, PartGrasp

__all__ = ["TIP_CLEARANCE_M", "TIP_FLOOR_M", "least_height_m", "part_grasp", "tool_grasp_xyz_m"]

TIP_CLEARANCE_M = 0.001
"""That finger tips keep from what of the part is wider than where it is held."""

DISC_CLEARANCE_M = 0.004
"""The same above a gear's disc: cameras above a table measure no heights, and fingers that come down on the disc of a
gear that stands 3 mm higher than drawn do not close on its peg."""

TIP_FLOOR_M = 0.005
"""That they keep from what the part stands on; beside a lower part they stay in its upper half."""

SAME_M = 1e-6
STEPS = 12  # on the way from open to closed, at which the tips are looked at


def least_height_m(part: PartFigures, tool: GripperFigures, half_width_m: float) -> float:
    """Returns the height above the part's origin below which a gripper's centre point does not go.

    Its tips then keep off a gear's disc and off the ground. Where pads swing outwards as they close, it is those on
    their way to the part that do; those that close on nothing do not touch the ground either.

    Args:
        part: The part.
        tool: The tool's figures.
        half_width_m: Of the part, between the pads.
    """
    above_tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2
    if isinstance(part, GearFigures):
        return part.disc_top_m + DISC_CLEARANCE_M + above_tips_m
    steps_m = ((tool.open_m - half_width_m) * step / STEPS for step in range(STEPS + 1))
    lag_m = min(tool.pad_lag_m(half_width_m + step_m) for step_m in steps_m)
    floor_m = min(TIP_FLOOR_M, part.height_m / 2) - max(0.0, lag_m)
    return part.bottom_m + max(TIP_CLEARANCE_M, floor_m) + above_tips_m


def part_grasp(part: PartFigures, tool: object) -> PartGrasp:
    """Returns the grasp of a part by a tool; one that is no gripper has its centre point at the part's own grasp point.

    Long pads stand as low as they may and reach above the part; their middle is then higher than that point.

    Args:
        part: The part.
        tool: Figures of what takes it.
    """
    x, y, height_m = part.grasp_xyz_m
    if not isinstance(tool, GripperFigures):
        return PartGrasp((x, y, height_m), part.grasp_width_m)
    if isinstance(part, BoundedFigures):
        return part.grasp_for(tool)
    least_m = least_height_m(part, tool, min(part.grasp_width_m / 2, tool.open_m))
    return PartGrasp((x, y, least_m if least_m > height_m + SAME_M else height_m), part.grasp_width_m)


def tool_grasp_xyz_m(part: PartFigures, tool: object) -> tuple[float, float, float]:
    """Returns the place of a tool's centre point in the part's frame when it takes the part."""
    return part_grasp(part, tool).xyz_m

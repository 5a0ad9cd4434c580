"""Where a gear comes to rest in a slot: the geometry of two cones."""

from __future__ import annotations

from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.trays import SlotFigures, TrayFigures

__all__ = ["seated_height_m"]


def seated_height_m(tray: TrayFigures, slot: SlotFigures, gear: GearFigures) -> float:
    """Height of the gear's bottom above the tray's origin when it is seated.

    The gear sinks until its bottom meets the floor or its cone the slot's wall. Both radii are linear in height,
    so they first meet at an end of the range that they share: the gear's bottom, or the lower of the two tops.
    """
    depth_m = tray.thickness_m - slot.floor_m
    wall_slope = (slot.top_radius_m - slot.bottom_radius_m) / depth_m
    cone_slope = (gear.cone_top_radius_m - gear.cone_bottom_radius_m) / gear.cone_height_m
    if wall_slope <= 0.0:
        return slot.floor_m
    at_bottom_m = (gear.cone_bottom_radius_m - slot.bottom_radius_m) / wall_slope
    at_cone_top_m = (gear.cone_top_radius_m - slot.bottom_radius_m) / wall_slope - gear.cone_height_m
    at_rim_m = depth_m - (slot.top_radius_m - gear.cone_bottom_radius_m) / cone_slope if cone_slope > 0 else 0.0
    top_m = at_cone_top_m if at_cone_top_m + gear.cone_height_m <= depth_m else at_rim_m
    return slot.floor_m + max(0.0, at_bottom_m, top_m)

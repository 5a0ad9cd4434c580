"""The seat of a part in a slot of a tray: a gear rests cone in cone, any other part stands on the floor."""

from __future__ import annotations

from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.trays import SlotFigures, TrayFigures
from cellwright.core.pose import Pose

__all__ = ["seated_height_m", "seated_pose"]


def seated_pose(tray: TrayFigures, slot: SlotFigures, part: PartFigures) -> Pose:
    """Returns the pose, in the tray's frame, of a part that is seated in the slot: upright on the slot's axis."""
    return Pose.from_xyz_rpy([*slot.xy_m, seated_height_m(tray, slot, part)])


def seated_height_m(tray: TrayFigures, slot: SlotFigures, part: PartFigures) -> float:
    """Returns the height of a part's origin above the tray's when it is seated in the slot."""
    if isinstance(part, GearFigures):
        return _gear_height_m(tray, slot, part)
    return slot.floor_m - part.bottom_m


def _gear_height_m(tray: TrayFigures, slot: SlotFigures, gear: GearFigures) -> float:
    """Returns the height of a seated gear's bottom above the tray's origin.

    The gear sinks until its bottom meets the floor, its cone the slot's wall, or its disc the tray's upper face. Both
    radii are linear in height, so cone and wall first meet at an end of the range that they share: the gear's bottom,
    the cone's top, or the slot's rim.
    """
    depth_m = tray.thickness_m - slot.floor_m
    foot_m, top_m, height_m = gear.cone_bottom_radius_m, gear.cone_top_radius_m, gear.cone_height_m
    if foot_m >= slot.top_radius_m:
        return tray.thickness_m
    stops_m = [0.0]
    if gear.tip_radius_m > slot.top_radius_m:
        stops_m.append(depth_m - height_m)
    wall_slope = (slot.top_radius_m - slot.bottom_radius_m) / depth_m
    if wall_slope > 0:
        stops_m.append((foot_m - slot.bottom_radius_m) / wall_slope)
    if top_m > slot.top_radius_m:
        stops_m.append(depth_m - (slot.top_radius_m - foot_m) * height_m / (top_m - foot_m))
    elif wall_slope > 0:
        stops_m.append((top_m - slot.bottom_radius_m) / wall_slope - height_m)
    return slot.floor_m + max(stops_m)

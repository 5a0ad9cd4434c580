"""The seat of a part in a slot of a tray, and when a part counts as in it.

A gear rests cone in cone; a plug, and any other part, stands on the floor. How far off its seat a part may be
depends on what is asked, and on how well the part is seen then; all these tolerances are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi, radians

from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.plug_trays import clearance_m
from cellwright.catalogue.trays import SlotFigures, TrayFigures
from cellwright.core.pose import Pose

__all__ = [
    "FROM_SLOT",
    "IN_SLOT",
    "SEATED",
    "SEEN_SEATED",
    "TRACKED_IN_SLOT",
    "SlotTolerance",
    "seated_height_m",
    "seated_pose",
    "seated_tolerance",
]


@dataclass(frozen=True)
class SlotTolerance:
    """Limits within which a part counts as in a slot.

    Attributes:
        beside_m: Between its axis and the slot's.
        above_m: Above or below its seat.
        tilt_rad: Between its axis and the vertical, or the tray's.
    """

    beside_m: float
    above_m: float
    tilt_rad: float = pi

    def allows(self, beside_m: float, above_m: float, tilt_rad: float = 0.0) -> bool:
        """Returns whether a part so far off counts as in the slot."""
        return beside_m <= self.beside_m and abs(above_m) <= self.above_m and tilt_rad <= self.tilt_rad


IN_SLOT = SlotTolerance(0.015, 0.020)
"""Belief and planning: the slot is taken, nothing else fits in. A gear that leans in its slot, or stands on its rim
13 mm above the seat, takes it, too; the next slot is at least 56 mm away."""

TRACKED_IN_SLOT = SlotTolerance(0.006, 0.008)
"""Tracker and database: it lies in the slot and moves with the tray. At 6.8 mm beside the axis a medium gear has
climbed out of its slot; of that 0.8 mm are left for what detectors err."""

FROM_SLOT = SlotTolerance(0.005, inf)
"""Conditions of taking: a part nearer to the axis lies in the tray; of one farther off, which lies across it, nothing
is asked about the tray. Less than the tracker's, so that what is asked about the tray is also stored."""

SEEN_SEATED = SlotTolerance(0.0015, 0.0015, radians(4.0))
"""Executor: it is seen to be seated. This is what the judge allows, and what detectors err after some frames; twice the
judge's tilt, as a gear in its cone leans by less."""

SEATED = SlotTolerance(0.001, 0.001, radians(2.0))
"""Judge, by the truth: it is seated."""

STRAIGHT_BESIDE_M = 0.0001  # beyond the clearance of a straight slot: what contacts give way, and corners of the wall
STRAIGHT_ABOVE_M = 0.0005  # a plug stands on the floor of its slot


def seated_tolerance(slot: SlotFigures, part: PartFigures) -> SlotTolerance:
    """Returns what the judge allows of a part in a slot; of a plug in a straight one, what the clearance does."""
    play_m = clearance_m(slot, part)
    if play_m is None:
        return SEATED
    return SlotTolerance(play_m / 2 + STRAIGHT_BESIDE_M, STRAIGHT_ABOVE_M, SEATED.tilt_rad)


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

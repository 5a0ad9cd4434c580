"""Places of kit trays and kits by where they are seen: one that was dropped or pushed is not where it was put."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.execution.surroundings import is_covered
from cellwright.execution.trays import tilt_rad
from cellwright.knowledge import Belief, BeliefState
from cellwright.knowledge.belief_writer import end_kit, set_down
from cellwright.knowledge.slot_contents import SlotContents, SupplyFilter
from cellwright.knowledge.tray_layout import tray_layout
from cellwright.planning import KitState

__all__ = ["misplaced_full_kits", "misplaced_trays", "note_trays", "place_of"]

Array = npt.NDArray[np.float64]
BESIDE_M = 0.002  # a tray that is seen no farther beyond the edge of something is on it, or in it
NEAR_M = 0.010  # a tray that is seen so near to the top of a table stands on it
STACKED_M = 0.005  # the same for the room in a box, above and below
BOXES = ("LargeBoxWithEmptyKitTrays", "LargeBoxWithKits")
LEANING_RAD = float(np.radians(20.0))  # one that leans more is not taken
TILT_RAD = float(np.radians(5.0))


def note_trays(belief: Belief) -> list[str]:
    """Writes where the kit trays and kits that move are, where that is not what was believed; says which."""
    believed = belief.state
    in_kits = {tray: kit for kit, tray in believed.tray_of.items()}
    held = set(believed.held.values())
    notes = []
    for kit, own in believed.tray_of.items():
        if own in believed.missing and kit not in believed.stationary and kit not in held:
            notes.append(f"{kit} is gone with its tray")
            end_kit(belief, kit)
    for tray in believed.of_kind("KitTray"):
        thing = in_kits.get(tray.name, tray.name)
        if tray.name in believed.missing:
            continue
        if thing in believed.stationary or thing in held or thing not in believed.tree.index:
            continue
        place = place_of(believed, thing)
        if place != believed.objects[thing].reference:
            where = f"in or on {place}" if place in believed.relations.sizes else "where it does not belong"
            notes.append(f"{thing} is seen {where}")
            set_down(belief, thing, place)
    return notes


def misplaced_trays(believed: BeliefState) -> list[str]:
    """Returns empty kit trays that are in no box and on no table for kits, and level enough to be taken."""
    taken = {*believed.tray_of.values(), *believed.held.values(), *believed.missing}
    station = {thing.name for thing in believed.of_kind("KittingWorkstation")}
    return [
        tray.name
        for tray in believed.of_kind("KitTray")
        if tray.name not in taken
        and tray.name in believed.tree.index
        and tray.reference in station
        and tilt_rad(believed.pose(tray.name)) <= LEANING_RAD
        and not is_covered(believed, tray.name)
    ]


def _corners(believed: BeliefState, thing: str) -> Array:
    """Returns the corners of a tray's bottom in its own frame."""
    x, y, _ = tray_layout(believed.objects[believed.detected_as(thing)].sku).size_m
    return np.array([[sx * x / 2, sy * y / 2, 0.0] for sx in (-1, 1) for sy in (-1, 1)])


def misplaced_full_kits(believed: BeliefState, supply_filter: SupplyFilter) -> list[KitState]:
    """Returns full kits that were dropped and can be taken up where they lie, each a place of its own."""
    contents = SlotContents(believed, supply_filter)
    station = {thing.name for thing in believed.of_kind("KittingWorkstation")}
    found = []
    for kit in believed.of_kind("Kit"):
        design = believed.relations.design(kit.name)
        if (
            kit.reference not in station
            or design is None
            or believed.is_missing(kit.name)
            or kit.name in believed.held.values()
        ):
            continue
        filled = contents.filled(kit.name, design)
        is_full = all(sku == slot.sku for sku, slot in zip(filled, design.slots, strict=True))
        if is_full and tilt_rad(believed.pose(kit.name)) <= LEANING_RAD:
            found.append(KitState(kit.name, design, kit.name, filled))
    return found


def place_of(believed: BeliefState, thing: str) -> str:
    """Returns the box or table that a kit tray or a kit is seen in or on; the workstation when in none."""
    pose = believed.pose(thing)
    upright = tilt_rad(pose) <= TILT_RAD
    boxes = "LargeBoxWithKits" if believed.objects[thing].kind == "Kit" else "LargeBoxWithEmptyKitTrays"
    furniture = {box.reference for box in believed.of_kind(*BOXES)} | {
        t.reference for t in believed.of_kind("PartsTray")
    }
    tables = [table for table in believed.of_kind("WorkTable") if table.name not in furniture]
    for place in [*believed.of_kind(boxes), *tables]:  # what is in a box is over a table, too
        if place.name not in believed.relations.sizes or not upright:
            continue
        length_m, width_m, height_m = believed.relations.sizes[place.name]
        in_place = believed.pose(place.name).inverse() @ pose
        points, low_m, high_m = _corners(believed, thing), -STACKED_M, height_m
        if place.kind == "WorkTable":  # there it may stand over the edge
            points, low_m, high_m = np.zeros((1, 3)), height_m - NEAR_M, height_m + NEAR_M
        x, y = np.abs(in_place.apply(points)[:, :2]).max(axis=0) - BESIDE_M
        if x <= length_m / 2 and y <= width_m / 2 and low_m <= in_place.position[2] <= high_m:
            return place.name
    return next(thing.name for thing in believed.of_kind("KittingWorkstation"))

"""Kit trays and kits are where they are seen: one that was dropped or pushed off does not count where it was put."""

from __future__ import annotations

import numpy as np

from cellwright.execution.view import CellView
from cellwright.knowledge.kit_records import set_down

__all__ = ["note_trays", "place_of"]

NEAR_M = 0.010  # a tray that is seen so near to the top of a table stands on it
STACKED_M = 0.005  # the same for the room in a box, above and below
TILT_RAD = float(np.radians(5.0))


def note_trays(view: CellView) -> list[str]:
    """Writes where the kit trays and kits that move are, where that is not what was believed; says which."""
    facts = view.facts
    in_kits = {tray: kit for kit, tray in facts.tray_of.items()}
    held = set(facts.held.values())
    told = []
    for tray in facts.of_kind("KitTray"):
        thing = in_kits.get(tray.name, tray.name)
        if thing in facts.stationary or thing in held or thing not in facts.tree.index:
            continue
        place = place_of(view, thing)
        if place != facts.things[thing].reference:
            told.append(f"{thing} is seen {f'in or on {place}' if place in facts.sizes else 'where it does not belong'}")
            set_down(view.belief, thing, place)
    if told:
        view.refresh()
    return told


def place_of(view: CellView, thing: str) -> str:
    """The box, or the table for kits, that a kit tray or a kit is seen in or on; the workstation when in none."""
    facts = view.facts
    pose = view.pose(thing)
    upright = np.arccos(np.clip(pose.rotation_matrix[2, 2], -1.0, 1.0)) <= TILT_RAD
    boxes = "LargeBoxWithKits" if facts.things[thing].kind == "Kit" else "LargeBoxWithEmptyKitTrays"
    for place in [*facts.of_kind(boxes), *facts.of_kind("WorkTable")]:  # what is in a box is over a table, too
        if place.name not in facts.sizes or not upright:
            continue
        length_m, width_m, height_m = facts.sizes[place.name]
        x, y, z = (view.pose(place.name).inverse() @ pose).position
        low_m, high_m = (
            (height_m - NEAR_M, height_m + NEAR_M) if place.kind == "WorkTable" else (-STACKED_M, height_m)
        )
        if abs(x) <= length_m / 2 and abs(y) <= width_m / 2 and low_m <= z <= high_m:
            return place.name
    return next(thing.name for thing in facts.of_kind("KittingWorkstation"))

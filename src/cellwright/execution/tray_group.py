"""A tray and the parts in its slots as one body, where detectors see single objects lastingly aside.

Gears stand in the middles of their slots. When they are usually seen beside these, detectors err lastingly, each time
otherwise: then a tray and all the gears in it together tell better where one of them is than that one alone. Parts that
have room in their slots say nothing about that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from cellwright.catalogue import GearFigures
from cellwright.catalogue.seating import SEEN_SEATED
from cellwright.knowledge import BeliefState, BelievedPart, BelievedSlot
from cellwright.orders import KitDesign

__all__ = ["is_seen_aside", "part_in_group"]

FEWEST = 3  # parts in slots, from which it is concluded how far aside they are usually seen


def is_seen_aside(believed: BeliefState, designs: Mapping[str, KitDesign], part: str = "") -> bool:
    """Returns whether gears are usually seen beside their slots: then nobody sees whether one is in its seat.

    Args:
        believed: What is believed.
        designs: Kit -> what it shall become.
        part: A part that does not count: it is the question where that is.
    """
    groups = _groups(believed, designs)
    usual_m = [each.across_m(slot.position) for group in groups for slot, each in group if each.name != part]
    return len(usual_m) >= FEWEST and float(np.median(usual_m)) > SEEN_SEATED.beside_m


def part_in_group(
    believed: BeliefState, part: BelievedPart, designs: Mapping[str, KitDesign], flat: Collection[str] = ()
) -> BelievedPart:
    """Returns a part where it most probably is: as it is seen, or as all that is in its tray has it.

    Args:
        believed: What is believed.
        part: The part.
        designs: Kit -> what it shall become.
        flat: Detectors that measure neither heights nor leans: what is in a slot stands in it, as high as that is.
    """
    group = next((g for g in _groups(believed, designs) if any(each.name == part.name for _, each in g)), None)
    if group is None or not is_seen_aside(believed, designs, part.name):
        return part
    seat = next(slot for slot, each in group if each.name == part.name)
    off = np.array([np.zeros(3), *(each.position - slot.position for slot, each in group)]).mean(axis=0)
    is_flat = believed.source(part.name) in flat
    matrix = seat.pose_part_in_world.matrix.copy() if is_flat else part.matrix.copy()
    matrix[:3, 3] = seat.position + off * [1.0, 1.0, 0.0 if is_flat else 1.0]
    return replace(part, matrix=matrix)


def _groups(believed: BeliefState, designs: Mapping[str, KitDesign]) -> list[list[tuple[BelievedSlot, BelievedPart]]]:
    """Returns the gears in the slots of each tray and kit."""
    parts = [part for part in believed.parts() if isinstance(part.figures, GearFigures)]
    return [
        [(slot, each) for slot in slots if (each := believed.part_in(slot, parts)) is not None]
        for slots in _slots(believed, designs)
    ]


def _slots(believed: BeliefState, designs: Mapping[str, KitDesign]) -> list[list[BelievedSlot]]:
    """Returns the slots of each tray and kit that is somewhere."""
    kits = [
        believed.slots_of_kit(kit, design)
        for kit, design in designs.items()
        if believed.has_pose(kit) and not believed.is_missing(kit)
    ]
    trays = [tray for tray in believed.part_sku if believed.has_pose(tray) and not believed.is_missing(tray)]
    return [*kits, *(believed.slots_of_tray(tray) for tray in trays)]

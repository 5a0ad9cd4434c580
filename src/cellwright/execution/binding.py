"""Binds actions to parts and slots, from belief at the last moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cellwright.catalogue import part_of_sku
from cellwright.execution.outline import across_m, overlaps
from cellwright.execution.settings import Recipe
from cellwright.execution.surroundings import is_loose
from cellwright.knowledge import BeliefState, BelievedPart, BelievedSlot
from cellwright.orders import KitDesign

__all__ = ["blockers", "candidates", "exclusion_reason", "is_touched", "open_slot", "wrong_part"]

UNCERTAIN_M = 0.003  # a place that is known worse than this is no place to grasp at
OVERLAP_M = 0.002  # by which outlines may seem to overlap before one is in the way of the other


def candidates(
    believed: BeliefState, sku: str, place: str, recipe: Recipe, left_out: Collection[str]
) -> tuple[list[BelievedPart], list[str]]:
    """Returns the parts of a SKU at a place that can be taken, in the order of the tray's slots; and why others cannot.

    Those that lean come last.

    A place is a parts tray, or the name of a part that lies by itself.
    """
    parts = believed.parts(sku)
    if place in believed.part_sku:
        inside = [believed.part_in(slot, parts) for slot in believed.slots_of_tray(place)]
        found = [part for part in inside if part is not None]
    else:
        found = [part for part in parts if part.name == place]
    good, reasons = [], []
    for part in found:
        why = exclusion_reason(part, recipe, left_out)
        if why:
            reasons.append(f"{part.name} {why}")
        else:
            good.append(part)
    good.sort(key=lambda part: part.tilt_rad > recipe.upright_rad)
    return good, reasons or [f"no {sku} at {place}"]


def exclusion_reason(part: BelievedPart, recipe: Recipe, left_out: Collection[str]) -> str:
    """Returns the reason why a part should not be grasped; empty without one."""
    if part.name in left_out:
        return "failed before"
    if part.tilt_rad > recipe.max_tilt_rad:
        return f"leans by {np.degrees(part.tilt_rad):.0f} deg"
    if part.sd_m > UNCERTAIN_M:
        return f"is known to {part.sd_m * 1000:.1f} mm only"
    return ""


def open_slot(believed: BeliefState, kit: str, design: KitDesign, sku: str) -> tuple[BelievedSlot | None, str]:
    """Returns the first open slot of a kit for a SKU, and nothing in the way there; or why there is none."""
    parts, filled = believed.parts(), []
    for slot in believed.slots_of_kit(kit, design):
        if slot.sku != sku:
            continue
        there = believed.part_in(slot, parts)
        beside = blockers(believed, slot, parts)
        if there is None and not beside:
            return slot, ""
        filled.append(f"{slot.name} holds {there.name}" if there else f"{beside[0].name} lies across {slot.name}")
    return None, ", ".join(filled) or f"{kit} has no slot for {sku}"


def blockers(believed: BeliefState, slot: BelievedSlot, parts: Sequence[BelievedPart]) -> list[BelievedPart]:
    """Returns parts that lie about where a part of the slot's SKU would have to go."""
    radius_m = part_of_sku(slot.sku).radius_m - OVERLAP_M
    near = [part for part in parts if part.across_m(slot.position) < radius_m + part.reach_m]
    loose = [part for part in near if not slot.holds(part) and is_loose(believed, part)]
    return [part for part in loose if across_m(part, slot.position) < radius_m]


def is_touched(part: BelievedPart, others: Sequence[BelievedPart]) -> bool:
    """Returns whether another part lies on it or leans on it: their outlines overlap."""
    near = [other for other in others if other.across_m(part.position) < part.reach_m + other.reach_m - OVERLAP_M]
    return any(other.name != part.name and overlaps(part, other, OVERLAP_M) for other in near)


def wrong_part(
    believed: BeliefState, kit: str, design: KitDesign, sku: str
) -> tuple[BelievedPart | None, BelievedSlot | None]:
    """Returns a part of that SKU in a slot of another."""
    parts = believed.parts(sku)
    for slot in believed.slots_of_kit(kit, design):
        there = believed.part_in(slot, parts)
        if there is not None and slot.sku != sku:
            return there, slot
    return None, None

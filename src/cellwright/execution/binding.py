"""Binds actions to parts and slots, from belief at the last moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cellwright.catalogue import part_of_sku
from cellwright.execution.part_poses import PartPose, SlotPose
from cellwright.execution.settings import Recipe
from cellwright.execution.view import CellView
from cellwright.orders import KitDesign

__all__ = ["blockers", "candidates", "exclusion_reason", "is_touched", "open_seat", "wrong_part"]

UNCERTAIN_M = 0.003  # a place that is known worse than this is no place to grasp at
OVERLAP_M = 0.002  # by which discs may seem to overlap before one is in the way of the other


def candidates(
    view: CellView, sku: str, place: str, recipe: Recipe, left_out: Collection[str]
) -> tuple[list[PartPose], list[str]]:
    """Returns the parts of a SKU at a place that can be taken, in the order of the tray's slots; and why others cannot.

    Those that lean come last.

    A place is a parts tray, or the name of a part that lies by itself.
    """
    parts = view.parts(sku)
    if place in view.facts.part_sku:
        inside = [view.in_seat(seat, parts) for seat in view.seats_of_tray(place)]
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


def exclusion_reason(part: PartPose, recipe: Recipe, left_out: Collection[str]) -> str:
    """Returns the reason why a part should not be grasped; empty without one."""
    if part.name in left_out:
        return "failed before"
    if part.tilt_rad > recipe.max_tilt_rad:
        return f"leans by {np.degrees(part.tilt_rad):.0f} deg"
    if part.sd_m > UNCERTAIN_M:
        return f"is known to {part.sd_m * 1000:.1f} mm only"
    return ""


def open_seat(view: CellView, kit: str, design: KitDesign, sku: str) -> tuple[SlotPose | None, str]:
    """Returns the first open slot of a kit for a SKU, and nothing in the way there; or why there is none."""
    parts, filled = view.parts(), []
    for seat in view.seats_of_kit(kit, design):
        if seat.sku != sku:
            continue
        there = view.in_seat(seat, parts)
        beside = blockers(view, seat, parts)
        if there is None and not beside:
            return seat, ""
        filled.append(f"{seat.name} holds {there.name}" if there else f"{beside[0].name} lies across {seat.name}")
    return None, ", ".join(filled) or f"{kit} has no slot for {sku}"


def blockers(view: CellView, seat: SlotPose, parts: Sequence[PartPose]) -> list[PartPose]:
    """Returns parts that lie about where a part of the slot's SKU would have to go."""
    radius_m = part_of_sku(seat.sku).radius_m - OVERLAP_M
    near = [part for part in parts if part.across_m(seat.position) < radius_m + part.figures.radius_m]
    return [part for part in near if not seat.holds(part) and view.is_loose(part)]


def is_touched(part: PartPose, others: Sequence[PartPose]) -> bool:
    """Returns whether another part lies on it or leans on it: their outlines overlap."""
    return any(
        other.name != part.name and other.across_m(part.position) < part.figures.radius_m + other.reach_m - OVERLAP_M
        for other in others
    )


def wrong_part(view: CellView, kit: str, design: KitDesign, sku: str) -> tuple[PartPose | None, SlotPose | None]:
    """Returns a part of that SKU in a slot of another."""
    parts = view.parts(sku)
    for seat in view.seats_of_kit(kit, design):
        there = view.in_seat(seat, parts)
        if there is not None and seat.sku != sku:
            return there, seat
    return None, None

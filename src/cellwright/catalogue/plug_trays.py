"""Trays with straight slots for gears with plugs, and how wide such slots may be.

The clearance is the difference of the diameters of slot and plug. A slot is shallower than its plug, which stands on
the slot's floor: the disc stays above the tray.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType

from cellwright.catalogue.gears import LARGE_GEAR, LARGE_PLUG_GEAR, MEDIUM_GEAR, MEDIUM_PLUG_GEAR, GearFigures
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.trays import KIT_M2L1_TRAY, LARGE_GEAR_TRAY, MEDIUM_GEAR_TRAY, SlotFigures, TrayFigures

__all__ = [
    "KIT_M2L1_PLUG_TRAY",
    "LARGE_PLUG_TRAY",
    "LEAST_CLEARANCE_M",
    "MEDIUM_PLUG_TRAY",
    "PLUG_TRAYS",
    "clearance_m",
    "coarsest_step_s",
    "rim_m",
    "with_clearance",
]

LEAST_CLEARANCE_M = 0.0002  # below, contacts overlap by as much as there is room to either side
FINE_CLEARANCE_M = 0.0005  # below, contacts take steps of 1 ms to stay apart
FINE_STEP_S, STEP_S = 0.001, 0.002
LEAST_RIM_M = 0.001  # of the tray's upper face, between two slots or a slot and the edge
CHAMFER_M = 0.001
KIT_CLEARANCE_M, PARTS_CLEARANCE_M = 0.0005, 0.002
FLOOR_M = 0.0055  # 11.5 mm below the upper face: plugs of 12.6 and 13 mm stand on it


def clearance_m(slot: SlotFigures, part: PartFigures) -> float | None:
    """Returns the difference of the diameters of a straight slot and the plug in it; None for any other pair."""
    if not slot.is_straight or not isinstance(part, GearFigures) or not part.is_plug:
        return None
    return 2 * (slot.bottom_radius_m - part.cone_bottom_radius_m)


def coarsest_step_s(clearance_m: float) -> float:
    """Returns the longest step of physics at which contacts keep a plug inside walls of this clearance."""
    return STEP_S if clearance_m >= FINE_CLEARANCE_M else FINE_STEP_S


def with_clearance(
    tray: TrayFigures, plug_radii_m: Mapping[str, float], clearance_m: float, chamfer_m: float
) -> TrayFigures:
    """Returns a tray with straight slots of another clearance and chamfer, under a name of its own.

    Args:
        tray: A tray.
        plug_radii_m: SKU of the part of a slot -> radius of its plug.
        clearance_m: Difference of the diameters of slot and plug.
        chamfer_m: Width and height of the chamfer at the rim.
    """
    digest = sha256(repr((tray, clearance_m, chamfer_m)).encode()).hexdigest()[:8]
    slots = tuple(_straight(slot, plug_radii_m[slot.accepts], clearance_m, chamfer_m) for slot in tray.slots)
    return replace(tray, name=f"{tray.name}-{digest}", slots=slots)


def rim_m(tray: TrayFigures) -> float:
    """Returns the narrowest rim of a tray's upper face beside its slots; below zero where they cut into each other."""
    rims_m = []
    for number, slot in enumerate(tray.slots):
        edges_m = (side / 2 - abs(place) for side, place in zip(tray.size_m, slot.xy_m, strict=True))
        rims_m.append(min(edges_m) - slot.mouth_radius_m)
        for other in tray.slots[:number]:
            apart_m = max(abs(a - b) for a, b in zip(slot.xy_m, other.xy_m, strict=True))
            rims_m.append(apart_m - slot.mouth_radius_m - other.mouth_radius_m)
    return min(rims_m)


def _straight(slot: SlotFigures, plug_radius_m: float, clearance_m: float, chamfer_m: float) -> SlotFigures:
    radius_m = plug_radius_m + clearance_m / 2
    return replace(slot, bottom_radius_m=radius_m, top_radius_m=radius_m, chamfer_m=chamfer_m)


def _plug_tray(tray: TrayFigures, clearance_m: float) -> TrayFigures:
    """Returns a tray of the lab with straight slots for plugs in the places of its cones."""
    plugs = {MEDIUM_GEAR.sku: MEDIUM_PLUG_GEAR, LARGE_GEAR.sku: LARGE_PLUG_GEAR}
    slots = (
        _straight(
            replace(slot, accepts=plugs[slot.accepts].sku, floor_m=FLOOR_M),
            plugs[slot.accepts].cone_bottom_radius_m,
            clearance_m,
            CHAMFER_M,
        )
        for slot in tray.slots
    )
    sources = {
        **tray.sources,
        "sku": "estimated: the lab has no such tray",
        "slots": "places as in the lab's tray; estimated: straight walls for plugs",
    }
    return replace(
        tray,
        name=tray.name.replace("_gear_tray", "_plug_tray").replace("m2l1_tray", "m2l1_plug_tray"),
        title=f"{tray.title}, straight slots for plugs",
        sku=tray.sku.replace("_gear_vessel", "_plug_vessel").replace("m2l1_vessel", "m2l1_plug_vessel"),
        slots=tuple(slots),
        sources=MappingProxyType(sources),
    )


MEDIUM_PLUG_TRAY = _plug_tray(MEDIUM_GEAR_TRAY, PARTS_CLEARANCE_M)
LARGE_PLUG_TRAY = _plug_tray(LARGE_GEAR_TRAY, PARTS_CLEARANCE_M)
KIT_M2L1_PLUG_TRAY = _plug_tray(KIT_M2L1_TRAY, KIT_CLEARANCE_M)

PLUG_TRAYS: Mapping[str, TrayFigures] = MappingProxyType(
    {tray.name: tray for tray in (MEDIUM_PLUG_TRAY, LARGE_PLUG_TRAY, KIT_M2L1_PLUG_TRAY)}
)

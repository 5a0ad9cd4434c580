"""Parts with a flat top, which a suction cup can hold: thin gears, trays with a closed face."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cellwright.catalogue.objects import BlockFigures, ObjectFigures, TurnedFigures

__all__ = ["FLAT_PARTS", "FLAT_TRAY", "THIN_GEAR"]

THIN_GEAR = TurnedFigures(
    name="thin_gear",
    title="Thin gear",
    sku="sku_part_thin_gear",
    mass_kg=0.020,
    grasp_feature="rim",
    grasp_height_m=0.004,
    friction=0.30,
    profile_rz_m=((0.0295, 0.0), (0.0300, 0.0005), (0.0300, 0.0075), (0.0295, 0.0080)),
    colours=MappingProxyType({"body": (0.55, 0.25, 0.65)}),
    sources=MappingProxyType(
        {
            "sku": "in the manner of the APRS lab's other gears",
            "mass_kg": "estimated: printed plastic of this size",
            "grasp_feature": "APRS lab: thin gears are taken with the small vacuum tool; a gripper takes the rim",
            "grasp_height_m": "estimated: half its height",
            "friction": "estimated: printed plastic on a plate",
            "profile_rz_m": "estimated: wider than the cup of 40 mm; teeth left out",
            "bands": "none",
            "wall_m": "filled",
            "handle": "none",
            "colours": "estimated: by choice; unlike the gears with pegs",
        }
    ),
)

FLAT_TRAY = BlockFigures(
    name="flat_tray",
    title="Flat tray",
    sku="sku_flat_tray",
    mass_kg=0.35,
    grasp_feature="upper face",
    grasp_height_m=0.0,
    friction=0.30,
    size_m=(0.160, 0.190, 0.012),
    colours=MappingProxyType({"body": (0.50, 0.66, 0.84)}),
    sources=MappingProxyType(
        {
            "sku": "in the manner of the APRS lab's trays",
            "mass_kg": "estimated: below the 0.5 kg of the large vacuum tool, near a kit tray's 0.39 kg",
            "grasp_feature": "the kitting papers: trays are taken from above",
            "grasp_height_m": "its middle",
            "friction": "estimated: plastic on a plate",
            "size_m": "estimated: a kit tray of the APRS lab, with a closed upper face",
            "colours": "the colour of kit trays",
        }
    ),
)

FLAT_PARTS: Mapping[str, ObjectFigures] = MappingProxyType({part.name: part for part in (THIN_GEAR, FLAT_TRAY)})

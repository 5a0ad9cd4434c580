"""Marks: bodies of known size that are put on a table to be seen by a detector and touched by a robot."""

from __future__ import annotations

from types import MappingProxyType

from cellwright.catalogue.objects import TurnedFigures

__all__ = ["CALIBRATION_MARK"]

CALIBRATION_MARK = TurnedFigures(
    name="calibration_mark",
    title="Calibration mark",
    sku="sku_calibration_mark",
    mass_kg=1.08,
    grasp_feature="wall",
    grasp_height_m=0.055,
    friction=0.60,
    profile_rz_m=((0.0250, 0.0), (0.0250, 0.0700)),
    bands=(("ring", 0.0, 0.004),),
    colours=MappingProxyType({"body": (0.86, 0.87, 0.88), "ring": (0.06, 0.06, 0.07)}),
    sources=MappingProxyType(
        {
            "sku": "in the manner of the APRS lab's parts",
            "mass_kg": "volume of the cylinder times 7850 kg/m3 of steel",
            "grasp_feature": "estimated: nothing takes it, a person puts it down",
            "grasp_height_m": "estimated: where fingers touch its wall",
            "friction": "estimated: a rubber ring under steel, so that a touch of 2 N does not push it",
            "profile_rz_m": "estimated: wide enough to be hit when it is seen 15 mm aside, higher than gears in trays",
            "bands": "estimated: the ring of rubber",
            "wall_m": "filled",
            "handle": "none",
            "colours": "estimated: bright steel on a black ring, unlike gears and trays",
        }
    ),
)
"""A steel cylinder whose axis and upper face are known by its drawing: turned to 0.01 mm, which counts as exact."""

"""The three gears of the APRS lab: a cone that centres itself in a slot, a toothed disc, a peg to hold it by.

Origin: the centre of the cone's bottom face, z up along the peg.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cellwright.catalogue.parts import PartFigures

__all__ = [
    "GEARS",
    "LARGE_GEAR",
    "LARGE_PLUG_GEAR",
    "MEDIUM_GEAR",
    "MEDIUM_PLUG_GEAR",
    "PLUG_GEARS",
    "SMALL_GEAR",
    "GearFigures",
]


@dataclass(frozen=True, kw_only=True)
class GearFigures(PartFigures):
    """A gear, bottom to top: cone, disc with teeth, peg; a cone with two equal radii is a straight plug.

    Attributes:
        cone_bottom_radius_m: Radius of the cone at the gear's bottom.
        cone_top_radius_m: Radius of the cone where the disc begins.
        cone_height_m: Height of the cone.
        disc_height_m: Thickness of the toothed disc.
        root_radius_m: Radius of the disc between the teeth.
        tip_radius_m: Radius of the disc over the teeth.
        tooth_count: Number of teeth.
        peg_radius_m: Radius of the peg.
        peg_height_m: Height of the peg above the disc.
        rgba: Colour.
    """

    cone_bottom_radius_m: float
    cone_top_radius_m: float
    cone_height_m: float
    disc_height_m: float
    root_radius_m: float
    tip_radius_m: float
    tooth_count: int
    peg_radius_m: float
    peg_height_m: float
    rgba: tuple[float, float, float, float]

    @property
    def is_plug(self) -> bool:
        """Whether its cone is a straight plug, whose slot is wider by the clearance and does not centre it."""
        return self.cone_bottom_radius_m == self.cone_top_radius_m

    @property
    def disc_top_m(self) -> float:
        """Height of the disc's upper face above the gear's bottom."""
        return self.cone_height_m + self.disc_height_m

    @property
    def height_m(self) -> float:
        """Height of the whole gear."""
        return self.disc_top_m + self.peg_height_m

    @property
    def radius_m(self) -> float:
        """The radius over the teeth."""
        return self.tip_radius_m

    @property
    def is_round(self) -> bool:
        """True: its teeth are counted as a disc."""
        return True

    @property
    def grasp_width_m(self) -> float:
        """The width across the peg."""
        return 2 * self.peg_radius_m


_CAD = "measured on the STL mesh of the part in NIST's gzaprsros"
_TEETH = "estimated: full-depth teeth, so module = (tip - root) / 2.25 and count = 2 (tip - module) / module, rounded"
_COLOUR = "estimated: three hues that a camera tells apart from each other and from the trays"


def _sources(mass: str) -> Mapping[str, str]:
    cad = (
        "cone_bottom_radius_m cone_top_radius_m cone_height_m disc_height_m root_radius_m tip_radius_m "
        "peg_radius_m peg_height_m"
    )
    return MappingProxyType(
        dict.fromkeys(cad.split(), _CAD)
        | {
            "sku": "names in the APRS lab's vision frames",
            "tooth_count": _TEETH,
            "mass_kg": mass,
            "rgba": _COLOUR,
            "grasp_feature": "APRS lab: every gear is picked up by its 8 mm peg",
            "grasp_height_m": "estimated: the middle of the peg; the lab's 15 mm lies inside the disc",
        }
    )


SMALL_GEAR = GearFigures(
    name="small_gear",
    title="Small gear",
    sku="sku_part_small_gear",
    cone_bottom_radius_m=0.0075,
    cone_top_radius_m=0.0200,
    cone_height_m=0.0126,
    disc_height_m=0.0060,
    root_radius_m=0.0200,
    tip_radius_m=0.0237,
    tooth_count=27,
    peg_radius_m=0.0040,
    peg_height_m=0.0160,
    mass_kg=0.006,
    rgba=(0.95, 0.58, 0.08, 1.0),
    grasp_feature="peg",
    grasp_height_m=0.0266,
    sources=_sources("gzaprsros model: 5 g and 1 g for the peg"),
)

MEDIUM_GEAR = GearFigures(
    name="medium_gear",
    title="Medium gear",
    sku="sku_part_medium_gear",
    cone_bottom_radius_m=0.0199,
    cone_top_radius_m=0.0323,
    cone_height_m=0.0126,
    disc_height_m=0.0060,
    root_radius_m=0.0323,
    tip_radius_m=0.0373,
    tooth_count=32,
    peg_radius_m=0.0040,
    peg_height_m=0.0160,
    mass_kg=0.020,
    rgba=(0.10, 0.52, 0.27, 1.0),
    grasp_feature="peg",
    grasp_height_m=0.0266,
    sources=_sources(
        "older gzaprsros model: 20 g; the newer 33 g repeats the large gear's mass and would double the density"
    ),
)

LARGE_GEAR = GearFigures(
    name="large_gear",
    title="Large gear",
    sku="sku_part_large_gear",
    cone_bottom_radius_m=0.0320,
    cone_top_radius_m=0.0447,
    cone_height_m=0.0130,
    disc_height_m=0.0060,
    root_radius_m=0.0447,
    tip_radius_m=0.0505,
    tooth_count=37,
    peg_radius_m=0.0040,
    peg_height_m=0.0160,
    mass_kg=0.033,
    rgba=(0.76, 0.13, 0.15, 1.0),
    grasp_feature="peg",
    grasp_height_m=0.0270,
    sources=_sources("gzaprsros model: 32 g, there called the actual mass, and 1 g for the peg"),
)


def _plug_gear(
    gear: GearFigures, plug_radius_m: float, mass_kg: float, rgba: tuple[float, float, float, float]
) -> GearFigures:
    """Returns a gear of the lab with a straight plug below its disc instead of the cone."""
    sources = {
        **gear.sources,
        "sku": "estimated: the lab has no such gear",
        "cone_bottom_radius_m": "estimated: a plug that leaves a rim of the disc to rest above the tray",
        "cone_top_radius_m": "estimated: as below, a straight plug",
        "mass_kg": "estimated: as the gear with a cone, less what the plug has less of volume",
    }
    return replace(
        gear,
        name=gear.name.replace("_gear", "_plug_gear"),
        title=f"{gear.title} with a straight plug",
        sku=gear.sku.replace("_gear", "_plug_gear"),
        cone_bottom_radius_m=plug_radius_m,
        cone_top_radius_m=plug_radius_m,
        mass_kg=mass_kg,
        rgba=rgba,
        sources=MappingProxyType(sources),
    )


MEDIUM_PLUG_GEAR = _plug_gear(MEDIUM_GEAR, 0.0160, 0.015, (0.16, 0.62, 0.50, 1.0))
LARGE_PLUG_GEAR = _plug_gear(LARGE_GEAR, 0.0280, 0.027, (0.70, 0.20, 0.38, 1.0))

PLUG_GEARS: Mapping[str, GearFigures] = MappingProxyType(
    {gear.name: gear for gear in (MEDIUM_PLUG_GEAR, LARGE_PLUG_GEAR)}
)
GEARS: Mapping[str, GearFigures] = MappingProxyType({gear.name: gear for gear in (SMALL_GEAR, MEDIUM_GEAR, LARGE_GEAR)})

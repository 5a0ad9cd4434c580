"""The objects of the ROVI workcell: the objects to pick, and the obstacles.

Masses are the project's. Its inertias are not taken over: the bottle's are seven to twenty times those of a filled
bottle of its mass, the mug's are a placeholder of 1 kg m2. They follow from the shapes instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from cellwright.catalogue.objects import (
    BlockFigures,
    CartonFigures,
    CrateFigures,
    HandleFigures,
    ObjectFigures,
    TurnedFigures,
)

__all__ = [
    "BOTTLE",
    "COFFEE_CAN",
    "CRATE",
    "CUBE",
    "GREY_CUBE",
    "MILK_CARTON",
    "MUG",
    "RED_CUBE",
    "ROVI_OBJECTS",
    "WOODEN_CUBE",
]

_MESH = "measured on the object's mesh in the ROVI project (rb-rovi)"
_MASS = "rb-rovi; the inertia follows from the shape at this mass, the project's own is wrong"


def _sources(material: str, mu: str, grasp: str, **others: str) -> Mapping[str, str]:
    return MappingProxyType(
        {
            "sku": "the name in rb-rovi, in the manner of the APRS lab",
            "mass_kg": _MASS,
            "friction": f"estimated: {material} on a plate; rb-rovi has {mu}, tuned until ODE's fingers held it",
            "grasp_feature": grasp,
            "grasp_height_m": grasp,
            "colours": "estimated: by choice; a camera tells them apart",
        }
        | others
    )


BOTTLE = TurnedFigures(
    name="bottle",
    title="Bottle",
    sku="sku_bottle",
    mass_kg=0.100,
    grasp_feature="body",
    grasp_height_m=0.100,
    friction=0.30,
    profile_rz_m=(
        (0.0385, 0.0),
        (0.0400, 0.0015),
        (0.0400, 0.140),
        (0.0233, 0.180),
        (0.0200, 0.182),
        (0.0233, 0.184),
        (0.0233, 0.198),
    ),
    bands=(("label", 0.045, 0.118), ("cap", 0.182, 0.198)),
    colours=MappingProxyType({"body": (0.20, 0.42, 0.72), "label": (0.90, 0.90, 0.87), "cap": (0.82, 0.20, 0.16)}),
    sources=_sources(
        "plastic",
        "3.0",
        "rb-rovi: the bottle is taken from the side, 0.1 m above its foot",
        profile_rz_m=_MESH + "; estimated: the broken edge of the foot",
        bands="estimated: by choice",
        wall_m="none: filled",
        handle="none",
    ),
)

COFFEE_CAN = TurnedFigures(
    name="coffee_can",
    title="Coffee can",
    sku="sku_coffee_can",
    mass_kg=1.424,
    grasp_feature="knob",
    grasp_height_m=0.226,
    friction=0.30,
    profile_rz_m=(
        (0.0630, 0.0),
        (0.0645, 0.0015),
        (0.0645, 0.014),
        (0.0520, 0.060),
        (0.0535, 0.135),
        (0.0520, 0.142),
        (0.0300, 0.178),
        (0.0110, 0.196),
        (0.0080, 0.200),
        (0.0120, 0.208),
        (0.0120, 0.235),
    ),
    bands=(("band", 0.137, 0.142), ("cap", 0.196, 0.235)),
    handle=HandleFigures(
        path_xz_m=((0.050, 0.128), (0.064, 0.122), (0.0672, 0.092), (0.064, 0.064), (0.052, 0.056)), radius_m=0.006
    ),
    colours=MappingProxyType({"body": (0.72, 0.73, 0.75), "band": (0.30, 0.16, 0.09), "cap": (0.07, 0.07, 0.08)}),
    sources=_sources(
        "metal",
        "1.35",
        "estimated: the waist is 2 mm wider than the gripper opens, so the knob of the lid",
        profile_rz_m=_MESH + ": foot 65, waist 52, height 235 mm; estimated: what lies between",
        bands="estimated: by choice",
        wall_m="none: filled",
        handle=_MESH + ": 138 mm over all; estimated: its curve",
    ),
)

MILK_CARTON = CartonFigures(
    name="milk_carton",
    title="Milk carton",
    sku="sku_milk_carton",
    mass_kg=1.011,
    grasp_feature="body",
    grasp_height_m=0.110,
    friction=0.30,
    size_m=(0.071, 0.071, 0.221),
    gable_m=0.190,
    ridge_m=0.208,
    seam_m=0.004,
    colours=MappingProxyType({"body": (0.95, 0.95, 0.93), "band": (0.16, 0.50, 0.30), "seam": (0.88, 0.88, 0.86)}),
    sources=_sources(
        "coated paper",
        "0.8",
        "estimated: the middle of the box",
        size_m=_MESH,
        gable_m=_MESH,
        ridge_m="estimated: folded like any milk carton",
        seam_m="estimated: folded like any milk carton",
    ),
)

MUG = TurnedFigures(
    name="mug",
    title="Mug",
    sku="sku_mug",
    mass_kg=0.255,
    grasp_feature="body",
    grasp_height_m=0.060,
    friction=0.35,
    profile_rz_m=((0.0440, 0.0), (0.0473, 0.0040), (0.0473, 0.1017)),
    wall_m=0.0040,
    handle=HandleFigures(
        path_xz_m=((0.046, 0.082), (0.063, 0.075), (0.0655, 0.054), (0.063, 0.033), (0.046, 0.026)), radius_m=0.005
    ),
    colours=MappingProxyType({"body": (0.86, 0.36, 0.16)}),
    sources=_sources(
        "glazed clay",
        "1",
        "estimated: across the body, clear of the handle",
        profile_rz_m=_MESH + "; estimated: the broken edge of the foot",
        bands="none",
        wall_m="estimated: a ceramic mug of this mass",
        handle=_MESH + ": 70.7 mm from the axis; estimated: its curve",
    ),
)

CRATE = CrateFigures(
    name="crate",
    title="Crate",
    sku="sku_crate",
    mass_kg=1.0,
    grasp_feature="wall",
    grasp_height_m=0.186,
    friction=0.40,
    size_m=(0.259, 0.380, 0.196),
    wall_m=0.004,
    colours=MappingProxyType({"body": (0.78, 0.60, 0.34), "dark": (0.50, 0.36, 0.19)}),
    sources=_sources(
        "raw wood", "1", "estimated: by its rim", size_m=_MESH, wall_m="estimated: a plastic crate of this mass"
    ),
)

CUBE = BlockFigures(
    name="cube",
    title="Cube",
    sku="sku_cube",
    mass_kg=1.424,
    grasp_feature="body",
    grasp_height_m=0.0,
    friction=0.30,
    size_m=(0.080, 0.080, 0.080),
    colours=MappingProxyType({"body": (0.97, 0.97, 0.97)}),
    sources=_sources(
        "plastic",
        "1.35",
        "estimated: its middle",
        mass_kg="rb-rovi: copied from the can; the cube is fixed there, white on purpose",
        size_m="rb-rovi: 80 mm, for which its sparse stereo looks",
    ),
)


def _painted(name: str, title: str, colour: tuple[float, float, float]) -> BlockFigures:
    """Returns the cube in another colour, for a sparse stereo that does not depend on white."""
    colours = {"colours": "estimated: by choice; the project's cube is white"}
    return replace(
        CUBE,
        name=name,
        title=title,
        sku=f"sku_{name}",
        colours=MappingProxyType({"body": colour}),
        sources=MappingProxyType({**CUBE.sources, **colours}),
    )


RED_CUBE = _painted("red_cube", "Red cube", (0.75, 0.12, 0.10))
WOODEN_CUBE = _painted("wooden_cube", "Wooden cube", (0.72, 0.53, 0.33))
GREY_CUBE = _painted("grey_cube", "Grey cube", (0.50, 0.50, 0.50))

ROVI_OBJECTS: Mapping[str, ObjectFigures] = MappingProxyType(
    {item.name: item for item in (BOTTLE, COFFEE_CAN, MILK_CARTON, MUG, CRATE, CUBE, RED_CUBE, WOODEN_CUBE, GREY_CUBE)}
)

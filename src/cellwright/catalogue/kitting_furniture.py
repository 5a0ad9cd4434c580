"""The furniture of the kitting workstation: tables, boxes for trays and kits, a camera high above.

Origin of every piece: below the middle of its outline, z up; of the camera post below its camera.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cellwright.catalogue.furniture import CAMERA_POST, SHARED_TABLE
from cellwright.catalogue.furniture_kinds import BoxFigures, CameraPostFigures, Colour, FurnitureFigures, TableFigures

__all__ = [
    "KITTING_CAMERA_POST",
    "KITTING_FURNITURE",
    "KIT_BOX",
    "KIT_TRAY_BOX",
    "PEDESTAL",
    "SIDE_TABLE",
    "WORK_TABLE",
]

_TOP_M = 0.890
_CHOSEN = "estimated: all within the Motoman's reach, its tools pointing down"
_PAPER = "the kitting paper's ontology has it without sizes; "


def _table(
    name: str, title: str, size_m: tuple[float, float], top_m: float, top: Colour, why: Mapping[str, str]
) -> TableFigures:
    return TableFigures(
        name=name,
        title=title,
        size_m=size_m,
        top_m=top_m,
        thickness_m=0.025,
        leg_m=0.045,
        leg_inset_m=0.020,
        colours={**SHARED_TABLE.colours, "top": top},
        sources=MappingProxyType({**SHARED_TABLE.sources, "size_m": _CHOSEN, "top_m": _CHOSEN, **why}),
    )


WORK_TABLE = _table(
    "work_table",
    "Work table on which kits are built",
    (0.440, 0.440),
    _TOP_M,
    (0.30, 0.36, 0.42),
    {"size_m": _PAPER + "estimated: room for one kit tray and for the hand beside it"},
)
SIDE_TABLE = _table(
    "side_table", "Side table for trays, boxes and tools", (0.620, 1.120), _TOP_M, (0.46, 0.48, 0.50), {}
)
PEDESTAL = _table(
    "pedestal",
    "Pedestal of a robot",
    (0.400, 0.400),
    0.910,
    (0.20, 0.21, 0.23),
    {
        "size_m": "estimated: carries a base of 0.3 m",
        "top_m": "estimated: a little above the tables, as in the APRS lab",
    },
)


def _box(
    name: str, title: str, compartments: int, layers: int, walls: Colour, rim: Colour, capacity: str
) -> BoxFigures:
    return BoxFigures(
        name=name,
        title=title,
        inner_size_m=(0.240, 0.210),
        wall_m=0.004,
        bottom_m=0.004,
        height_m=0.030,
        compartments=compartments,
        layers=layers,
        colours={"walls": walls, "rim": rim},
        sources=MappingProxyType(
            {
                "inner_size_m": "estimated: either kit tray with 10 mm to all sides",
                "wall_m": "estimated: plastic boxes of this size",
                "bottom_m": "estimated: plastic boxes of this size",
                "height_m": "estimated: higher than a tray, lower than the bar that carries it",
                "compartments": capacity,
                "layers": capacity,
                "colours": "estimated: by choice",
            }
        ),
    )


KIT_TRAY_BOX = _box(
    "kit_tray_box",
    "Box of empty kit trays",
    1,
    2,
    (0.24, 0.27, 0.31),
    (0.40, 0.44, 0.48),
    "the ontology's LargeBoxWithEmptyKitTrays; estimated: a stack of two",
)
KIT_BOX = _box(
    "kit_box",
    "Box of finished kits",
    2,
    1,
    (0.13, 0.33, 0.25),
    (0.22, 0.48, 0.37),
    "the ontology's LargeBoxWithKits has a Capacity; estimated: two kits side by side, since pegs stand up",
)

KITTING_CAMERA_POST = CameraPostFigures(
    name="kitting_camera_post",
    title="Camera post of the kitting workstation",
    camera_m=2.700,
    reach_m=1.450,
    profile_m=0.080,
    foot_size_m=(0.520, 0.520, 0.016),
    camera_size_m=CAMERA_POST.camera_size_m,
    lens_radius_m=CAMERA_POST.lens_radius_m,
    lens_length_m=CAMERA_POST.lens_length_m,
    resolution_px=CAMERA_POST.resolution_px,
    fov_rad=CAMERA_POST.fov_rad,
    rate_hz=CAMERA_POST.rate_hz,
    noise_sd=CAMERA_POST.noise_sd,
    colours=CAMERA_POST.colours,
    sources=MappingProxyType(
        {
            **CAMERA_POST.sources,
            "camera_m": "estimated: the APRS lab's camera, high enough to see all tables at once",
            "reach_m": "estimated: the mast stands out of the robot's way",
        }
    ),
)

KITTING_FURNITURE: Mapping[str, FurnitureFigures] = MappingProxyType(
    {piece.name: piece for piece in (WORK_TABLE, SIDE_TABLE, PEDESTAL, KIT_TRAY_BOX, KIT_BOX, KITTING_CAMERA_POST)}
)

"""The furniture of the APRS lab, which stands around the robots and never moves.

Origin of every piece: on the floor, z up; below the middle of its outline, for a camera post below its camera.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cellwright.catalogue.furniture_kinds import (
    CameraPostFigures,
    CartFigures,
    Colour,
    FenceFigures,
    FloorFigures,
    FurnitureFigures,
    MountFigures,
    OpticalTableFigures,
    TableFigures,
)

__all__ = [
    "CAMERA_POST",
    "FANUC_CAMERA_POST",
    "FANUC_CART",
    "FENCE",
    "FLOOR",
    "FURNITURE",
    "OPTICAL_TABLE",
    "SHARED_TABLE",
    "CameraPostFigures",
    "CartFigures",
    "FenceFigures",
    "FloorFigures",
    "FurnitureFigures",
    "MountFigures",
    "OpticalTableFigures",
    "TableFigures",
]

_TWIN = "NIST's Gazebo world of the lab: dimensions of its mesh"
_ALUMINIUM: Colour = (0.74, 0.75, 0.77)
_BLACK: Colour = (0.07, 0.07, 0.08)
_STEEL: Colour = (0.62, 0.64, 0.66)


def _sources(estimated: str, **known: str) -> Mapping[str, str]:
    """Returns sources of the fields named in `known`; the space-separated others are estimates of usual sizes."""
    usual = "estimated: usual size of such equipment"
    colours = {"colours": "estimated: usual materials"}
    return MappingProxyType(dict.fromkeys(estimated.split(), usual) | colours | known)


OPTICAL_TABLE = OpticalTableFigures(
    name="optical_table",
    title="Optical table of the Motoman",
    size_m=(2.440, 1.223),
    top_m=0.845,
    thickness_m=0.203,
    leg_m=0.120,
    leg_inset_m=0.180,
    mounts=(
        MountFigures(xy_m=(-0.155, -0.4115), size_m=0.356, top_m=0.883),
        MountFigures(xy_m=(-0.155, -0.4115), size_m=0.300, top_m=0.910, round=True),
    ),
    hole_pitch_m=0.025,
    hole_diameter_m=0.0065,
    colours={"steel": _STEEL, "black": _BLACK, "hole": (0.10, 0.10, 0.11), "silver": _ALUMINIUM},
    sources=_sources(
        "thickness_m leg_m leg_inset_m",
        size_m=_TWIN,
        top_m=_TWIN,
        mounts=_TWIN + "; estimated: the round spacer that fills the 27 mm up to the robot's base",
        hole_pitch_m="estimated: metric breadboards have M6 holes every 25 mm",
        hole_diameter_m="estimated: metric breadboards have M6 holes every 25 mm",
    ),
)

FANUC_CART = CartFigures(
    name="fanuc_cart",
    title="Cart of the Fanuc",
    size_m=(1.112, 0.611),
    top_m=0.916,
    thickness_m=0.012,
    leg_m=0.045,
    leg_inset_m=0.010,
    mounts=(MountFigures(xy_m=(-0.209, 0.020), size_m=0.230, top_m=0.934),),
    frame_size_m=(1.200, 0.700),
    caster_radius_m=0.050,
    shelf_m=0.300,
    cabinet_xy_m=(-0.240, 0.0),
    cabinet_size_m=(0.440, 0.400, 0.360),
    colours={
        "silver": _ALUMINIUM,
        "steel": (0.70, 0.71, 0.73),
        "rubber": (0.12, 0.12, 0.13),
        "black": _BLACK,
        "shelf": (0.30, 0.33, 0.36),
        "cabinet": (0.83, 0.84, 0.84),
    },
    sources=_sources(
        "thickness_m leg_m leg_inset_m caster_radius_m shelf_m cabinet_xy_m cabinet_size_m",
        size_m=_TWIN,
        top_m=_TWIN,
        frame_size_m=_TWIN,
        mounts="estimated: a plate that fills the 18 mm between cart and the robot's base",
    ),
)

_SHARED = "no mesh in NIST's world; chosen between the two tables, where the Motoman's gears stood"
SHARED_TABLE = TableFigures(
    name="shared_table",
    title="Table that both robots share",
    size_m=(1.100, 0.420),
    top_m=0.890,
    thickness_m=0.025,
    leg_m=0.045,
    leg_inset_m=0.035,
    colours={"top": (0.46, 0.48, 0.50), "black": _BLACK, "silver": _ALUMINIUM},
    sources=_sources(
        "thickness_m leg_m leg_inset_m",
        size_m="estimated: " + _SHARED,
        top_m="estimated: " + _SHARED,
        mounts="none",
    ),
)

FENCE = FenceFigures(
    name="fence",
    title="Safety fence",
    size_m=(3.50, 3.60),
    height_m=2.00,
    gap_m=0.15,
    post_m=0.045,
    panel_width_m=1.20,
    panel_thickness_m=0.006,
    curtain_m=1.70,
    colours={"silver": _ALUMINIUM, "yellow": (0.95, 0.75, 0.05), "black": _BLACK, "pane": (0.60, 0.72, 0.78)},
    sources=_sources("size_m height_m gap_m post_m panel_width_m panel_thickness_m curtain_m"),
)

_CAMERA = "NIST's Gazebo world of the lab: its overhead cameras"


def _camera_post(name: str, title: str, camera_m: float) -> CameraPostFigures:
    return CameraPostFigures(
        name=name,
        title=title,
        camera_m=camera_m,
        reach_m=1.100,
        profile_m=0.060,
        foot_size_m=(0.420, 0.420, 0.016),
        camera_size_m=(0.062, 0.062, 0.095),
        lens_radius_m=0.021,
        lens_length_m=0.045,
        resolution_px=(2048, 2048),
        fov_rad=0.837,
        rate_hz=30.0,
        noise_sd=0.007,
        colours={"silver": _ALUMINIUM, "black": _BLACK, "camera": (0.13, 0.27, 0.47), "glass": (0.10, 0.13, 0.20)},
        sources=_sources(
            "reach_m profile_m foot_size_m camera_size_m lens_radius_m lens_length_m",
            camera_m=_CAMERA,
            resolution_px=_CAMERA,
            fov_rad=_CAMERA,
            rate_hz=_CAMERA,
            noise_sd=_CAMERA,
        ),
    )


CAMERA_POST = _camera_post("camera_post", "Camera post of the Motoman's table", 2.005)
FANUC_CAMERA_POST = _camera_post("fanuc_camera_post", "Camera post of the Fanuc's cart", 1.963)

FLOOR = FloorFigures(
    name="floor",
    title="Painted floor",
    line_size_m=(3.90, 4.00),
    line_width_m=0.075,
    colours={"floor": (0.58, 0.60, 0.62), "yellow": (0.92, 0.74, 0.10)},
    sources=_sources("line_size_m line_width_m"),
)

FURNITURE: Mapping[str, FurnitureFigures] = MappingProxyType(
    {
        piece.name: piece
        for piece in (OPTICAL_TABLE, FANUC_CART, SHARED_TABLE, FENCE, CAMERA_POST, FANUC_CAMERA_POST, FLOOR)
    }
)

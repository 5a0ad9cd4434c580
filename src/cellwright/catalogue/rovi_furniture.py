"""The furniture of the ROVI workcell: the table with its two areas, the stereo camera, the Kinect.

In the ROVI project the cameras float; here masts carry them, out of each other's sight and out of the robot's reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cellwright.catalogue.cameras import CameraFigures, ProjectorFigures
from cellwright.catalogue.furniture_kinds import (
    CameraRigFigures,
    FurnitureFigures,
    PlatedTableFigures,
    RaisedPlateFigures,
)

__all__ = ["ROVI_FURNITURE", "ROVI_KINECT", "ROVI_STEREO", "ROVI_TABLE"]

_MESH = "measured on the table's mesh in the ROVI project (rb-rovi)"
_WORLD = "rb-rovi: its Gazebo world"
_USUAL = "estimated: usual size of such equipment"
_COLOURS = "estimated: usual materials"
_SILVER, _BLACK = (0.74, 0.75, 0.77), (0.07, 0.07, 0.08)

ROVI_TABLE = PlatedTableFigures(
    name="rovi_table",
    title="Table of the ROVI workcell",
    size_m=(0.800, 1.200),
    top_m=0.740,
    thickness_m=0.012,
    leg_m=0.070,
    leg_inset_m=0.010,
    apron_m=0.657,
    hole_pitch_m=0.025,
    hole_diameter_m=0.008,
    plates=(
        RaisedPlateFigures(name="pick_area", min_xy_m=(-0.400, 0.3018), max_xy_m=(0.400, 0.600), top_m=0.750),
        RaisedPlateFigures(name="place_area", min_xy_m=(0.2006, -0.600), max_xy_m=(0.400, -0.3987), top_m=0.750),
    ),
    colours={
        "steel": (0.50, 0.52, 0.55),
        "hole": (0.12, 0.12, 0.13),
        "silver": (0.66, 0.67, 0.69),
        "black": _BLACK,
        "pick_area": (0.93, 0.88, 0.72),
        "place_area": (0.35, 0.62, 0.38),
    },
    sources=MappingProxyType(
        {
            "size_m": _MESH,
            "top_m": _MESH,
            "thickness_m": _USUAL,
            "leg_m": _MESH,
            "leg_inset_m": _MESH,
            "mounts": "none: the robot stands on the plate",
            "apron_m": _MESH,
            "hole_pitch_m": "estimated: the mesh has holes; metric plates have them every 25 mm",
            "hole_diameter_m": "estimated: with the pitch",
            "plates": _MESH,
            "colours": _COLOURS + "; cream and green areas as in the project's pictures",
        }
    ),
)


def _stereo_camera(name: str, y_m: float) -> CameraFigures:
    return CameraFigures(
        name=name,
        xyz_m=(0.0, y_m, 1.50),
        rpy_rad=(0.0, 1.2, 0.0),
        resolution_px=(800, 800),
        fov_rad=1.0,
        rate_hz=30.0,
        range_m=(0.02, 300.0),
    )


ROVI_STEREO = CameraRigFigures(
    name="rovi_stereo",
    title="Stereo camera with projector of the ROVI workcell",
    lenses=(_stereo_camera("left", 0.0), _stereo_camera("right", -0.08)),
    projector=ProjectorFigures(
        xyz_m=(0.0, 0.0, 1.50),
        rpy_rad=(0.0, 1.2, 0.0),
        fov_rad=0.8,
        range_m=(0.1, 1.5),
        resolution_px=(800, 800),
        dot_px=3,
        colour=(1.0, 0.0, 0.0),
        strength=0.4,
    ),
    housing_size_m=(0.055, 0.150, 0.050),
    housing_offset_m=(-0.022, -0.040, 0.0),
    mast_xy_m=(-0.020, 1.080),
    profile_m=0.045,
    foot_size_m=(0.360, 0.360, 0.014),
    boom_m=1.620,
    colours={
        "silver": _SILVER,
        "black": _BLACK,
        "housing": (0.22, 0.23, 0.25),
        "glass": (0.10, 0.13, 0.20),
        "projector": (0.75, 0.10, 0.10),
    },
    sources=MappingProxyType(
        {
            "lenses": _WORLD + ": 80 mm apart, without noise or distortion",
            "projector": _WORLD + ": in the stereo camera's own place, a random pattern in red; estimated: resolution, "
            "dots that are a little more than two pixels of the cameras, light",
            "housing_size_m": _USUAL,
            "housing_offset_m": _USUAL,
            "mast_xy_m": "estimated: aside, where neither camera sees it",
            "profile_m": _USUAL,
            "foot_size_m": _USUAL,
            "boom_m": "estimated: above the housing, out of the Kinect's view",
            "colours": _COLOURS,
        }
    ),
)

ROVI_KINECT = CameraRigFigures(
    name="rovi_kinect",
    title="Kinect of the ROVI workcell",
    lenses=(
        CameraFigures(
            name="camera",
            xyz_m=(0.0, 0.0, 1.28),
            rpy_rad=(0.0142, 0.6905, 0.0),
            resolution_px=(640, 480),
            fov_rad=1.0472,
            rate_hz=1.0,
            range_m=(0.05, 3.0),
        ),
    ),
    projector=None,
    housing_size_m=(0.060, 0.280, 0.040),
    housing_offset_m=(-0.022, 0.012, 0.0),
    mast_xy_m=(-0.035, 0.0),
    profile_m=0.045,
    foot_size_m=(0.360, 0.360, 0.014),
    boom_m=1.180,
    colours={"silver": _SILVER, "black": _BLACK, "housing": (0.10, 0.10, 0.11), "glass": (0.10, 0.13, 0.20)},
    sources=MappingProxyType(
        {
            "lenses": _WORLD + "; the noise it states, mean 3.0 and sd 2.15, has no unit and is left to the sensor",
            "projector": "none of its own in the project",
            "housing_size_m": "estimated: the first Kinect",
            "housing_offset_m": "estimated: the first Kinect",
            "mast_xy_m": "estimated: behind it, where neither camera sees it",
            "profile_m": _USUAL,
            "foot_size_m": _USUAL,
            "boom_m": "estimated: below the housing",
            "colours": _COLOURS,
        }
    ),
)

ROVI_FURNITURE: Mapping[str, FurnitureFigures] = MappingProxyType(
    {piece.name: piece for piece in (ROVI_TABLE, ROVI_STEREO, ROVI_KINECT)}
)

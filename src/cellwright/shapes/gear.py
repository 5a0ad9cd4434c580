"""The shape of a gear: the solid that is visible and has the mass, and the convex hulls for collisions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.gears import GearFigures
from cellwright.shapes.mesh import Mesh, lathe, loft, merge

__all__ = ["HULL_SEGMENTS", "gear_cone_hull", "gear_disc_hull", "gear_mesh", "gear_outline"]

Array = npt.NDArray[np.float64]

HULL_SEGMENTS = 48
PRESSURE_ANGLE_RAD = np.deg2rad(20.0)
FLANK_POINTS = 4
CHAMFER_M = 0.0005
CLEARANCE_M = 0.0001
ROUND_SEGMENTS = 64


def gear_outline(gear: GearFigures) -> Array:
    """Returns corners (n, 2) of the toothed disc, counter-clockwise, with true involute flanks.

    The half thickness of a tooth at radius r is ``pi / (2 z) + inv(a) - inv(acos(base / r))`` as an angle, with
    ``inv(x) = tan x - x`` and a the pressure angle; below the base circle the flank is radial.
    """
    module = (gear.tip_radius_m - gear.root_radius_m) / 2.25
    pitch = gear.tip_radius_m - module
    base = pitch * np.cos(PRESSURE_ANGLE_RAD)
    radii = np.linspace(max(gear.root_radius_m, base), gear.tip_radius_m, FLANK_POINTS)
    angles = np.arccos(base / radii)
    half = np.pi / (2 * gear.tooth_count) + _involute(PRESSURE_ANGLE_RAD) - _involute(angles)
    radii = np.concatenate([[gear.root_radius_m], radii[1:]])
    tooth_r = np.concatenate([radii, radii[::-1]])
    tooth_angle = np.concatenate([-half, half[::-1]])
    turn = 2 * np.pi * np.arange(gear.tooth_count)[:, None] / gear.tooth_count
    theta = (turn + tooth_angle).reshape(-1)
    r = np.tile(tooth_r, gear.tooth_count)
    return np.column_stack([r * np.cos(theta), r * np.sin(theta)])


def gear_mesh(gear: GearFigures) -> Mesh:
    """Returns the visual mesh and solid of the gear: cone, toothed disc and peg, each closed, touching each other."""
    bevel = CHAMFER_M
    cone = lathe(_cone_profile(gear), ROUND_SEGMENTS)
    outline = gear_outline(gear)
    inset = outline * (1 - bevel / np.linalg.norm(outline, axis=1, keepdims=True))
    low, high = gear.cone_height_m, gear.disc_top_m
    disc = loft(
        [
            np.column_stack([ring, np.full(len(ring), z)])
            for ring, z in [(inset, low), (outline, low + bevel), (outline, high - bevel), (inset, high)]
        ]
    )
    r, top = gear.peg_radius_m, gear.height_m
    fillet = [(r + 0.0012, high), (r + 0.0004, high + 0.0004), (r, high + 0.0012)]
    tip = [(r, top - 0.0010), (r - 0.0003, top - 0.0003), (r - 0.0010, top)]
    return merge([cone, disc, lathe(fillet + tip, ROUND_SEGMENTS // 2)])


def gear_cone_hull(gear: GearFigures) -> Mesh:
    """Returns the cone's collision hull: a frustum of 48 faces whose corners lie on the cone."""
    return lathe(_cone_profile(gear), HULL_SEGMENTS)


def gear_disc_hull(gear: GearFigures) -> Mesh:
    """Returns the disc's collision hull: 48 faces over the teeth's tips, with chamfered edges.

    The chamfer lets the disc slide over the seams between the pieces of a tray or table. The underside is
    raised by 0.1 mm, the rounding of the figures: the lab's gears touch a slot's wall and the tray's upper
    face within that at the same time, and resting on the wall alone takes 8 contacts instead of 32.
    """
    low, high, r = gear.cone_height_m + CLEARANCE_M, gear.disc_top_m, gear.tip_radius_m
    inner = r - CHAMFER_M
    return lathe([(inner, low), (r, low + CHAMFER_M), (r, high - CHAMFER_M), (inner, high)], HULL_SEGMENTS)


def _involute(angle_rad: Array | float) -> Array:
    return np.asarray(np.tan(angle_rad) - angle_rad)


def _cone_profile(gear: GearFigures) -> list[tuple[float, float]]:
    """Returns radius and height, bottom to top, the bottom edge chamfered so that a straight plug finds its hole."""
    slope = (gear.cone_top_radius_m - gear.cone_bottom_radius_m) / gear.cone_height_m
    return [
        (gear.cone_bottom_radius_m - CHAMFER_M, 0.0),
        (gear.cone_bottom_radius_m + slope * CHAMFER_M, CHAMFER_M),
        (gear.cone_top_radius_m, gear.cone_height_m),
    ]

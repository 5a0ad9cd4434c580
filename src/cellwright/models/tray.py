"""A tray for the simulation: one visual mesh; wedges, boxes and feet for collisions."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.trays import TrayFigures
from cellwright.models.contact_settings import PLASTIC, TIGHT, GeomGroup, make_collision
from cellwright.models.meshes import add_hull, add_visual_mesh, set_inertia
from cellwright.shapes.tray import tray_mesh, tray_solids

__all__ = ["build_tray"]


def build_tray(tray: TrayFigures) -> Any:
    """Returns the tray as an `MjSpec` with one body `tray`, without a joint, its origin at the outline's centre.

    Each slot has a site of the slot's name at its floor. The feet touch as spheres: a tray on a table has four
    contact points, one under each foot, in any rotation.
    """
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="tray")
    solid = tray_mesh(tray)
    set_inertia(body, solid, tray.mass_kg)
    add_visual_mesh(spec, body, "tray", solid, tray.rgba)
    pieces = tray_solids(tray)
    surface = TIGHT if all(slot.is_straight for slot in tray.slots) else PLASTIC
    for name, hull in pieces.hulls.items():
        add_hull(spec, name, hull, upright=True)
    for number, wedge in enumerate(pieces.wedges):
        geom = body.add_geom(
            name=f"wedge_{number}",
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=wedge.hull,
            pos=[*wedge.xy_m, 0.0],
            quat=[np.cos(wedge.yaw_rad / 2), 0.0, 0.0, np.sin(wedge.yaw_rad / 2)],
        )
        make_collision(geom, surface)
    for number, block in enumerate(pieces.blocks):
        geom = body.add_geom(
            name=f"block_{number}", type=mujoco.mjtGeom.mjGEOM_BOX, pos=block.centre_m, size=block.half_size_m
        )
        make_collision(geom, surface)
    radius = min(tray.foot_radius_m, tray.thickness_m / 2)
    for number, xy in enumerate(tray.feet_xy_m):
        geom = body.add_geom(
            name=f"foot_{number}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            pos=[*xy, radius],
            size=[radius, 0.0, 0.0],
        )
        make_collision(geom, PLASTIC)
    for slot in tray.slots:
        body.add_site(name=slot.name, pos=[*slot.xy_m, slot.floor_m], group=GeomGroup.COLLISION)
    return spec

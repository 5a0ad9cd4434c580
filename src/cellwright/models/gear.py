"""A gear for the simulation: one toothed visual mesh; cone, disc and peg for collisions."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.gears import GearFigures
from cellwright.models.contact_settings import PLASTIC, TIGHT, GeomGroup, make_collision
from cellwright.models.meshes import add_hull, add_visual_mesh, set_inertia
from cellwright.shapes.gear import gear_cone_hull, gear_disc_hull, gear_mesh

__all__ = ["build_gear"]


def build_gear(gear: GearFigures) -> Any:
    """Returns the gear as an `MjSpec` with one body `part`, without a joint, its origin at the gear's bottom centre.

    The site `grasp` marks the grasp point. Teeth are visual only: as convex pieces they would cost
    thousands of contacts.
    """
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="part")
    solid = gear_mesh(gear)
    set_inertia(body, solid, gear.mass_kg)
    add_visual_mesh(spec, body, "gear", solid, gear.rgba)
    cone = TIGHT if gear.is_plug else PLASTIC
    for name, hull, surface in (("cone", gear_cone_hull(gear), cone), ("disc", gear_disc_hull(gear), PLASTIC)):
        add_hull(spec, name, hull)
        make_collision(body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name), surface)
    peg = body.add_geom(
        name="peg",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[gear.peg_radius_m, gear.peg_height_m / 2, 0.0],
        pos=[0.0, 0.0, gear.disc_top_m + gear.peg_height_m / 2],
    )
    make_collision(peg, PLASTIC)
    body.add_site(name="grasp", pos=np.array([0.0, 0.0, gear.grasp_height_m]), group=GeomGroup.COLLISION)
    return spec

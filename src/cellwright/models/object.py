"""An everyday object for the simulation: its visual mesh, and its convex collision pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco

from cellwright.catalogue.objects import ObjectFigures
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import PLASTIC, GeomGroup, make_collision
from cellwright.models.meshes import add_hull, set_inertia
from cellwright.shapes.objects import BODY, object_shape

__all__ = ["build_object"]


def build_object(figures: ObjectFigures) -> Any:
    """Returns the object as an `MjSpec` with one body `part`, without a joint; the site `grasp` marks the grasp point.

    Mass and inertia are those of its solid, evenly filled with the catalogue's mass.
    """
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name=BODY)
    shape = object_shape(figures)
    set_inertia(body, shape.solid, figures.mass_kg)
    surface = replace(PLASTIC, friction=(figures.friction, *PLASTIC.friction[1:]))
    for number, mesh in enumerate(shape.convex, 1):
        name = f"convex_{number}"
        add_hull(spec, name, mesh)
        make_collision(body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name), surface)
    add_hulls({BODY: body}, shape.hulls, surface)
    add_pieces(spec, {BODY: body}, shape.pieces, figures.colours)
    body.add_site(name="grasp", pos=figures.grasp_xyz_m, group=GeomGroup.COLLISION)
    return spec

"""Meshes of `shapes` as assets of an `MjSpec`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.models.contact_settings import make_visual
from cellwright.shapes.mesh import Mesh

__all__ = ["add_hull", "add_visual_mesh", "set_inertia"]


def add_hull(spec: Any, name: str, hull: Mesh, *, upright: bool = False) -> Any:
    """Returns a convex mesh that geoms may share.

    MuJoCo turns a mesh into its principal axes, and the bounding box that sorts out pairs turns with it: a wedge's
    box then pokes out of the tray, and every gear nearby is checked against it in vain. With `upright` only the
    top face is declared, which keeps the box's z axis; the hull is made of the corners and stays the same.
    """
    mesh = spec.add_mesh(name=name)
    mesh.uservert = hull.vertices.reshape(-1)
    faces = hull.faces
    if upright:
        heights = hull.vertices[:, 2][faces]
        faces = faces[(heights > hull.vertices[:, 2].max() - 1e-9).all(axis=1)]
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    mesh.userface = faces.reshape(-1)
    return mesh


def add_visual_mesh(
    spec: Any, body: Any, name: str, mesh: Mesh, rgba: tuple[float, float, float, float], *, specular: float = 0.25
) -> Any:
    """Returns a geom that shows the mesh in a plastic of that colour, edges sharp and curves smooth."""
    corners = np.hstack([mesh.vertices[mesh.faces].reshape(-1, 3), mesh.corner_normals().reshape(-1, 3)])
    shared, index = np.unique(np.round(corners, 7), axis=0, return_inverse=True)
    asset = spec.add_mesh(name=f"{name}_visual")
    asset.uservert = shared[:, :3].reshape(-1)
    asset.usernormal = shared[:, 3:].reshape(-1)
    asset.userface = index.reshape(-1)
    asset.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # not weighed, and open skins are allowed
    spec.add_material(name=f"{name}_plastic", rgba=rgba, specular=specular, shininess=0.35)
    geom = body.add_geom(
        name=f"{name}_visual",
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=f"{name}_visual",
        material=f"{name}_plastic",
    )
    return make_visual(geom)


def set_inertia(body: Any, solid: Mesh, mass_kg: float) -> None:
    """Gives the body the mass and the inertia of an evenly filled solid."""
    centre, inertia = solid.inertia(mass_kg)
    body.explicitinertial = True
    body.mass = mass_kg
    body.ipos = centre
    body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]

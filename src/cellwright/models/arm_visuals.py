"""Puts the shape of a device on its bodies: one mesh per body and finish, and its hulls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import UnknownName
from cellwright.models.contact_settings import ContactSurface, make_collision, make_visual
from cellwright.shapes.body_shape import Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, merge

__all__ = ["add_hulls", "add_pieces"]

_METALS = {"steel", "silver"}  # finishes with a small, bright highlight
_MATT = {"black", "paper", "rubber"}


def add_pieces(
    spec: Any, bodies: Mapping[str, Any], pieces: Iterable[MeshPiece], colours: Mapping[str, tuple[float, float, float]]
) -> None:
    """Adds the visual meshes; pieces of one finish on one body become one mesh."""
    groups: dict[tuple[str, str], list[Mesh]] = {}
    for piece in pieces:
        groups.setdefault((piece.body, piece.finish), []).append(piece.mesh)
    for finish in sorted({finish for _, finish in groups}):
        if finish not in colours:
            raise UnknownName("finish", finish, colours)
        specular, shininess = (0.9, 0.7) if finish in _METALS else (0.15, 0.2) if finish in _MATT else (0.5, 0.55)
        spec.add_material(name=finish, rgba=[*colours[finish], 1.0], specular=specular, shininess=shininess)
    for (body, finish), meshes in groups.items():
        name = f"{body}_{finish}"
        _add_mesh(spec, name, merge(meshes))
        geom = bodies[body].add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=finish)
        make_visual(geom)


def _add_mesh(spec: Any, name: str, mesh: Mesh) -> None:
    """Adds a mesh with shading that keeps edges sharp and curves smooth."""
    asset = spec.add_mesh(name=name)
    asset.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    asset.uservert = mesh.vertices.astype(np.float32).ravel()
    asset.userface = mesh.faces.astype(np.int32).ravel()


def add_hulls(bodies: Mapping[str, Any], hulls: Iterable[Hull], surface: ContactSurface) -> None:
    """Adds the collision hulls, named `<body>_hull_<number>`."""
    count: dict[str, int] = {}
    for hull in hulls:
        number = count[hull.body] = count.get(hull.body, 0) + 1
        geom = bodies[hull.body].add_geom(
            name=f"{hull.body}_hull_{number}",
            type=mujoco.mjtGeom.mjGEOM_BOX if hull.kind == "box" else mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[*hull.size_m, 0.0][:3],
            pos=hull.pose.position,
            quat=hull.pose.quaternion,
            mass=0.0,
        )
        make_collision(geom, surface)

"""Geoms as triangles with the normals of the surface they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.creases import corner_normals

__all__ = ["Facets", "geom_facets"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]

SECTORS, RINGS = 64, 24
GEOM = mujoco.mjtGeom


@dataclass(frozen=True)
class Facets:
    """A surface in a geom's own frame: vertices (v, 3), faces (f, 3), normals at their corners (f, 3, 3)."""

    vertices_m: Array
    faces: Ids
    corner_normals: Array


def geom_facets(model: Any, geom: int) -> Facets | None:
    """Returns the surface of a geom; None for kinds without triangles (planes, height fields)."""
    size = np.array(model.geom_size[geom])
    kind = model.geom_type[geom]
    if kind == GEOM.mjGEOM_MESH:
        return _mesh(model, int(model.geom_dataid[geom]))
    if kind == GEOM.mjGEOM_BOX:
        return _box(size)
    if kind == GEOM.mjGEOM_SPHERE:
        return _turned(*_arc(np.linspace(-np.pi / 2, np.pi / 2, RINGS + 1)), np.full(3, size[0]))
    if kind == GEOM.mjGEOM_ELLIPSOID:
        return _turned(*_arc(np.linspace(-np.pi / 2, np.pi / 2, RINGS + 1)), size)
    if kind == GEOM.mjGEOM_CAPSULE:
        outline, normal = _arc(
            np.repeat(np.linspace(-np.pi / 2, np.pi / 2, RINGS + 1), [1] * (RINGS // 2) + [2] + [1] * (RINGS // 2))
        )
        outline = outline * size[0]
        outline[: len(outline) // 2, 1] -= size[1]
        outline[len(outline) // 2 :, 1] += size[1]
        return _turned(outline, normal, np.ones(3))
    if kind == GEOM.mjGEOM_CYLINDER:
        outline = np.array([[0, -1], [1, -1], [1, -1], [1, 1], [1, 1], [0, 1]]) * size[:2]
        normal = np.array([[0, -1], [0, -1], [1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float64)
        return _turned(outline, normal, np.ones(3))
    return None


def _mesh(model: Any, mesh: int) -> Facets:
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(np.float64)
    faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]].astype(np.intp)
    return Facets(vertices, faces, corner_normals(vertices, faces))


def _box(half: Array) -> Facets:
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    vertices: list[Array] = []
    faces, normals = [], []
    for axis in range(3):
        for sign in (-1, 1):
            side = np.zeros((4, 3))
            side[:, axis] = sign
            side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = corners.T
            order = [[0, 1, 2], [0, 2, 3]] if sign > 0 else [[0, 2, 1], [0, 3, 2]]
            faces += [[4 * len(vertices) + i for i in triangle] for triangle in order]
            normals += 2 * [[np.eye(3)[axis] * sign] * 3]
            vertices.append(side * half)
    return Facets(np.concatenate(vertices), np.array(faces, dtype=np.intp), np.array(normals))


def _arc(latitude: Array) -> tuple[Array, Array]:
    """Returns outline (radius, height) of a unit sphere and its normals, from the south to the north."""
    outline = np.column_stack([np.cos(latitude), np.sin(latitude)])
    return outline, outline.copy()


def _turned(outline: Array, normal: Array, scale: Array) -> Facets:
    """Returns the outline (radius, height) turned about z, then stretched along the axes."""
    angle = np.arange(SECTORS) * 2 * np.pi / SECTORS
    around = np.column_stack([np.cos(angle), np.sin(angle)])

    def sweep(profile: Array) -> Array:
        flat = profile[:, None, :1] * around[None]
        return np.concatenate([flat, np.broadcast_to(profile[:, None, 1:], (*flat.shape[:2], 1))], axis=2).reshape(
            -1, 3
        )

    vertices = sweep(outline) * scale
    normals = sweep(normal) / scale
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    ring, sector = np.divmod(np.arange((len(outline) - 1) * SECTORS), SECTORS)
    a, b = ring * SECTORS + sector, ring * SECTORS + (sector + 1) % SECTORS
    faces = np.concatenate([np.column_stack([a, b, b + SECTORS]), np.column_stack([a, b + SECTORS, a + SECTORS])])
    edges = vertices[faces[:, 1:]] - vertices[faces[:, :1]]
    faces = faces[np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) > 1e-15]
    return Facets(vertices, faces, normals[faces])

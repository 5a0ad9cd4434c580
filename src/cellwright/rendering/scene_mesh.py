"""The visible geometry of a model as one set of triangles."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.facets import Facets, geom_facets
from cellwright.rendering.view import VISIBLE_GROUPS

__all__ = ["SceneMesh", "visible_alpha"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]


class SceneMesh:
    """The triangles of all visible geoms of a model in their geoms' frames; placed in the world per picture.

    Attributes:
        vertices_m: The vertices of all geoms, each in its geom's frame.
        vertex_geom: The geom of each vertex.
        geom: The geom of each triangle.
        faces: Its three vertices.
        corner_normals: The surface's normals there, in the geom's frame.
        planes: Geoms that are planes: they may be endless, so they are no triangles.
    """

    def __init__(self, model: Any) -> None:
        seen = np.isin(model.geom_group, VISIBLE_GROUPS) & (visible_alpha(model) > 0)
        is_plane = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
        self.planes: Ids = np.flatnonzero(seen & is_plane)
        vertices, vertex_geom, faces, normals, geoms = [np.empty((0, 3))], [], [], [], []
        start = 0
        meshes: dict[int, Facets | None] = {}  # many geoms share one
        for geom in np.flatnonzero(seen & ~is_plane):
            mesh = int(model.geom_dataid[geom])
            if mesh < 0 or mesh not in meshes:
                meshes[mesh] = geom_facets(model, int(geom))
            facets = meshes[mesh]
            if facets is None:
                continue
            vertices.append(facets.vertices_m)
            vertex_geom.append(np.full(len(facets.vertices_m), geom))
            faces.append(facets.faces + start)
            normals.append(facets.corner_normals)
            geoms.append(np.full(len(facets.faces), geom))
            start += len(facets.vertices_m)
        nothing = np.empty(0, dtype=np.intp)
        self.vertices_m: Array = np.concatenate(vertices)
        self.vertex_geom: Ids = np.concatenate([nothing, *vertex_geom])
        self.faces: Ids = np.concatenate([nothing.reshape(0, 3), *faces])
        self.corner_normals: Array = np.concatenate([np.empty((0, 3, 3)), *normals])
        self.geom: Ids = np.concatenate([nothing, *geoms])

    def vertices_in_world(self, data: Any) -> Array:
        """Returns the vertices in the world, in a state."""
        rotation = np.asarray(data.geom_xmat).reshape(-1, 3, 3)[self.vertex_geom]
        turned = np.einsum("vij,vj->vi", rotation, self.vertices_m)
        return np.asarray(turned + np.asarray(data.geom_xpos)[self.vertex_geom])


def visible_alpha(model: Any) -> npt.NDArray[np.float32]:
    """Returns the opacity of each geom, its material's where it has one."""
    alpha = np.array(model.geom_rgba[:, 3])
    with_material = model.geom_matid >= 0
    alpha[with_material] = model.mat_rgba[model.geom_matid[with_material], 3]
    return np.asarray(alpha, dtype=np.float32)

"""Rays into the scene: what is hit, where, and whether a point sees the light."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.rendering.projection import ImagePlane, Projection
from cellwright.rendering.ray_bundle import RayBundle
from cellwright.rendering.scene_mesh import SceneMesh, visible_alpha

__all__ = ["RayCaster", "RayHits", "sees_light"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

CELLS_PER_POINT = 8.0  # points of a picture are clustered when seen from a light


@dataclass(frozen=True)
class RayHits:
    """The hits of a bundle of rays; `geom` is -1 where a ray hit nothing.

    Attributes:
        normal_in_world: Of the surface: smooth where the triangles stand for a curve.
        face_normal_in_world: Of the triangle itself.
    """

    geom: Ids
    distance_m: Array
    point_in_world_m: Array
    normal_in_world: Array
    face_normal_in_world: Array

    @property
    def any(self) -> Mask:
        """True where a ray hit something."""
        return np.asarray(self.geom >= 0)

    def part(self, index: Ids) -> RayHits:
        """Returns the hits with these indices."""
        return RayHits(*(getattr(self, name)[index] for name in self.__dataclass_fields__))


class RayCaster:
    """Casts bundles of rays at the visible geoms of a model in one state; safe to use from several threads."""

    def __init__(self, model: Any, data: Any, mesh: SceneMesh, eye: ImagePlane) -> None:
        self._model = model
        self._data = data
        self._mesh = mesh
        self._eye = eye
        self._vertices = mesh.vertices_in_world(data)
        alpha = visible_alpha(model)
        clear = alpha[mesh.geom] < 1
        self._solids = _Target(eye, self._vertices, mesh, ~clear, [g for g in mesh.planes if alpha[g] == 1])
        self._glass = _Target(eye, self._vertices, mesh, clear, [g for g in mesh.planes if alpha[g] < 1])
        self._has_glass = bool(clear.any() or self._glass.planes)
        self._casts_shadow = (np.asarray(model.geom_castshadow) != 0)[mesh.geom] & ~clear

    def cast(self, directions: Array) -> tuple[RayHits, RayHits | None]:
        """Returns the first opaque hit along each ray from the eye, and the first transparent one if there are any."""
        rays = RayBundle(directions @ self._eye.axes)
        solids = self._intersect(rays, directions, self._solids)
        return solids, self._intersect(rays, directions, self._glass) if self._has_glass else None

    def shadow_casters(self, light: ImagePlane) -> Projection:
        """Returns the triangles that may cast shadows, as seen from the light."""
        # The far sides of things throw the shadows: the near sides would, by rounding, shade themselves.
        return Projection(light, self._vertices, self._mesh.faces[self._casts_shadow][:, ::-1])

    def _intersect(self, rays: RayBundle, directions: Array, target: _Target) -> RayHits:
        nearest, found = np.zeros(len(directions)), np.full(len(directions), -1)
        eye = self._eye
        for hit in rays.intersect(target.projection):
            np.maximum.at(nearest, hit.dot, hit.inverse_depth)
            first = hit.inverse_depth == nearest[hit.dot]
            found[hit.dot[first]] = target.triangles[hit.triangle[first]]
        hits = self._on_triangles(eye.origin_in_world_m, directions, found)
        for geom in target.planes:
            self._cut_by_plane(hits, eye.origin_in_world_m, directions, geom)
        return hits

    def _on_triangles(self, eye: Array, directions: Array, triangle: Ids) -> RayHits:
        count = len(directions)
        hits = RayHits(
            np.full(count, -1),
            np.full(count, math.inf),
            np.zeros((count, 3)),
            np.zeros((count, 3)),
            np.zeros((count, 3)),
        )
        here = np.flatnonzero(triangle >= 0)
        triangle, ray = triangle[here], directions[here]
        first, second, third = (self._vertices[self._mesh.faces[triangle, i]] for i in range(3))
        a, b = second - first, third - first
        normal = np.cross(a, b)
        distance = np.einsum("ij,ij->i", first - eye, normal) / np.einsum("ij,ij->i", ray, normal)
        point = eye + distance[:, None] * ray
        square = np.einsum("ij,ij->i", normal, normal)
        u = np.einsum("ij,ij->i", np.cross(point - first, b), normal) / square
        v = np.einsum("ij,ij->i", np.cross(a, point - first), normal) / square
        weight = np.clip(np.column_stack([1 - u - v, u, v]), 0, 1)
        smooth = np.einsum("nc,ncj->nj", weight, self._mesh.corner_normals[triangle])
        geom = self._mesh.geom[triangle]
        smooth = np.einsum("nij,nj->ni", np.asarray(self._data.geom_xmat).reshape(-1, 3, 3)[geom], smooth)
        hits.geom[here], hits.distance_m[here], hits.point_in_world_m[here] = geom, distance, point
        hits.normal_in_world[here] = smooth / np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-12)
        hits.face_normal_in_world[here] = normal / np.sqrt(square)[:, None]
        return hits

    def _cut_by_plane(self, hits: RayHits, eye: Array, directions: Array, geom: int) -> None:
        """Puts a plane in front of what lies behind it."""
        axes, centre = self._data.geom_xmat[geom].reshape(3, 3), self._data.geom_xpos[geom]
        slope = directions @ axes[:, 2]
        height = float((eye - centre) @ axes[:, 2])
        if height <= 0:
            return  # a plane is seen from above only
        with np.errstate(divide="ignore"):
            distance = np.where(slope < 0, -height / slope, math.inf)
        closer = np.flatnonzero(distance < hits.distance_m)
        point = eye + distance[closer, None] * directions[closer]
        half = self._model.geom_size[geom, :2]
        local = (point - centre) @ axes[:, :2]
        on = ((np.abs(local) <= half) | (half == 0)).all(axis=1)
        closer, point = closer[on], point[on]
        hits.geom[closer], hits.distance_m[closer], hits.point_in_world_m[closer] = geom, distance[closer], point
        hits.normal_in_world[closer] = hits.face_normal_in_world[closer] = axes[:, 2]


class _Target:
    """The geometry that rays from the eye may hit: triangles, and planes, which are endless or not."""

    def __init__(self, eye: ImagePlane, vertices: Array, mesh: SceneMesh, chosen: Mask, planes: list[int]) -> None:
        self.triangles: Ids = np.flatnonzero(chosen)
        self.projection = Projection(eye, vertices, mesh.faces[chosen])
        self.planes = planes


def sees_light(casters: Projection, points_in_world_m: Array) -> Mask:
    """Returns the points that nothing hides from the light whose picture the projection is."""
    lit = np.ones(len(points_in_world_m), dtype=bool)
    if len(lit):
        rays = casters.picture.flatten(points_in_world_m)
        limit = 1 / (rays[:, 2] - 1e-6)
        for hit in RayBundle(rays, CELLS_PER_POINT).intersect(casters):
            lit[hit.dot[hit.inverse_depth > limit[hit.dot]]] = False
    return lit

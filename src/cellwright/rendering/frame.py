"""One ray-cast picture: the hit of each ray, and how bright it is there."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.casting import RayCaster, RayHits, sees_light
from cellwright.rendering.lighting import scene_lights
from cellwright.rendering.materials import GeomMaterials
from cellwright.rendering.projection import ImagePlane
from cellwright.rendering.scene_mesh import SceneMesh
from cellwright.rendering.sky import AmbientOcclusion, Background
from cellwright.rendering.view import Frustum

__all__ = ["RayFrame"]

Array = npt.NDArray[np.float64]
Colour = npt.NDArray[np.float32]
Ids = npt.NDArray[np.intp]

BANDS = 12  # parts of a picture that are traced on their own: they fit the processor's cache better
COARSE = 3  # pixels between points where ambient occlusion is sampled
SHADE_DEPTH = 0.75  # how dark a place is that sees no sky, as a share of the ambient light
HAZE_M = (6.0, 30.0)  # where an endless floor begins to fade, and where it is gone
LIFT_M = 5e-4  # rays for shadows start above the surface


class RayFrame:
    """One picture in the making."""

    def __init__(
        self,
        model: Any,
        data: Any,
        frustum: Frustum,
        size: tuple[int, int],
        mesh: SceneMesh,
        *,
        shadows: bool = True,
    ) -> None:
        self._model = model
        self._frustum = frustum
        self._size = size
        self._slope = math.tan(frustum.fovy_rad / 2) / (size[1] / 2)  # of a ray, per pixel from the middle
        right, up, backwards = frustum.axes_in_world.T
        self._eye = ImagePlane(frustum.eye_in_world_m, np.column_stack([right, up, -backwards]))
        self._caster = RayCaster(model, data, mesh, self._eye)
        self._materials = GeomMaterials(model, data)
        self._lights = scene_lights(model, data, frustum)
        self._shadow_casters = [
            self._caster.shadow_casters(ImagePlane.along(light.source_in_world_m, light.axis_in_world))
            if shadows and light.casts_shadows
            else None
            for light in self._lights
        ]
        self._background = Background(model)
        plane = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
        self._endless = plane & (model.geom_size[:, :2] == 0).any(axis=1)
        self._occlusion = self._ambient_occlusion()

    def _ambient_occlusion(self) -> AmbientOcclusion:
        columns, rows = (max(2, -(-pixels // COARSE)) for pixels in self._size)
        y, x = np.divmod(np.arange(rows * columns), columns)
        middle = (COARSE - 1) / 2
        directions = self._directions(x * COARSE + middle, y * COARSE + middle)
        solid, _ = self._caster.cast(directions)
        return AmbientOcclusion(solid, self._eye, self._slope * COARSE, (rows, columns), self._frustum.middle)

    def _directions(self, x: Array, y: Array) -> Array:
        width, height = self._size
        rays = np.empty((len(x), 3))
        right, up = self._frustum.middle
        rays[:, 0] = (x + 0.5 - width / 2) * self._slope + right
        rays[:, 1] = (height / 2 - y - 0.5) * self._slope + up
        rays[:, 2] = -1.0
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        return np.asarray(rays @ self._frustum.axes_in_world.T)

    def measure(self, x: Array, y: Array) -> tuple[Array, Ids]:
        """Returns depths along the axis, not a number where nothing is hit, and geoms; glass is looked through."""
        solid, _ = self._caster.cast(self._directions(x, y))
        depth_m = np.where(solid.any, self._eye.flatten(solid.point_in_world_m)[:, 2], np.nan)
        return depth_m, solid.geom

    def trace(self, x: Array, y: Array) -> tuple[Colour, Ids]:
        """Returns colours at pixel coordinates, and a number that differs where different geoms are seen."""
        # Always the same bands, for any number of processors: the same pixels everywhere.
        bands = np.array_split(np.arange(len(x)), max(1, min(BANDS, len(x) // 1000)))
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            parts = list(pool.map(lambda band: self._trace_band(x[band], y[band]), bands))
        return np.concatenate([colour for colour, _ in parts]), np.concatenate([key for _, key in parts])

    def _trace_band(self, x: Array, y: Array) -> tuple[Colour, Ids]:
        directions = self._directions(x, y)
        solid, glass = self._caster.cast(directions)
        colour = np.empty(directions.shape, dtype=np.float32)
        colour[~solid.any] = self._background.colour(directions[~solid.any])
        seen = np.flatnonzero(solid.any)
        colour[seen] = self._shade(solid.part(seen), directions[seen], x[seen], y[seen])
        key = solid.geom
        if glass is not None:
            front = np.flatnonzero(glass.any & (~solid.any | (glass.distance_m < solid.distance_m)))
            alpha = self._materials.rgba[glass.geom[front], 3:]
            tint = self._shade(glass.part(front), directions[front], x[front], y[front], shadows=False)
            colour[front] = alpha * tint + (1 - alpha) * colour[front]
            key = key.copy()
            key[front] += (glass.geom[front] + 1) * self._model.ngeom
        return colour, key

    def _shade(self, hits: RayHits, directions: Array, x: Array, y: Array, *, shadows: bool = True) -> Colour:
        normal, to_eye = hits.normal_in_world.astype(np.float32), (-directions).astype(np.float32)
        slant = np.maximum(np.einsum("ij,ij->i", normal, to_eye), 0.05)
        footprint_m = hits.distance_m * self._slope / slant
        base = self._materials.colour(hits.geom, hits.point_in_world_m, footprint_m)
        gloss, shininess = self._materials.specular[hits.geom], self._materials.shininess[hits.geom]
        middle = (COARSE - 1) / 2
        open_sky = self._occlusion.at((x - middle) / COARSE, (y - middle) / COARSE, hits.geom, normal)
        ambient = sum((light.ambient for light in self._lights), np.zeros(3, dtype=np.float32))
        shade = (1 - SHADE_DEPTH * (1 - open_sky))[:, None]
        lit = shade * ambient + self._materials.emission[hits.geom][:, None]
        shine = np.zeros_like(base)
        lifted = hits.point_in_world_m + LIFT_M * hits.face_normal_in_world
        for light, casters in zip(self._lights, self._shadow_casters, strict=True):
            diffuse, specular = light.shine(hits.point_in_world_m, normal, to_eye, gloss, shininess)
            if casters is not None and shadows:
                facing = np.flatnonzero(diffuse.any(axis=1))
                hidden = facing[~sees_light(casters, lifted[facing])]
                diffuse[hidden] = 0
                specular[hidden] = 0
            lit += diffuse
            shine += specular
        return self._haze(base * lit + shine, hits)

    def _haze(self, colour: Colour, hits: RayHits) -> Colour:
        """Returns the colours faded into the horizon on an endless floor."""
        share = np.clip((hits.distance_m - HAZE_M[0]) / (HAZE_M[1] - HAZE_M[0]), 0, 1)
        share = np.where(self._endless[hits.geom], share * share * (3 - 2 * share), 0)[:, None].astype(np.float32)
        return np.asarray(colour * (1 - share) + self._background.haze * share)

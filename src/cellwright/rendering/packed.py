"""A scene as the tables that compiled code reads: triangles, planes, lenses, lights, materials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.lighting import Light
from cellwright.rendering.materials import GeomMaterials
from cellwright.rendering.projection import ImagePlane
from cellwright.rendering.scene_mesh import SceneMesh

__all__ = ["PackedMaterials", "PackedMesh", "pack_lens", "pack_lights", "pack_planes"]

Array = npt.NDArray[np.float64]
SPAN = 10  # numbers of a triangle that is ready to be filled
MOST_PIECES = 2  # of a triangle that is cut


class PackedMesh:
    """The triangles of a model; placed in the world per picture.

    Attributes:
        faces: Vertices of each triangle.
        normals: The surface's normals at its corners, in the geom's frame, nine numbers each.
        geom: Its geom.
        casts_shadow: Whether that casts shadows.
        planes: Geoms that are planes.
    """

    def __init__(self, model: Any) -> None:
        mesh = SceneMesh(model)
        self.faces: npt.NDArray[np.int32] = np.ascontiguousarray(mesh.faces, np.int32)
        self.normals: npt.NDArray[np.float32] = np.ascontiguousarray(mesh.corner_normals.reshape(-1, 9), np.float32)
        self.geom: npt.NDArray[np.int32] = np.ascontiguousarray(mesh.geom, np.int32)
        self.casts_shadow: npt.NDArray[np.bool_] = (np.asarray(model.geom_castshadow) != 0)[mesh.geom]
        self.planes: list[int] = mesh.planes.tolist()
        self._local_m = np.ascontiguousarray(mesh.vertices_m, np.float64)
        self._vertex_geom = np.ascontiguousarray(mesh.vertex_geom, np.int32)
        self._buffers: dict[str, Any] = {}
        self._seen = np.empty((len(self._local_m), 6))
        self._spans = np.empty((MOST_PIECES * len(self.faces) + 1, SPAN))

    def buffer(self, name: str, shape: tuple[int, ...], kind: Any) -> Any:
        """Returns memory for a picture in the making, with whatever is in it: fresh memory takes longer to fill."""
        if name not in self._buffers or self._buffers[name].shape != shape:
            self._buffers[name] = np.empty(shape, kind)
        return self._buffers[name]

    def in_world(self, frames: Array) -> Array:
        """Returns the vertices in the world; `frames` are rotations, row by row, and positions of all geoms."""
        from cellwright.rendering.raster_kernel import place

        world = np.empty_like(self._local_m)
        place(self._local_m, self._vertex_geom, frames, world)
        return world

    def spans(
        self, world: Array, lens: Array, size: tuple[int, int], side: float, kinds: npt.NDArray[np.uint8], kind: int
    ) -> tuple[Array, int]:
        """Returns the triangles of a kind as a lens sees them, and their number; valid until it is called again.

        Args:
            world: The vertices.
            lens: As `pack_lens` makes it.
            size: Columns and rows of samples.
            side: 1 for front faces, -1 for back faces.
            kinds: Kind of each triangle.
            kind: The one that is wanted.
        """
        from cellwright.rendering.raster_kernel import project, set_up

        project(world, lens, self._seen)
        return self._spans, set_up(self.faces, kinds, kind, self._seen, lens, *size, side, self._spans)

    def reach(self, world: Array, lens: Array) -> tuple[float, float, float, float]:
        """Returns least column and row and greatest column and row of all vertices as a lens sees them."""
        from cellwright.rendering.raster_kernel import project, reach

        project(world, lens, self._seen)
        low_x, low_y, high_x, high_y = reach(self._seen)
        return low_x, low_y, high_x, high_y


def pack_lens(
    plane: ImagePlane, focal: tuple[float, float], axis: tuple[float, float], *, near_m: float, is_pinhole: bool
) -> Array:
    """Returns origin, right, up, forward, focal lengths, the axis's column and row, nearest depth, and its kind."""
    return np.array([*plane.origin_in_world_m, *plane.axes.T.reshape(-1), *focal, *axis, near_m, float(is_pinhole)])


def pack_planes(model: Any, frames: Array, lens: Array, geoms: Sequence[int]) -> Array:
    """Returns planes as they are seen by a pinhole, from above: 1 / z and the ways along both axes are affine."""
    rows = [np.empty((0, 14))]
    eye, axes = lens[:3], lens[3:12].reshape(3, 3)  # right, up, forward
    to_ray = np.array([  # column and row to the ray, whose forward part is 1: constant, per column, per row
        axes[2] - axes[0] * lens[14] / lens[12] + axes[1] * lens[15] / lens[13], axes[0] / lens[12], -axes[1] / lens[13]
    ])  # fmt: skip
    for geom in geoms:
        turned, centre = frames[geom, :9].reshape(3, 3), frames[geom, 9:]
        above = (eye - centre) @ turned
        if above[2] <= 0:
            continue
        ways = to_ray @ turned
        half = model.geom_size[geom, :2]
        along = [(above[k], *ways[:, k], half[k]) for k in (0, 1)]
        rows.append(np.array([[*(-ways[:, 2] / above[2]), *along[0], *along[1], -2 - geom]]))
    return np.concatenate(rows)


def pack_lights(lights: Sequence[Light], shadow_of: Mapping[int, int]) -> tuple[Array, Array]:
    """Returns a row for each light, and the ambient light of all."""
    rows = [np.empty((0, 19))]
    for i, light in enumerate(lights):
        spot = (1.0 if light.spot_cos is None else light.spot_cos, light.spot_exponent, *light.attenuation)
        rows.append(
            np.array(
                [
                    [
                        float(light.spot_cos is not None),
                        *light.axis_in_world,
                        *light.source_in_world_m,
                        *light.diffuse,
                        *light.specular,
                        *spot,
                        shadow_of.get(i, -1),
                    ]
                ]
            )
        )
    return np.concatenate(rows), np.array([light.ambient for light in lights], float).reshape(-1, 3).sum(axis=0)


class PackedMaterials:
    """The materials of all geoms.

    Attributes:
        table: A row for each geom: colour, opacity, gloss, shininess, emission, texture, whether it is endless.
        textures: Rows for each textured plane, from the full texture to the smallest.
        pixels: The pixels of all textures.
    """

    def __init__(self, model: Any, data: Any) -> None:
        materials = GeomMaterials(model, data)
        plane = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
        endless = plane & (model.geom_size[:, :2] == 0).any(axis=1)
        texture = np.full(model.ngeom, -1.0)
        rows, pixels, start = [np.empty((0, 8))], [np.empty(0, np.float32)], 0
        for geom, image, _, (scale, first) in materials.textured:
            texture[geom] = len(rows) - 1
            for level in _halved(image):
                height, width = level.shape[:2]
                texel_m = 1 / (scale.max() * max(height, width))
                rows.append(np.array([[start, height, width, *scale, *first, texel_m]]))
                pixels.append(level.reshape(-1))
                start += level.size
            rows[-1][0, -1] *= -1  # the last of its texture
        self.table: Array = np.column_stack(
            [materials.rgba, materials.specular, materials.shininess, materials.emission, texture, endless]
        ).astype(np.float64)
        self.textures: Array = np.concatenate(rows)
        self.pixels: npt.NDArray[np.float32] = np.concatenate(pixels)


def _halved(image: npt.NDArray[np.float32]) -> list[npt.NDArray[np.float32]]:
    """Returns a texture in ever smaller sizes, each the mean of four pixels of the one before, while they are even."""
    levels = [image]
    while levels[-1].shape[0] % 2 == 0 and levels[-1].shape[1] % 2 == 0:
        height, width = levels[-1].shape[:2]
        levels.append(levels[-1].reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3), dtype=np.float32))
    return levels

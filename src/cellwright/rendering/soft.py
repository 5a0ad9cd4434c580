"""Pictures by a depth buffer in compiled code: as fast as OpenGL on a processor, without a graphics library."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cellwright.rendering.lighting import Light, scene_lights
from cellwright.rendering.packed import PackedMaterials, PackedMesh, pack_lens, pack_lights, pack_planes
from cellwright.rendering.projection import NEAR_M, ImagePlane
from cellwright.rendering.quality import BEST, Quality
from cellwright.rendering.renderer import Renderer
from cellwright.rendering.scene_mesh import visible_alpha
from cellwright.rendering.shot import DEPTH, GEOM, RGB, Shot, blank_shot
from cellwright.rendering.sky import Background
from cellwright.rendering.view import Frustum

__all__ = ["SoftRenderer"]

Array = npt.NDArray[np.float64]
Result = TypeVar("Result")

BANDS = 8  # of rows, each filled and shaded by one thread; the pixels do not depend on their number
SHADOW_PX = 2048
SOLID, GLASS = 0, 1
FRONT, BACK = 1.0, -1.0
NO_NUMBER = np.empty((0, 0), np.int32)
NO_DEPTH = np.empty((0, 0), np.float32)
NONE = -1  # the number of a sample that shows nothing


class SoftRenderer(Renderer):
    """Fills a depth buffer with every triangle and shades what is nearest; the same scene gives the same bits."""

    name = "soft"

    def __init__(self) -> None:
        self._model: Any = None
        self._mesh: PackedMesh | None = None

    def shoot(
        self,
        model: Any,
        data: Any,
        frustum: Frustum,
        size: tuple[int, int],
        *,
        exposure: float = 1.0,
        layers: tuple[str, ...] = (RGB,),
        quality: Quality = BEST,
    ) -> Shot:
        """Returns the layers of a picture that are asked for; light is scaled by the exposure before it is cut off."""
        if self._model is not model or self._mesh is None:
            self._model, self._mesh = model, PackedMesh(model)
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            frame, shot = _SoftFrame(model, data, frustum, size, self._mesh, pool), blank_shot(size)
            if RGB in layers:
                frame.shade(shot, exposure, quality)
            if DEPTH in layers or GEOM in layers:
                frame.measure(shot)
        return shot

    def close(self) -> None:
        """Frees the last model's triangles."""
        self._model = self._mesh = None


class _SoftFrame:
    """One picture in the making."""

    def __init__(
        self,
        model: Any,
        data: Any,
        frustum: Frustum,
        size: tuple[int, int],
        mesh: PackedMesh,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._model, self._data, self._frustum, self._size = model, data, frustum, size
        self._mesh, self._pool = mesh, pool
        alpha = visible_alpha(model)
        self._kind = (alpha[mesh.geom] < 1).astype(np.uint8)
        self._planes = [[g for g in mesh.planes if (alpha[g] < 1) == kind] for kind in (SOLID, GLASS)]
        self._frames = np.column_stack([np.asarray(data.geom_xmat), np.asarray(data.geom_xpos)])
        self._world = mesh.in_world(self._frames)

    def measure(self, shot: Shot) -> None:
        """Writes depths and geoms, of one sample in the middle of each pixel; glass is looked through."""
        nearest, number = self._buffers(1, SOLID)
        is_face = number >= 0
        shot.geom[:] = np.where(number == NONE, -1, -2 - number)
        shot.geom[is_face] = self._mesh.geom[number[is_face]]
        seen = number != NONE
        shot.depth_m[seen] = 1 / nearest[seen]

    def shade(self, shot: Shot, exposure: float, quality: Quality) -> None:
        """Writes colours."""
        from cellwright.rendering.shade_kernel import shade

        samples = math.isqrt(quality.samples)  # along each axis of a pixel
        nearest, number = self._buffers(samples, SOLID)
        glass = self._buffers(samples, GLASS)
        materials, mesh, lens = PackedMaterials(self._model, self._data), self._mesh, self._lens(samples)
        lights = scene_lights(self._model, self._data, self._frustum)
        lenses, maps, shadow_of = self._shadows(lights if quality.shadows else [], nearest, lens)
        background = Background(self._model)
        light_table, ambient = pack_lights(lights, shadow_of)
        sky = background.strips()

        def work(first: int, last: int) -> None:
            shade(
                nearest, number, *glass, lens, mesh.faces, mesh.normals, mesh.geom, self._world, self._frames,
                materials.table, light_table, ambient, lenses, maps, materials.textures, materials.pixels,
                background.haze, sky, exposure, samples, first, last, shot.rgb,
            )  # fmt: skip

        self._in_bands(self._size[1], work)

    def _lens(self, samples: int) -> Array:
        frustum, (width, height) = self._frustum, self._size
        right, up, backwards = frustum.axes_in_world.T
        eye = ImagePlane(frustum.eye_in_world_m, np.column_stack([right, up, -backwards]))
        focal = samples * height / 2 / math.tan(frustum.fovy_rad / 2)
        middle_right, middle_up = frustum.middle
        axis = samples * width / 2 - focal * middle_right, samples * height / 2 + focal * middle_up
        return pack_lens(eye, (focal, focal), axis, near_m=NEAR_M, is_pinhole=True)

    def _buffers(self, samples: int, kind: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        from cellwright.rendering.raster_kernel import fill, lay_planes

        width, height = (samples * pixels for pixels in self._size)
        lens = self._lens(samples)
        spans, count = self._mesh.spans(self._world, lens, (width, height), FRONT, self._kind, kind)
        planes = pack_planes(self._model, self._frames, lens, self._planes[kind])
        if kind == GLASS and not count and not len(planes):
            return NO_DEPTH, NO_NUMBER
        nearest = self._mesh.buffer(f"nearest {kind}", (height, width), np.float32)
        number = self._mesh.buffer(f"number {kind}", (height, width), np.int32)

        def work(first: int, last: int) -> None:
            nearest[first:last], number[first:last] = 0.0, NONE
            lay_planes(planes, nearest, number, first, last)
            fill(spans, count, nearest, number, first, last)

        self._in_bands(height, work)
        return nearest, number

    def _shadows(
        self, lights: list[Light], nearest: npt.NDArray[np.float32], eye: Array
    ) -> tuple[Array, npt.NDArray[np.float32], dict[int, int]]:
        """Returns lenses and maps of the lights that cast shadows on what is seen, and light -> its map."""
        from cellwright.rendering.raster_kernel import bounds, fill

        casts = self._mesh.casts_shadow & (self._kind == SOLID)
        lenses, with_shadow = [np.empty((0, 18))], dict[int, int]()
        maps: list[npt.NDArray[np.float32]] = []
        for i, light in enumerate(lights):
            if not light.casts_shadows or not casts.any():
                continue
            is_pinhole = light.spot_cos is not None
            # Parallel light is as well looked at from the middle: depths are told apart by 24 bits.
            origin = light.source_in_world_m if is_pinhole else np.array(self._model.stat.center)
            plane = ImagePlane.along(origin, light.axis_in_world)
            lens = pack_lens(plane, (1.0, 1.0), (0.0, 0.0), near_m=NEAR_M, is_pinhole=is_pinhole)

            def seen_by(first: int, last: int, lens: Array = lens) -> tuple[float, float, float, float]:
                low_x, low_y, high_x, high_y = bounds(nearest, eye, lens, first, last)
                return low_x, low_y, high_x, high_y

            seen = self._in_bands(len(nearest), seen_by)
            (low_x, low_y), (high_x, high_y) = np.min(seen, axis=0)[:2], np.max(seen, axis=0)[2:]
            if not is_pinhole:  # nothing casts a shadow beyond what casts it
                ends = self._mesh.reach(self._world, lens)
                low_x, low_y = max(low_x, ends[0]), max(low_y, ends[1])
                high_x, high_y = min(high_x, ends[2]), min(high_y, ends[3])
            if not (low_x < high_x and low_y < high_y):
                continue
            scale = [(SHADOW_PX - 8) / (high_x - low_x), (SHADOW_PX - 8) / (high_y - low_y)]
            lens[12:16] = *scale, 4 - low_x * scale[0], 4 - low_y * scale[1]
            spans, count = self._mesh.spans(self._world, lens, (SHADOW_PX, SHADOW_PX), BACK, casts.astype(np.uint8), 1)
            shadow = self._mesh.buffer(f"shadow {len(maps)}", (SHADOW_PX, SHADOW_PX), np.float32)

            def work(first: int, last: int) -> None:
                shadow[first:last] = 0.0 if is_pinhole else -np.inf  # noqa: B023 - it ends before the next light
                fill(spans, count, shadow, NO_NUMBER, first, last)  # noqa: B023 - it ends before the next light

            self._in_bands(SHADOW_PX, work)
            with_shadow[i] = len(maps)
            lenses.append(lens[None])
            maps.append(shadow)
        stacked = maps[0][None] if len(maps) == 1 else np.array(maps, np.float32).reshape(-1, SHADOW_PX, SHADOW_PX)
        return np.concatenate(lenses), stacked, with_shadow

    def _in_bands(self, rows: int, work: Callable[[int, int], Result]) -> list[Result]:
        """Returns what is worked out for each band of rows, from its first row to that after its last."""
        ends = np.linspace(0, rows, BANDS + 1).astype(int).tolist()
        return list(self._pool.map(work, ends[:-1], ends[1:]))

"""What is behind everything, and how much of it a point sees."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.sim.render.casting import Caster, Hits
from cellwright.sim.render.lighting import FAR
from cellwright.sim.render.paint import texture_pixels

__all__ = ["Background", "Openness", "sky_directions"]

Array = npt.NDArray[np.float64]
Colour = npt.NDArray[np.float32]

SKY_RAYS = 9 * 10
WORKERS = min(4, os.cpu_count() or 1)
LIFT_M = 2e-3  # rays start that far above the surface, past the dents of its own facets
PLAIN = np.array([0.90, 0.92, 0.94], dtype=np.float32)  # for a model without a sky


class Background:
    """The skybox of the model, looked up by direction."""

    def __init__(self, model: Any) -> None:
        boxes = np.flatnonzero(model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX)
        self._faces: Colour | None = None
        if len(boxes):
            pixels = texture_pixels(model, int(boxes[0]))
            self._faces = pixels.reshape(-1, pixels.shape[1], pixels.shape[1], 3)
        self.haze: Colour = np.array(model.vis.rgba.haze[:3], dtype=np.float32)

    def colour(self, directions: Array) -> Colour:
        """The sky in each direction. Faces come right, left, up, down, front, back, as MuJoCo stores them."""
        if self._faces is None:
            return np.broadcast_to(PLAIN, directions.shape).copy()
        x, y, z = directions.T
        largest = np.abs(directions).max(axis=1)
        side = np.abs(z) < largest
        # The faces of a sky are alike all round: only the height above the horizon matters at the sides,
        # and the distance from the zenith at the top and the bottom.
        height = np.where(side, z / largest, 0.0)
        radius = np.where(side, 0.0, np.maximum(np.abs(x), np.abs(y)) / largest)
        size = self._faces.shape[1]
        row = np.clip((0.5 - 0.5 * height) * size, 0, size - 1).astype(np.intp)
        ring = np.clip((0.5 - 0.5 * radius) * size, 0, size - 1).astype(np.intp)
        faces = self._faces if len(self._faces) == 6 else np.repeat(self._faces[:1], 6, axis=0)
        caps = np.where((z > 0)[:, None], faces[2][ring, size // 2], faces[3][ring, size // 2])
        return np.asarray(np.where(side[:, None], faces[4][row, size // 2], caps), dtype=np.float32)


def sky_directions(count: int) -> Array:
    """Directions spread evenly over the upper half, by the golden angle."""
    z = 0.1 + 0.9 * (np.arange(count) + 0.5) / count
    angle = np.arange(count) * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt(1 - z**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])


class Openness:
    """How much of the sky each point sees, on a coarse grid of the picture: soft shade in corners and under things.

    Every grid point asks only for the sky rays of its place in a 3 x 3 pattern; the mean over its neighbourhood
    then has asked for all of them. Neighbours count where they lie on the same geom and face the same way, so
    that nothing bleeds over edges.
    """

    def __init__(self, caster: Caster, hits: Hits, extent_m: float, shape: tuple[int, int]) -> None:
        rows, columns = shape
        turn = (np.arange(rows)[:, None] % 3 * 3 + np.arange(columns)[None, :] % 3).reshape(-1)
        normal = hits.normal_in_world
        lifted = hits.point_in_world_m + LIFT_M * hits.face_normal_in_world
        centre = lifted[hits.any].mean(axis=0) if hits.any.any() else np.zeros(3)

        def look(number: int, direction: Array) -> tuple[npt.NDArray[np.intp], Array, Array]:
            asked = np.flatnonzero(hits.any & (turn == number % 9))
            cosine = normal[asked] @ direction
            asked, cosine = asked[cosine > 0.02], cosine[cosine > 0.02]
            return asked, cosine, cosine * caster.sees(centre + FAR * extent_m * direction, lifted[asked])

        total, seen = np.zeros(len(hits.geom)), np.zeros(len(hits.geom))
        with ThreadPoolExecutor(WORKERS) as pool:
            for asked, cosine, arrived in pool.map(look, range(SKY_RAYS), sky_directions(SKY_RAYS)):
                total[asked] += cosine
                seen[asked] += arrived
        self._geom = hits.geom.reshape(shape)
        self._normal = normal.astype(np.float32).reshape(*shape, 3)
        self._share = self._pool(seen.reshape(shape), total.reshape(shape))

    def _pool(self, seen: Array, total: Array) -> Colour:
        """The share of sky seen over each point's neighbourhood; a face that looks down gets the floor's light."""
        rows, columns = seen.shape
        layers: tuple[npt.NDArray[Any], ...] = (seen, total, self._geom, self._normal)
        padded = [np.pad(layer, [(1, 1), (1, 1)] + [(0, 0)] * (layer.ndim - 2), mode="edge") for layer in layers]
        all_seen, all_total = np.zeros_like(seen), np.full_like(total, 1e-9)
        for dy in range(3):
            for dx in range(3):
                near_seen, near_total, geom, normal = (layer[dy : dy + rows, dx : dx + columns] for layer in padded)
                alike = np.einsum("rcj,rcj->rc", normal, self._normal)
                weight = np.where(geom == self._geom, np.maximum(alike, 0) ** 4, 0)
                all_seen += weight * near_seen
                all_total += weight * near_total
        downness = np.clip(-self._normal[..., 2], 0, 1)
        return np.asarray(all_seen / all_total * (1 - downness) + 0.5 * downness, dtype=np.float32)

    def at(self, x: Array, y: Array, geom: npt.NDArray[np.intp], normal: Colour) -> Colour:
        """The share of the sky seen from hits at grid coordinates x, y (centres of cells at whole numbers)."""
        rows, columns = self._share.shape
        x0 = np.clip(np.floor(x), 0, columns - 2).astype(np.intp)
        y0 = np.clip(np.floor(y), 0, rows - 2).astype(np.intp)
        fx, fy = np.clip(x - x0, 0, 1).astype(np.float32), np.clip(y - y0, 0, 1).astype(np.float32)
        total = np.zeros(len(x), dtype=np.float32)
        share = np.zeros(len(x), dtype=np.float32)
        for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
            row, column = y0 + dy, x0 + dx
            weight = (fx if dx else 1 - fx) * (fy if dy else 1 - fy) + np.float32(1e-3)
            weight *= np.where(self._geom[row, column] == geom, 1.0, 1e-3).astype(np.float32)
            alike = np.einsum("ij,ij->i", self._normal[row, column], normal)
            weight *= np.maximum(alike, 0.03) ** 4
            total += weight
            share += weight * self._share[row, column]
        return np.asarray(share / np.maximum(total, 1e-12))

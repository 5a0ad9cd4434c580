"""The background, and ambient occlusion."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.casting import RayHits
from cellwright.rendering.materials import texture_pixels
from cellwright.rendering.projection import ImagePlane

__all__ = ["AmbientOcclusion", "Background"]

Array = npt.NDArray[np.float64]
Colour = npt.NDArray[np.float32]

SAMPLES = 9 * 12
REACH_M = (0.02, 0.35)
LIFT_M = 4e-3  # the picture's depth is no better than that between its points
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

    def strips(self) -> Colour:
        """Returns the sky as strips (3, n, 3): at the sides from the top, above and below from the corner inwards.

        The faces of a sky are alike all round: only the height above the horizon matters at the sides, and the distance
        from the zenith at the top and the bottom. They come right, left, up, down, front, back, as MuJoCo stores them.
        """
        if self._faces is None:
            return np.broadcast_to(PLAIN, (3, 1, 3)).copy()
        faces = self._faces if len(self._faces) == 6 else np.repeat(self._faces[:1], 6, axis=0)
        middle = self._faces.shape[1] // 2
        return np.ascontiguousarray(faces[[4, 2, 3], :, middle])

    def colour(self, directions: Array) -> Colour:
        """Returns the sky in each direction."""
        strips = self.strips()
        x, y, z = directions.T
        largest = np.abs(directions).max(axis=1)
        side = np.abs(z) < largest
        height = np.where(side, z / largest, np.maximum(np.abs(x), np.abs(y)) / largest)
        size = strips.shape[1]
        row = np.clip((0.5 - 0.5 * height) * size, 0, size - 1).astype(np.intp)
        return np.asarray(strips[np.where(side, 0, np.where(z > 0, 1, 2)), row], dtype=np.float32)


class AmbientOcclusion:
    """Ambient occlusion: the share of its surroundings that each point sees, on a coarse grid of the picture.

    Each grid point looks at places around it, and counts those that the picture shows to be behind something. It
    takes only the places of its turn in a 3 x 3 pattern; the mean over its neighbourhood has then taken all of them.
    Neighbours count where they lie on the same geom and face the same way, so that nothing bleeds over edges.
    """

    def __init__(
        self,
        hits: RayHits,
        picture: ImagePlane,
        cell_slope: float,
        shape: tuple[int, int],
        middle: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        rows, columns = shape
        self._geom = hits.geom.reshape(shape)
        self._normal = hits.normal_in_world.astype(np.float32).reshape(*shape, 3)
        depth = np.where(hits.any, picture.flatten(hits.point_in_world_m)[:, 2], np.inf)
        asked, open_to = np.zeros(len(depth)), np.zeros(len(depth))
        turn = (np.arange(rows)[:, None] % 3 * 3 + np.arange(columns)[None, :] % 3).reshape(-1)
        for number, (direction, reach_m) in enumerate(_surroundings()):
            here = np.flatnonzero(hits.any & (turn == number % 9))
            facing = hits.normal_in_world[here]
            towards = direction + facing * 1.02  # from the surface of a unit ball: cosine-weighted about the normal
            towards /= np.linalg.norm(towards, axis=1, keepdims=True)
            place = hits.point_in_world_m[here] + LIFT_M * facing + reach_m * towards
            x, y, z = picture.flatten(place).T
            column = np.round((x / z - middle[0]) / cell_slope + (columns - 1) / 2).astype(np.intp)
            row = np.round((rows - 1) / 2 - (y / z - middle[1]) / cell_slope).astype(np.intp)
            inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows) & (z > 0)
            front = np.full(len(here), np.inf)
            front[inside] = depth[row[inside] * columns + column[inside]]
            covered = z - front  # how far behind something the place is; far behind, that thing is no neighbour
            asked[here] += 1
            open_to[here] += np.where(covered > LIFT_M, np.clip(covered / reach_m / 1.5 - 1, 0, 1), 1)
        self._share = self._pool(open_to.reshape(shape), asked.reshape(shape))

    def _pool(self, seen: Array, total: Array) -> Colour:
        """Returns the open share over each point's neighbourhood; a face that looks down gets less light."""
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
        return np.asarray(all_seen / all_total * (1 - 0.4 * downness), dtype=np.float32)

    def at(self, x: Array, y: Array, geom: npt.NDArray[np.intp], normal: Colour) -> Colour:
        """Returns the open share at hits at grid coordinates x, y (centres of cells at whole numbers)."""
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


def _surroundings() -> list[tuple[Array, float]]:
    """Returns directions over the whole ball by the golden angle, each with a distance; near ones are more frequent."""
    number = np.arange(SAMPLES)
    z = 1 - 2 * (number + 0.5) / SAMPLES
    angle = number * np.pi * (3 - np.sqrt(5))
    ball = np.column_stack([np.sqrt(1 - z**2) * np.cos(angle), np.sqrt(1 - z**2) * np.sin(angle), z])
    share = (number * 0.6180339887) % 1.0
    reach_m = REACH_M[0] * (REACH_M[1] / REACH_M[0]) ** share
    shuffled = (number * 55) % SAMPLES  # neighbours in the pattern should not look the same way
    return [(ball[i], float(reach)) for i, reach in zip(shuffled, reach_m, strict=True)]

"""Rays into the scene: what is hit, where, and whether a point sees the light."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.sim.render.view import VISIBLE_GROUPS

__all__ = ["Caster", "Hits"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

# Groups of the caster's own copy of the model; the model's own groups say only what is visible.
SOLID, SHADOWLESS, GLASS, HIDDEN = 0, 1, 2, 5
WORKERS = min(8, os.cpu_count() or 1)  # casts at a time; MuJoCo lets go of Python's lock while it casts


@dataclass(frozen=True)
class Hits:
    """What a bundle of rays met; `geom` is -1 where it met nothing."""

    geom: Ids
    distance_m: Array
    point_in_world_m: Array
    normal_in_world: Array

    @property
    def any(self) -> Mask:
        """Where something was met."""
        return np.asarray(self.geom >= 0)


class Caster:
    """Casts rays at the visible geoms of a model in one state.

    May be used by `WORKERS` threads at a time: a cast takes scratch memory from its `MjData`, so each gets a copy.
    """

    def __init__(self, model: Any, data: Any) -> None:
        self._model = copy.copy(model)
        self._states: SimpleQueue[Any] = SimpleQueue()
        for _ in range(WORKERS):
            self._states.put(copy.copy(data))
        alpha = visible_alpha(model)
        group = np.full(model.ngeom, SOLID)
        group[np.asarray(model.geom_castshadow) == 0] = SHADOWLESS
        group[alpha < 1] = GLASS
        group[~np.isin(model.geom_group, VISIBLE_GROUPS) | (alpha == 0)] = HIDDEN
        self._model.geom_group[:] = group
        self.has_glass = bool((group == GLASS).any())

    def solids(self, eye_in_world_m: Array, directions: Array) -> Hits:
        """The first opaque thing along each ray."""
        return self._cast(eye_in_world_m, directions, (SOLID, SHADOWLESS))

    def glass(self, eye_in_world_m: Array, directions: Array) -> Hits:
        """The first transparent thing along each ray."""
        return self._cast(eye_in_world_m, directions, (GLASS,))

    def sees(self, light_in_world_m: Array, points_in_world_m: Array) -> Mask:
        """Which points no opaque thing hides from the light.

        Rays run from the light, because MuJoCo casts many rays at once only from one place.
        """
        rays = points_in_world_m - light_in_world_m
        length = np.linalg.norm(rays, axis=1)
        _, distance, _ = self._multi_ray(light_in_world_m, rays / length[:, None], (SOLID,), normals=False)
        return np.asarray((distance < 0) | (distance >= length - 1e-6))

    def _cast(self, eye: Array, directions: Array, groups: tuple[int, ...]) -> Hits:
        geom, distance, normal = self._multi_ray(eye, directions, groups, normals=True)
        return Hits(geom, distance, eye + distance[:, None] * directions, normal)

    def _multi_ray(
        self, origin: Array, directions: Array, groups: tuple[int, ...], *, normals: bool
    ) -> tuple[Ids, Array, Array]:
        count = len(directions)
        geom = np.full(count, -1, dtype=np.int32)
        distance = np.full(count, -1.0)
        normal = np.zeros((count, 3))
        if count:
            chosen = np.array([group in groups for group in range(mujoco.mjNGROUP)], dtype=np.uint8)
            rays, out = np.ascontiguousarray(directions).reshape(-1), normal.reshape(-1) if normals else None
            state = self._states.get()
            try:
                mujoco.mj_multiRay(
                    self._model, state, origin, rays, chosen, True, -1, geom, distance, out, count, mujoco.mjMAXVAL
                )
            finally:
                self._states.put(state)
        return geom, distance, normal


def visible_alpha(model: Any) -> npt.NDArray[np.float32]:
    """The opacity of each geom, its material's where it has one."""
    alpha = np.array(model.geom_rgba[:, 3])
    with_material = model.geom_matid >= 0
    alpha[with_material] = model.mat_rgba[model.geom_matid[with_material], 3]
    return np.asarray(alpha, dtype=np.float32)

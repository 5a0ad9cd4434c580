"""The ground below a base or a tray: what carries it, and the gap to it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["FOOT_M", "TOUCH_M", "Ground", "gap_below", "movable"]

Array = npt.NDArray[np.float64]

TOUCH_M = 0.005  # what is nearer than this to a base or a tray carries it; plates and feet between are thinner
FOOT_M = 0.03  # beside the middle of a base, where a post or plate is looked for as well
FEET_XY_M = ((0.0, 0.0), (FOOT_M, 0.0), (-FOOT_M, 0.0), (0.0, FOOT_M), (0.0, -FOOT_M))


def gap_below(world: World, base: Pose) -> tuple[float, str]:
    """Returns the gap between a base and what is below it, along its own z, negative inside; and the name of that."""
    up, ground = base.rotation_matrix[:, 2], Ground(world, movable(world), base, FOOT_M)
    inside = base.apply([0.0, 0.0, TOUCH_M])
    around = {geom: far_m for far_m, geom in ground.hits(inside, up)}
    found = [(-TOUCH_M - around[geom], geom) for _, geom in ground.hits(inside, -up) if geom in around]
    if not found:
        starts = [base.apply([*aside, TOUCH_M]) for aside in FEET_XY_M]
        found = [(far_m - TOUCH_M, geom) for start in starts for far_m, geom in ground.hits(start, -up)]
    gap_m, geom = min(found, default=(np.inf, -1))
    return gap_m, "" if geom < 0 else ground.name(geom)


def movable(world: World) -> set[int]:
    """Returns the bodies that carry no base: robots and loose objects."""
    return {robot.base_body for robot in world.robots.values()} | {item.body for item in world.objects.values()}


class Ground:
    """The geoms that may carry something, queried one by one: where two faces coincide, one ray finds only one."""

    def __init__(self, world: World, left_out: Collection[int], near: Pose, reach_m: float) -> None:
        self._model = world.model
        self._data = world.data
        model, data = self._model, self._data
        away = np.linalg.norm(np.cross(data.geom_xpos - near.position, near.rotation_matrix[:, 2]), axis=1)
        close = (away <= model.geom_rbound + reach_m) | (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
        solid = (model.geom_contype + model.geom_conaffinity) > 0
        roots = model.body_rootid[model.geom_bodyid]
        self._geoms = np.flatnonzero(close & solid & ~np.isin(roots, list(left_out))).tolist()

    def hits(self, start: Array, way: Array) -> list[tuple[float, int]]:
        """Returns the distance at which a ray meets each geom, or leaves it when it begins inside; nearest first."""
        model, data, found = self._model, self._data, []
        for geom in self._geoms:
            kind = int(model.geom_type[geom])
            if kind == mujoco.mjtGeom.mjGEOM_MESH:
                far_m = mujoco.mj_rayMesh(model, data, geom, start, way, None)
            else:
                place, turn, size = data.geom_xpos[geom], data.geom_xmat[geom], model.geom_size[geom]
                far_m = mujoco.mju_rayGeom(place, turn, size, start, way, kind, None)
            if far_m >= 0:
                found.append((float(far_m), geom))
        return sorted(found)

    def name(self, geom: int) -> str:
        """Returns the fixture, robot or object to which a geom belongs."""
        return str(self._model.body(int(self._model.geom_bodyid[geom])).name).partition("/")[0]

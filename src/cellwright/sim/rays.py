"""Rays into a world: how far it is to what can be touched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["NOTHING", "Geoms", "RayFence", "Vector", "cast_ray", "cast_rays"]

Array = npt.NDArray[np.float64]
Geoms = npt.NDArray[np.intp]
Vector = npt.ArrayLike

SEEN = np.array([1, 1, 1, 1, 1, 0], np.uint8)
SINGLE_RAYS = 4  # so few are cast one by one: to sort all bodies by their direction first takes as long as many rays
UNSEEN_GROUP = 5  # no model has geoms in it; those to look through are in it for one ray
NOTHING: Geoms = np.empty(0, np.intp)


def cast_ray(
    model: Any, data: Any, origin_m: Vector, direction: Vector, max_m: float, without: Geoms = NOTHING
) -> float | None:
    """Returns the distance along a ray to the first surface, by the positions of this moment; None without one.

    Args:
        model: The model.
        data: Its state.
        origin_m: Where the ray begins.
        direction: Where to, of any length.
        max_m: How far it reaches.
        without: Geoms that it goes through.
    """
    towards = np.asarray(direction, float)
    length = float(np.linalg.norm(towards))
    if towards.shape != (3,) or not 0.0 < length < np.inf:
        raise BadInput(f"the direction of a ray should be three numbers, not all of them 0, got {towards.tolist()}")
    mujoco.mj_kinematics(model, data)
    with _unseen(model, without):
        hit = np.zeros(1, np.int32)
        away_m = mujoco.mj_ray(model, data, np.asarray(origin_m, float), towards / length, SEEN, True, -1, hit)
    return float(away_m) if 0.0 <= away_m <= max_m else None


def cast_rays(
    model: Any, data: Any, origin_m: Vector, directions: Array, max_m: float, without: Geoms = NOTHING
) -> Array:
    """Returns the distances along rays from one point to the first surface; endless where there is none so near.

    Args:
        model: The model.
        data: Its state.
        origin_m: Where the rays begin.
        directions: Where to, n x 3, of length 1.
        max_m: How far they reach.
        without: Geoms that they go through.
    """
    mujoco.mj_kinematics(model, data)
    count = len(directions)
    away_m, hit = np.empty(count), np.empty(count, np.int32)
    with _unseen(model, without):
        origin = np.asarray(origin_m, float)
        if count <= SINGLE_RAYS:
            for number, direction in enumerate(np.asarray(directions, float)):
                away_m[number] = mujoco.mj_ray(model, data, origin, direction, SEEN, True, -1, hit[number : number + 1])
        else:
            flat = np.ascontiguousarray(directions, float).reshape(-1)
            mujoco.mj_multiRay(model, data, origin, flat, SEEN, True, -1, hit, away_m, None, count, max_m)
    away_m[(hit < 0) | (away_m > max_m)] = np.inf
    return away_m


@contextmanager
def _unseen(model: Any, geoms: Geoms) -> Iterator[None]:
    """Lets rays go through geoms for a while."""
    groups = model.geom_group[geoms]
    model.geom_group[geoms] = UNSEEN_GROUP
    try:
        yield
    finally:
        model.geom_group[geoms] = groups


class RayFence:
    """Parallel rays in a plane, each from a start to an end, that something may stand in.

    A ray is cast only while the bounding box of a geom may reach into it: an empty fence costs a comparison.

    Args:
        world: What the rays are in.
        starts_m: Where they begin, n x 3, on a straight line.
        ends_m: Where they end, all in the same direction and as far.
    """

    def __init__(self, world: World, starts_m: Array, ends_m: Array) -> None:
        self._world, self._starts, self._ends = world, starts_m, ends_m
        self._length_m = float(np.linalg.norm(ends_m[0] - starts_m[0]))
        self._way = (ends_m[0] - starts_m[0]) / self._length_m
        across = starts_m[-1] - starts_m[0]
        if not across.any():  # a single ray lies in many planes
            across = np.cross(self._way, np.eye(3)[np.abs(self._way).argmin()])
        across = across / np.linalg.norm(across)
        self._axes = np.array([self._way, across, np.cross(self._way, across)])
        self._along = self._axes @ np.array([starts_m[0], ends_m[0]]).T  # axis, start or end of the first ray
        self._rows = starts_m @ across
        world.bind(self._look_up)

    def _look_up(self) -> None:
        model = self._world.model
        is_plane = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
        self._planes, self._solids = np.flatnonzero(is_plane), np.flatnonzero(~is_plane)
        boxes = model.geom_aabb[self._solids]
        self._middles, self._halves = boxes[:, :3].copy(), boxes[:, 3:].copy()

    def interrupted(self) -> npt.NDArray[np.bool_]:
        """Returns for each ray whether something is in it now."""
        model, data = self._world.model, self._world.data
        mujoco.mj_kinematics(model, data)
        broken = np.zeros(len(self._starts), bool)
        hit = np.zeros(1, np.int32)
        for i in np.flatnonzero(self._doubtful(data)).tolist():
            away_m = mujoco.mj_ray(model, data, self._starts[i], self._way, SEEN, True, -1, hit)
            broken[i] = 0.0 <= away_m < self._length_m
        return broken

    def _doubtful(self, data: Any) -> npt.NDArray[np.bool_]:
        """Returns for each ray whether the box of a geom may reach into it, or it goes through a plane."""
        turns = self._axes @ data.geom_xmat[self._solids].reshape(-1, 3, 3)  # geom, axis of the fence, axis of the geom
        middle = data.geom_xpos[self._solids] @ self._axes.T + np.einsum("gij,gj->gi", turns, self._middles)
        reach = np.einsum("gij,gj->gi", np.abs(turns), self._halves) + 1e-9
        low, high = middle - reach, middle + reach
        start, end = self._along.T
        near = (low[:, 0] <= end[0]) & (high[:, 0] >= start[0]) & (low[:, 2] <= start[2]) & (high[:, 2] >= start[2])
        rows = self._rows
        doubtful: npt.NDArray[np.bool_] = ((low[near, 1, None] <= rows) & (high[near, 1, None] >= rows)).any(axis=0)
        for plane in self._planes:
            normal, place = data.geom_xmat[plane].reshape(3, 3)[:, 2], data.geom_xpos[plane]
            doubtful |= np.minimum((self._starts - place) @ normal, (self._ends - place) @ normal) <= 0
        return doubtful

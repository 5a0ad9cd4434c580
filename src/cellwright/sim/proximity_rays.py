"""The rays of the proximity sensors of all mobile robots of a kind, cast together.

Most sensors have nothing near at most moments. One array operation finds those that have, for fifty robots as for one;
rays are cast for them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.sim.rays import SEEN, UNSEEN_GROUP

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["ProximityRays", "cone"]

Array = npt.NDArray[np.float64]
Hits = npt.NDArray[np.int32]

REACH_M = 0.10  # beyond, white sends back less than 35 counts, and drivers say nothing of less than 100


def cone(aperture_rad: float, rays: int) -> Array:
    """Returns directions in a cone about x: the middle, and the others evenly round its edge; (rays, 3)."""
    around, half = 2 * np.pi * np.arange(rays - 1) / max(rays - 1, 1), aperture_rad / 2
    edge = np.column_stack(
        [np.full(rays - 1, np.cos(half)), np.sin(half) * np.cos(around), np.sin(half) * np.sin(around)]
    )
    return np.vstack([[1.0, 0.0, 0.0], edge])


class ProximityRays:
    """Casts the rays of the proximity sensors of robots that have as many of them, once for each state of the world.

    Args:
        world: The world with the robots.
        names: The robots.
        directions: Of the rays of a sensor, in its frame, (rays, 3), of length 1.
    """

    def __init__(self, world: World, names: list[str], directions: Array) -> None:
        self._world = world
        self._rows = {name: row for row, name in enumerate(names)}
        self._directions = directions
        world.bind(self._look_up)

    def _look_up(self) -> None:
        world, model = self._world, self._world.model
        robots = [world.mobiles[name] for name in self._rows]
        self._sites = np.concatenate([robot.proximity_sites for robot in robots])
        self._bodies = np.repeat([robot.body for robot in robots], len(self._sites) // len(robots))
        roots = model.body_rootid[model.geom_bodyid]
        of_robot = np.isin(roots, [robot.body for robot in world.mobiles.values()])
        is_plane = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
        # Wheels and feet are within the bodies of their robots, but for the last half of a millimetre.
        self._hidden = np.flatnonzero(of_robot & (model.geom_contype == 0))
        solid = ~is_plane & ~np.isin(np.arange(model.ngeom), self._hidden)
        self._geoms, self._planes = np.flatnonzero(solid), np.flatnonzero(is_plane)
        self._is_own = roots[self._geoms, None] == self._bodies
        self._middles, self._halves = np.split(model.geom_aabb[self._geoms, :, None], 2, axis=1)
        self._key = b""
        self._away_m = np.empty((len(robots), 0, 0))
        self._hits = np.empty((len(robots), 0, 0), np.int32)
        self._meets: list[bool] = []

    def cast(self, robot: str) -> tuple[Array, Hits] | None:
        """Returns the distances along the rays of a robot's sensors, and the geoms that they hit: (sensors, rays).

        A ray that meets nothing as near as the reach is endless, and its geom is -1. None when all of them are.
        """
        key = self._world.data.qpos.tobytes()
        if key != self._key:
            self._cast()
            self._key = key
        row = self._rows[robot]
        return (self._away_m[row], self._hits[row]) if self._meets[row] else None

    def _cast(self) -> None:
        model, data = self._world.model, self._world.data
        mujoco.mj_kinematics(model, data)
        origins = data.site_xpos.take(self._sites, 0)
        ways = self._directions @ data.site_xmat.take(self._sites, 0).reshape(-1, 3, 3).transpose(0, 2, 1)
        near = self._near(data, origins, ways).nonzero()[0].tolist()
        self._meets = [False] * len(self._rows)
        if not near:
            return
        count, rays = ways.shape[:2]
        away_m, hits = np.full((count, rays), np.inf), np.full((count, rays), -1, np.int32)
        groups = model.geom_group[self._hidden]
        model.geom_group[self._hidden] = UNSEEN_GROUP
        for sensor in near:
            mujoco.mj_multiRay(
                model,
                data,
                origins[sensor],
                ways[sensor].reshape(-1),
                SEEN,
                True,
                int(self._bodies[sensor]),
                hits[sensor],
                away_m[sensor],
                None,
                rays,
                REACH_M,
            )
        model.geom_group[self._hidden] = groups
        missed = (hits < 0) | (away_m > REACH_M)
        away_m[missed], hits[missed] = np.inf, -1
        self._away_m = away_m.reshape(len(self._rows), -1, rays)
        self._hits = hits.reshape(len(self._rows), -1, rays)
        self._meets = np.asarray((self._hits >= 0).any(axis=(1, 2))).tolist()

    def _near(self, data: Any, origins: Array, ways: Array) -> npt.NDArray[np.bool_]:
        """Returns for each sensor whether the box of a geom is within reach, or a ray reaches a plane."""
        turns = data.geom_xmat.take(self._geoms, 0).reshape(-1, 3, 3).transpose(0, 2, 1)
        there = turns @ (origins.T - data.geom_xpos.take(self._geoms, 0)[:, :, None])  # geom, axis, sensor
        there -= self._middles
        np.abs(there, out=there)
        there -= self._halves
        np.maximum(there, 0.0, out=there)
        away2 = np.einsum("gis,gis->gs", there, there)
        away2[self._is_own] = np.inf
        near: npt.NDArray[np.bool_] = (away2 <= REACH_M**2).any(axis=0)
        for plane in self._planes:
            normal, place = data.geom_xmat[plane].reshape(3, 3)[:, 2], data.geom_xpos[plane]
            near |= (origins - place) @ normal <= -REACH_M * (ways @ normal).min(axis=1)
        return near

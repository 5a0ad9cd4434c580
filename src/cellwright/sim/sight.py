"""Line of sight: how much of each loose object a camera sees past everything that is in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.camera import Camera
from cellwright.sim.sight_points import DECIDING, DIRECTIONS, POINTS, surface_middle, surface_points

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["LineOfSight", "ObjectsInView"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SOLID = np.array([1, 1, 1, 1, 1, 0], np.uint8)  # groups of geoms that stop a line of sight
BEFORE_M = 0.002  # what is hit no more than this before a point is that point


@dataclass(frozen=True)
class ObjectsInView:
    """The visible share of each loose object, in the order of `World.objects`.

    Attributes:
        shares: Visible share of its surface, 0 to 1; what is out of the picture does not count as visible.
        shifts_m: The way of the middle of what is seen from the middle of the whole, in the world, n x 3; zero for
            what is seen wholly or not at all.
    """

    shares: Array
    shifts_m: Array


class LineOfSight:
    """Lines of sight from a camera to loose objects, stopped by all that is solid: arms, tools, trays, parts, tables.

    An object's own body does not hide it, nor does the piece that carries the camera. Shares are those of this moment;
    only the lines that something has moved into or out of since the last look are cast anew.

    Args:
        world: The world.
        camera: Where it really is.
    """

    def __init__(self, world: World, camera: Camera) -> None:
        self._world = world
        self.camera = camera
        self._eye = np.array(camera.pose_in_world.position)
        world.bind(self._look_up)

    def _look_up(self) -> None:
        model, self._objects = self._world.model, list(self._world.objects.values())
        self._own = model.body(f"{self.camera.fixture}/furniture").id if self.camera.fixture else -1
        self._movers = np.flatnonzero(model.body_weldid != 0)
        geoms = np.flatnonzero(model.body_weldid[model.geom_bodyid] != 0)
        self._geoms, self._mover_of = geoms, np.searchsorted(self._movers, model.geom_bodyid[geoms])
        self._bodies = np.array([item.body for item in self._objects], np.intp)
        self._rows = np.searchsorted(self._movers, self._bodies)
        count = len(self._objects)
        self._poses = np.full((len(self._movers), 12), np.nan)
        self._centres = np.full((len(geoms), 3), np.nan)  # of geoms, when they were last looked at
        self._points, self._inside = np.zeros((count, POINTS, 3)), np.zeros((count, POINTS), bool)
        self._middles, self._sizes = np.zeros((count, 3)), np.zeros(count)
        self._shares, self._shifts = np.zeros(count), np.zeros((count, 3))

    def look(self) -> ObjectsInView:
        """Returns what is seen at this moment."""
        model, data = self._world.model, self._world.data
        mujoco.mj_kinematics(model, data)  # a step leaves positions as they were at its beginning
        poses = np.hstack([data.xpos[self._movers], data.xmat[self._movers]])
        moved = (poses != self._poses).any(axis=1)
        if moved.any():
            self._poses = poses
            is_stale = moved[self._rows]
            self._place(np.flatnonzero(is_stale))
            geoms = moved[self._mover_of]
            before, now = self._centres[geoms], data.geom_xpos[self._geoms[geoms]]
            self._centres[geoms] = now
            radii = model.geom_rbound[self._geoms[geoms]]
            is_stale |= self._crossed(np.concatenate([before, now]), np.concatenate([radii, radii]))
            self._update(np.flatnonzero(is_stale))
        return ObjectsInView(self._shares.copy(), self._shifts.copy())

    def share(self, points_in_world: Array, own: Collection[int] = ()) -> float:
        """Returns the share of some points that is seen at this moment; bodies in `own` do not hide them."""
        mujoco.mj_kinematics(self._world.model, self._world.data)
        points = np.asarray(points_in_world, float)
        bodies, is_before = self._first_hits(points)
        hidden = is_before & ~np.isin(bodies, list(own))
        return float((self.camera.sees(points) & ~hidden).mean())

    def hiders(self, points_in_world: Array, own: Collection[int] = ()) -> list[str]:
        """Returns the names of what hides some points at this moment, as in the cell's file, most hidden first."""
        bodies, is_before = self._first_hits(np.asarray(points_in_world, float))
        hidden = bodies[is_before & ~np.isin(bodies, list(own))].tolist()
        names = Counter(self._world.model.body(body).name.partition("/")[0] for body in hidden)
        return [name for name, _ in names.most_common()]

    def middles(self, numbers: npt.NDArray[np.intp]) -> Array:
        """Returns the middles of the sides that objects turn to the camera, in the world, at the last look."""
        return self._middles[numbers]

    def _place(self, numbers: npt.NDArray[np.intp]) -> None:
        """Takes the points of objects that have moved: those of the side that is turned to the camera."""
        for number in numbers.tolist():
            position, turn = self._poses[self._rows[number], :3], self._poses[self._rows[number], 3:].reshape(3, 3)
            direction = int((DIRECTIONS @ (turn.T @ (self._eye - position))).argmax())
            figures = self._objects[number].figures
            points = position + surface_points(figures, direction) @ turn.T
            self._points[number], self._inside[number] = points, self.camera.sees(points)
            middle = position + turn @ surface_middle(figures, direction)
            self._middles[number], self._sizes[number] = middle, np.linalg.norm(points - middle, axis=1).max()

    def _crossed(self, centres: Array, radii: Array) -> Flags:
        """Returns the objects in the picture to which a line of sight may meet one of some balls, or met it before."""
        crossed: Flags = np.array(self._inside.any(axis=1))
        known = np.isfinite(centres[:, 0])
        numbers = np.flatnonzero(crossed)
        sizes, ways = self._sizes[numbers], self._middles[numbers] - self._eye
        lengths = np.maximum(np.sqrt((ways**2).sum(axis=1)), sizes + 1e-9)
        off = centres[known] - self._eye
        along = off @ (ways / lengths[:, None]).T  # balls x objects
        aside = np.sqrt(np.maximum((off**2).sum(axis=1)[:, None] - along**2, 0.0))
        # The lines fill balls that grow linearly from the eye; the nearest of these is a little farther than the foot.
        slope = sizes / lengths
        at = np.clip(along + aside * (slope / np.sqrt(1 - slope**2)), 0.0, lengths)
        apart = np.sqrt((along - at) ** 2 + aside**2) - at * slope
        crossed[numbers] = (apart <= radii[known, None]).any(axis=0)
        return crossed

    def _update(self, numbers: npt.NDArray[np.intp]) -> None:
        """Casts the lines to some objects anew: a few to see whether anything is in the way, the others if so.

        All are cast at once to what was seen in part before: mostly it still is, and each cast has its price.
        """
        wanted = self._inside[numbers].copy()
        was_whole = (self._shares[numbers] == 0.0) | (self._shares[numbers] == 1.0)
        wanted[was_whole, DECIDING:] = False
        seen = self._cast(numbers, wanted)
        partly = seen[:, :DECIDING].any(axis=1) & ~seen[:, :DECIDING].all(axis=1)
        more = np.zeros_like(wanted)
        more[partly & was_whole, DECIDING:] = self._inside[numbers][partly & was_whole, DECIDING:]
        seen |= self._cast(numbers, more)
        self._shares[numbers] = np.where(partly, seen.mean(axis=1), seen[:, 0])
        self._shifts[numbers] = 0.0
        for row in np.flatnonzero(partly).tolist():
            number = numbers[row]
            points = self._points[number]
            self._shifts[number] = points[seen[row]].mean(axis=0) - points.mean(axis=0)

    def _cast(self, numbers: npt.NDArray[np.intp], wanted: Flags) -> Flags:
        """Returns which of the wanted points of some objects are seen."""
        seen = np.zeros_like(wanted)
        if wanted.any():
            bodies, is_before = self._first_hits(self._points[numbers][wanted])
            seen[wanted] = ~is_before | (bodies == self._bodies[numbers].repeat(wanted.sum(axis=1)))
        return seen

    def _first_hits(self, points: Array) -> tuple[npt.NDArray[np.intp], Flags]:
        """Returns the body that the line to each point meets first, and whether that is before the point."""
        model, count = self._world.model, len(points)
        ways = points - self._eye
        lengths = np.sqrt((ways**2).sum(axis=1))
        geoms, shares = np.empty(count, np.int32), np.empty(count)
        flat, farthest = np.ascontiguousarray(ways).ravel(), float(lengths.max())
        # Ways are not of unit length: distances are told as shares of each.
        mujoco.mj_multiRay(
            model, self._world.data, self._eye, flat, SOLID, True, self._own, geoms, shares, None, count, farthest
        )
        is_before: Flags = (geoms >= 0) & (shares * lengths < lengths - BEFORE_M)
        return model.geom_bodyid[geoms].astype(np.intp), is_before

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
from cellwright.sim.sight_points import DECIDING, POINTS, facing_side, surface_middle, surface_points

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["LineOfSight", "ObjectsInView"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

SOLID = np.array([1, 1, 1, 1, 1, 0], np.uint8)  # groups of geoms that stop a line of sight
UNSEEN_GROUP = 5
ENDLESS_M = 1e6  # the radius of a ball about what has no end, such as the floor
OUTSIDE = (0.0, 0.0, 0.0, 1.0, -1.0)  # the cone of what is out of the picture: nothing meets it
BEFORE_M = 0.002  # what is hit no more than this before a point is that point


@dataclass(frozen=True)
class ObjectsInView:
    """The visible share of each loose object, in the order of `World.objects`.

    Views are not changed once they are made: whoever holds one may keep it.

    Attributes:
        shares: Visible share of its surface, 0 to 1; what is out of the picture does not count as visible.
        shifts_m: The way of the middle of what is seen from the middle of the whole, in the world, n x 3; zero for
            what is seen wholly or not at all.
    """

    shares: Array
    shifts_m: Array


class LineOfSight:
    """Lines of sight from a camera to loose objects, stopped by all that is solid: arms, tools, trays, parts, tables.

    An object's own body does not hide it, nor does the piece that carries the camera. Shares are those of this moment.
    Two things are told apart, because each cast has its price: what arms hide is found anew whenever anything has
    moved, what furniture and loose objects hide only where one of these has moved into or out of the lines.

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
        model, data, self._objects = self._world.model, self._world.data, list(self._world.objects.values())
        self._own = model.body(f"{self.camera.fixture}/furniture").id if self.camera.fixture else -1
        self._bodies = np.array([item.body for item in self._objects], np.intp)
        self._qpos = np.array([item.qpos + np.arange(7) for item in self._objects], np.intp).reshape(-1, 7)
        self._owners, carriers = model.geom_bodyid.copy(), model.body_weldid[model.geom_bodyid]
        is_arm = (carriers != 0) & ~np.isin(carriers, self._bodies)
        self._arms, self._things = np.flatnonzero(is_arm), np.flatnonzero(~is_arm)
        self._radii = np.where(model.geom_rbound > 0, model.geom_rbound, ENDLESS_M)
        mujoco.mj_kinematics(model, data)
        self._reaches = np.array([self._reach(np.flatnonzero(carriers == body), body) for body in self._bodies])
        count = len(self._objects)
        self._state, self._places = b"", np.full((count, 7), np.nan)
        self._points, self._ways = np.zeros((count, POINTS, 3)), np.zeros((count, POINTS, 3))
        self._lengths, self._inside = np.zeros((count, POINTS)), np.zeros((count, POINTS), bool)
        self._middles, self._means = np.zeros((count, 3)), np.zeros((count, 3))
        self._cones = np.zeros((5, count))
        self._clear = np.zeros((count, POINTS), bool)  # what furniture and loose objects do not hide
        self._seen, self._partly = b"", np.zeros(count, bool)

    def _reach(self, geoms: Rows, body: int) -> float:
        """Returns the radius of a ball about an object's origin that holds all of it."""
        away = np.linalg.norm(self._world.data.geom_xpos[geoms] - self._world.data.xpos[body], axis=1)
        return float((away + self._radii[geoms]).max(initial=0.0))

    def look(self) -> ObjectsInView:
        """Returns what is seen at this moment: the last view itself while no object moves or is seen otherwise."""
        data = self._world.data
        state = data.qpos.tobytes()
        if state != self._state:
            mujoco.mj_kinematics(self._world.model, data)  # a step leaves positions as they were at its beginning
            places = data.qpos[self._qpos]
            moved = (places != self._places).any(axis=1)
            if moved.any():
                self._seen = b""
                self._move(places, moved)
            self._view, self._state = self._look_past_arms(), state
        return self._view

    def share(self, points_in_world: Array, own: Collection[int] = ()) -> float:
        """Returns the share of some points that is seen at this moment; bodies in `own` do not hide them."""
        mujoco.mj_kinematics(self._world.model, self._world.data)
        points = np.asarray(points_in_world, float)
        bodies, is_before = self._first_hits(points - self._eye)
        hidden = is_before & ~np.isin(bodies, list(own))
        return float((self.camera.sees(points) & ~hidden).mean())

    def hiders(self, points_in_world: Array, own: Collection[int] = ()) -> list[str]:
        """Returns the names of what hides some points at this moment, as in the cell's file, most hidden first."""
        bodies, is_before = self._first_hits(np.asarray(points_in_world, float) - self._eye)
        hidden = bodies[is_before & ~np.isin(bodies, list(own))].tolist()
        names = Counter(self._world.model.body(body).name.partition("/")[0] for body in hidden)
        return [name for name, _ in names.most_common()]

    def middles(self, numbers: Rows | slice) -> Array:
        """Returns the middles of the sides that objects turn to the camera, in the world, at the last look."""
        return self._middles[numbers]

    def _move(self, places: Array, moved: Flags) -> None:
        """Takes new places of objects, and looks past furniture and objects wherever one of these was or is."""
        numbers = np.flatnonzero(moved)
        centres = np.concatenate([self._places[numbers, :3], places[numbers, :3]])
        self._places = places
        self._place(numbers)
        crossing = self._crossing(centres, np.tile(self._reaches[numbers], 2))
        stale = np.flatnonzero(moved | crossing.any(axis=0))
        crossing = self._crossing(self._world.data.geom_xpos[self._things], self._radii[self._things])
        shown = self._things[crossing[:, stale].any(axis=1)]
        self._clear[stale] = self._inside[stale] & ~self._hidden(stale, self._inside[stale], shown)

    def _place(self, numbers: Rows) -> None:
        """Takes the points of objects that have moved: those of the side that is turned to the camera."""
        data = self._world.data
        for number in numbers.tolist():
            body = self._bodies[number]
            position, turn = data.xpos[body], data.xmat[body].reshape(3, 3)
            figures = self._objects[number].figures
            direction = facing_side(figures, turn.T @ (self._eye - position))
            points = position + surface_points(figures, direction) @ turn.T
            self._points[number], self._inside[number] = points, self.camera.sees(points)
            self._middles[number] = middle = position + turn @ surface_middle(figures, direction)
            self._means[number] = points.mean(axis=0)
            self._ways[number] = ways = points - self._eye
            self._lengths[number] = np.sqrt((ways**2).sum(axis=1))
            size, way = np.linalg.norm(points - middle, axis=1).max(), middle - self._eye
            length = max(float(np.linalg.norm(way)), size + 1e-9)
            sine = size / length
            is_inside = self._inside[number].any()
            self._cones[:, number] = [*(way / length), np.sqrt(1 - sine**2), sine] if is_inside else OUTSIDE

    def _crossing(self, centres: Array, radii: Array) -> Flags:
        """Returns which balls the lines to which objects in the picture may meet, balls x objects.

        Lines to an object fill a cone. A ball meets it if the angle between their middles, as seen from the eye, is not
        above the sum of half their own: ``d cos(a) >= d cos(b + c)`` with the ball's distance d and ``d sin(b) = r``.
        """
        balls = np.empty((len(centres), 5))
        off = np.subtract(centres, self._eye, out=balls[:, :3])
        edge = np.einsum("ij,ij->i", off, off) - radii * radii
        balls[:, 3] = -np.sqrt(np.maximum(edge, 0.0))
        balls[edge <= 0.0, 3] = ENDLESS_M  # the eye is inside
        balls[:, 4] = radii
        crossing: Flags = balls @ self._cones >= -1e-9
        return crossing

    def _look_past_arms(self) -> ObjectsInView:
        """Casts lines past arms: a few to see whether one is in the way, the others if so.

        All are cast at once to what was seen in part before: mostly it still is.
        """
        crossing = self._crossing(self._world.data.geom_xpos[self._arms], self._radii[self._arms])
        numbers, shown = np.flatnonzero(crossing.any(axis=0)), self._arms[crossing.any(axis=1)]
        seen = self._clear.copy()
        wanted = seen[numbers]
        wanted[~self._partly[numbers], DECIDING:] = False
        seen[numbers] &= ~self._hidden(numbers, wanted, shown)
        first = seen[:, :DECIDING]
        partly = first.any(axis=1) != first.all(axis=1)
        more = numbers[(partly & ~self._partly)[numbers]]
        if more.size:
            wanted = seen[more]
            wanted[:, :DECIDING] = False
            seen[more] &= ~self._hidden(more, wanted, shown)
        if self._seen == (told := seen.tobytes()):
            return self._view
        self._seen, self._partly = told, partly
        shares, shifts_m = seen[:, 0].astype(float), np.zeros_like(self._middles)
        if partly.any():
            rest = seen[partly]
            counts = rest.sum(axis=1)
            shares[partly] = counts / POINTS
            sums = (self._points[partly] * rest[:, :, None]).sum(axis=1)
            shifts_m[partly] = sums / counts[:, None] - self._means[partly]
        return ObjectsInView(shares, shifts_m)

    def _hidden(self, numbers: Rows, wanted: Flags, geoms: Rows) -> Flags:
        """Returns which of the wanted points of some objects certain geoms hide."""
        hidden = np.zeros_like(wanted)
        rows, points = wanted.nonzero()
        if geoms.size and rows.size:
            whose = numbers[rows]
            groups = self._world.model.geom_group
            kept = groups.copy()
            groups[:] = UNSEEN_GROUP
            groups[geoms] = kept[geoms]
            try:
                bodies, is_before = self._first_hits(self._ways[whose, points], self._lengths[whose, points])
            finally:
                groups[:] = kept
            hidden[rows, points] = is_before & (bodies != self._bodies[whose])
        return hidden

    def _first_hits(self, ways: Array, lengths: Array | None = None) -> tuple[npt.NDArray[np.int32], Flags]:
        """Returns the body that the line along each way meets first, and whether that is before its end."""
        model, count = self._world.model, len(ways)
        lengths = np.sqrt((ways**2).sum(axis=1)) if lengths is None else lengths
        geoms, shares = np.empty(count, np.int32), np.empty(count)
        # Ways are not of unit length: distances are told as shares of each.
        flat, farthest = ways.ravel(), float(lengths.max())
        mujoco.mj_multiRay(
            model, self._world.data, self._eye, flat, SOLID, True, self._own, geoms, shares, None, count, farthest
        )
        is_before: Flags = (geoms >= 0) & (shares * lengths < lengths - BEFORE_M)
        return self._owners[geoms], is_before

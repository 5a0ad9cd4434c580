"""The mirror: things of the simulated cell are put where external detectors see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TrayFigures
from cellwright.cells.fields import Vector
from cellwright.core.assignment import assign
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.hybrid.resting import far_off, rest_pose, riders_of
from cellwright.hybrid.seen_things import FRAMES, SeenThing, SeenThings
from cellwright.lab import Lab
from cellwright.sensors import Sensor
from cellwright.sim.sight import LineOfSight

__all__ = ["Mirror"]

Array = npt.NDArray[np.float64]

NEAR_M = 0.025  # less than half the distance of slots: what is seen so near is that very thing
IN_SLOT_M = 0.006  # from the axis of a slot: a part lies in it
WHOLE = 0.99  # visible share from which on the middle of a thing is that of what is seen of it
CLEAR = 0.6  # visible share of a thing from which on it should be seen
HAND_M = 0.10  # from a hand to a thing that may be in it, or about to be
SLOW = 0.01  # m/s and rad/s: what is slower rests
OWN_S = 1.0  # for so long a thing is left to the detector that saw it last, if that is nearer
UNSEEN_S = 10.0  # a thing that should be seen, and is not, is told after that
MOST_TOLD = 6


@dataclass
class _Eye:
    """A detector: its sight in the simulated cell, and what it sees of the external one.

    Attributes:
        unseen_s: Thing that should be seen, and is not -> since when.
        told: Those of which that was told.
    """

    sight: LineOfSight
    seen: SeenThings = field(default_factory=SeenThings)
    frames: int = 0
    unseen_s: dict[str, float] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)


class Mirror:
    """Puts things of the simulated cell where external detectors see them; one for a laboratory.

    With a detector's first frames all things in its view are put where it sees them, also such that are far from their
    drawn places. Later a thing is put elsewhere only after several frames in a row, when it lies still here and there.
    What is in a simulated hand, or near one, is left alone; so is what nobody sees. Parts go with their tray. Heights
    and leans that are not measured are those of what a thing rests on.

    Args:
        lab: The laboratory.
    """

    def __init__(self, lab: Lab) -> None:
        self._world = lab.world
        self._eyes: dict[str, _Eye] = {}
        self._owners: dict[str, tuple[str, float]] = {}

    def forget(self, detector: str) -> None:
        """Forgets what a detector saw: its next frames are its first."""
        self._eyes.pop(detector, None)
        self._owners = {thing: owner for thing, owner in self._owners.items() if owner[0] != detector}

    def take(
        self,
        sensor: Sensor[Any],
        frame: Detections,
        tell: Callable[[str, str], None],
        region_m: tuple[Vector, Vector] | None = None,
    ) -> None:
        """Takes in a frame of an external detector, in the world.

        Args:
            sensor: The simulated detector that it stands for.
            frame: What was seen.
            tell: Told what was put elsewhere, and what is not seen.
            region_m: Two corners of a box; what stands outside is left alone.
        """
        sight = getattr(sensor, "sight", None)
        if not isinstance(sight, LineOfSight):
            return  # what it should see is not known
        eye = self._eyes.setdefault(sensor.source, _Eye(sight))
        eye.seen.take(frame)
        eye.frames += 1
        if eye.frames < FRAMES:
            return
        is_first = eye.frames == FRAMES
        moved: list[str] = []
        for of_trays in (True, False):  # parts go with their trays, and only then are looked for
            moved += self._match(sensor.source, eye, of_trays, frame.time_s, is_first, region_m)
        if moved:
            more = f" and {len(moved) - MOST_TOLD} more" if len(moved) > MOST_TOLD else ""
            tell("mirrored", f"{len(moved)} put where {sensor.source} sees them: {', '.join(moved[:MOST_TOLD])}{more}")
        for thing, since_s in eye.unseen_s.items():
            if thing not in eye.told and frame.time_s - since_s > UNSEEN_S:
                eye.told.add(thing)
                tell("mirrored", f"{sensor.source} does not see {thing} where the simulated one lies: it is left there")

    def _match(
        self,
        detector: str,
        eye: _Eye,
        of_trays: bool,
        time_s: float,
        is_first: bool,
        region_m: tuple[Vector, Vector] | None,
    ) -> list[str]:
        """Finds the thing that each sighting is of, and puts those elsewhere that are not there."""
        world = self._world
        names = [
            name
            for name, item in world.objects.items()
            if item.is_tray is of_trays and (region_m is None or _is_in(world.pose_of(name).position, region_m))
        ]
        skus = {world.objects[name].sku for name in names}
        seen = [one for one in eye.seen.all if one.sku in skus]
        shares = dict(zip(world.objects, eye.sight.look().shares.tolist(), strict=True))
        busy = {name for name in names if self._is_busy(name)}
        pairs = self._assigned(names, seen, NEAR_M)
        found = {name for name, _ in pairs}
        for name, item in world.objects.items():
            if item.is_tray is of_trays and name not in names:
                eye.unseen_s.pop(name, None)
        for name in names:
            if name in found or name in busy or shares[name] < CLEAR:
                eye.unseen_s.pop(name, None)
                eye.told -= {name} & found
            else:
                eye.unseen_s.setdefault(name, time_s)
        taken = {id(one) for _, one in pairs}
        in_hands = {world.objects[name].sku for name in busy}
        lost = [name for name in eye.unseen_s if name in set(names) and (is_first or self._is_lost(eye, name, time_s))]
        rest = [one for one in seen if id(one) not in taken and one.is_still and self._hand_m(one.position) > HAND_M]
        if not is_first:  # what appears may be what a hand has just set down
            rest = [one for one in rest if one.sku not in in_hands]
        far = self._assigned(lost, rest, np.inf)
        moved = []
        for name, one in [*pairs, *far]:
            if not self._owns(detector, name, time_s) or name in busy or not one.is_still:
                continue
            is_near = (name, one) not in far
            if is_near and not of_trays and shares[name] < WHOLE:
                continue  # what is seen of it has another middle than the whole
            middle = self._by_parts(eye, name, one) if of_trays and shares[name] < WHOLE else one.position
            pose = rest_pose(world, name, one, middle, is_near=is_near)
            if pose is not None and far_off(world.pose_of(name), pose, is_first):
                moved += self._put(name, pose)
        return moved

    def _is_lost(self, eye: _Eye, name: str, time_s: float) -> bool:
        """Returns whether a thing was not seen in its place for as long as another place takes to be sure."""
        return time_s - eye.unseen_s[name] >= 0.5

    def _assigned(self, names: list[str], seen: list[SeenThing], limit_m: float) -> list[tuple[str, SeenThing]]:
        if not names or not seen:
            return []
        places = np.array([self._world.pose_of(name).position[:2] for name in names])
        sights = np.array([one.positions[-1][:2] for one in seen])
        costs: Array = ((places[:, None] - sights) ** 2).sum(axis=2)
        same = np.array([[self._world.objects[name].sku == one.sku for one in seen] for name in names])
        costs[~same] = np.inf
        limit = limit_m**2 if np.isfinite(limit_m) else 1e6
        return [(names[row], seen[column]) for row, column in assign(costs, limit)]

    def _by_parts(self, eye: _Eye, tray: str, seen: SeenThing) -> Array:
        """Returns where a tray is that is seen in part only: by parts in its slots that are seen whole, if there are.

        What is seen of a thing that is partly hidden has another middle than the whole.
        """
        world, item = self._world, self._world.objects[tray]
        assert isinstance(item.figures, TrayFigures)
        slots = np.array([slot.xy_m for slot in item.figures.slots]).reshape(-1, 2)
        here = world.pose_of(tray)
        turned = Pose(np.zeros(3), seen.yawed(here.quaternion))
        shares = dict(zip(world.objects, eye.sight.look().shares.tolist(), strict=True))
        in_tray = {name: here.inverse().apply(world.pose_of(name).position) for name in world.objects}
        parts = [
            name
            for name, place in in_tray.items()
            if not world.objects[name].is_tray
            and shares[name] >= WHOLE
            and (np.hypot(*(slots - place[:2]).T) < IN_SLOT_M).any()
        ]
        pairs = self._assigned(parts, [one for one in eye.seen.all if one.is_still], NEAR_M)
        if not pairs:
            return seen.position
        middles = np.array([one.position - turned.apply(in_tray[name]) for name, one in pairs])
        return np.array([*np.median(middles, axis=0)[:2], seen.position[2]])

    def _put(self, name: str, pose: Pose) -> list[str]:
        """Puts a thing elsewhere, with all that lies on it; nothing if a hand is near any of that."""
        world = self._world
        here = world.pose_of(name)
        riders = riders_of(world, name) if isinstance(world.objects[name].figures, TrayFigures) else []
        if any(self._is_busy(rider) for rider in riders):
            return []
        way = pose @ here.inverse()
        for rider in riders:
            world.place(rider, way @ world.pose_of(rider))
        world.place(name, pose)
        return [f"{name} by {1000 * float(np.linalg.norm(pose.position - here.position)):.1f} mm"]

    def _is_busy(self, name: str) -> bool:
        """Returns whether a thing moves, or is in or near a hand."""
        item, data = self._world.objects[name], self._world.data
        if np.abs(data.qvel[item.dof : item.dof + 6]).max() > SLOW:
            return True
        figures = item.figures
        radius_m = float(np.hypot(*figures.size_m)) / 2 if isinstance(figures, TrayFigures) else figures.radius_m
        return self._hand_m(data.qpos[item.qpos : item.qpos + 3]) < HAND_M + radius_m

    def _hand_m(self, position: Array) -> float:
        """Returns the distance from the nearest hand."""
        data = self._world.data
        hands = [data.site_xpos[robot.hand.tcp_site] for robot in self._world.robots.values() if robot.hand]
        return min((float(np.linalg.norm(hand - position)) for hand in hands), default=np.inf)

    def _owns(self, detector: str, name: str, time_s: float) -> bool:
        """Returns whether a detector is the one by which a thing is placed: of those that see it the nearest."""
        owner, last_s = self._owners.get(name, (detector, time_s))
        if owner != detector and owner in self._eyes and time_s - last_s < OWN_S:
            position = self._world.pose_of(name).position
            ours, theirs = (self._eyes[one].sight.camera.pose_in_world.position for one in (detector, owner))
            if np.linalg.norm(ours - position) >= np.linalg.norm(theirs - position):
                return False
        self._owners[name] = (detector, time_s)
        return True


def _is_in(position: Array, region_m: tuple[Vector, Vector]) -> bool:
    """Returns whether a thing stands in a box."""
    return bool(((position >= np.minimum(*region_m)) & (position <= np.maximum(*region_m))).all())

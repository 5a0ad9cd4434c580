"""Collisions: every contact of a robot, its tool or what it holds with something that it should not touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from fnmatch import fnmatchcase
from math import inf
from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import OutOfRange
from cellwright.core.pose import Pose
from cellwright.judge.allowed_contact import AllowedContact
from cellwright.judge.tray_contents import is_still_on_tray, poses_on_tray
from cellwright.sim import Stepper, TickOrder, World
from cellwright.sim.contacts import owner

__all__ = ["CollisionEvent", "CollisionMonitor"]


@dataclass(frozen=True, kw_only=True)
class CollisionEvent:
    """A contact of two bodies that should not touch, from the first to the last moment.

    Attributes:
        first: Of the robot, or what it held.
        second: What was touched.
        start_s: When it began.
        end_s: When it was last seen.
        force_n: The largest normal force between them.
        depth_m: The deepest that one was inside the other.
        position_m: Of the first contact, in the world.
    """

    first: str
    second: str
    start_s: float
    end_s: float
    force_n: float
    depth_m: float
    position_m: tuple[float, float, float]

    def __str__(self) -> str:
        return f"{self.first} hit {self.second} at {self.start_s:.2f} s with {self.force_n:.1f} N"


class _Count(IntEnum):
    """Classes of contacts between two geoms: whether they count as collisions."""

    NEVER = 0
    WHILE_HELD = 1  # one of them belongs to a loose object
    ALWAYS = 2  # one of them belongs to a robot


class CollisionMonitor:
    """Checks all contacts after every physics step. An object is held while a pad, or the lip of a cup, touches it.

    Parts in a tray that is held are held with it, and may touch it. Contacts inside one tool do not count, and
    neither do allowed ones. That pads touch what they are to hold must be allowed, too. Loose objects
    that touch already when one of them is taken may do so until they part.

    Attributes:
        hits: What was found, in order; one entry for each pair and each time that it began to touch.

    Args:
        world: What is really there.
        stepper: Calls the monitor on every tick.
        allowed_contacts: The pairs that may touch.
        pause_s: A pair that was apart for longer touches anew.
        name: Of the monitor; several in one world need one each.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        allowed_contacts: Iterable[AllowedContact] = (),
        pause_s: float = 0.1,
        name: str = "collision monitor",
    ) -> None:
        if not 0 <= pause_s <= 1e6:
            raise OutOfRange("pause between hits", pause_s, 0, 1e6, "s")
        self.allowed_contacts = tuple(allowed_contacts)
        self.pause_s = pause_s
        self.hits: list[CollisionEvent] = []
        self.on_hit: Callable[[CollisionEvent], None] = lambda _hit: None
        self._world = world
        self._pairs = b""
        self._suspects = tuple[int, ...]()
        self._held = set[int]()
        self._touching = set[tuple[int, ...]]()
        self._pardoned: dict[tuple[int, ...], float] = {}
        self._parts_in_tray: dict[int, dict[str, Pose]] = {}
        self._limited: dict[tuple[str, str], list[AllowedContact]] = {}
        world.bind(self._look_up)
        world.add_component(name, self)
        self._ticking = stepper.every(1, self._tick, order=TickOrder.JUDGE, name=name)

    def stop(self) -> None:
        """Looks no more."""
        self._ticking.cancel()

    def save(self) -> tuple[CollisionEvent, ...]:
        """Returns the collisions so far."""
        return tuple(self.hits)

    def load(self, state: tuple[CollisionEvent, ...]) -> None:
        """Goes back to it."""
        self.hits[:] = state
        self._forget()

    def let_go(self, part: str) -> None:
        """Does nothing: the monitor holds no object."""

    def _look_up(self) -> None:
        """Looks up the names of all geoms, and for each pair whether its contact counts."""
        model, robots, objects = self._world.model, self._world.robots, self._world.objects
        pads = {
            geom: model.geom(geom).name for robot in robots.values() if robot.gripper for geom in robot.gripper.pads
        }
        lips = {lip for robot in robots.values() if robot.vacuum for cup in robot.vacuum.cups for lip in cup.lip}
        names = [pads.get(geom) or owner(model, geom) for geom in range(model.ngeom)]
        self._names = names
        self._bodies = np.array(model.geom_bodyid)
        self._objects = {item.body: name for name, item in objects.items()}
        pad = np.isin(np.arange(model.ngeom), [*pads, *lips])
        loose = np.array([name in objects for name in names])
        arms = {*robots, *self._world.cell.tools}  # a tool that robots change is on a robot, or hangs in its holder
        robot = np.array([name.partition("/")[0] in arms for name in names])
        tool = np.array([_tool_of(name) or str(geom) for geom, name in enumerate(names)])
        counts = np.zeros((model.ngeom, model.ngeom), np.int8)
        counts[loose | loose[:, None]] = _Count.WHILE_HELD
        counts[robot | robot[:, None]] = _Count.ALWAYS
        counts[tool == tool[:, None]] = _Count.NEVER
        geoms: dict[str, list[int]] = {}
        for geom, name in enumerate(names):
            geoms.setdefault(name, []).append(geom)
        everywhere = [allowed for allowed in self.allowed_contacts if allowed.always]
        patterns = {pattern for allowed in everywhere for pattern in (allowed.first, allowed.second)}
        fitting = {p: [geom for name in geoms if fnmatchcase(name, p) for geom in geoms[name]] for p in patterns}
        for allowed in everywhere:
            first, second = fitting[allowed.first], fitting[allowed.second]
            counts[np.ix_(first, second)] = _Count.NEVER
            if not allowed.one_way:
                counts[np.ix_(second, first)] = _Count.NEVER
        self._counts = counts  # row: who is held, or a robot's
        self._grips = (pad & loose[:, None]) | (loose & pad[:, None])
        self._robot = robot
        self._loose = loose
        self._forget()

    def _forget(self) -> None:
        self._pairs = b""
        self._suspects = ()
        self._held = set()
        self._touching = set()
        self._pardoned = {}
        self._parts_in_tray = {}

    def _tick(self) -> None:
        """Checks the contacts of a step; pairs change far less often, so the last answer is mostly reused."""
        data = self._world.data
        if not data.ncon:
            if self._pairs:
                self._pairs = b""
                self._suspects = ()
                self._held = set()
                self._parts_in_tray = {}
            return
        pairs = data.contact.geom
        if (key := pairs.tobytes()) != self._pairs:
            self._pairs = key
            self._suspects = self._suspects_among(pairs)
        if self._suspects:
            self._record(self._suspects)

    def _suspects_among(self, pairs: Any) -> tuple[int, ...]:
        """Returns the numbers of the contacts that count, wherever they are."""
        first, second = pairs.T
        ours, theirs, grips = self._counts[first, second], self._counts[second, first], self._grips[first, second]
        suspect = (ours == _Count.ALWAYS) & (theirs == _Count.ALWAYS)
        if not grips.any():
            self._held = set()
            self._parts_in_tray = {}
            return tuple(np.flatnonzero(suspect).tolist())
        bodies = self._bodies[pairs]
        held = self._held_bodies({body for body in bodies[grips].ravel().tolist() if body in self._objects})
        one, other = held[bodies].T
        # What is held and not allowed to touch: of the one, or of the other, or of both.
        bad = ((one == 0) | (ours == _Count.WHILE_HELD)) & ((other == 0) | (theirs == _Count.WHILE_HELD))
        preexisting = self._preexisting_among(pairs, bodies, set(np.flatnonzero(held).tolist()))
        suspect |= bad & (one != other) & ~preexisting
        return tuple(np.flatnonzero(suspect).tolist())

    def _held_bodies(self, held: set[int]) -> Any:
        """Returns body -> the body in a hand that it is, or lies in; 0 for what is in no hand."""
        world, trays = self._world, [body for body in held if self._world.objects[self._objects[body]].is_tray]
        groups = np.zeros(world.model.nbody, np.intp)
        for body in sorted(held):
            groups[body] = body
        parts_in_tray: dict[int, dict[str, Pose]] = {}
        for body in trays:
            tray = self._objects[body]
            known = self._parts_in_tray.get(body)
            parts_in_tray[body] = (
                poses_on_tray(world, tray)
                if known is None
                else {part: pose for part, pose in known.items() if is_still_on_tray(world, tray, part, pose)}
            )
            for part in parts_in_tray[body]:
                rider = world.objects[part].body
                groups[rider] = groups[rider] or body
        if parts_in_tray.keys() != self._parts_in_tray.keys():
            self._limited.clear()
        self._parts_in_tray = parts_in_tray
        return groups

    def _preexisting_among(self, pairs: Any, bodies: Any, held: set[int]) -> Any:
        """Returns the contacts that existed already when a loose object was taken: the robot did not cause them.

        They do not count until the two have been apart for longer than `pause_s`.
        """
        now_s = self._world.clock.time_s
        loose = self._loose[pairs].all(axis=1)
        touching = {tuple(sorted(pair)) for pair in bodies[loose].tolist()}
        for pair in self._pardoned:
            if pair in self._touching:  # as it did until now
                self._pardoned[pair] = now_s
        self._pardoned = {pair: s for pair, s in self._pardoned.items() if now_s - s <= self.pause_s}
        fresh = held - self._held
        self._pardoned |= {pair: now_s for pair in touching if fresh & {*pair}}
        self._held = held
        self._touching = touching
        return np.array([tuple(sorted(pair)) in self._pardoned for pair in bodies.tolist()], bool)

    def _record(self, contacts: Iterable[int]) -> None:
        """Adds up the contacts of each pair, and goes on with its hit or begins one."""
        data, now_s = self._world.data, self._world.clock.time_s
        force, found, limits_n = np.zeros(6), dict[tuple[str, str], CollisionEvent](), dict[tuple[str, str], float]()
        for number in contacts:
            contact = data.contact[number]
            # What belongs to a robot comes first; of two such, or of two objects, the first by name.
            pair = sorted((not self._robot[geom], self._names[geom]) for geom in contact.geom)
            one, other = pair[0][1], pair[1][1]
            limit_n = self._limit_n(one, other, contact.pos)
            if contact.dist > 0 or limit_n == inf:
                continue
            mujoco.mj_contactForce(self._world.model, data, number, force)
            x, y, z = (float(value) for value in contact.pos)
            hit = found.get((one, other)) or CollisionEvent(
                first=one, second=other, start_s=now_s, end_s=now_s, force_n=0.0, depth_m=0.0, position_m=(x, y, z)
            )
            depth_m = max(hit.depth_m, -float(contact.dist))
            found[one, other] = replace(hit, force_n=hit.force_n + float(force[0]), depth_m=depth_m)
            limits_n[one, other] = max(limits_n.get((one, other), -inf), limit_n)
        for pair_of, hit in found.items():
            if hit.force_n > limits_n[pair_of]:
                self._enter(hit)

    def _enter(self, hit: CollisionEvent) -> None:
        for number, known in enumerate(self.hits):
            same = (known.first, known.second) == (hit.first, hit.second)
            if same and hit.start_s - known.end_s <= self.pause_s:
                worst = max(known.force_n, hit.force_n), max(known.depth_m, hit.depth_m)
                self.hits[number] = replace(known, end_s=hit.end_s, force_n=worst[0], depth_m=worst[1])
                return
        self.hits.append(hit)
        self.on_hit(hit)

    def _tray_of(self, thing: str) -> str:
        """Returns the tray in a hand that a part lies in, or the thing itself."""
        return next((self._objects[body] for body, parts in self._parts_in_tray.items() if thing in parts), thing)

    def _limit_n(self, one: str, other: str, position_m: Any) -> float:
        """Returns the force with which these two may touch there; those that are always allowed are in the table.

        Parts in a tray may touch what their tray may.
        """
        x_m, y_m = float(position_m[0]), float(position_m[1])
        if (allowed_here := self._limited.get((one, other))) is None:
            pairs = ((one, other), (self._tray_of(one), self._tray_of(other)))
            allowed_here = [p for p in self.allowed_contacts if not p.always and any(p.covers(*pair) for pair in pairs)]
            self._limited[one, other] = allowed_here
        return max((allowed.limit_n for allowed in allowed_here if allowed.covers_place(x_m, y_m)), default=-inf)


def _tool_of(name: str) -> str:
    """Returns the tool that a name of a robot's body or pad belongs to, or nothing."""
    robot, _, rest = name.partition("/")
    return f"{robot}/tool" if rest.startswith("tool/") else ""

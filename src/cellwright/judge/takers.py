"""The robots that can take a thing as it lies: with a tool that holds it, in reach, with room, and seen.

What is covered can be taken when all that covers it can be taken away before. No limit of a controller's own is in
here: a thing may lean as it likes, as long as a tool of the cell gets to it and closes, if need be after it has pressed
a gear upright.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from cellwright.catalogue import FURNITURE, GripperFigures, PartFigures, TrayFigures, VacuumFigures
from cellwright.catalogue.furniture_kinds import FloorFigures
from cellwright.core.pose import Pose
from cellwright.judge.hand_room import FIXED, SWINGS_DEG, HandRoom
from cellwright.judge.kit_place import fixture_below
from cellwright.judge.pressing import Pressing
from cellwright.judge.seating import lean_rad
from cellwright.judge.support import loose_bodies, things_on
from cellwright.judge.tool_inventory import ToolInventory
from cellwright.sim import World

__all__ = ["SightTest", "Takers"]

ABOVE_M = 0.01  # of a thing on the floor, whose origin may be a little below that


class SightTest(Protocol):
    """A test of whether a thing can be seen by a controller."""

    def __call__(self, thing: str, without: Collection[str]) -> bool:
        """Returns whether a detector's camera sees a loose thing when no arm is in the way.

        Args:
            thing: Its name.
            without: Loose things that can be taken away before.
        """


class Takers:
    """The robots that can take some parts and trays, which no hand holds, and all that is in their way.

    Args:
        world: What is really there.
        tools: The tools, and the robots that can have them.
        robots: Robots in service.
        things: What is asked about.
        seats: SKU -> poses in the world in which such parts shall end.
        sees: Tests what can be seen; without it everything can.

    Attributes:
        of: Part or tray -> the robots that can take it, those that nobody can left out.
        lost: Part or tray -> why no robot can.
        before: Part or tray -> what must be taken away before.
        pressed: Gears that can be taken only after they were pressed upright.
    """

    def __init__(
        self,
        world: World,
        tools: ToolInventory,
        robots: Collection[str],
        things: Iterable[str],
        seats: Mapping[str, Sequence[Pose]],
        sees: SightTest | None = None,
    ) -> None:
        self._world, self._tools, self._robots, self._seats = world, tools, sorted(robots), seats
        self._room = HandRoom(world)
        self._set_down: dict[tuple[str, str, str, int], bool] = {}
        self.of: dict[str, frozenset[str]] = {}
        self.lost: dict[str, str] = {}
        self.before: dict[str, frozenset[str]] = {}
        self.pressed: set[str] = set()
        options: dict[str, list[tuple[str, frozenset[str]]]] = {}
        new = set(things)
        while new:
            options |= {name: self._options(name) for name in sorted(new)}
            covers = {cover for name in new for _, obstacles in options[name] for cover in obstacles}
            new = {cover for cover in covers if cover in world.objects and cover not in options}
        removable = {tool for robot in self._robots for tool in tools.tools_of(robot)}
        found = True
        while found:  # what can be taken now frees what it covers
            found = False
            for name in options:
                if name in self.of:
                    continue
                free = [option for option in options[name] if option[1] <= removable]
                if free and (sees is None or sees(name, removable & world.objects.keys())):
                    self.of[name] = frozenset(robot for robot, _ in free)
                    if least := min((obstacles for _, obstacles in free), key=len):
                        self.before[name] = least
                    removable.add(name)
                    found = True
        for name in options:
            if name not in self.of:
                self.lost[name] = self._why(name, options[name], removable)

    def _options(self, name: str) -> list[tuple[str, frozenset[str]]]:
        """Returns robots with what is in their way; of a way that is free, nothing."""
        found = []
        for robot in self._robots:
            for obstacles in self._ways(robot, name):
                if (robot, obstacles) not in found:
                    found.append((robot, obstacles))
                if not obstacles:
                    break
        if not found and any(self._is_in_reach(robot, name) for robot in self._robots):
            found = self._pressed_options(name)
            self.pressed |= {name} if found else set()
        return found

    def _pressed_options(self, name: str) -> list[tuple[str, frozenset[str]]]:
        """Returns robots with what is in their way, after closed fingers have pressed a gear upright."""
        press = Pressing(self._world, name)
        if press.pose is None:
            return []
        after, sku, found = HandRoom(self._world, press.data), self._world.objects[name].sku, []
        for robot in self._robots:
            for tool in self._tools.tools_of(robot):
                hand = self._tools.figures(tool)
                if sku not in self._tools.handles[tool] or not isinstance(hand, GripperFigures):
                    continue
                begin, end = press.fingers(hand)
                if not all(self._tools.gets_to(robot, tool, pose) for pose in (begin, end)):
                    continue
                pressing = self._room.obstacles(tool, begin, hand.closed_m, name) - {name}  # which it is to touch
                pressing |= after.obstacles(tool, end, hand.closed_m, name)
                if pressing.isdisjoint((FIXED, name)):
                    ways = after.ways(tool, name, 0, partial(self._tools.gets_to, robot, tool))
                    found += [(robot, pressing | obstacles) for obstacles in ways]
        return found

    def _ways(self, robot: str, name: str) -> Iterator[frozenset[str]]:
        """Yields what is in the way, for every way of a robot to a thing that it reaches and can set down then."""
        sku = self._world.objects[name].sku
        for tool in self._tools.tools_of(robot):
            if sku not in self._tools.handles[tool] or not self._bears(tool, name):
                continue
            reaches = partial(self._tools.gets_to, robot, tool)
            for swing_deg in SWINGS_DEG:
                if swing_deg == 0 or self._can_set_down(robot, tool, name, swing_deg):
                    yield from self._room.ways(tool, name, swing_deg, reaches)

    def _bears(self, tool: str, name: str) -> bool:
        """Returns whether cups keep hold of a thing that leans, with all that is on it: by their lips' friction."""
        figures, pose, model = self._tools.figures(tool), self._world.pose_of(name), self._world.model
        if not isinstance(figures, VacuumFigures):
            return True
        things = [name, *(thing for thing in things_on(self._world, name) if thing in self._world.objects)]
        bodies = [body for thing in things for body in loose_bodies(self._world)[thing]]
        weight_n = float(model.body_mass[bodies].sum() * np.linalg.norm(model.opt.gravity))
        pressed_n = figures.holding_force_n * figures.array_number - weight_n * np.cos(lean_rad(pose))
        return bool(figures.lip_friction * pressed_n >= weight_n * np.sin(lean_rad(pose)))

    def _can_set_down(self, robot: str, tool: str, name: str, swing_deg: int) -> bool:
        """Returns whether a part that is held askew can be set upright where it shall end."""
        sku = self._world.objects[name].sku
        key = robot, tool, sku, swing_deg
        if key not in self._set_down:
            half_width_m = self._room.half_width_m(tool, name)
            poses = [s @ grasp for s in self._seats.get(sku, ()) for grasp in self._room.grasps(tool, name, swing_deg)]
            trays = [n for n, item in self._world.objects.items() if item.is_tray]  # parts can be set aside
            blocked = [frozenset({thing}) for thing in (FIXED, *trays)]
            self._set_down[key] = any(
                self._tools.gets_to(robot, tool, pose)
                and self._room.obstacles(tool, pose, half_width_m, name, blocked).isdisjoint((FIXED, *trays))
                for pose in poses
            )
        return self._set_down[key]

    def _why(self, name: str, options: Sequence[tuple[str, frozenset[str]]], removable: Collection[str]) -> str:
        """Returns why no robot can take a thing."""
        item, pose = self._world.objects[name], self._world.pose_of(name)
        if covers := [obstacles - set(removable) for _, obstacles in options]:
            if not (left := min(covers, key=len)):
                return "no camera sees it"
            return f"covered by {', '.join(sorted(left))}, which no robot can take away"
        if not any(self._tools.holds(robot, item.sku) for robot in self._robots):
            return "no tool holds it"
        if not any(self._is_in_reach(robot, name) for robot in self._robots):
            below = fixture_below(self._world, pose.position + [0.0, 0.0, ABOVE_M])
            is_low = below is not None and isinstance(
                FURNITURE.get(self._world.cell.fixtures[below[1]].model), FloorFigures
            )
            return "lies on the floor" if is_low else "out of every robot's reach"
        return f"no tool has room to take it, as it lies tilted by {np.degrees(lean_rad(pose)):.0f} deg"

    def _is_in_reach(self, robot: str, name: str) -> bool:
        item, pose = self._world.objects[name], self._world.pose_of(name)
        if isinstance(item.figures, PartFigures):
            return self._tools.takes_parts(robot, item.figures, pose)
        assert isinstance(item.figures, TrayFigures)
        return self._tools.takes(robot, item.sku, self._tools.grip_point(item.figures, pose))

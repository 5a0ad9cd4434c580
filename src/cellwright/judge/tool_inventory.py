"""The tools of a cell as they really are: on robots, in holders or lost; their parts and their robots."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import (
    CHANGERS,
    FURNITURE,
    TOOLS,
    GripperFigures,
    PartFigures,
    ToolHolderFigures,
    TrayFigures,
    VacuumFigures,
    part_grasp,
    tool_grasp_xyz_m,
    tray_grasp,
)
from cellwright.catalogue.tools import ToolFigures
from cellwright.core.pose import Pose
from cellwright.sim import World

__all__ = ["ReachTest", "ToolInventory"]

Point = npt.NDArray[np.float64]

HANGS_M = 0.02  # a tool that near to where it hangs in a holder can be taken from there


class ReachTest(Protocol):
    """A test of whether a robot reaches a point of the world: from above, or in a pose."""

    def __call__(
        self, robot: str, point_in_world_m: Point, tool: str = "", *, pose_tool_in_world: Pose | None = None
    ) -> bool:
        """Returns whether the robot reaches the point, and comes there straight along its tool.

        Args:
            robot: The robot.
            point_in_world_m: The point.
            tool: With which tool, of those that robots change; without a name, with what is there for good: its own
                tool, or the changer.
            pose_tool_in_world: In which pose the tool's centre point is then; without one the tool points straight
                down, at any turn.
        """


class ToolInventory:
    """All tools of a cell, with their places and uses.

    Args:
        world: What is really there.
        reaches: Tests whether a robot reaches a point.

    Attributes:
        robots: Those that have a tool or a changer.
        on: Robot -> the tool that it has now.
        holders: Holder -> the tool that hangs there.
        at_holders: Robot -> the holders that it gets to.
        handles: Tool -> SKUs of the parts and trays that it holds.
    """

    def __init__(self, world: World, reaches: ReachTest) -> None:
        self._world = world
        self._reaches = reaches
        self.robots = [name for name, robot in world.robots.items() if robot.hand or robot.changer]
        self._fixed = {f"{n}_gripper": i.hand.figures for n, i in world.robots.items() if i.hand and i.changer is None}
        self._figures = {**self._fixed, **{name: TOOLS.get(tool.model) for name, tool in world.cell.tools.items()}}
        own = {name: f"{name}_gripper" for name in self.robots if f"{name}_gripper" in self._fixed}
        self.on: dict[str, str | None] = {name: own.get(name) or world.mounts.on.get(name) for name in self.robots}
        places = {name: place for name in world.cell.fixtures if (place := self._coupling(name)) is not None}
        self.holders = {name: self._hanging(place) for name, place in places.items()}
        changing = [name for name in self.robots if world.robots[name].changer]
        self.at_holders = {
            robot: [h for h, place in places.items() if robot in changing and reaches(robot, place.position)]
            for robot in self.robots
        }
        self.handles = {name: self._held_by(name) for name in self._figures}

    @property
    def names(self) -> list[str]:
        """The names of all tools."""
        return list(self._figures)

    def figures(self, tool: str) -> ToolFigures:
        """Returns the figures of a tool."""
        return self._figures[tool]

    def tools_of(self, robot: str) -> list[str]:
        """Returns the tools that a robot has or can have: those in holders within its reach."""
        hanging = [self.holders[holder] for holder in self.at_holders[robot]]
        return [tool for tool in (self.on[robot], *hanging) if tool is not None]

    def takes(self, robot: str, sku: str, *points: Point) -> bool:
        """Returns whether a robot gets to all these points with one tool that holds such trays."""
        fitting = [tool for tool in self.tools_of(robot) if sku in self.handles[tool]]
        return any(self._gets_to(robot, tool, points) for tool in fitting)

    def takes_parts(self, robot: str, part: PartFigures, *poses: Pose) -> bool:
        """Returns whether a robot reaches such parts at all these poses with one tool, at its grasp height."""
        fitting = [tool for tool in self.tools_of(robot) if part.sku in self.handles[tool]]
        return any(
            self._gets_to(robot, tool, tuple(pose.apply(tool_grasp_xyz_m(part, self._figures[tool])) for pose in poses))
            for tool in fitting
        )

    def holds(self, robot: str, sku: str) -> bool:
        """Returns whether a robot has, or can have, a tool for such parts or trays."""
        return any(sku in self.handles[tool] for tool in self.tools_of(robot))

    def gets_to(self, robot: str, tool: str, pose_tool: Pose) -> bool:
        """Returns whether a robot gets a tool into a pose, straight along the tool's axis."""
        name = "" if tool in self._fixed else tool
        return self._reaches(robot, pose_tool.position, name, pose_tool_in_world=pose_tool)

    def grip_point(self, tray: TrayFigures, pose_tray: Pose) -> Point:
        """Returns the point where a tray is taken by the first suitable tool; without one the middle of its top."""
        grips = [tray_grasp(tray, tool) for tool in self._figures.values() if isinstance(tool, VacuumFigures)]
        xyz_m = next((grip.xyz_m for grip in grips if grip is not None), (0.0, 0.0, tray.thickness_m))
        return pose_tray.apply(xyz_m)

    def _gets_to(self, robot: str, tool: str, points: tuple[Point, ...]) -> bool:
        name = "" if tool in self._fixed else tool
        return all(self._reaches(robot, point, name) for point in points)

    def _coupling(self, fixture: str) -> Pose | None:
        """Returns the coupling point of a tool that hangs in a holder; None for any other fixture."""
        holder = FURNITURE.get(self._world.cell.fixtures[fixture].model)
        changers = [robot.changer for robot in self._world.cell.robots.values() if robot.changer is not None]
        if not isinstance(holder, ToolHolderFigures) or not changers:
            return None
        spot = holder.coupling_xyz_rpy(CHANGERS.get(changers[0]))
        return self._world.layout.fixtures[fixture] @ Pose.from_xyz_rpy(*spot)

    def _hanging(self, place: Pose) -> str | None:
        for name, tool in self._world.loose_tools.items():
            away_m = float(np.linalg.norm(self._world.data.xpos[tool.body] - place.position))
            if name not in self.on.values() and away_m < HANGS_M:
                return name
        return None

    def _held_by(self, tool: str) -> frozenset[str]:
        """Returns SKUs that fit between its pads or under its cups, of those that the cell allots to it."""
        cfg, figures = self._world.cell.tools.get(tool), self._figures[tool]
        meant = None if cfg is None else cfg.handles
        things = {item.sku: item.figures for item in self._world.objects.values()}
        fitting = {sku: thing for sku, thing in things.items() if meant is None or thing.name in meant}
        return frozenset(sku for sku, thing in fitting.items() if _fits(figures, thing))


def _fits(tool: object, thing: PartFigures | TrayFigures) -> bool:
    if isinstance(tool, GripperFigures):
        if not isinstance(thing, PartFigures):
            return False
        grip = part_grasp(thing, tool)
        return not grip.problem and 2 * tool.closed_m < grip.width_m < 2 * tool.open_m
    if not isinstance(tool, VacuumFigures):
        return False
    return tray_grasp(thing, tool) is not None if isinstance(thing, TrayFigures) else tool.fits(thing)

"""Tools that robots change, for the description of a workstation: what each is for, where it hangs, who reaches it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from cellwright.catalogue import CHANGERS, FURNITURE, ROBOTS, TOOLS, GripperFigures, ToolHolderFigures, part_of_sku
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.cells import Cell, Layout, RobotCfg
from cellwright.core.pose import Pose
from cellwright.knowledge.workstation import Changer, Place, ReachBox, ToolHolder, ToolOfStation
from cellwright.lab.reach import top_grasps
from cellwright.motion import ArmKinematics

__all__ = ["changing_station", "holder_boxes", "station_tools", "with_each_tool"]

STATION = "changing_station"
CLEAR_M = 0.25  # how far up a tool must get to be out of its holder
AROUND_M = 0.02


def changing_station(cell: Cell) -> tuple[Changer, ...]:
    """All holders of the cell as one station; none when it has no holder."""
    holders = []
    in_holder = {tool.holder: name for name, tool in cell.tools.items() if tool.holder is not None}
    for name, fixture in cell.fixtures.items():
        if isinstance(FURNITURE.get(fixture.model), ToolHolderFigures):
            holders.append(ToolHolder(name, Place(fixture.pose.pose, STATION), in_holder.get(name)))
    return (Changer(STATION, Place(), tuple(holders)),) if holders else ()


def station_tools(cell: Cell, skus: Collection[str]) -> Iterator[ToolOfStation]:
    """What each tool is for: what the cell says, or else what it can hold from above."""
    for name, tool in cell.tools.items():
        figures = TOOLS.get(tool.model)
        handles = tuple(sku for sku in sorted(skus) if _holds(tool.model, sku) and _is_for(tool.handles, sku))
        if isinstance(figures, GripperFigures):
            yield ToolOfStation(name, "ParallelGripper", handles, figures.title, figures.mass_kg, 2 * figures.open_m)
        else:
            yield ToolOfStation(name, "SingleCupEffector", handles, figures.title, figures.mass_kg)


def _holds(tool: str, sku: str) -> bool:
    figures = TOOLS.get(tool)
    if isinstance(figures, VacuumFigures):
        return figures.fits(part_of_sku(sku))
    return bool(top_grasps(sku, tool))


def _is_for(handles: Collection[str] | None, sku: str) -> bool:
    return handles is None or part_of_sku(sku).name in handles


def with_each_tool(cell: Cell, layout: Layout, robot: str) -> Iterator[RobotCfg]:
    """A robot as it is with every gripper that it can take: what its changer has now, or hangs where it reaches."""
    cfg = cell.robots[robot]
    reached = {box.name for box in holder_boxes(cell, layout, robot)}
    for tool in cell.tools.values():
        if isinstance(TOOLS.get(tool.model), GripperFigures) and (
            tool.robot == robot or _box_name(robot, str(tool.holder)) in reached
        ):
            yield cfg.model_copy(update={"tool": tool.model})


def holder_boxes(cell: Cell, layout: Layout, robot: str) -> Iterator[ReachBox]:
    """A box around every holder at which a robot with a changer gets a tool in and out."""
    cfg = cell.robots[robot]
    if cfg.changer is None:
        return
    kinematics, base = ArmKinematics(ROBOTS.get(cfg.model)), layout.bases[robot].inverse()
    for name, fixture in cell.fixtures.items():
        holder = FURNITURE.get(fixture.model)
        if not isinstance(holder, ToolHolderFigures):
            continue
        spots = (holder.flange_xyz_rpy(CHANGERS.get(cfg.changer), up_m) for up_m in (0.0, CLEAR_M))
        poses = [base @ layout.fixtures[name] @ Pose.from_xyz_rpy(*spot) for spot in spots]
        if all(len(found) for found in kinematics.inverse_of_many(poses, np.radians(cfg.home_deg))):
            x, y, z = layout.fixtures[name].position.tolist()
            low, high = (x - AROUND_M, y - AROUND_M, z - AROUND_M), (x + AROUND_M, y + AROUND_M, z + AROUND_M)
            yield ReachBox(_box_name(robot, name), low, high)


def _box_name(robot: str, holder: str) -> str:
    return f"{robot}_reaches_{holder}"

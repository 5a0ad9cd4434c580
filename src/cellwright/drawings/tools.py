"""Tools that robots change, for the description of a workstation: their uses, holders and robots in reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from cellwright.catalogue import (
    CHANGERS,
    FURNITURE,
    ROBOTS,
    TOOLS,
    TRAYS,
    GripperFigures,
    ToolHolderFigures,
    part_of_sku,
    tray_grasp,
)
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.cells import Cell, Layout, RobotCfg
from cellwright.core.pose import Pose
from cellwright.drawings.reach import top_grasps
from cellwright.knowledge.workstation import Place, ReachBox, ToolChangingStation, ToolHolder, ToolKind, WorkstationTool
from cellwright.motion import ArmKinematics

__all__ = ["changing_station", "holder_boxes", "station_tools", "tools_of", "with_each_tool"]

STATION = "changing_station"
CLEAR_M = 0.25  # how far up a tool must get to be out of its holder
AROUND_M = 0.02


def changing_station(cell: Cell) -> tuple[ToolChangingStation, ...]:
    """Returns all holders of the cell as one station; none when it has no holder."""
    holders = []
    in_holder = {tool.holder: name for name, tool in cell.tools.items() if tool.holder is not None}
    for name, fixture in cell.fixtures.items():
        if isinstance(FURNITURE.get(fixture.model), ToolHolderFigures):
            holders.append(ToolHolder(name, Place(fixture.pose.pose, STATION), in_holder.get(name)))
    return (ToolChangingStation(STATION, Place(), tuple(holders)),) if holders else ()


def station_tools(cell: Cell, skus: Collection[str], trays: Collection[str] = ()) -> Iterator[WorkstationTool]:
    """Returns the tools with the parts and kit trays they are for: as the cell says, or all that they can hold."""
    for name, tool in cell.tools.items():
        figures = TOOLS.get(tool.model)
        handles = tuple(sku for sku in sorted(skus) if _holds(tool.model, sku) and _is_for(tool.handles, sku))
        if isinstance(figures, VacuumFigures):
            handles += tuple(_carried(figures, tool.handles, trays))
            cups = (figures.array_number, figures.array_radius_m)
            kind: ToolKind = "SingleCupEffector" if figures.array_number == 1 else "MultiCupEffector"
            cup_m = figures.cup_diameter_m
            yield WorkstationTool(name, kind, handles, figures.title, figures.mass_kg, cup_m=cup_m, cups=cups)
        elif isinstance(figures, GripperFigures):
            yield WorkstationTool(name, "ParallelGripper", handles, figures.title, figures.mass_kg, 2 * figures.open_m)


def _carried(tool: VacuumFigures, handles: Collection[str] | None, trays: Collection[str]) -> Iterator[str]:
    """Yields the kit trays that a tool can carry and is for."""
    for name in TRAYS:
        tray = TRAYS.get(name)
        if tray.sku in trays and (handles is None or name in handles) and tray_grasp(tray, tool) is not None:
            yield tray.sku


def _holds(tool: str, sku: str) -> bool:
    figures = TOOLS.get(tool)
    if isinstance(figures, VacuumFigures):
        return figures.fits(part_of_sku(sku))
    return bool(top_grasps(sku, tool))


def _is_for(handles: Collection[str] | None, sku: str) -> bool:
    return handles is None or part_of_sku(sku).name in handles


def tools_of(cell: Cell, layout: Layout, robot: str) -> list[str]:
    """Returns the models of tools that a robot can have: fixed, in its changer, or in a holder within reach."""
    fixed = cell.robots[robot].tool
    reached = {box.name for box in holder_boxes(cell, layout, robot)}
    loose = [t.model for t in cell.tools.values() if t.robot == robot or _box_name(robot, str(t.holder)) in reached]
    return [*loose, *([] if fixed is None else [fixed])]


def with_each_tool(cell: Cell, layout: Layout, robot: str) -> Iterator[RobotCfg]:
    """Yields a robot as it is with every gripper that it can take."""
    cfg = cell.robots[robot]
    for tool in tools_of(cell, layout, robot):
        if isinstance(TOOLS.get(tool), GripperFigures):
            yield cfg.model_copy(update={"tool": tool})


def holder_boxes(cell: Cell, layout: Layout, robot: str) -> Iterator[ReachBox]:
    """Yields a box around every holder at which a robot with a changer gets a tool in and out."""
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

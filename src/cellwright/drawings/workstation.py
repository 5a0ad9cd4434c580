"""The description of a workstation from a cell's drawings, which belief starts from.

Only the nominal layout is used. The `actual` section of a cell says how far drawings may be from reality; what it
says of the spread is taken as prior uncertainty, what was drawn from it is not looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TRAYS, TrayKind, gripper_model
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.cells import Cell, Layout, Placement, drawn_layout
from cellwright.cells.actual import ActualCfg, PoseErrorCfg
from cellwright.core.pose import Pose
from cellwright.drawings.boxes import TrayPlaces
from cellwright.drawings.reach import SlotReach
from cellwright.drawings.spreads import spread_of
from cellwright.drawings.tools import changing_station, holder_boxes, station_tools, tools_of, with_each_tool
from cellwright.knowledge.tray_layout import TrayLayout, tray_layout
from cellwright.knowledge.workstation import (
    FixedKit,
    PartInTray,
    Place,
    ReachBox,
    RobotDescription,
    Spread,
    SupplyTray,
    Workstation,
    WorkstationTool,
    WorkTable,
)

__all__ = ["workstation_of"]

IN_SLOT_M = 0.003  # a part whose axis is that near to a slot's middle lies in it
IN_SLOT = Spread((0.001, 0.001, 0.0005), (0.01, 0.01, 1.8))  # estimated; a round part may be turned by any angle
LOOSE = Spread((0.01, 0.01, 0.002), (0.02, 0.02, 1.8))  # estimated
ON_TABLE_M = 0.02
HEADROOM_M = 0.15


def workstation_of(cell: Cell, layout: Layout | None = None) -> Workstation:
    """Returns the nominal contents of the cell, with the trays that each robot reaches with its tool.

    Args:
        cell: The cell.
        layout: The nominal layout of some seed, for planning without looking; what every seed has in common when None.
    """
    layout = layout or drawn_layout(cell)
    tables = _tables(cell, layout)
    tray_of = {tray.name: tray_layout(TRAYS.get(tray.model).sku) for tray in layout.trays}
    errors = cell.actual
    supplies, kits = [], []
    lying = _lying(layout, tray_of)
    places = TrayPlaces(cell, layout)
    for tray in layout.trays:
        if tray.name in places.in_boxes:
            continue
        place = _on_table(tray.pose_in_world, tables.values(), errors.tray, errors)
        parts = tuple(lying.get(tray.name, ()))
        if TRAYS.get(tray.model).kind is TrayKind.KIT:
            kits.append(FixedKit(tray.name, tray_of[tray.name].sku, place, parts))
        else:
            supplies.append(SupplyTray(tray.name, tray_of[tray.name].sku, place, parts))
    carrying = {tray.place.reference for tray in supplies} | {kit.place.reference for kit in kits}
    stacks = tuple(
        replace(s, place=_on_table(s.place.pose, tables.values(), errors.box, errors)) for s in places.stacks
    )
    outlets = tuple(
        replace(b, place=_on_table(b.place.pose, tables.values(), errors.box, errors)) for b in places.boxes
    )
    carrying |= {stack.place.reference for stack in stacks} | {box.place.reference for box in outlets}
    standing = {tray.name for tray in supplies} | {kit.name for kit in kits}
    free = [table for table in tables.values() if table.name not in carrying] if stacks else []
    skus = {part.sku for parts in lying.values() for part in parts}
    skus |= {slot.sku for layout in tray_of.values() for slot in layout.slots}
    robots, tools = [], list(station_tools(cell, skus, {stack.tray_sku for stack in stacks}))
    for name, robot in cell.robots.items():
        reach = SlotReach(robot, layout.bases[name])
        mounted = None
        if robot.tool is not None:
            figures, mounted = gripper_model(robot.tool), f"{name}_tool"
            handles = tuple(sku for sku in sorted(skus) if reach.grasps(sku))
            tools.append(
                WorkstationTool(mounted, "ParallelGripper", handles, figures.title, figures.mass_kg, 2 * figures.open_m)
            )
        boxes = _reach_boxes(name, reach, layout, tray_of, standing)
        equipped = list(with_each_tool(cell, layout, name))
        for one in equipped:
            boxes += _reach_boxes(name, SlotReach(one, layout.bases[name]), layout, tray_of, standing)
        boxes += tuple(places.reached(name, tools_of(cell, layout, name), equipped, free))
        boxes = tuple({box.name: box for box in (*boxes, *holder_boxes(cell, layout, name))}.values())
        mounted = mounted or next((tool for tool, cfg in cell.tools.items() if cfg.robot == name), None)
        place = Place(layout.bases[name], spread=spread_of(errors.robot_base))
        robots.append(RobotDescription(name, place, mounted, boxes, ROBOTS.get(robot.model).title))
    used = {
        table.name
        for table in free
        for robot in robots
        if any(b.name.endswith(f"_reaches_{table.name}") for b in robot.reach)
    }
    return Workstation(
        cell.name,
        tables=tuple(table for table in tables.values() if table.name in carrying | used),
        robots=tuple(robots),
        tools=tuple(tools),
        changers=changing_station(cell),
        supplies=tuple(supplies),
        kits=tuple(kits),
        stacks=stacks,
        boxes=outlets,
        loose=tuple(lying.get("", ())),
    )


def _tables(cell: Cell, layout: Layout) -> dict[str, WorkTable]:
    tables = {}
    for name, fixture in cell.fixtures.items():
        figures = FURNITURE.get(fixture.model)
        if isinstance(figures, TableFigures):
            place = Place(layout.fixtures[name], spread=spread_of(cell.actual.table))
            tables[name] = WorkTable(name, place, (*figures.size_m, figures.top_m))
    return tables


def _on_table(pose: Pose, tables: Iterable[WorkTable], own: PoseErrorCfg, errors: ActualCfg) -> Place:
    """Returns the place on the table below, or in the workstation when there is none; and how sure that is."""
    for table in tables:
        length_m, width_m, top_m = table.size_m
        pose_in_table = table.place.pose.inverse() @ pose
        x, y, z = np.abs(pose_in_table.position - [0.0, 0.0, top_m])
        if x <= length_m / 2 and y <= width_m / 2 and z <= ON_TABLE_M:
            return Place(pose_in_table, table.name, spread_of(own, (errors.table, pose_in_table.position.tolist())))
    return Place(pose, spread=spread_of(own))


def _lying(layout: Layout, tray_of: dict[str, TrayLayout]) -> dict[str, list[PartInTray]]:
    """Returns tray -> the parts in its slots; loose parts are under an empty name."""
    found: dict[str, list[PartInTray]] = {}
    for part in layout.parts:
        sku = PARTS.get(part.model).sku
        tray, place, slot = _slot_below(part, layout.trays, tray_of)
        found.setdefault(tray, []).append(PartInTray(part.name, sku, place, slot))
    return found


def _slot_below(part: Placement, trays: Iterable[Placement], tray_of: dict[str, TrayLayout]) -> tuple[str, Place, str]:
    for tray in trays:
        pose = tray.pose_in_world.inverse() @ part.pose_in_world
        for slot in tray_of[tray.name].slots:
            if pose.distance_m(slot.pose_part_in_tray) <= IN_SLOT_M:
                return tray.name, Place(pose, tray.name, IN_SLOT), slot.name
    return "", Place(part.pose_in_world, spread=LOOSE), ""


def _reach_boxes(
    robot: str, reach: SlotReach, layout: Layout, tray_of: dict[str, TrayLayout], names: Collection[str]
) -> tuple[ReachBox, ...]:
    """Returns a box around each of these trays that the robot reaches."""
    standing = [tray for tray in layout.trays if tray.name in names]
    trays = [(tray.pose_in_world, tray_of[tray.name].slots) for tray in standing]
    boxes = []
    for tray, reached in zip(standing, reach.reached(trays), strict=True):
        if not reached:
            continue
        x, y, z = (size_m / 2 for size_m in tray_of[tray.name].size_m)
        corners = tray.pose_in_world.apply([[sx * x, sy * y, 0.0] for sx in (-1, 1) for sy in (-1, 1)])
        low, high = corners.min(axis=0) - [0.0, 0.0, z], corners.max(axis=0) + [0.0, 0.0, HEADROOM_M]
        name = f"{robot}_reaches_{tray.name}"
        boxes.append(ReachBox(name, tuple(low.tolist()), tuple(high.tolist())))
    return tuple(boxes)

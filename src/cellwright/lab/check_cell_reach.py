"""Conformance of a cell's places: can the robots reach what they are to take, and the tools that they change?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import CHANGERS, TOOLS, GearFigures, PartFigures, TrayFigures, part_of_sku, seated_height_m
from cellwright.cells import Layout, nominal_layout
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.lab.finding import Finding
from cellwright.motion import ArmKinematics
from cellwright.sim import World

__all__ = ["check_cell_reach"]

OTHER_YAWS_RAD = (np.pi / 2, np.pi / 4, -np.pi / 4)
"""How else the tool is turned about the vertical, where nobody gets to a point without that."""


def check_cell_reach(world: World) -> list[Finding]:
    """Every part and slot is in reach of some robot, its tool down; every tool in its holder of one with a changer."""
    if not world.robots:
        return []
    nominal = nominal_layout(world.cell, world.seed)
    arms = [_Arm.of(world, name, nominal) for name in world.robots]
    points = _grasp_points(world, nominal)
    taken = {arm.name: arm.takes(points) for arm in arms}
    beyond = {point: position for point, position in points.items() if not any(point in of for of in taken.values())}
    for yaw_rad in OTHER_YAWS_RAD:
        for arm in arms if beyond else ():
            also = arm.takes(beyond, yaw_rad)
            taken[arm.name] |= also
            beyond = {point: position for point, position in beyond.items() if point not in also}
    share = ", ".join(f"{name} {len(of)}" for name, of in taken.items())
    detail = f"{len(points)} grasp points, of which {share}"
    holders = {name: tool.holder for name, tool in world.cell.tools.items() if tool.holder is not None}
    lost = [tool for tool in holders if not any(arm.couples(_pose(world, tool)) for arm in arms)]
    if holders:
        detail += f"; {len(holders)} tools in their holders"
    if not beyond and not lost:
        return [Finding("reach", True, detail, {"points": float(len(points)), "beyond": 0.0})]
    told = f"out of reach: {', '.join([*beyond, *(f'{tool} in {holders[tool]}' for tool in lost)])}"
    remedy = "move them, or a robot's base, so that a robot takes them with its tool pointing down"
    return [Finding("reach", False, told, {"points": float(len(points)), "beyond": float(len(beyond))}, remedy)]


@dataclass(frozen=True)
class _Arm:
    """A robot with each of the tools that it may have."""

    name: str
    kinematics: ArmKinematics
    rings: Sequence[KinematicRing]
    home_rad: np.ndarray
    coupling: KinematicRing | None

    @classmethod
    def of(cls, world: World, name: str, nominal: Layout) -> _Arm:
        robot, base = world.robots[name], nominal.bases[name]
        coupling = None
        if world.cell.robots[name].changer is None:
            ends = [Pose.from_xyz_rpy(robot.tool.figures.tcp_xyz_m) if robot.tool else Pose.identity()]
        else:
            changer = CHANGERS.get(str(world.cell.robots[name].changer))
            coupling = Pose.from_xyz_rpy(changer.coupling_in_flange_m)
            face = coupling @ Pose.from_xyz_rpy([0.0, 0.0, changer.coupling_height_m])
            models = [TOOLS.get(tool.model) for tool in world.cell.tools.values()]
            ends = [face @ Pose.from_xyz_rpy(figures.tcp_xyz_m) for figures in models] or [coupling]
        return cls(
            name,
            ArmKinematics(robot.figures),
            [KinematicRing(base, end) for end in ends],
            np.radians(world.cell.robots[name].home_deg),
            None if coupling is None else KinematicRing(base, coupling),
        )

    def takes(self, points: Mapping[str, np.ndarray], yaw_rad: float = 0.0) -> set[str]:
        """To which points one of its tools gets, pointing down."""
        found: set[str] = set()
        for ring in self.rings:
            names = [name for name in points if name not in found]
            targets = [Pose.from_xyz_rpy(points[name], [np.pi, 0.0, yaw_rad]) for name in names]
            flanges = [ring.flange_for_tool(target) for target in targets]
            solutions = self.kinematics.inverse_of_many(flanges, self.home_rad)
            found |= {name for name, of in zip(names, solutions, strict=True) if len(of)}
        return found

    def couples(self, coupling_in_world: Pose) -> bool:
        """Whether its changer gets over a tool's coupling."""
        if self.coupling is None:
            return False
        return bool(self.kinematics.inverse(self.coupling.flange_for_tool(coupling_in_world), self.home_rad))


def _pose(world: World, tool: str) -> Pose:
    """Where a tool that robots change is, by its coupling."""
    at = world.loose_tools[tool].qpos
    return Pose(world.data.qpos[at : at + 3], world.data.qpos[at + 3 : at + 7])


def _grasp_points(world: World, nominal: Layout) -> dict[str, np.ndarray]:
    points = {}
    for part in nominal.parts:
        item = world.objects[part.name].figures
        assert isinstance(item, PartFigures)
        points[part.name] = part.pose_in_world.apply(item.grasp_xyz_m)
    for tray in nominal.trays:
        figures = world.objects[tray.name].figures
        assert isinstance(figures, TrayFigures)
        for slot in figures.slots:
            gear = part_of_sku(slot.accepts)
            assert isinstance(gear, GearFigures)
            height_m = seated_height_m(figures, slot, gear) + gear.grasp_height_m
            points[f"{tray.name}/{slot.name}"] = tray.pose_in_world.apply([*slot.xy_m, height_m])
    return points

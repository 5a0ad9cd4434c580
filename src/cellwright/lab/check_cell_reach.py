"""Conformance of a cell's places: can the robots reach what they are to take, and the tools that they change?"""

from __future__ import annotations

from collections.abc import Sequence
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

YAWS_RAD = (0.0, np.pi / 2, np.pi / 4, -np.pi / 4)
"""How the tool is turned about the vertical, tried in this order: what is gripped may be gripped otherwise."""


def check_cell_reach(world: World) -> list[Finding]:
    """Every part and slot is in reach of some robot, its tool down; every tool in its holder of one with a changer."""
    if not world.robots:
        return []
    nominal = nominal_layout(world.cell, world.seed)
    arms = [_Arm.of(world, name, nominal) for name in world.robots]
    points = _grasp_points(world, nominal)
    reached = {point: [arm.name for arm in arms if arm.takes(position)] for point, position in points.items()}
    share = ", ".join(f"{arm.name} {sum(arm.name in names for names in reached.values())}" for arm in arms)
    beyond = [point for point, names in reached.items() if not names]
    detail = f"{len(points)} grasp points, of which {share}"
    holders = {name: tool.holder for name, tool in world.cell.tools.items() if tool.holder is not None}
    lost = [tool for tool in holders if not any(arm.couples(_pose(world, tool)) for arm in arms)]
    if holders:
        detail += f"; {len(holders)} tools in their holders"
    if not beyond and not lost:
        return [Finding("reach", True, detail, {"points": float(len(points)), "beyond": 0.0})]
    told = f"out of reach: {', '.join(beyond + [f'{tool} in {holders[tool]}' for tool in lost])}"
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

    def takes(self, position: np.ndarray) -> bool:
        """Whether one of its tools gets to a point, pointing down."""
        targets = [Pose.from_xyz_rpy(position, [np.pi, 0.0, yaw]) for yaw in YAWS_RAD]
        return any(
            self.kinematics.inverse(ring.flange_for_tool(target), self.home_rad)
            for target in targets
            for ring in self.rings
        )

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

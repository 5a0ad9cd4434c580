"""Conformance of a cell's places: can the robots take what they are to take where it is, and hand it over?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from cellwright.catalogue import (
    CHANGERS,
    PartFigures,
    SlotFigures,
    TrayFigures,
    TrayKind,
    part_of_sku,
    seated_pose,
)
from cellwright.cells import Layout, nominal_layout, own_name
from cellwright.checks.cell_grasps import RobotTool, check_grasps, hands_of
from cellwright.checks.finding import Finding
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.sim import World

__all__ = ["check_cell_reach"]

NAMED = 8
"""Places that are named where many are out of reach."""

Points = Mapping[str, tuple[PartFigures, Pose]]


def check_cell_reach(world: World) -> list[Finding]:
    """Checks that a robot with a tool for it reaches every part and slot, and one with a changer every tool."""
    if not world.robots:
        return []
    nominal = nominal_layout(world.cell, world.seed)
    hands = hands_of(world, nominal)
    points = _points(world, nominal)
    taken: dict[str, set[str]] = {name: set() for name in world.robots}
    for hand in hands:
        taken[hand.robot] |= hand.reached(points)
    return [*check_grasps(world, hands), _reach(world, hands, points, taken), *_hand_over(world, points, taken)]


def _reach(world: World, hands: Sequence[RobotTool], points: Points, taken: Mapping[str, Collection[str]]) -> Finding:
    takeable = {part.name: any(hand.ways(part) for hand in hands) for part, _ in points.values()}
    beyond = [name for name, (part, _) in points.items() if not any(name in of for of in taken.values())]
    beyond = [name for name in beyond if takeable[points[name][0].name]]  # for others no place would do
    share = ", ".join(f"{name} {len(of)}" for name, of in taken.items())
    detail = f"{len(points)} grasp points, of which {share}"
    holders = {name: tool.holder for name, tool in world.cell.tools.items() if tool.holder is not None}
    lost = [tool for tool in holders if not any(_couples(world, hand, tool) for hand in hands)]
    if holders:
        detail += f"; {len(holders)} tools in their holders"
    values = {"points": float(len(points)), "beyond": float(len(beyond))}
    if not beyond and not lost:
        return Finding("reach", True, detail, values)
    named = [*beyond[:NAMED], *([f"and {len(beyond) - NAMED} more"] if len(beyond) > NAMED else [])]
    told = f"out of reach: {', '.join([*named, *(f'{tool} in {holders[tool]}' for tool in lost)])}"
    if beyond:
        far = {hand.robot: _away_m(hand, points[beyond[0]][1]) for hand in hands}
        nearest = min(far, key=lambda robot: far[robot])
        told += f"; of {beyond[0]}, the nearest base is that of {nearest}, {far[nearest]:.2f} m away"
        values["nearest_base_m"] = far[nearest]
    remedy = "move them, or a robot's base, so that a robot gets to them and 50 mm above with a tool that takes them"
    return Finding("reach", False, told, values, remedy)


def _hand_over(world: World, points: Points, taken: Mapping[str, Collection[str]]) -> list[Finding]:
    """Checks that every kit can be filled by one robot, or from robot to robot through slots that both reach."""
    if len(world.robots) < 2:
        return []
    wrong, through, kits = [], 0, 0
    parts = {name for name, item in world.objects.items() if isinstance(item.figures, PartFigures)}
    for name, (part, _) in points.items():
        tray = world.objects[name.partition("/")[0]].figures
        if not isinstance(tray, TrayFigures) or tray.kind is not TrayKind.KIT:
            continue
        placers = {robot for robot, of in taken.items() if name in of}
        alike = [other for other in points if points[other][0].name == part.name]
        givers = {robot for robot, of in taken.items() if any(other in of for other in alike if other in parts)}
        kits += 1
        if not placers or not givers or placers & givers:
            continue
        shared = {other for other in alike if other not in parts and other != name}
        if _chain(givers, placers, shared, taken):
            through += 1
            continue
        able = ", ".join(sorted(givers))
        wrong.append(f"{', '.join(sorted(placers))} reaches {name}, and only {able} a {own_name(part.name)}")
    if not kits:
        return []
    values = {"slots": float(kits), "through": float(through), "cannot": float(len(wrong))}
    if not wrong:
        how = f", {through} of them through slots that two robots reach" if through else ""
        return [Finding("hand-over", True, f"{kits} slots of kits can be filled{how}", values)]
    named = [*wrong[:NAMED], *([f"and {len(wrong) - NAMED} more"] if len(wrong) > NAMED else [])]
    remedy = "put such parts, or an empty tray with slots for them, where both robots reach"
    return [Finding("hand-over", False, f"{'; '.join(named)}; no slot for it is in reach of both", values, remedy)]


def _chain(givers: set[str], placers: set[str], slots: Collection[str], taken: Mapping[str, Collection[str]]) -> bool:
    """Returns whether a part comes from one robot to another, slot by slot."""
    reached = set(givers)
    while True:
        laid = {slot for slot in slots if any(slot in taken[robot] for robot in reached)}
        more = {robot for robot, of in taken.items() if any(slot in of for slot in laid)} - reached
        if not more:
            return bool(reached & placers)
        reached |= more


def _couples(world: World, hand: RobotTool, tool: str) -> bool:
    """Returns whether a robot's changer gets over a tool's coupling."""
    changer = world.cell.robots[hand.robot].changer
    if changer is None:
        return False
    coupling = Pose.from_xyz_rpy(CHANGERS.get(changer).coupling_in_flange_m)
    at = world.loose_tools[tool].qpos
    place = Pose(world.data.qpos[at : at + 3], world.data.qpos[at + 3 : at + 7])
    flange = KinematicRing(hand.ring.pose_base_in_world, coupling).flange_for_tool(place)
    return bool(hand.kinematics.inverse(flange, hand.home_rad))


def _away_m(hand: RobotTool, pose: Pose) -> float:
    return float(np.linalg.norm(pose.position - hand.ring.pose_base_in_world.position))


def _points(world: World, nominal: Layout) -> dict[str, tuple[PartFigures, Pose]]:
    """Returns parts where they are, and parts of the right kind in every slot."""
    points = {}
    for part in nominal.parts:
        item = world.objects[part.name].figures
        assert isinstance(item, PartFigures)
        points[part.name] = (item, part.pose_in_world)
    for tray in nominal.trays:
        figures = world.objects[tray.name].figures
        assert isinstance(figures, TrayFigures)
        for slot in figures.slots:
            points[f"{tray.name}/{slot.name}"] = _seated(tray.pose_in_world, figures, slot)
    return points


def _seated(pose_tray: Pose, tray: TrayFigures, slot: SlotFigures) -> tuple[PartFigures, Pose]:
    part = part_of_sku(slot.accepts)
    return part, pose_tray @ seated_pose(tray, slot, part)

"""Conformance of a cell: does it stand, can its robots reach their work, do its sensors keep the contract?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cellwright.catalogue import GearFigures, PartFigures, TrayFigures, part_of_sku, seated_height_m
from cellwright.cells import Cell, Placement, actual_layout, nominal_layout
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.lab.check_body import check_inertia, check_mass
from cellwright.lab.check_cell_physics import check_contacts, check_stillness
from cellwright.lab.check_drives import check_drives
from cellwright.lab.finding import Finding
from cellwright.motion import ArmKinematics
from cellwright.sensors import Sensor, check_sensor, make_sensor
from cellwright.sim import Snapshot, World

__all__ = ["Finding", "check_cell"]

MOVED_LIMIT_M = 0.002


def check_cell(cell: Cell, seed: int = 0) -> list[Finding]:
    """Builds the cell and looks at it; what cannot even be built is an error, not a finding."""
    world = World(cell, seed)
    counts = f"{len(world.robots)} robots, {len(world.objects)} loose objects, {len(cell.fixtures)} fixtures"
    counts += f", {len(world.mobiles)} mobile robots" if world.mobiles else ""
    findings = [Finding("builds", True, f"{counts}, {world.model.ngeom} geoms; nothing overlaps")]
    findings += [check_mass(world.model), check_inertia(world.appearance.now()[0])]
    if cell.fidelity == "physics":
        findings += [_at_rest(world), check_contacts(world), check_stillness(world)]
        if world.mobiles:
            findings.append(check_drives(world))
    findings.extend(_reach(world, seed))
    start = world.snapshot()
    once = dict(reversed(cell.sensor_lines()))  # of many robots alike, the first
    for place, line in reversed(once.items()):
        problems = check_sensor(partial(_fresh_sensor, world, start, line, f"{cell.where}: {place}"))
        name = line.get("name") or f"{line.get('robot', place.rpartition('.')[2])} {line.get('type')}"
        findings.append(Finding(f"sensor {name}", not problems, "; ".join(problems) or f"{line.get('rate_hz')} Hz"))
    return findings


def _fresh_sensor(world: World, start: Snapshot, line: dict[str, Any], where: str) -> Sensor[Any]:
    world.restore(start)
    return make_sensor(line, world, where)


def _at_rest(world: World) -> Finding:
    """After settling everything sleeps, near where it was placed."""
    asleep = np.asarray(world.data.tree_asleep)
    restless = [n for n, o in world.objects.items() if asleep[world.model.body_treeid[o.body]] < 0]
    if restless:
        return Finding("comes to rest", False, f"still moving after {world.cell.settle_s:g} s: {', '.join(restless)}")
    placed = actual_layout(world.cell, world.seed).objects
    moved = {n: placed[n].pose_in_world.distance_m(world.pose_of(n)) for n in world.objects}
    worst = max(moved, key=lambda n: moved[n], default=None)
    if worst is None:
        return Finding("comes to rest", True, "no loose objects")
    detail = f"everything sleeps; '{worst}' moved most, {moved[worst] * 1000:.2f} mm"
    return Finding("comes to rest", moved[worst] <= MOVED_LIMIT_M, detail)


def _reach(world: World, seed: int) -> list[Finding]:
    """Every part and every slot can be reached by some robot with its tool pointing down."""
    cell = world.cell
    nominal = nominal_layout(cell, seed)
    arms = {}
    for name, robot in world.robots.items():
        tcp = Pose.from_xyz_rpy(robot.tool.figures.tcp_xyz_m) if robot.tool else Pose.identity()
        arms[name] = (
            ArmKinematics(robot.figures),
            KinematicRing(nominal.bases[name], tcp),
            np.radians(cell.robots[name].home_deg),
        )
    if not arms:
        return []
    targets = dict(_grasp_points(world, nominal.parts, nominal.trays))
    reached = {
        point: [
            name
            for name, (arm, ring, home) in arms.items()
            if arm.inverse(ring.flange_for_tool(Pose.from_xyz_rpy(position, [np.pi, 0, 0])), home)
        ]
        for point, position in targets.items()
    }
    beyond = [point for point, robots in reached.items() if not robots]
    share = ", ".join(f"{name} {sum(name in r for r in reached.values())}" for name in arms)
    detail = f"out of reach: {', '.join(beyond)}" if beyond else f"{len(targets)} grasp points, of which {share}"
    return [Finding("reach", not beyond, detail)]


def _grasp_points(
    world: World, parts: tuple[Placement, ...], trays: tuple[Placement, ...]
) -> list[tuple[str, np.ndarray]]:
    points = []
    for part in parts:
        item = world.objects[part.name].figures
        assert isinstance(item, PartFigures)
        points.append((part.name, part.pose_in_world.apply(item.grasp_xyz_m)))
    for tray in trays:
        figures = world.objects[tray.name].figures
        assert isinstance(figures, TrayFigures)
        for slot in figures.slots:
            gear = part_of_sku(slot.accepts)
            assert isinstance(gear, GearFigures)
            height_m = seated_height_m(figures, slot, gear) + gear.grasp_height_m
            points.append((f"{tray.name}/{slot.name}", tray.pose_in_world.apply([*slot.xy_m, height_m])))
    return points

"""Conformance of a cell: does it stand, can its robots take their work, is it seen, do sensors keep the contract?"""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import ROBOTS
from cellwright.cells import Cell, layout_deviations, nominal_layout
from cellwright.checks.body import check_inertia, check_mass
from cellwright.checks.cell_mobiles import check_drives
from cellwright.checks.cell_physics import check_contacts, check_stillness
from cellwright.checks.cell_reach import check_cell_reach
from cellwright.checks.cell_sight import check_sight
from cellwright.checks.cell_support import check_bases, check_trays
from cellwright.checks.finding import Finding
from cellwright.core.pose import Pose
from cellwright.lab.cell_file import checked_layout
from cellwright.models import build
from cellwright.models.importing import ImportedArmFigures
from cellwright.models.importing.arm_spec import beyond_flange
from cellwright.sensors import check_sensor
from cellwright.sim import World

__all__ = ["Finding", "check_cell"]

MOVED_LIMIT_M = 0.002
NAMED = 4
"""Things that are named where many are wrong."""


def check_cell(cell: Cell, seed: int = 0) -> list[Finding]:
    """Builds the cell and checks it; what cannot even be built is an error, not a finding.

    >>> [finding.check for finding in cw.check_cell(cw.load_cell("aprs")) if not finding.ok]
    []
    """
    checked_layout(cell, seed, interfaces=True)
    world = World(cell, seed)
    counts = f"{len(world.robots)} robots, {len(world.objects)} loose objects, {len(cell.fixtures)} fixtures"
    counts += f", {len(world.mobiles)} mobile robots" if world.mobiles else ""
    findings = [Finding("builds", True, f"{counts}, {world.model.ngeom} geoms; nothing overlaps")]
    findings += [_errors(world)] if world.cell.actual.size is not None else []
    findings += [check_mass(world.model), check_inertia(world.appearance.now()[0])]
    if cell.fidelity == "physics":
        findings += [_at_rest(world), check_contacts(world), check_stillness(world)]
        if world.mobiles:
            findings.append(check_drives(world))
    else:
        findings.append(Finding("comes to rest", True, "not looked at: in a kinematic cell nothing falls"))
    findings += [found for found in (check_bases(world), check_trays(world)) if found is not None]
    findings += [*_tools_in_hands(cell), *check_cell_reach(world)]
    findings += [found for found in (check_sight(world),) if found is not None]
    once = dict(reversed(cell.sensor_lines()))  # of many robots alike, the first
    for place, line in reversed(once.items()):
        problems = check_sensor(line, world, f"{cell.where}: {place}")
        name = line.get("name") or f"{line.get('robot', place.rpartition('.')[2])} {line.get('type')}"
        rate = f"{line['rate_hz']} Hz" if line.get("rate_hz") else "at its usual rate, or on demand"
        detail, remedy = "; ".join(problems) or rate, "mend the sensor's class"
        findings.append(Finding(f"sensor {name}", not problems, detail, remedy=remedy))
    return findings


def _errors(world: World) -> Finding:
    """Tells how far a cell with errors of a named size is from its drawings, in this seed."""
    cell, actual = world.cell, world.layout
    off = layout_deviations(cell, nominal_layout(cell, world.seed), actual)
    groups = {"robots": actual.bases, "furniture": actual.fixtures.keys() - actual.cameras, "cameras": actual.cameras}
    most = {
        group: (max(off[name].shift_m for name in names), max(off[name].turn_rad for name in names))
        for group, names in groups.items()
        if names
    }
    told = [f"{group} by {1000 * shift_m:.1f} mm, {np.degrees(rad):.2f} deg" for group, (shift_m, rad) in most.items()]
    values = {f"{group}_off_m": shift_m for group, (shift_m, _) in most.items()}
    return Finding("errors", True, f"{cell.actual.size}, seed {world.seed}: off at most {'; '.join(told)}", values)


def _tools_in_hands(cell: Cell) -> list[Finding]:
    """Checks for tools on arms from files that carry a hand of their own beyond the flange."""
    found = []
    for name, robot in cell.robots.items():
        figures = ROBOTS.get(robot.model)
        if not isinstance(figures, ImportedArmFigures) or not (robot.tool or robot.changer):
            continue
        compiled = build(figures).compile()
        tip = compiled.body(figures.flange_body).parentid[0]
        if beyond := beyond_flange(compiled, int(tip)):
            detail = f"the tool of '{name}' stands in what its arm carries beyond the flange: {', '.join(beyond)}"
            remedy = "import the arm from a description without it, or with --tip beyond it; or give it no tool"
            found.append(Finding(f"flange {name}", False, detail, {"bodies": float(len(beyond))}, remedy))
    return found


def _at_rest(world: World) -> Finding:
    """Checks that everything comes to rest near where it was placed; mobile robots stand where they were put."""
    asleep = np.asarray(world.data.tree_asleep)
    restless = [n for n, o in world.objects.items() if asleep[world.model.body_treeid[o.body]] < 0]
    if restless:
        remedy = "put it where it lies steadily, or give the cell a longer settle_s"
        detail = f"still moving after {world.cell.settle_s:g} s: {', '.join(restless)}"
        return Finding("comes to rest", False, detail, {"restless": float(len(restless))}, remedy)
    layout = world.layout
    placed = {n: p.pose_in_world for n, p in layout.objects.items()}
    placed |= {n: p.pose_in_world for n, p in layout.mobiles.items()}
    moved = {n: pose.distance_m(world.pose_of(n)) for n, pose in placed.items()}
    worst = max(moved, key=lambda n: moved[n], default=None)
    if worst is None:
        return Finding("comes to rest", True, "nothing is loose")
    values = {"moved_m": moved[worst]}
    astray = sorted((n for n in moved if moved[n] > MOVED_LIMIT_M), key=lambda n: -moved[n])
    if astray:
        told = [f"'{n}' went {_way(placed[n], world.pose_of(n))} from where it was put" for n in astray[:NAMED]]
        told += [f"and {len(astray) - NAMED} more"] if len(astray) > NAMED else []
        remedy = "put it on what carries it: its pose is where it should lie still"
        return Finding("comes to rest", False, "; ".join(told), values, remedy)
    still = "everything sleeps" if world.objects else "all stand"
    return Finding("comes to rest", True, f"{still}; '{worst}' moved most, {moved[worst] * 1000:.2f} mm", values)


def _way(placed: Pose, found: Pose) -> str:
    """Returns the distance that something went, and its main direction, as text."""
    x, y, z = 1000 * (found.position - placed.position)
    aside = float(np.hypot(x, y))
    return f"{abs(z):.1f} mm {'down' if z < 0 else 'up'}" if abs(z) > aside else f"{aside:.1f} mm aside"

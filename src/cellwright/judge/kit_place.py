"""The place where a kit was ordered, and whether its tray stands there: on its table or in its box, level, at rest."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import FURNITURE, TrayFigures
from cellwright.catalogue.furniture_kinds import BoxFigures, FloorFigures, FurnitureFigures
from cellwright.judge.boxes import BoxPlacement
from cellwright.judge.seating import STILL_MPS, STILL_RADPS, lean_rad
from cellwright.judge.support import carried_by, geoms_of, things_below
from cellwright.sim import World
from cellwright.sim.contacts import owner

__all__ = ["TILT_LIMIT_RAD", "fixture_below", "judge_level", "judge_place", "judge_rest", "table_of"]

TILT_LIMIT_RAD = float(np.radians(2.0))
"""As of a part in its slot: what comes next takes parts from straight above, and a gear in a tray that leans no more
than this stays in its cone. A sheet of 5 mm below one edge of a kit tray tilts it more."""

GAP_M = 0.003  # a tray this near above a table stands on it; without forces it may be drawn or set down a little higher
MOST_BETWEEN, BEYOND_M = 200, 1e-5  # surfaces that a ray passes on its way to the table

Verdict = tuple[bool, str]


def table_of(world: World, tray: str) -> str:
    """Returns the fixture on which a kit's tray belongs: the first one below where it was placed; empty without one."""
    figures, drawn = world.objects[tray].figures, world.placement(tray).pose_in_world
    assert isinstance(figures, TrayFigures)
    x_m, y_m = (0.4 * side_m for side_m in figures.size_m)
    spots = [(0.0, 0.0), (x_m, y_m), (x_m, -y_m), (-x_m, y_m), (-x_m, -y_m)]
    hits = [hit for spot in spots if (hit := fixture_below(world, drawn.apply([*spot, GAP_M])))]
    return min(hits)[1] if hits else ""


def judge_place(world: World, tray: str) -> Verdict:
    """Returns whether a tray stands where its kit was ordered, in a cell without boxes for finished kits; and where.

    That is the table on which the drawings have the tray, or the stack of trays, anywhere on it. A tray that is drawn
    in a box is a supply: its kit may be on any table.
    """
    wanted = table_of(world, tray)
    below = things_below(world, tray)
    if strange := [name for name in below if not _drawn_on(world, tray, name)]:
        return False, f"it stands on {', '.join(strange)}, not on {wanted or 'any table'}"
    if below:
        return judge_place(world, below[0])
    on = _fixtures_below(world, tray)
    tables = [name for name in on if not _is_a(world, name, FloorFigures)]
    if wanted in on or (tables and wanted and _is_a(world, wanted, BoxFigures)):
        return True, f"on {wanted if wanted in on else tables[0]}"
    pose, drawn = world.pose_of(tray), world.placement(tray).pose_in_world
    if world.cell.fidelity != "physics" and pose.distance_m(drawn) <= GAP_M:
        return True, f"where it is drawn, above {wanted or 'nothing'}"  # without forces nothing falls
    if not on:
        hit = fixture_below(world, pose.position)
        return False, f"in mid-air, {hit[0] * 1000:.0f} mm above {hit[1]}" if hit else "in mid-air, above nothing"
    where = f"on {', '.join(on)}" if tables else "on the floor"
    return False, f"{where}, not on {wanted or 'any table'}"


def judge_level(world: World, tray: str, box: BoxPlacement | None) -> Verdict:
    """Returns whether a tray lies as flat as the drawings have it, or its box; and by how much it is tilted.

    A table or a box that leans in fact is no excuse: what comes next counts on the drawings.
    """
    cell = world.cell
    if box and box.inside:
        frame = cell.fixtures[box.box].pose.pose
    else:
        frame = cell.trays[tray].pose.pose if tray in cell.trays else world.placement(tray).pose_in_world
    tilt_rad = lean_rad(frame.inverse() @ world.pose_of(tray))
    limit = f" (limit {np.degrees(TILT_LIMIT_RAD):g} deg)" if tilt_rad > TILT_LIMIT_RAD else ""
    return tilt_rad <= TILT_LIMIT_RAD, f"tilted by {np.degrees(tilt_rad):.1f} deg{limit}"


def judge_rest(world: World, tray: str) -> Verdict:
    """Returns whether a tray is at rest; and how fast it moves."""
    dof = world.objects[tray].dof
    speed_mps, spin_radps = np.abs(world.data.qvel[dof : dof + 6]).reshape(2, 3).max(axis=1)
    if speed_mps <= STILL_MPS and spin_radps <= STILL_RADPS:
        return True, "it does not move"
    return False, (
        f"still moving at {speed_mps * 1000:.0f} mm/s and {np.degrees(spin_radps):.0f} deg/s "
        f"(limits {STILL_MPS * 1000:g} mm/s and {np.degrees(STILL_RADPS):.0f} deg/s)"
    )


def _drawn_on(world: World, tray: str, other: str) -> bool:
    """Returns whether a tray was placed on top of another one: such stacks stay what they are."""
    if other not in world.objects or not isinstance(figures := world.objects[other].figures, TrayFigures):
        return False
    pose, below = world.placement(tray).pose_in_world, world.placement(other).pose_in_world
    x, y, z = below.inverse().apply(pose.position)
    return bool(abs(x) < figures.size_m[0] / 2 and abs(y) < figures.size_m[1] / 2 and z > figures.thickness_m / 2)


def _fixtures_below(world: World, tray: str) -> list[str]:
    """Returns the fixtures that a tray stands on."""
    model = world.model
    fixed = np.flatnonzero(model.body_weldid[model.geom_bodyid] == 0)
    mine = geoms_of(world, [world.objects[tray].body])
    owners = {_fixture_of(world, low) for low, _ in carried_by(world, fixed.tolist(), mine, GAP_M)}
    return sorted(owners - {""})


def _fixture_of(world: World, geom: int) -> str:
    name = owner(world.model, geom).partition("/")[0]
    return name if name in world.cell.fixtures else ""


def _is_a(world: World, fixture: str, kind: type[FurnitureFigures]) -> bool:
    return isinstance(FURNITURE.get(world.cell.fixtures[fixture].model), kind)


def fixture_below(world: World, point_m: npt.ArrayLike) -> tuple[float, str] | None:
    """Returns the first fixture straight below a point, and how far down it is; loose things do not count."""
    down, hit, way_m = np.array([0.0, 0.0, -1.0]), np.zeros(1, np.int32), 0.0
    for _ in range(MOST_BETWEEN):
        start = np.asarray(point_m, float) + way_m * down
        way_m += mujoco.mj_ray(world.model, world.data, start, down, None, True, -1, hit)
        if hit[0] < 0:
            return None
        if name := _fixture_of(world, int(hit[0])):
            return way_m, name
        way_m += BEYOND_M
    return None

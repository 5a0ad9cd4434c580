"""Conformance of what stands on something: bases that float or sink, trays that overhang or tilt."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TrayFigures
from cellwright.cells import nominal_layout
from cellwright.core.pose import Pose
from cellwright.lab.finding import Finding
from cellwright.sim import World

__all__ = ["check_bases", "check_trays"]

Array = npt.NDArray[np.float64]

TOUCH_M = 0.005  # what is nearer than this to a base or a tray carries it; plates and feet between are thinner
FOOT_M = 0.03  # beside the middle of a base, where a post or plate is looked for as well
FEET_XY_M = ((0.0, 0.0), (FOOT_M, 0.0), (-FOOT_M, 0.0), (0.0, FOOT_M), (0.0, -FOOT_M))
GRID_M = 0.005
EDGE_M = 0.001  # from an edge, inwards: rays along an edge hit or miss by chance
OVERHANG_M = 0.005
TILT_RAD = float(np.radians(1.0))
WAYS = [np.array([np.cos(a), np.sin(a)]) for a in np.arange(16) * np.pi / 8]


def check_bases(world: World) -> Finding | None:
    """Every arm is bolted to something that is just there; None in a cell without arms."""
    if not world.robots:
        return None
    movable = {robot.base_body for robot in world.robots.values()} | {item.body for item in world.objects.values()}
    wrong, gaps = [], {}
    bases = nominal_layout(world.cell, world.seed).bases
    for name in world.robots:
        gap_m, what = _nearest(world, bases[name], movable)
        gaps[name] = gap_m
        if not what:
            wrong.append(f"'{name}' hangs in the air: nothing is below its base")
        elif gap_m > TOUCH_M:
            wrong.append(f"'{name}' floats {1000 * gap_m:.0f} mm above '{what}'")
        elif gap_m < -TOUCH_M:
            wrong.append(f"'{name}' sinks {-1000 * gap_m:.0f} mm into '{what}'")
    worst = max(gaps.values(), key=abs)
    values = {"worst_gap_m": worst}
    if not wrong:
        return Finding("bases", True, f"all stand on something, {1000 * abs(worst):.1f} mm off at most", values)
    off = [f"robots.{name}.base.xyz_m" for name, gap_m in gaps.items() if abs(gap_m) > TOUCH_M]
    lift = ", ".join(f"{key} by {-1000 * gaps[key.split('.')[1]]:+.0f} mm along the base's z" for key in off)
    known = all(np.isfinite(gap) for gap in gaps.values())
    remedy = f"move {lift}" if known else "put a fixture under it: a floor, a table, a pedestal"
    return Finding("bases", False, "; ".join(wrong), values if known else {}, remedy)


def check_trays(world: World) -> Finding | None:
    """Every tray lies flat, with its whole outline over what carries it; None in a cell without trays."""
    trays = {name: item.figures for name, item in world.objects.items() if isinstance(item.figures, TrayFigures)}
    if not trays:
        return None
    wrong, remedies, most_m, most_rad = [], [], 0.0, 0.0
    for name, figures in trays.items():
        pose = world.pose_of(name)
        tilt_rad = float(np.arccos(np.clip(pose.rotation_matrix[2, 2], -1.0, 1.0)))
        most_rad = max(most_rad, tilt_rad)
        if tilt_rad > TILT_RAD:
            wrong.append(f"'{name}' tilts by {np.degrees(tilt_rad):.1f} deg")
            remedies.append(f"give '{name}' a flat place, and no roll or pitch in its pose")
            continue
        over_m, way, what = _overhang(world, pose, figures, world.objects[name].body)
        most_m = max(most_m, over_m)
        if not what:
            wrong.append(f"nothing is below '{name}'")
            remedies.append(f"put '{name}' on a table, at the height of its top")
        elif over_m > OVERHANG_M:
            x, y = -1000 * (over_m + EDGE_M) * way
            wrong.append(f"'{name}' overhangs '{what}' by {1000 * over_m:.0f} mm")
            remedies.append(f"move trays.{name}.pose by ({x:+.0f}, {y:+.0f}) mm")
    values = {"overhang_m": most_m, "tilt_deg": float(np.degrees(most_rad))}
    if wrong:
        return Finding("trays lie flat", False, "; ".join(wrong), values, "; ".join(remedies))
    most = f"{np.degrees(most_rad):.2f} deg and {1000 * most_m:.0f} mm over an edge at most"
    return Finding("trays lie flat", True, f"{len(trays)} trays, tilted by {most}", values)


def _nearest(world: World, base: Pose, movable: Collection[int]) -> tuple[float, str]:
    """How far above what is below it a base is, along its own z, or how far inside something; what that is."""
    up, ground = base.rotation_matrix[:, 2], _Ground(world, movable, base, FOOT_M)
    inside = base.apply([0.0, 0.0, TOUCH_M])
    around = {geom: far_m for far_m, geom in ground.hits(inside, up)}
    found = [(-TOUCH_M - around[geom], geom) for _, geom in ground.hits(inside, -up) if geom in around]
    if not found:
        starts = [base.apply([*aside, TOUCH_M]) for aside in FEET_XY_M]
        found = [(far_m - TOUCH_M, geom) for start in starts for far_m, geom in ground.hits(start, -up)]
    gap_m, geom = min(found, default=(np.inf, -1))
    return gap_m, "" if geom < 0 else ground.name(geom)


def _overhang(world: World, pose: Pose, figures: TrayFigures, own: int) -> tuple[float, Array, str]:
    """How far a tray reaches beyond what carries it at most, which way in the world, and what carries it."""
    half = np.array(figures.size_m) / 2 - EDGE_M
    lines = [np.linspace(-h, h, max(3, round(2 * h / GRID_M))) for h in half]
    ground, down = _Ground(world, {own}, pose, float(np.hypot(*half))), np.array([0.0, 0.0, -1.0])

    def carried(x: float, y: float) -> str:
        hits = ground.hits(pose.apply([x, y, figures.foot_height_m]), down)
        return next((ground.name(geom) for far_m, geom in hits if far_m <= figures.foot_height_m + TOUCH_M), "")

    corners = [(x, y) for x in (-half[0], half[0]) for y in (-half[1], half[1])]
    under = {carried(x, y) for x, y in corners}
    if "" not in under or under & world.objects.keys():  # stacks may lean out a little
        return 0.0, WAYS[0], max(under)
    over = {(x, y): what for x in lines[0] for y in lines[1] if (what := carried(x, y))}
    if not over:
        return np.inf, WAYS[0], ""
    lacking = [float((np.array(corners) @ way).max() - (np.array(list(over)) @ way).max()) for way in WAYS]
    worst = int(np.argmax(lacking))
    return max(lacking[worst], 0.0), pose.rotation_matrix[:2, :2] @ WAYS[worst], next(iter(over.values()))


class _Ground:
    """What may carry something, asked geom by geom: where two faces coincide, a ray through all finds only one."""

    def __init__(self, world: World, left_out: Collection[int], near: Pose, reach_m: float) -> None:
        self._model, self._data = world.model, world.data
        model, data = self._model, self._data
        away = np.linalg.norm(np.cross(data.geom_xpos - near.position, near.rotation_matrix[:, 2]), axis=1)
        close = (away <= model.geom_rbound + reach_m) | (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
        solid = (model.geom_contype + model.geom_conaffinity) > 0
        roots = model.body_rootid[model.geom_bodyid]
        self._geoms = np.flatnonzero(close & solid & ~np.isin(roots, list(left_out))).tolist()

    def hits(self, start: Array, way: Array) -> list[tuple[float, int]]:
        """How far away a ray meets each geom first, or leaves it when it begins inside; nearest first."""
        model, data, found = self._model, self._data, []
        for geom in self._geoms:
            kind = int(model.geom_type[geom])
            if kind == mujoco.mjtGeom.mjGEOM_MESH:
                far_m = mujoco.mj_rayMesh(model, data, geom, start, way, None)
            else:
                place, turn, size = data.geom_xpos[geom], data.geom_xmat[geom], model.geom_size[geom]
                far_m = mujoco.mju_rayGeom(place, turn, size, start, way, kind, None)
            if far_m >= 0:
                found.append((float(far_m), geom))
        return sorted(found)

    def name(self, geom: int) -> str:
        """The fixture, robot or object to which a geom belongs."""
        return str(self._model.body(int(self._model.geom_bodyid[geom])).name).partition("/")[0]

"""Conformance of what stands on something: bases that float or sink, trays that overhang or tilt."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TrayFigures
from cellwright.cells import nominal_layout
from cellwright.cells.standing import Standing
from cellwright.checks.finding import Finding
from cellwright.core.pose import Pose
from cellwright.sim import World
from cellwright.sim.ground import TOUCH_M, Ground, gap_below

__all__ = ["check_bases", "check_trays"]

Array = npt.NDArray[np.float64]

GRID_M = 0.005
EDGE_M = 0.001  # from an edge, inwards: rays along an edge hit or miss by chance
OVERHANG_M = 0.005
TILT_RAD = float(np.radians(1.0))
WAYS = [np.array([np.cos(a), np.sin(a)]) for a in np.arange(16) * np.pi / 8]


def check_bases(world: World) -> Finding | None:
    """Checks that every arm is bolted to something that is just there; None in a cell without arms."""
    if not world.robots:
        return None
    wrong, gaps = [], {}
    bases = nominal_layout(world.cell, world.seed).bases
    standing = Standing(world.cell, world.layout.fixtures)  # on furniture that is not where it is drawn
    for name in world.robots:
        gap_m, what = gap_below(world, standing.moved(bases[name]))
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
    """Checks that every tray lies flat, its whole outline over what carries it; None in a cell without trays."""
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


def _overhang(world: World, pose: Pose, figures: TrayFigures, own: int) -> tuple[float, Array, str]:
    """Returns the largest overhang of a tray, its direction in the world, and what carries the tray."""
    half = np.array(figures.size_m) / 2 - EDGE_M
    lines = [np.linspace(-h, h, max(3, round(2 * h / GRID_M))) for h in half]
    ground, down = Ground(world, {own}, pose, float(np.hypot(*half))), np.array([0.0, 0.0, -1.0])

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

"""The reachability analysis of the ROVI project: the best place on its table for a UR5 to take the bottle."""

from __future__ import annotations

from dataclasses import replace

from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.core.results import MeasurementConditions
from cellwright.experiments.experiment import EXPERIMENTS, Experiment, ExperimentFindings
from cellwright.experiments.reachability import BaseGrid, ReachMap, map_reach, reach_task
from cellwright.motion.grasps import GraspKind

__all__ = ["rovi_reachability"]

TABLE = BaseGrid((0.0, 0.8), (0.0, 1.1))
OBJECT_M = {"code": (0.5, 1.0, 0.75), "text": (0.4, 1.0, 0.75)}
HEIGHTS_M = {GraspKind.TOP: 0.2, GraspKind.SIDE: 0.1}
TURNS, QUICK_TURNS = 181, 10
PAPER = {
    "top.total": 41445.0,
    "side.total": 17090.0,
    "top.best": 1235.0,
    "side.best": 362.0,
    "top.best_x": 0.3,
    "top.best_y": 0.4,
    "bases": 108.0,
}


def rovi_reachability(conditions: MeasurementConditions) -> ExperimentFindings:
    """Measures both places of the bottle that the project has: the one of its code and log, and the one of its text."""
    turns = QUICK_TURNS if conditions.quick else TURNS
    maps = {}
    for source, place in OBJECT_M.items():
        conditions.say(f"{len(list(TABLE))} places of the base, the bottle where the project's {source} has it")
        task = reach_task(load_cell("rovi"), "ur5", "bottle", fixtures=["table"], turns=turns, weighted=True)
        task = replace(task, pose_part_in_world=Pose.from_xyz_rpy(place), heights_m=HEIGHTS_M)
        maps[source] = map_reach(task, TABLE, progress=conditions.progress)
    metrics: dict[str, float] = {"bases": len(list(TABLE))}
    for source, found in maps.items():
        metrics |= _metrics("" if source == "code" else f"{source}.", found, TURNS / turns)
    return ExperimentFindings(
        metrics,
        {f"{kind}.difference": {"min": -0.1, "max": 0.1} for kind in GraspKind},
        PAPER,
        {f"reachability_{source}": found.table() for source, found in maps.items()},
        [
            maps["code"].heatmap("free"),
            maps["code"].heatmap("manipulability", "manipulability"),
            maps["code"].heatmap("nearness", "nearness"),
            maps["text"].heatmap("free", "reachability_text"),
        ],
        _notes(metrics, conditions.quick),
    )


def _metrics(prefix: str, found: ReachMap, scale: float) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for kind in HEIGHTS_M:
        best, total = found.best(kind), found.total(kind) * scale
        metrics[f"{prefix}{kind}.total"] = total
        if not prefix:
            metrics[f"{kind}.difference"] = total / PAPER[f"{kind}.total"] - 1
        metrics |= {
            f"{prefix}{kind}.solutions": found.total(kind, "solutions") * scale,
            f"{prefix}{kind}.best": best.free * scale,
            f"{prefix}{kind}.best_x": best.x_m,
            f"{prefix}{kind}.best_y": best.y_m,
        }
        for weight in ("manipulability", "nearness"):
            place = found.best(kind, weight)
            metrics[f"{prefix}{kind}.{weight}.best_x"] = place.x_m
            metrics[f"{prefix}{kind}.{weight}.best_y"] = place.y_m
    return metrics


def _notes(metrics: dict[str, float], quick: bool) -> list[str]:
    off = {kind: 100 * metrics[f"{kind}.difference"] for kind in GraspKind}
    notes = [
        "The base of the UR5 is put on every point of a grid of 0.1 m over the table (9 x 12 = 108 places, z 0.74 m, "
        "no turn). At each, the tool is turned about the bottle's axis in 181 angles of 2 degrees, 0 and 360 both "
        "counted, and every posture of the arm within one turn of each joint (up to eight) is checked for collisions "
        "of arm, open gripper, table and bottle with each other. From the side the tool's centre point is 0.1 m above "
        "the bottle's foot and the tool lies level; from above it is 0.2 m above the foot and points down.",
        f"Collision-free postures from above: {metrics['top.total']:.0f}, the paper's 41,445 "
        f"({off[GraspKind.TOP]:+.1f} %); from the side: {metrics['side.total']:.0f}, the paper's 17,090 "
        f"({off[GraspKind.SIDE]:+.1f} %). "
        "The paper's text puts the bottle at x = 0.4 m; its code has x = 0.5 m and its logged map is symmetric about "
        "that, so the figures above belong to x = 0.5 m, and those that begin with `text.` to x = 0.4 m.",
        "What is left of the difference is collision geometry. Ours are convex hulls of a UR5, a WSG 50 and a table "
        "made from published dimensions; the project's are its own meshes, checked by MoveIt, whose allowed contacts "
        "are not known. A base that stands inside one of the table's raised areas (the pick area from y = 0.9 m on, "
        "the place area below y = 0.2 m from x = 0.6 m on) counts nothing here; the project's map, too, is zero from "
        "y = 0.9 m on, but it is symmetric, so its place area seems not to have been an obstacle.",
        "From above most places count 724, four of the eight postures at each of the 181 angles. From the side the "
        "best places form a plateau about y = 0.5 to 0.6 m with 362, two postures at every angle: the plateau and the "
        "number are the project's own. It chose the middle of the table for its robot from this map.",
        "The maps of manipulability (Yoshikawa's measure) and nearness (1 / (1 + joint distance from home)) weigh each "
        "collision-free posture instead of counting it; the paper only counts.",
    ]
    if quick:
        notes.append(
            "A quick run looks at 10 angles of 40 degrees; its figures are scaled to 181, its maps and data are not."
        )
    return notes


EXPERIMENTS.add(
    "rovi-reachability",
    Experiment("ROVI: where the UR5 reaches the bottle, by the place of its base", rovi_reachability),
)

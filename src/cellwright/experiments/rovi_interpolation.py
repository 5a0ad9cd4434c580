"""The ROVI project's interpolation: durations of straight and rounded paths to its three pick locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.core.pose import Pose
from cellwright.core.results import MeasurementConditions
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BarPlot
from cellwright.motion.interpolation import CartesianTrajectory, blended, linear

__all__ = ["rovi_interpolation"]

Point = tuple[float, float, float]

BASE_X_M = 0.40
PICK_X_M = {"p1": 0.15, "p2": 0.40, "p3": 0.65}
WAYPOINTS_M: tuple[Point, ...] = (  # of the flange in the base, logged by the project
    (-0.109, 0.298, 0.433),
    (0.25, -0.1007, 0.46),
    (0.25, -0.1007, 0.26),
    (0.25, -0.0007, 0.06),
    (0.25, 0.0993, 0.06),
)
DEMO_M: tuple[Point, ...] = ((0, 0, 0), (1, 0, 0), (2, 1, 0), (1, 2, 0))


@dataclass(frozen=True)
class _Limits:
    speed_mps: float
    acceleration_mps2: float
    radius_m: float
    equivalent_radius_m: float


CODE = _Limits(0.1, 0.1, 0.05, 0.001)
TEXT = _Limits(0.2, 0.05, 0.05, 0.001)  # the text's radius of 0.2 m does not fit into this path
DEMO = _Limits(0.2, 0.05, 0.2, 0.01)

PAPER = {
    "linear.p1_s": 22.85,
    "linear.p2_s": 20.57,
    "linear.p3_s": 19.19,
    "blended.p1_s": 17.333,
    "blended.p2_s": 15.152,
    "blended.p3_s": 13.877,
    "text_limits.linear.p1_s": 22.85,
    "text_limits.linear.p2_s": 20.57,
    "text_limits.linear.p3_s": 19.19,
    "demo.linear_s": 31.142,
    "demo.blended_s": 22.670,
    "path.p1_m": 1.685,
    "path.p2_m": 1.457,
}


def rovi_interpolation(conditions: MeasurementConditions) -> ExperimentFindings:
    """Measures durations with the limits of the project's code, of its text, and of its demonstration in the plane."""
    metrics: dict[str, float] = {}
    rows: list[Sequence[object]] = []
    for name, x_m in PICK_X_M.items():
        way = pick_waypoints(x_m)
        conditions.say(f"{name}: {len(way)} waypoints")
        lin, text = (_linear(way, limits) for limits in (CODE, TEXT))
        bent = blended(
            way, CODE.speed_mps, CODE.acceleration_mps2, CODE.radius_m, equivalent_radius_m=CODE.equivalent_radius_m
        )
        metrics |= {
            f"linear.{name}_s": lin.duration_s,
            f"blended.{name}_s": bent.duration_s,
            f"text_limits.linear.{name}_s": text.duration_s,
            f"path.{name}_m": lin.length_m,
        }
        rows.append((name, lin.length_m, lin.duration_s, bent.length_m, bent.duration_s, text.duration_s))
    demo = [Pose.from_xyz_rpy(point) for point in DEMO_M]
    metrics["demo.linear_s"] = _linear(demo, DEMO).duration_s
    metrics["demo.blended_s"] = blended(
        demo, DEMO.speed_mps, DEMO.acceleration_mps2, DEMO.radius_m, equivalent_radius_m=DEMO.equivalent_radius_m
    ).duration_s
    metrics = {name: metrics[name] for name in sorted(metrics, key=_order)}
    limits = {f"{kind}.{name}_s": PAPER[f"{kind}.{name}_s"] for kind in ("linear", "blended") for name in PICK_X_M}
    limits |= {name: PAPER[name] for name in ("demo.linear_s", "demo.blended_s")}
    bars = [f"{kind}.{name}_s" for kind in ("linear", "blended") for name in PICK_X_M] + ["demo.linear_s"]
    bars += ["demo.blended_s"]
    return ExperimentFindings(
        metrics,
        {name: {"min": 0.99 * value, "max": 1.01 * value} for name, value in limits.items()},
        PAPER,
        {"durations": DataTable(("pick", "path_m", "linear_s", "blended_path_m", "blended_s", "text_linear_s"), rows)},
        [
            BarPlot(
                "durations",
                "Durations of the paths to the three pick locations and of the demonstration, ours and the paper's.",
                [name.removesuffix("_s").replace(".", "\n") for name in bars],
                {"ours": [metrics[name] for name in bars], "paper": [PAPER[name] for name in bars]},
                "duration [s]",
            )
        ],
        [
            "The tool goes through seven waypoints to each of three pick locations, straight with a halt at each, or "
            "without halts around corners cut by arcs; the profile of speed is a trapezoid. The waypoints are those "
            "that the project logged for its first location; for the others only the last two differ.",
            "The paper's text states 0.2 m/s, 0.05 m/s2 and a blend of 0.2 m, but its table was made with what its "
            "code has: 0.1 m/s, 0.1 m/s2 and 0.05 m. The figures without prefix are for the code's limits. Those "
            "beginning with `text_limits.` are for the text's speed and acceleration, and do not give the table's "
            "values, which stand beside them; the text's blend of 0.2 m does not fit between these waypoints at all.",
            "The demonstration in the plane, through (0, 0), (1, 0), (2, 1), (1, 2) m, does use the text's limits.",
        ],
    )


def pick_waypoints(pick_x_m: float) -> list[Pose]:
    """Returns the waypoints to a pick location: five that all share, one before it, and the location."""
    x_m = pick_x_m - BASE_X_M
    return [Pose.from_xyz_rpy(point) for point in (*WAYPOINTS_M, (x_m, 0.2493, 0.11), (x_m, 0.3493, 0.11))]


def _linear(way: Sequence[Pose], limits: _Limits) -> CartesianTrajectory:
    return linear(way, limits.speed_mps, limits.acceleration_mps2, equivalent_radius_m=limits.equivalent_radius_m)


def _order(name: str) -> int:
    groups = ("linear.", "blended.", "text_limits.", "demo.", "path.")
    return next(number for number, group in enumerate(groups) if name.startswith(group))


EXPERIMENTS.add(
    "rovi-interpolation",
    Experiment("ROVI: durations of straight and rounded paths to the pick locations", rovi_interpolation),
)

"""Tracking errors and torques of the three controllers in one joint move, on every arm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.cells import load_cell
from cellwright.control import TrackingResult, tracking_study
from cellwright.core.results import MeasurementConditions
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import LinePlot
from cellwright.motion import ArmKinematics
from cellwright.sim import World

__all__ = ["control_tracking"]

Array = npt.NDArray[np.float64]

ARMS = {"ur5": "rovi", "fanuc": "aprs", "motoman": "aprs"}
TURN_RAD = (0.5, -0.3, 0.2, 0.3, -0.2, 0.4, 0.3)
SPEED = 0.5
COMPARED_CONTROLLERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "pid": ("pid", {}),
    "computed_torque": ("computed_torque", {}),
    "cartesian": ("cartesian", {}),
    "computed_torque_paper": ("computed_torque", {"profile": "paper"}),
}
MOST_MRAD = 8.0
ROWS_PER_TABLE = 100


def control_tracking(conditions: MeasurementConditions) -> ExperimentFindings:
    """Measures the same move from home for each controller in a world of its own, after every physics step."""
    metrics: dict[str, float] = {}
    tables, plots = {}, []
    for robot, name in ARMS.items():
        conditions.say(f"{robot} of {name}: {', '.join(COMPARED_CONTROLLERS)}")
        cell = load_cell(name)
        home = np.radians(cell.robots[robot].home_deg)
        goal = home + np.array(TURN_RAD)[: len(home)]
        runs = tracking_study(
            lambda: World(cell, conditions.seed),  # noqa: B023
            robot,
            goal,
            speed=SPEED,
            controllers=COMPARED_CONTROLLERS,
        )
        figures = World(cell, conditions.seed).robot(robot).figures
        arm, limits = ArmKinematics(figures), np.array([j.effort_limit_nm for j in figures.joints])
        for run in runs:
            metrics |= {f"{robot}.{run.label}.{key}": value for key, value in _figures(run, arm, limits).items()}
        tables[f"tracking_{robot}"] = _table(runs)
        plots += _lines(robot, runs)
    first = [name for name in COMPARED_CONTROLLERS if not name.endswith("_paper")]
    targets = {f"{robot}.{name}.max_mrad": {"max": MOST_MRAD} for robot in ARMS for name in first}
    return ExperimentFindings(metrics, targets, {}, tables, plots, NOTES)


def _figures(run: TrackingResult, arm: ArmKinematics, limits_nm: Array) -> dict[str, float]:
    reached, wanted = run.reference_rad + run.error_rad, run.reference_rad
    offsets_m = [
        float(np.linalg.norm(arm.forward(a).position - arm.forward(b).position))
        for a, b in zip(reached[::5], wanted[::5], strict=True)
    ]
    return {
        "max_mrad": 1e3 * run.worst_error_rad,
        "rms_mrad": 1e3 * run.rms_error_rad,
        "flange_max_mm": 1e3 * max(offsets_m),
        "end_mrad": 1e3 * float(np.abs(run.error_rad[-1]).max()),
        "peak_nm": float(run.peak_effort_nm.max()),
        "peak_share": float((run.peak_effort_nm / limits_nm).max()),
    }


def _table(runs: list[TrackingResult]) -> DataTable:
    joints = range(1, runs[0].error_rad.shape[1] + 1)
    columns = ["controller", "time_s", *(f"error_{j}_mrad" for j in joints), *(f"effort_{j}_nm" for j in joints)]
    rows = [
        [run.label, run.time_s[k], *(1e3 * run.error_rad[k]), *run.effort_nm[k]]
        for run in runs
        for k in range(0, len(run.time_s), max(1, len(run.time_s) // ROWS_PER_TABLE))
    ]
    return DataTable(columns, rows)


def _lines(robot: str, runs: list[TrackingResult]) -> list[LinePlot]:
    worst = {run.label: (run.time_s, 1e3 * np.abs(run.error_rad).max(axis=1)) for run in runs}
    busiest = int(runs[0].peak_effort_nm.argmax())
    torque = {run.label: (run.time_s, run.effort_nm[:, busiest]) for run in runs}
    return [
        LinePlot(f"error_{robot}", f"{robot}: the joint that is farthest off.", worst, "time [s]", "error [mrad]"),
        LinePlot(
            f"torque_{robot}",
            f"{robot}: torque of joint {busiest + 1}, which carries the most.",
            torque,
            "time [s]",
            "torque [Nm]",
        ),
    ]


NOTES = [
    f"Each arm turns all its joints at once from its home, at {SPEED:.0%} of its speed, jerk-limited. The error is "
    "what the encoders say less what the joints should be at that moment, after every physics step of 2 ms, and for "
    "0.3 s after the end.",
    "`pid` is the drives' own servo with the reference as its set point, renewed every 4 ms: its torque ripples with "
    "that, a step of the set point against a stiff servo. `computed_torque` cancels the arm's dynamics "
    "and has each joint a damped spring on its reference (Kp 800, Kd 400: ROVI, equations 5 to 8). `cartesian` does so "
    "for the flange's pose (equations 9 to 12) and has no feed-forward of the acceleration, as in that project. "
    "`computed_torque_paper` is the project's weightless gripper: the drive carries the tool's weight and the model "
    "does not know its inertia.",
    "The paper gives no tracking figures to compare with.",
]

EXPERIMENTS.add(
    "control-tracking",
    Experiment("Tracking error and torques of three controllers on one move", control_tracking, ("numba",)),
)

"""Squares of e-pucks with the errors of real wheels: by the clock alone, and by proportional control on odometry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import degrees, hypot, pi, remainder

import numpy as np
import numpy.typing as npt

from cellwright.cells import Cell, load_cell
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import mean_of, quantile_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BoxPlot, LinePlot
from cellwright.experiments.pool import run_jobs
from cellwright.lab import Lab
from cellwright.mobile import Behaviour, BusRobot, SquareByOdometry, SquareByTime

__all__ = ["DriftJob", "SquareRun", "drive_square", "epuck_drift"]

Array = npt.NDArray[np.float64]

SIDE_M, LAPS = 0.4, 2
SEEDS, QUICK_SEEDS = 30, 3
MOST_S = 120.0
REST_S = 0.4
WATCH_S = 0.1
PROGRAMS: Mapping[str, Callable[[], Behaviour]] = {
    "open": lambda: SquareByTime(SIDE_M, LAPS),
    "proportional": lambda: SquareByOdometry(SIDE_M, LAPS),
}


@dataclass(frozen=True)
class DriftJob:
    """Squares of one robot: a key of `PROGRAMS`, and the seed of its wheels."""

    program: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class SquareRun:
    """Squares that were driven.

    Attributes:
        program: A key of `PROGRAMS`.
        seed: Of the robot's wheels and of everything else that is random.
        error_m: From the place where it started to the place where it ended, in truth.
        turn_error_rad: The same of its direction.
        odometry_error_m: How far odometry was off in the end.
        time_s: Until it stood.
        path_m: Where it was, in the frame of its start: (n, 2).
    """

    program: str
    seed: int
    error_m: float
    turn_error_rad: float
    odometry_error_m: float
    time_s: float
    path_m: Array


@lru_cache(maxsize=1)
def _cell() -> Cell:
    return load_cell("epucks@one").changed({"arena": {"size_m": [3.0, 3.0]}})


def drive_square(job: DriftJob) -> SquareRun:
    """Drives the squares in a laboratory of their own; the program sees odometry, the truth is for the error alone."""
    with Lab(_cell(), job.seed) as lab:
        (name, drive) = next(iter(lab.mobiles.items()))
        program = PROGRAMS[job.program]()
        start = lab.world.pose_of(name)
        drive.reset_odometry()
        BusRobot(lab.bus, name, program, drive.move)
        path = [np.zeros(2)]
        while not getattr(program, "done", True) or len(path) == 1:
            lab.advance(WATCH_S)
            path.append((start.inverse() @ lab.world.pose_of(name)).position[:2].copy())
            if lab.clock.time_s > MOST_S:
                break
        time_s = lab.clock.time_s
        lab.advance(REST_S)
        end = start.inverse() @ lab.world.pose_of(name)
        found = drive.odometry
        x_m, y_m = (float(value) for value in end.position[:2])
        return SquareRun(
            program=job.program,
            seed=job.seed,
            error_m=hypot(x_m, y_m),
            turn_error_rad=float(remainder(end.rpy[2], 2 * pi)),
            odometry_error_m=hypot(found.x_m - x_m, found.y_m - y_m),
            time_s=time_s,
            path_m=np.array(path),
        )


def epuck_drift(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Drives the same robots both ways: a seed is a pair of wheels."""
    count = QUICK_SEEDS if conditions.quick else SEEDS
    seeds = RandomStreams(conditions.seed).stream("epuck-drift").integers(2**31, size=count).tolist()
    jobs = [DriftJob(program, seed) for program in PROGRAMS for seed in seeds]
    runs = run_jobs("squares", drive_square, jobs, workers, conditions.progress)
    metrics: dict[str, float] = {}
    for program in PROGRAMS:
        own = [run for run in runs if run.program == program]
        metrics |= mean_of(f"{program}.error_mm", [1e3 * run.error_m for run in own])
        metrics |= quantile_of(f"{program}.median_mm", [1e3 * run.error_m for run in own])
        metrics |= mean_of(f"{program}.turn_error_deg", [abs(degrees(run.turn_error_rad)) for run in own])
        metrics |= mean_of(f"{program}.odometry_error_mm", [1e3 * run.odometry_error_m for run in own])
        metrics |= mean_of(f"{program}.time_s", [run.time_s for run in own])
    pairs = zip(*([run.error_m for run in runs if run.program == program] for program in PROGRAMS), strict=True)
    metrics |= mean_of("saved_mm", [1e3 * (open_m - proportional_m) for open_m, proportional_m in pairs])
    rows = [
        (run.program, run.seed, 1e3 * run.error_m, degrees(run.turn_error_rad), 1e3 * run.odometry_error_m, run.time_s)
        for run in runs
    ]
    columns = ("program", "seed", "error_mm", "turn_error_deg", "odometry_error_mm", "time_s")
    shown = [run for run in runs if run.seed in seeds[:2]]
    return ExperimentFindings(
        metrics,
        {"saved_mm_low": {"min": 0.0}, "proportional.error_mm": {"max": MOST_ERROR_MM}},
        tables={"squares": DataTable(columns, rows)},
        plots=[
            BoxPlot(
                "errors",
                f"From start to end after {LAPS} squares of {SIDE_M:g} m.",
                {program: [1e3 * run.error_m for run in runs if run.program == program] for program in PROGRAMS},
                "error [mm]",
            ),
            LinePlot(
                "paths",
                "Two robots, each both ways, seen from above; every way begins at 0, 0.",
                {f"{run.program}, seed {run.seed}": (run.path_m[:, 0], run.path_m[:, 1]) for run in shown},
                "x [m]",
                "y [m]",
                is_map=True,
            ),
        ],
        notes=NOTES,
    )


MOST_ERROR_MM = 50.0  # of 3.2 m: 1.6 %, about what the tolerances of the wheels allow
NOTES = [
    f"Each robot drives {LAPS} squares with sides of {SIDE_M:g} m counter-clockwise, {8 * SIDE_M * LAPS / 2:g} m and "
    f"{4 * LAPS} turns, and stops. A seed is a robot: its wheels, and how its motors and the floor fail. The error is "
    "the distance from where it stood at first to where it stands in the end, by the truth, which no program sees.",
    "`open` holds a speed for as long as the drawings say, then the other one. `proportional` drives and turns in "
    "proportion to what odometry says is left, and holds its line. Both command the same speeds at most.",
    "What `proportional` cannot mend is what odometry does not know: wheels that are not those of the drawings, and "
    "slip. `odometry_error_mm` is that part. The paper names the effect and gives no figures.",
]

EXPERIMENTS.add(
    "epuck-drift", Experiment("e-pucks: squares by the clock, and by proportional control on odometry", epuck_drift)
)

"""The APRS paper's calibration: Table 1, Eqn (1), Fig. 9, the lab's own files, and cells before and after it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cellwright.core.offset_map import OffsetMap
from cellwright.core.pose import Pose
from cellwright.core.pose_offsets import PoseOffsets
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.calibration_runs import ROBOT, CalibrationRow, run_calibration, table_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BoxPlot
from cellwright.experiments.pool import run_jobs
from cellwright.perception.calibration import CompensationMap, absolute_orientation, fit_pairs, read_lab_csv

__all__ = ["aprs_calibration", "lab_files"]

Array = npt.NDArray[np.float64]

# Table 1 of the paper: reported places on the Motoman's table, and what is to be added there, in millimetres.
POINTS_MM = np.array([[535.9, 157.7], [723.1, -400.3], [523.8, -106.7], [747.3, 155.4]])
OFFSETS_MM = np.array([[0.0, 5.0], [-9.0, -7.0], [-4.0, 0.0], [5.0, 0.0]])
GRID_MM = (np.arange(500.0, 771.0, 5.0), np.arange(-420.0, 181.0, 5.0))
QUICK_STEP = 6
TOUCH_SD_M, TOUCHES, QUICK_TOUCHES = 0.0003, 1000, 100
# Places that both robots touch, as far apart as those of the laboratory's own registration.
SHARED_M = np.array([[0.722, -0.391, 0.0], [0.546, 0.178, 0.0], [0.522, -0.101, 0.0], [0.758, 0.183, 0.0]])
PAPER = {"eqn1.node_error_mm": 0.0, "map.max_mm": float(np.hypot(9.0, 7.0))}
DATA = "CELLWRIGHT_APRS_DATA"
SEEDS, QUICK_SEEDS = 20, 1
RESAMPLES = 1000


def aprs_calibration(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures the mathematics on the paper's table, the laboratory's own files, and cells before and after it."""
    metrics, notes = _eqn_1(conditions), [_ABOUT]
    metrics |= _between_robots(conditions)
    real, rows, note = _real_files()
    metrics |= real
    runs = _realities(conditions, workers)
    metrics |= run_metrics(runs, conditions.seed)
    notes += [_RUNS, *(f"seed {row.seed}: {line}" for row in runs for line in _failures(row))]
    offsets = PoseOffsets(POINTS_MM / 1e3, np.column_stack([OFFSETS_MM, np.zeros(4)]) / 1e3, np.zeros((4, 3)))
    return ExperimentFindings(
        metrics,
        {
            "eqn1.node_error_mm": {"max": 1e-9},
            "inverse.round_trip_mm": {"max": 1e-9},
            "robots.noise_mm": {"max": 0.52},
            **({"real_files.residual_mm": {"max": 3.0}} if real else {}),
            "calibrated.success": {"min": 0.99},
            "calibrated.position_mm_p95": {"max": 2.0},
        },
        PAPER,
        {"real_files": DataTable(("file", "pair", "residual_mm", "left_out"), rows), "runs": table_of(runs)},
        [
            CompensationMap(offsets, frame="Motoman"),
            BoxPlot(
                "position",
                f"Distance of the hand of {ROBOT} from the part over which it is sent, by the truth.",
                {
                    "uncalibrated": [mm for row in runs for mm in row.uncalibrated_mm] or [0.0],
                    "calibrated": [mm for row in runs for mm in row.calibrated_mm] or [0.0],
                },
                "distance [mm]",
            ),
        ],
        [*notes, note],
    )


_ABOUT = (
    "Table 1 has offsets at four places, Eqn (1) interpolates between them, and its inverse is what a simulated "
    "detector errs by, so that the controller's own calibration is right in both worlds. `eqn1.node_error_mm` is how "
    "far the interpolation is off at the four places, `inverse.round_trip_mm` how far a place is from itself after the "
    "inverse and Eqn (1), over a grid of 5 mm and at the four places. `inverse.one_step_mm` is the same for an inverse "
    "without iteration. The paper gives no figures for these; its Fig. 9 is the map below, whose largest value is that "
    "of Table 1. `robots.noise_mm` is the error of Horn's transform between robots at four places when both touch them "
    "with a standard deviation of 0.3 mm; least squares cannot do better than 0.52 mm, root mean square."
)


_RUNS = (
    "The cell `aprs@as_built` is another reality for every seed: tables, robots, tools and cameras are millimetres and "
    "tenths of a degree from their drawings. In each the kit `kit_m2l1` is ordered with the drawings alone; then the "
    "cell is calibrated by marks that are seen and touched, and the kit is ordered again with the calibration file. "
    "`position_mm_p95` is how far the hand is beside a part over which it is sent by what is seen, with the real base, "
    "tool and joint zeros; its interval is by resampling the seeds. `robots.transform_mm` is how far the hands of both "
    "robots are apart, in the median, when they are sent to a place that both have touched, in all three coordinates "
    "and with their real bases, tools and zeros. The paper reports neither success nor accuracy of its "
    "calibrated cell."
)


def _realities(conditions: MeasurementConditions, workers: int | None) -> list[CalibrationRow]:
    count = QUICK_SEEDS if conditions.quick else SEEDS
    seeds = RandomStreams(conditions.seed).stream("aprs-calibration").integers(2**31, size=count).tolist()
    conditions.say(f"aprs@as_built: {count} realities, each before and after it is calibrated")
    return run_jobs("calibration", run_calibration, seeds, workers, conditions.progress)


def run_metrics(rows: Sequence[CalibrationRow], seed: int = 0) -> dict[str, float]:
    """Returns success and accuracy before and after calibration, with 95 % intervals."""
    count, metrics = len(rows), dict[str, float]()
    rng = RandomStreams(seed).stream("aprs-calibration/resampling")
    for name in ("uncalibrated", "calibrated"):
        done = sum(getattr(row, name) == "done" for row in rows)
        metrics |= {
            **rate_of(f"{name}.success", done, count),
            f"{name}.n": float(count),
        }
        metrics |= _percentile(f"{name}.position_mm_p95", [getattr(row, f"{name}_mm") for row in rows], 95, rng)
    metrics |= _percentile("robots.transform_mm", [row.transform_mm for row in rows], 50, rng)
    for key in ("sim_s", "cpu_s"):
        spent = [getattr(row, f"calibrate_{key}") for row in rows if row.calibration == "done"]
        metrics |= quantile_of(f"calibrate.{key}", spent)
    metrics |= rate_of("calibrate.done", sum(row.calibration == "done" for row in rows), count)
    return metrics


def _percentile(
    name: str, groups: Sequence[tuple[float, ...]], share: float, rng: np.random.Generator
) -> dict[str, float]:
    """Returns a percentile of all values, and its 95 % interval by drawing the groups again."""
    full = [group for group in groups if group]
    if not full:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), float("nan"))
    again = [
        np.percentile(np.concatenate([full[k] for k in rng.integers(len(full), size=len(full))]), share)
        for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(again, [2.5, 97.5])
    return {
        name: float(np.percentile(np.concatenate(full), share)),
        f"{name}_low": float(low),
        f"{name}_high": float(high),
    }


def _failures(row: CalibrationRow) -> list[str]:
    if row.calibration != "done":
        return [f"not calibrated: {row.calibration}"]
    return [] if row.calibrated == "done" else [f"calibrated, {row.calibrated}: {row.calibrated_reason}"]


def _eqn_1(conditions: MeasurementConditions) -> dict[str, float]:
    table = OffsetMap(POINTS_MM, OFFSETS_MM)
    node = max(
        float(np.abs(table.offset_at(point) - offset).max())
        for point, offset in zip(POINTS_MM, OFFSETS_MM, strict=True)
    )
    step = QUICK_STEP if conditions.quick else 1
    conditions.say("Table 1: a grid of 5 mm")
    grid = [np.array([x, y]) for x in GRID_MM[0][::step] for y in GRID_MM[1][::step]]
    places = [*grid, *POINTS_MM, *(POINTS_MM + OFFSETS_MM)]
    trips = [float(np.abs(table.to_robot(table.to_vision(place)) - place).max()) for place in places]
    single = [float(np.hypot(*(table.to_robot(place - table.offset_at(place)) - place))) for place in places]
    return {
        "eqn1.node_error_mm": node,
        "inverse.round_trip_mm": max(trips),
        "inverse.one_step_mm": max(single),
        "inverse.n": float(len(places)),
        "map.max_mm": max(float(np.hypot(*table.offset_at(place))) for place in places),
        "map.min_mm": min(float(np.hypot(*table.offset_at(place))) for place in places),
    }


def _between_robots(conditions: MeasurementConditions) -> dict[str, float]:
    """Returns how well two robots that touch the same four places know each other."""
    rng = RandomStreams(conditions.seed).stream("aprs-calibration/robots")
    count = QUICK_TOUCHES if conditions.quick else TOUCHES
    errors = []
    for _ in range(count):
        true = Pose.from_xyz_rpy(rng.uniform(-1, 1, 3), [0.0, 0.0, rng.uniform(-3, 3)])
        touched = [places + rng.normal(0, TOUCH_SD_M, places.shape) for places in (SHARED_M, true.apply(SHARED_M))]
        found = absolute_orientation(*touched).pose
        errors.append(np.linalg.norm(found.apply(SHARED_M) - true.apply(SHARED_M), axis=1).mean())
    mean = float(np.mean(errors))
    half = 1.96 * float(np.std(errors, ddof=1)) / np.sqrt(count)
    return {
        "robots.noise_mm": 1e3 * mean,
        "robots.noise_mm_low": 1e3 * (mean - half),
        "robots.noise_mm_high": 1e3 * (mean + half),
        "robots.noise_n": float(count),
    }


def lab_files() -> list[Path]:
    """Returns the laboratory's calibration files: of the folder that a variable names, or beside the project."""
    named = os.environ.get(DATA)
    folders = [Path(named)] if named else [Path.cwd().parent / "shared/aprs", Path(__file__).parents[4] / "shared/aprs"]
    found = next((folder / "calibration" for folder in folders if (folder / "calibration").is_dir()), None)
    return sorted(found.glob("*.csv")) if found else []


def _real_files() -> tuple[dict[str, float], list[Sequence[object]], str]:
    """Returns residuals of the laboratory's own files, rows of each pair, and a note."""
    files = lab_files()
    if not files:
        note = f"The laboratory's own files are not here (set {DATA} to their folder): `real_files` was skipped."
        return {}, [], note
    rows: list[Sequence[object]] = []
    squares, worst, said = list[float](), 0.0, []
    for file in files:
        pairs = read_lab_csv(file)
        fit = fit_pairs(pairs.from_m, pairs.to_m, pairs.names)
        rows += [
            (file.name, name, 1e3 * residual, fit.rejected.get(name, ""))
            for name, residual in zip(fit.names, fit.residuals_m, strict=True)
        ]
        own = [1e3 * residual for residual, kept in zip(fit.residuals_m, fit.kept, strict=True) if kept]
        squares += [mm**2 for mm in own]
        worst = max(worst, *own)
        said.append(f"{file.name} {1e3 * fit.rms_m:.2f} mm, {len(fit.rejected)} of {len(own)} left out")
    metrics = {
        "real_files.residual_mm": float(np.sqrt(np.mean(squares))),
        "real_files.worst_mm": worst,
        "real_files.outliers": float(sum(bool(row[3]) for row in rows)),
        "real_files.n": float(len(rows)),
    }
    return metrics, rows, f"A rigid transform leaves of the laboratory's own files: {'; '.join(said)}."


EXPERIMENTS.add(
    "aprs-calibration", Experiment("APRS: calibration by registration points, and its inverse", aprs_calibration)
)

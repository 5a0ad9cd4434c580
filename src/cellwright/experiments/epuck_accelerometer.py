"""The e-puck paper's accelerometer: its noise while a robot drives straight, and while it stands, beside Table 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.cells import Cell, load_cell
from cellwright.core.messages import Imu
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import mean_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BarPlot, LinePlot
from cellwright.lab import Lab

__all__ = ["AccelerometerRun", "epuck_accelerometer", "feel_floor"]

Array = npt.NDArray[np.float64]

SPEED_MPS = 0.05  # the paper gives none


@dataclass(frozen=True)
class _Way:
    """A way of driving, and whether the floor is rough."""

    speed_mps: float
    is_rough: bool = True


WAYS: Mapping[str, _Way] = {
    "driving": _Way(SPEED_MPS),
    "standing": _Way(0.0),
    "slow": _Way(0.03),
    "fast": _Way(0.10),
    "even": _Way(SPEED_MPS, is_rough=False),
}
AXES = ("x", "y", "z")
PAPER_REAL = {"x": 0.03559, "y": 0.03079, "z": 0.04930}  # Table 1, m/s2, driving straight on wood
PAPER_SIMULATED = {"x": 0.03630, "y": 0.00215, "z": 0.02562}
PAPER_TABLE = (  # Table 1: least, quartiles and mean, largest, deviation
    ("real", "x", -0.15941, -0.07358, -0.04905, -0.05254, -0.03679, 0.04905, PAPER_REAL["x"]),
    ("real", "y", -0.35561, -0.28204, -0.25751, -0.26087, -0.24525, -0.18394, PAPER_REAL["y"]),
    ("real", "z", 9.55249, 9.65059, 9.68737, 9.68479, 9.71190, 9.82226, PAPER_REAL["z"]),
    ("simulated in V-REP", "x", -0.06554, -0.03160, -0.00663, -0.00045, 0.03301, 0.07084, PAPER_SIMULATED["x"]),
    ("simulated in V-REP", "y", -0.00677, -0.00151, -0.00017, -0.00010, 0.00151, 0.00663, PAPER_SIMULATED["y"]),
    ("simulated in V-REP", "z", -9.85761, -9.83361, -9.80537, -9.81005, -9.78845, -9.76215, PAPER_SIMULATED["z"]),
)
SUMMARY = ("min", "quartile_1", "median", "mean", "quartile_3", "max", "sd")
GOALS = {"x": (0.025, 0.046), "y": (0.022, 0.040), "z": (0.035, 0.064)}  # within 30 % of the real robot
RATE_HZ = 30.0
START_S, RUN_S = 1.0, 12.0
FLOORS, QUICK_FLOORS = 16, 2


@dataclass(frozen=True, kw_only=True)
class AccelerometerRun:
    """Readings of the accelerometer of one robot on one floor.

    Attributes:
        way: A key of `WAYS`.
        seed: Of floor, robot and noise.
        times_s: Of the readings.
        readings_mps2: (n, 3), in the robot's axes.
    """

    way: str
    seed: int
    times_s: Array
    readings_mps2: Array

    @property
    def sd_mps2(self) -> Array:
        """Standard deviations along x, y and z."""
        return np.asarray(self.readings_mps2.std(axis=0, ddof=1))


def _cell(way: _Way) -> Cell:
    differences: dict[str, Any] = {
        "arena": {"size_m": [4.0, 4.0]},
        "mobiles": {"ePuck": {"profile": None, "sensors": [{"type": "imu", "rate_hz": RATE_HZ}]}},
    }
    if not way.is_rough:
        differences["floor_roughness"] = []
    return load_cell("epucks@one").changed(differences)


def feel_floor(way: str, seed: int, run_s: float = RUN_S) -> AccelerometerRun:
    """Drives straight for some seconds, as a key of `WAYS` says, after a second in which the robot comes to speed."""
    with Lab(_cell(WAYS[way]), seed) as lab:
        heard: list[Imu] = []
        lab.mobile("ePuck0").move(WAYS[way].speed_mps, 0.0)
        lab.advance(START_S)
        lab.bus.subscribe("/ePuck0/imu", lambda _, reading: heard.append(reading), subscriber="experiment")
        lab.advance(run_s)
    times = np.array([reading.time_s for reading in heard])
    return AccelerometerRun(
        way=way,
        seed=seed,
        times_s=times - times[0],
        readings_mps2=np.array([reading.acceleration for reading in heard]),
    )


def epuck_accelerometer(conditions: MeasurementConditions) -> ExperimentFindings:
    """Repeats the paper's straight drive on several floors, faster, slower, standing, and on an even floor."""
    count = QUICK_FLOORS if conditions.quick else FLOORS
    seeds = RandomStreams(conditions.seed).stream("epuck-accelerometer").integers(2**31, size=count).tolist()
    metrics: dict[str, float] = {}
    rows, summary, shown = [], [], {}
    for way in WAYS:
        conditions.say(f"{way} on {count} floors")
        runs = [feel_floor(way, seed) for seed in seeds]
        shown[way] = runs[0]
        rows += [(way, run.seed, *run.sd_mps2) for run in runs]
        for at, axis in enumerate(AXES):
            metrics |= mean_of(f"{way}.{axis}_sd", [float(run.sd_mps2[at]) for run in runs])
            every = np.concatenate([run.readings_mps2[:, at] for run in runs])
            summary.append((way, axis, *np.quantile(every, (0.0, 0.25, 0.5)), every.mean(), *_upper(every)))
    driving = shown["driving"]
    return ExperimentFindings(
        metrics,
        {f"driving.{axis}_sd": {"min": low, "max": high} for axis, (low, high) in GOALS.items()},
        {f"driving.{axis}_sd": sd for axis, sd in PAPER_REAL.items()},
        {
            "floors": DataTable(("way", "seed", "x_sd", "y_sd", "z_sd"), rows),
            "summary": DataTable(("way", "axis", *SUMMARY), summary),
            "paper": DataTable(("robot", "axis", *SUMMARY), PAPER_TABLE),
        },
        [
            BarPlot(
                "deviations",
                "Table 1: standard deviations while driving straight, the paper's and ours; and ours standing.",
                AXES,
                {
                    "real (paper)": list(PAPER_REAL.values()),
                    "simulated (paper)": list(PAPER_SIMULATED.values()),
                    "driving": [metrics[f"driving.{axis}_sd"] for axis in AXES],
                    "standing": [metrics[f"standing.{axis}_sd"] for axis in AXES],
                },
                "standard deviation [m/s2]",
            ),
            LinePlot(
                "readings",
                f"Figure 3: readings at {1e3 * SPEED_MPS:g} mm/s on one floor, less their means; y and z shifted.",
                {
                    axis: (driving.times_s, driving.readings_mps2[:, at] - driving.readings_mps2[:, at].mean() - at / 2)
                    for at, axis in enumerate(AXES)
                },
                "time [s]",
                "acceleration [m/s2]",
            ),
        ],
        NOTES,
    )


def _upper(values: Array) -> tuple[float, float, float]:
    """Returns third quartile, maximum and standard deviation."""
    return float(np.quantile(values, 0.75)), float(values.max()), float(values.std(ddof=1))


NOTES = [
    f"A robot drives straight at {1e3 * SPEED_MPS:g} mm/s; the paper gives no speed, so this one is assumed. Each seed "
    f"is a floor and a robot with wheels and motors of its own; {RUN_S:g} s of readings at {RATE_HZ:g} Hz after the "
    "first second. Figures are means over floors of each run's standard deviation; those in summary.csv are of "
    "all floors together, and larger, since each robot stands a little aslant on its own.",
    "No noise is added but the sensor's own, one count of 9.81/800 m/s2 and rounding to whole counts, which is what is "
    "left while standing. The rest is felt: a floor with roughness of two lengths below every wheel and skid, and the "
    "ripple of stepper motors, once per four steps. On an even floor (`even`) ripple alone is left, along x. The "
    "paper's simulation has an even floor, and y is there too small by a factor of 14.",
    "What is estimated: the heights of the floor (28 um over 1.5 mm, 50 um over 30 mm), the ripple of 0.4 %, the "
    "height of the sensor (20 mm), and how soft tyres and skids are. They were chosen so that the figures at "
    f"{1e3 * SPEED_MPS:g} mm/s are those of the real robot; `slow` (30 mm/s) and `fast` (100 mm/s) follow from them, "
    "and there are no real ones to compare with. Nor is there one for a real robot that stands.",
    "Means differ from the paper's: its real accelerometer stood askew (y -0.26 m/s2) and its zero was off; here x has "
    "the slope of a robot that rests on its rear skid.",
]

EXPERIMENTS.add(
    "epuck-accelerometer",
    Experiment("e-pucks: noise of the accelerometer, felt from floor and motors", epuck_accelerometer),
)

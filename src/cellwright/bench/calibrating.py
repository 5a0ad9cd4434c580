"""Bench `kitting`: the registration of one robot and its detector, by marks."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from cellwright.bench.result import MeasurementFailed
from cellwright.cells import load_cell
from cellwright.core.errors import JobFailed
from cellwright.trials.registration import calibrate_cell

__all__ = ["TimedCalibration", "calibrate_timed"]

CELL = "aprs@as_built"
ROBOT = "fanuc"


@dataclass(frozen=True)
class TimedCalibration:
    """A registration and its cost.

    Attributes:
        seconds: The simulated seconds.
        wall_s: All of it: choosing places, building the world, looking, touching, fitting.
    """

    seconds: float
    wall_s: float


def calibrate_timed(seed: int) -> TimedCalibration:
    """Calibrates the Fanuc in a cell that was never calibrated.

    Raises:
        MeasurementFailed: It was not done: a registration that fails is soon over.
    """
    cell, start_s = load_cell(CELL), perf_counter()
    try:
        run = calibrate_cell(cell, [ROBOT], seed)
    except JobFailed as error:
        raise MeasurementFailed("kitting", f"seed {seed}: calibrate: {error}") from error
    wall_s = perf_counter() - start_s
    if run.fitted.problems:
        raise MeasurementFailed("kitting", f"seed {seed}: calibrate: {run.fitted.problems[0]}")
    return TimedCalibration(run.measured.duration_s, wall_s)

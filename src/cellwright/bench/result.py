"""The registry of benches, and the function that runs one."""

from __future__ import annotations

from collections.abc import Callable

from cellwright import __version__
from cellwright.core.registry import Registry
from cellwright.core.results import Measurement, MeasurementConditions, MeasurementFailed, Result
from cellwright.lab.versions import versions

__all__ = ["BENCHES", "Bench", "Measurement", "MeasurementConditions", "MeasurementFailed", "Result", "run_bench"]

Bench = Callable[[MeasurementConditions], Measurement]

BENCHES: Registry[Bench] = Registry("bench", "cellwright.benches")


def run_bench(name: str, conditions: MeasurementConditions) -> Result:
    """Makes a measurement by its registered name.

    Raises:
        MeasurementFailed: when it could not be made.
    """
    measured = BENCHES.get(name)(conditions)
    return Result.of(name, measured, conditions, {"cellwright": __version__, **versions()})

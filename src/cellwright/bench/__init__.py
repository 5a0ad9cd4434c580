"""Benches: measurements of the software itself, as figures with targets; a new one is one file and one line here."""

from cellwright.bench import bridges as bridges
from cellwright.bench import crcl as crcl
from cellwright.bench import epucks as epucks
from cellwright.bench import grasp as grasp
from cellwright.bench import hybrid as hybrid
from cellwright.bench import kitting as kitting
from cellwright.bench import motion as motion
from cellwright.bench import physics as physics
from cellwright.bench import planning as planning
from cellwright.bench import tools as tools
from cellwright.bench import view as view
from cellwright.bench import vision as vision
from cellwright.bench.result import (
    BENCHES,
    Bench,
    Measurement,
    MeasurementConditions,
    MeasurementFailed,
    Result,
    run_bench,
)

__all__ = ["BENCHES", "Bench", "Measurement", "MeasurementConditions", "MeasurementFailed", "Result", "run_bench"]

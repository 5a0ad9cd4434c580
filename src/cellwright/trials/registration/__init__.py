"""Four-point registration: marks are placed, seen, touched, and the pairs fitted."""

from cellwright.trials.registration.calibrate import CalibrationRun, calibrate_cell
from cellwright.trials.registration.fitting import FittedCalibration, fit_marks
from cellwright.trials.registration.places import MarkPlace, MarkPlaces
from cellwright.trials.registration.procedure import MarkMeasurements, measure_marks

__all__ = [
    "CalibrationRun",
    "FittedCalibration",
    "MarkMeasurements",
    "MarkPlace",
    "MarkPlaces",
    "calibrate_cell",
    "fit_marks",
    "measure_marks",
]

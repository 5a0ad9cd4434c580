"""Fitting: the drawings of a cell, brought to where files measured in the real one have things."""

from cellwright.fitting.cell_fit import CellFit, FittedEntry, fit_cell
from cellwright.fitting.least_squares import Solution, solve_robust
from cellwright.fitting.measured_files import MeasuredFile, SteadyObject, read_frames, steady_objects
from cellwright.fitting.tray_fit import FittedTray, fit_tray

__all__ = [
    "CellFit",
    "FittedEntry",
    "FittedTray",
    "MeasuredFile",
    "Solution",
    "SteadyObject",
    "fit_cell",
    "fit_tray",
    "read_frames",
    "solve_robust",
    "steady_objects",
]

"""Experiments: published figures made again, with data, plots and a page; a new one is one file and one line here."""

from cellwright.experiments import aprs_calibration as aprs_calibration
from cellwright.experiments import aprs_camera_noise as aprs_camera_noise
from cellwright.experiments import aprs_noise as aprs_noise
from cellwright.experiments import aprs_recognition as aprs_recognition
from cellwright.experiments import control_tracking as control_tracking
from cellwright.experiments import epuck_accelerometer as epuck_accelerometer
from cellwright.experiments import epuck_drift as epuck_drift
from cellwright.experiments import epuck_follow as epuck_follow
from cellwright.experiments import epuck_proximity as epuck_proximity
from cellwright.experiments import hybrid as hybrid
from cellwright.experiments import kitting_camera as kitting_camera
from cellwright.experiments import kitting_clean as kitting_clean
from cellwright.experiments import kitting_faults as kitting_faults
from cellwright.experiments import kitting_limits as kitting_limits
from cellwright.experiments import kitting_tight as kitting_tight
from cellwright.experiments import rovi_integrated as rovi_integrated
from cellwright.experiments import rovi_interpolation as rovi_interpolation
from cellwright.experiments import rovi_m1 as rovi_m1
from cellwright.experiments import rovi_m3 as rovi_m3
from cellwright.experiments import rovi_reachability as rovi_reachability
from cellwright.experiments import rovi_rrt as rovi_rrt
from cellwright.experiments import tool_change as tool_change
from cellwright.experiments.compare import ResultComparison, compare_results, read_result
from cellwright.experiments.experiment import (
    EXPERIMENTS,
    DataTable,
    Experiment,
    ExperimentFindings,
    ExperimentOutcome,
    run_experiment,
)
from cellwright.experiments.plots import BarPlot, BoxPlot, FloorPlan, Heatmap, ImagePlot, LinePlot, Plot, draw
from cellwright.experiments.reachability import BaseGrid, ReachMap, map_reach, reach_task
from cellwright.experiments.report import save_outcome

__all__ = [
    "EXPERIMENTS",
    "BarPlot",
    "BaseGrid",
    "BoxPlot",
    "DataTable",
    "Experiment",
    "ExperimentFindings",
    "ExperimentOutcome",
    "FloorPlan",
    "Heatmap",
    "ImagePlot",
    "LinePlot",
    "Plot",
    "ReachMap",
    "ResultComparison",
    "compare_results",
    "draw",
    "map_reach",
    "reach_task",
    "read_result",
    "run_experiment",
    "save_outcome",
]

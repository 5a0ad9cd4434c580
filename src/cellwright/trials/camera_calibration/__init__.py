"""Calibration of cameras in a cell: a board is shown, tags are looked at, robots move, and all is fitted."""

from cellwright.trials.camera_calibration.calibrate import CameraRun, calibrate_cameras
from cellwright.trials.camera_calibration.fitting import FittedCameras, fit_cameras
from cellwright.trials.camera_calibration.ports import BoardHands
from cellwright.trials.camera_calibration.procedure import CameraMeasurements, measure_cameras

__all__ = [
    "BoardHands",
    "CameraMeasurements",
    "CameraRun",
    "FittedCameras",
    "calibrate_cameras",
    "fit_cameras",
    "measure_cameras",
]

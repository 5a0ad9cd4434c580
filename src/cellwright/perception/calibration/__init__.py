"""Calibration: where robots, detectors and tables really are, by what was touched and seen; files of it."""

from cellwright.core.registration_points import RegistrationPoint, check_points
from cellwright.perception.calibration.absolute_orientation import Similarity, absolute_orientation
from cellwright.perception.calibration.camera import (
    CalibratedCamera,
    CameraPair,
    DrawnCamera,
    calibrated_camera_messages,
)
from cellwright.perception.calibration.compensation_map import CompensationMap
from cellwright.perception.calibration.detections import corrected_detections
from cellwright.perception.calibration.fields import FittedPose
from cellwright.perception.calibration.files import (
    DrawnPlaces,
    calibration_yaml,
    read_calibration,
    write_calibration,
)
from cellwright.perception.calibration.lab_csv import LabPairs, lab_csv, read_lab_csv, write_lab_csv
from cellwright.perception.calibration.model import (
    CalibratedDetector,
    CalibratedRobot,
    CalibratedSurface,
    Calibration,
    MeasuredPair,
    PairSet,
    RegistrationMethod,
    RobotTransform,
)
from cellwright.perception.calibration.registration import (
    DetectorRegistration,
    RobotRegistration,
    register_detector,
    register_robots,
    touched_surface,
)
from cellwright.perception.calibration.robust_fit import PairFit, fit_pairs
from cellwright.perception.calibration.touched_plane import TouchedPlane, fit_plane

__all__ = [
    "CalibratedCamera",
    "CalibratedDetector",
    "CalibratedRobot",
    "CalibratedSurface",
    "Calibration",
    "CameraPair",
    "CompensationMap",
    "DetectorRegistration",
    "DrawnCamera",
    "DrawnPlaces",
    "FittedPose",
    "LabPairs",
    "MeasuredPair",
    "PairFit",
    "PairSet",
    "RegistrationMethod",
    "RegistrationPoint",
    "RobotRegistration",
    "RobotTransform",
    "Similarity",
    "TouchedPlane",
    "absolute_orientation",
    "calibrated_camera_messages",
    "calibration_yaml",
    "check_points",
    "corrected_detections",
    "fit_pairs",
    "fit_plane",
    "lab_csv",
    "read_calibration",
    "read_lab_csv",
    "register_detector",
    "register_robots",
    "touched_surface",
    "write_calibration",
    "write_lab_csv",
]

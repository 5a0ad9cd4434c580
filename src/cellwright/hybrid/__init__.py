"""Real and virtual in one cell: robots and detectors at addresses beside simulated ones, switched while it runs."""

from cellwright.hybrid.detector_target import DetectorTarget
from cellwright.hybrid.lab_targets import LabTargets, read_targets, require_no_faults
from cellwright.hybrid.mirror import Mirror
from cellwright.hybrid.robot_target import RobotTarget
from cellwright.hybrid.targets_control import TARGET_QUESTIONS, TargetsControl
from cellwright.hybrid.times import TimeMap

__all__ = [
    "TARGET_QUESTIONS",
    "DetectorTarget",
    "LabTargets",
    "Mirror",
    "RobotTarget",
    "TargetsControl",
    "TimeMap",
    "read_targets",
    "require_no_faults",
]

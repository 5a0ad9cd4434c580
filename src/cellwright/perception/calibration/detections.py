"""Detections as a calibrated controller takes them: where things are, not where the drawings have them seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.perception.calibration.model import Calibration

__all__ = ["corrected_detections"]


def corrected_detections(calibration: Calibration, detector: str, frame: Detections) -> Detections:
    """Returns a frame with every pose corrected, and its variances; the same one if the detector is not registered."""
    own = calibration.detectors.get(detector)
    if own is None or not len(frame.skus):
        return frame
    poses = [own.corrected(Pose(*row)) for row in zip(frame.positions, frame.quaternions, strict=True)]
    return replace(
        frame,
        positions=np.array([pose.position for pose in poses]),
        quaternions=np.array([pose.quaternion for pose in poses]),
        variances=own.corrected_variances(frame.variances),
    )

"""Stereo pairs: two pictures of one moment, and why two pictures are none."""

from __future__ import annotations

import numpy as np

from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement

__all__ = ["pair_fault"]

SAME_MOMENT_S = 1e-3
LEAST_BASELINE_M = 1e-3
MOST_TURNED_RAD = 0.2  # between the two axes; more cannot be rectified without losing the picture


def pair_fault(left: Picture | None, right: Picture | None) -> PoseMeasurement | None:
    """Returns why two pictures cannot be measured as a stereo pair, or None where they can."""
    for side, picture in (("left", left), ("right", right)):
        if picture is None:
            return PoseMeasurement(status=MeasurementStatus.BAD_PAIR, reason=f"the {side} picture is missing")
        if fault := picture.fault:
            return PoseMeasurement(status=MeasurementStatus.BAD_PICTURE, reason=f"{side}: {fault}")
    assert left is not None
    assert right is not None
    if reason := _mismatch(left, right):
        return PoseMeasurement(status=MeasurementStatus.BAD_PAIR, reason=reason)
    return None


def _mismatch(left: Picture, right: Picture) -> str:
    if not abs(left.time_s - right.time_s) <= SAME_MOMENT_S:
        return f"the pictures are of two moments: left {left.time_s:g} s, right {right.time_s:g} s"
    if left.pixels.shape != right.pixels.shape:
        sizes = " and ".join(f"{p.pixels.shape[1]} x {p.pixels.shape[0]}" for p in (left, right))
        return f"the pictures have different sizes: {sizes} pixels"
    across, down, ahead = (left.pose_camera_in_world.inverse() @ right.pose_camera_in_world).position.tolist()
    if max(abs(across), abs(down), abs(ahead)) < LEAST_BASELINE_M:
        return "both pictures were taken from the same place"
    if across < 0:
        return "the right camera is to the left of the left one: the cameras are swapped"
    if across < abs(down) + abs(ahead):
        return "the cameras are not side by side"
    turned_rad = left.pose_camera_in_world.angle_rad(right.pose_camera_in_world)
    if turned_rad > MOST_TURNED_RAD or not np.allclose(left.matrix, right.matrix, rtol=0.05, atol=40.0):
        return f"the cameras have other lenses, or look apart by {np.degrees(turned_rad):.1f} degrees: no stereo pair"
    return ""

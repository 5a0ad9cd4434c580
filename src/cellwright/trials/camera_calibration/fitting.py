"""The calibration of cameras from all that was seen: intrinsics, poses, pairs, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.drawings.calibration import drawn_places
from cellwright.drawings.prior import Drawings
from cellwright.perception.calibration import CalibratedCamera, Calibration, CameraPair, DrawnCamera, FittedPose
from cellwright.perception.camera_calibration import (
    Intrinsics,
    IntrinsicsFit,
    StereoPairFit,
    fit_hand_eye,
    fit_intrinsics,
    fit_stereo_pair,
    locate_camera,
)
from cellwright.trials.camera_calibration.poses import tool_point
from cellwright.trials.camera_calibration.procedure import CameraMeasurements

__all__ = ["FittedCameras", "fit_cameras"]

DIGITS = 9


@dataclass(frozen=True)
class FittedCameras:
    """Calibrated cameras.

    Attributes:
        calibration: With them, and with all that it had before.
        intrinsics: Camera -> the fit of its intrinsics.
        notes: What a person should know.
    """

    calibration: Calibration
    intrinsics: dict[str, IntrinsicsFit]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Anchor:
    """The pose of a camera in its frame, and how it was found."""

    pose: Pose
    rms_px: float
    rms_m: float
    sd: np.ndarray
    by: str
    views: int


def fit_cameras(
    drawings: Drawings,
    measured: CameraMeasurements,
    pairs: Sequence[tuple[str, str]] = (),
    before: Calibration | None = None,
    made: str = "",
) -> FittedCameras:
    """Returns the calibration of the measured cameras.

    Args:
        drawings: Of the cell, as its file has them.
        measured: What was seen.
        pairs: Left and right cameras of stereo pairs.
        before: A calibration that is kept, but for these cameras.
        made: When and how, for people.

    Raises:
        JobFailed: A camera that saw too little, or contradicts itself; says what to do.
    """
    notes: list[str] = []
    fits: dict[str, IntrinsicsFit] = {}
    anchors: dict[str, _Anchor] = {}
    for camera in measured.cameras:
        fit = fits[camera.name] = fit_intrinsics(measured.views_of(camera.name))
        anchors[camera.name] = _anchor(drawings, measured, camera, fit.intrinsics, notes)
        notes += fit.notes
    found = []
    for left, right in pairs:
        both = [moment for moment in measured.moments if left in moment and right in moment]
        pair = fit_stereo_pair(
            [moment[left] for moment in both],
            [moment[right] for moment in both],
            fits[left].intrinsics,
            fits[right].intrinsics,
        )
        together = anchors[left].pose @ pair.pose_right_in_left
        off_m = together.distance_m(anchors[right].pose)
        anchors[right] = replace(anchors[right], pose=together, by=f"{anchors[left].by}, by {left}")
        notes.append(f"{right}: alone it would be {1000 * off_m:.2f} mm from where it is as a pair with {left}")
        found.append(_pair(left, right, pair))
    cameras = {name: _calibrated(measured, name, fits[name], anchors[name]) for name in fits}
    base = before or Calibration(cell=drawings.cell.name, drawings=dict(drawn_places(drawings).digests))
    names = {(pair.left, pair.right) for pair in found}
    kept = [pair for pair in base.camera_pairs if (pair.left, pair.right) not in names]
    calibration = base.model_copy(
        update={
            "made": f"{base.made}; {made}" if base.made else made,
            "cameras": {**base.cameras, **cameras},
            "camera_pairs": (*kept, *found),
        }
    )
    return FittedCameras(calibration, fits, tuple(notes))


def _anchor(
    drawings: Drawings, measured: CameraMeasurements, camera: DrawnCamera, intrinsics: Intrinsics, notes: list[str]
) -> _Anchor:
    """Returns where a camera is, by the robot that moved or by tags."""
    series = measured.hands.get(camera.name)
    if series is not None:
        hands = list(series.poses_tool_in_world)
        fit = fit_hand_eye(series.views, hands, intrinsics, camera_moves=series.camera_moves)
        notes += fit.notes
        if series.camera_moves:
            pose, by = tool_point(drawings, series.robot) @ fit.pose_camera, f"a board before {series.robot}"
        else:
            pose, by = fit.pose_camera, f"a board in the hand of {series.robot}"
        return _Anchor(pose, fit.rms_px, fit.rms_m, fit.sd, by, int(fit.used.sum()))
    if camera.name not in measured.tags:
        raise JobFailed(f"{camera.name}: nothing tells where it is: put tags on the table, or name a robot by --robot")
    view = measured.tags[camera.name]
    place = locate_camera(view, intrinsics)
    depth_m = float(np.mean(place.pose.inverse().apply(view.points_m)[:, 2]))
    rms_m = place.rms_px * depth_m / float(np.mean(intrinsics.focal_px))
    return _Anchor(place.pose, place.rms_px, rms_m, place.sd, "tags on the table", place.count)


def _calibrated(measured: CameraMeasurements, name: str, fit: IntrinsicsFit, anchor: _Anchor) -> CalibratedCamera:
    camera = next(one for one in measured.cameras if one.name == name)
    fx, fy = (round(number, 6) for number in fit.intrinsics.focal_px)
    cx, cy = (round(number, 6) for number in fit.intrinsics.centre_px)
    k1, k2, p1, p2, k3 = (round(float(number), DIGITS) + 0.0 for number in fit.intrinsics.distortion)
    return CalibratedCamera(
        resolution_px=fit.intrinsics.size_px,
        focal_px=(fx, fy),
        centre_px=(cx, cy),
        distortion=(k1, k2, p1, p2, k3),
        residual_px=round(fit.rms_px, 6),
        views=int(fit.used.sum()),
        frame=camera.frame,
        pose=FittedPose.of(anchor.pose),
        by=anchor.by,
        pose_residual_px=round(anchor.rms_px, 6),
        pose_residual_m=round(anchor.rms_m, DIGITS),
        pose_sd_m=round(float(np.linalg.norm(anchor.sd[:3])), DIGITS),
        pose_sd_deg=round(float(np.degrees(np.linalg.norm(anchor.sd[3:]))), DIGITS),
    )


def _pair(left: str, right: str, fit: StereoPairFit) -> CameraPair:
    return CameraPair(
        left=left,
        right=right,
        pose_right_in_left=FittedPose.of(fit.pose_right_in_left),
        residual_px=round(fit.rms_px, 6),
        epipolar_px=round(fit.epipolar_px, 6),
        views=fit.views,
    )

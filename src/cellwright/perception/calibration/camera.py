"""Cameras in calibration files: intrinsics and poses that replace the drawn ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from cellwright.core.camera import Camera
from cellwright.core.config import Cfg
from cellwright.core.errors import BadInput
from cellwright.core.messages import CameraInfo, CameraPose
from cellwright.core.pose import Pose
from cellwright.core.registration_points import Metres
from cellwright.perception.calibration.fields import Degrees, FittedPose

if TYPE_CHECKING:
    from cellwright.perception.calibration.model import Calibration

__all__ = ["OPTICAL", "CalibratedCamera", "CameraPair", "DrawnCamera", "calibrated_camera_messages", "check_cameras"]

OPTICAL = Pose.from_xyz_rpy([0, 0, 0], [-np.pi / 2, 0, -np.pi / 2])
"""The frame of a picture (x right, y down, z ahead) in a camera's own (x ahead, y left, z up)."""

FARTHEST_M, FARTHEST_DEG = 0.3, 20.0  # from its drawing
LARGEST_FOCAL = 0.2  # as a share of the drawn focal length
Pixels = Annotated[float, Field(gt=0, le=1e5)]
Position = Annotated[float, Field(ge=-1e5, le=1e5)]
Coefficient = Annotated[float, Field(ge=-100, le=100)]
Residual = Annotated[float, Field(ge=0, le=1000)]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class DrawnCamera:
    """A camera as the drawings have it: fixed in the cell, or on a flange.

    Attributes:
        name: Its name, under which its calibration is kept.
        camera: As drawn; its pose in the world, or in the flange of `robot`.
        robot: The robot on whose flange it is; None for one that is fixed.
    """

    name: str
    camera: Camera
    robot: str | None = None

    @property
    def frame(self) -> str:
        """The frame in which its pose is known."""
        return "world" if self.robot is None else f"{self.robot}/flange"


class CalibratedCamera(Cfg):
    """A camera as it was measured.

    Attributes:
        resolution_px: Columns and rows of the pictures that it was measured with.
        focal_px: Focal length along columns and rows.
        centre_px: Column and row of its axis; pixel (0, 0) covers 0 to 1.
        distortion: Coefficients of Brown's model: k1, k2, p1, p2, k3.
        residual_px: Root mean square of the distances between seen and computed corners.
        views: Pictures that the intrinsics rest on.
        frame: The frame of the pose: `world`, or a robot's flange.
        pose: Of the frame of its pictures: x to the right, y down, z the way it looks.
        by: What told its pose.
        pose_residual_px: Root mean square of what the pose leaves, in the picture.
        pose_residual_m: The same where the pattern was.
        pose_sd_m: Standard deviation of the position.
        pose_sd_deg: Standard deviation of the direction.
    """

    resolution_px: tuple[Annotated[int, Field(ge=16, le=20000)], Annotated[int, Field(ge=16, le=20000)]]
    focal_px: tuple[Pixels, Pixels]
    centre_px: tuple[Position, Position]
    distortion: tuple[Coefficient, Coefficient, Coefficient, Coefficient, Coefficient] = (0.0, 0.0, 0.0, 0.0, 0.0)
    residual_px: Residual = 0.0
    views: Count = 0
    frame: str = "world"
    pose: FittedPose
    by: str = ""
    pose_residual_px: Residual = 0.0
    pose_residual_m: Annotated[Metres, Field(ge=0)] = 0.0
    pose_sd_m: Annotated[Metres, Field(ge=0)] = 0.0
    pose_sd_deg: Annotated[Degrees, Field(ge=0)] = 0.0

    @property
    def pose_of_camera(self) -> Pose:
        """The pose as cells have it: x is the way it looks, y the left of its picture, z the top."""
        return self.pose.pose @ OPTICAL.inverse()


class CameraPair(Cfg):
    """The right camera of a stereo pair relative to the left one.

    Attributes:
        left: The left camera.
        right: The right one.
        pose_right_in_left: The frame of the right picture in that of the left one.
        residual_px: Root mean square of the distances between seen and computed corners.
        epipolar_px: Root mean square of the distances of right corners from the lines of the left ones.
        views: Moments that it rests on.
    """

    left: str
    right: str
    pose_right_in_left: FittedPose
    residual_px: Residual = 0.0
    epipolar_px: Residual = 0.0
    views: Count = 0


def calibrated_camera_messages(
    calibration: Calibration, camera: str, info: CameraInfo, pose: CameraPose
) -> tuple[CameraInfo, CameraPose]:
    """Returns what is told beside a picture, with what was measured in place of what is drawn.

    Args:
        calibration: A calibration of the cell.
        camera: The camera that took it; the messages of one that was not measured stay as they are.
        info: The intrinsics beside the picture; of any resolution across the same angle.
        pose: The pose beside it.
    """
    own = calibration.cameras.get(camera)
    if own is None:
        return info, pose
    scale = np.array([info.width, info.height]) / own.resolution_px
    if not np.isclose(scale[0], scale[1], rtol=0.01):
        raise BadInput(
            f"cameras.{camera}: measured with {own.resolution_px[0]} x {own.resolution_px[1]} pixels, the picture has "
            f"{info.width} x {info.height}, of another shape: calibrate the camera with such pictures"
        )
    place = own.pose.pose
    baseline_m = info.baseline_m
    for pair in calibration.camera_pairs:
        if pair.right == camera and baseline_m:
            baseline_m = float(pair.pose_right_in_left.xyz_m[0])
    return (
        replace(
            info,
            focal_px=np.array(own.focal_px) * scale,
            centre_px=np.array(own.centre_px) * scale,
            distortion=np.array(own.distortion),
            baseline_m=baseline_m,
        ),
        replace(pose, frame=own.frame, position=np.array(place.position), quaternion=np.array(place.quaternion)),
    )


def check_cameras(calibration: Calibration, drawn: Mapping[str, DrawnCamera], where: str) -> None:
    """Refuses calibrated cameras that are not those of a cell.

    Raises:
        BadInput: One that the cell has not, has elsewhere, with another picture or another lens.
    """
    again = "calibrate the camera again"
    for name, own in calibration.cameras.items():
        at = f"{where}: cameras.{name}"
        if name not in drawn:
            raise BadInput(f"{at}: the cell has no such camera (it has {', '.join(drawn) or 'none'}); {again}")
        camera = drawn[name]
        if own.frame != camera.frame:
            raise BadInput(f"{at}: its pose is in {own.frame}, and the cell has it in {camera.frame}; {again}")
        if own.resolution_px != camera.camera.resolution_px:
            sizes = (f"{c} x {r}" for c, r in (own.resolution_px, camera.camera.resolution_px))
            raise BadInput(f"{at}: measured with {' pixels, and the cell has '.join(sizes)}; {again}")
        off = abs(own.focal_px[0] / camera.camera.focal_px - 1)
        if off > LARGEST_FOCAL:
            raise BadInput(
                f"{at}: a focal length of {own.focal_px[0]:.1f} px, drawn {camera.camera.focal_px:.1f}: another lens; "
                f"{again}"
            )
        away = own.pose_of_camera
        away_m = away.distance_m(camera.camera.pose_in_world)
        turned_deg = float(np.degrees(away.angle_rad(camera.camera.pose_in_world)))
        if away_m > FARTHEST_M or turned_deg > FARTHEST_DEG:
            raise BadInput(
                f"{at}: {away_m:.3g} m and {turned_deg:.3g} degrees from its drawing (allowed {FARTHEST_M:g} m, "
                f"{FARTHEST_DEG:g} degrees): another camera, or it was moved; {again}"
            )
    for pair in calibration.camera_pairs:
        for name in (pair.left, pair.right):
            if name not in calibration.cameras:
                raise BadInput(f"{where}: camera_pairs: {name} is not among its cameras; {again}")

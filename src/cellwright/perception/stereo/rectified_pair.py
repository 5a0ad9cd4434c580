"""Stereo pairs whose rows are the same: rectified where they are not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture

__all__ = ["StereoPair", "rectify"]

Array = npt.NDArray[np.float64]
PARALLEL_RAD = 1e-6


@dataclass(frozen=True)
class StereoPair:
    """Two pictures whose rows are the same: what is in one is further left in the right one.

    Attributes:
        left: The left picture.
        right: The right one, with the same intrinsics and the same axes.
        baseline_m: How far the right camera is along x of the left one.
    """

    left: Picture
    right: Picture
    baseline_m: float


def rectify(left: Picture, right: Picture) -> StereoPair:
    """Returns the pair as two perfect, parallel cameras would have taken it; untouched where they are such."""
    poses = left.pose_camera_in_world, right.pose_camera_in_world
    baseline_m = float(np.linalg.norm(poses[1].position - poses[0].position))
    x = (poses[1].position - poses[0].position) / baseline_m
    ahead = poses[0].rotation_matrix[:, 2] + poses[1].rotation_matrix[:, 2]
    z = ahead - x * (x @ ahead)
    z /= np.linalg.norm(z)
    axes = np.column_stack([x, np.cross(z, x), z])
    matrix = (left.matrix + right.matrix) / 2
    return StereoPair(_turned(left, axes, matrix), _turned(right, axes, matrix), baseline_m)


def _turned(picture: Picture, axes: Array, matrix: Array) -> Picture:
    """Returns a picture as a perfect camera in the same place with other axes and intrinsics would have taken it."""
    import cv2

    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = axes, picture.pose_camera_in_world.position
    pose = Pose.from_matrix(frame)
    if (
        not picture.distortion.any()
        and pose.angle_rad(picture.pose_camera_in_world) < PARALLEL_RAD
        and np.allclose(matrix, picture.matrix, rtol=0, atol=1e-6)
    ):
        return replace(picture, pose_camera_in_world=pose)
    half = np.array([[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]])  # there the middle of the first pixel is at 0
    turn = axes.T @ picture.pose_camera_in_world.rotation_matrix
    size = picture.pixels.shape[1], picture.pixels.shape[0]
    across, down = cv2.initUndistortRectifyMap(
        picture.matrix - half, picture.distortion, turn, matrix - half, size, cv2.CV_32FC1
    )
    pixels = np.asarray(cv2.remap(picture.pixels, across, down, cv2.INTER_LINEAR), np.uint8)
    return replace(
        picture, pixels=pixels, matrix=matrix, distortion=np.zeros_like(picture.distortion), pose_camera_in_world=pose
    )

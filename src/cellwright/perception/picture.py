"""Pictures as perception uses them: pixels with what was calibrated, and why one cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.messages import CameraInfo, CameraPose, Image
from cellwright.core.pose import Pose

__all__ = ["Picture", "read_picture"]

BLACK = 8  # grey levels; the brightest thousandth of a picture without light is below
WHITE = 250
MOST_CLIPPED = 0.9  # share of pixels that may be white; a table in the sun leaves less than a tenth to see


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of one camera, with its calibrated intrinsics and pose.

    Attributes:
        source: The camera's name.
        time_s: Simulation time at which it was taken.
        pixels: (rows, columns, 3), red first, 8 bits.
        matrix: (3, 3) intrinsics of these pixels.
        distortion: Coefficients of Brown's model, k1, k2, p1, p2, k3.
        pose_camera_in_world: x to the right of the picture, y down, z the way it looks; in the frame that the message
            named where the camera sits on a flange.
        size_px: Columns and rows that it should have by its intrinsics; None where nothing tells.
    """

    source: str
    time_s: float
    pixels: npt.NDArray[np.uint8]
    matrix: npt.NDArray[np.float64]
    distortion: npt.NDArray[np.float64]
    pose_camera_in_world: Pose
    size_px: tuple[int, int] | None = None

    @property
    def fault(self) -> str:
        """The reason why nothing can be seen in it, or an empty text."""
        pixels = np.asarray(self.pixels)
        if pixels.ndim != 3 or pixels.shape[2] != 3:
            return f"the picture of {self.source} has the shape {pixels.shape}; needed: rows, columns, 3 colours"
        if not pixels.size:
            return f"the picture of {self.source} is empty"
        if pixels.dtype != np.uint8:
            return f"the picture of {self.source} has pixels of type {pixels.dtype}; needed: uint8, 0 to 255"
        rows, columns = self.pixels.shape[:2]
        if self.size_px not in (None, (columns, rows)):
            return f"the picture of {self.source} has {columns} x {rows} pixels, its intrinsics are of {self.size_px}"
        if not (np.isfinite(self.matrix).all() and np.isfinite(self.distortion).all()):
            return f"the intrinsics of {self.source} are not numbers"
        if self.matrix.shape != (3, 3) or self.matrix[0, 0] <= 0 or self.matrix[1, 1] <= 0:
            return f"the intrinsics of {self.source} are no matrix of 3 x 3 with focal lengths above zero"
        sample = self.pixels[::4, ::4].max(axis=2)
        if np.quantile(sample, 0.999) < BLACK:
            return f"the picture of {self.source} is black"
        if (sample >= WHITE).mean() > MOST_CLIPPED:
            return f"the picture of {self.source} is saturated: less light or a shorter exposure is needed"
        return ""


def read_picture(image: Image, info: CameraInfo, pose: CameraPose) -> Picture:
    """Returns a picture from the three messages of one moment; whether it can be used is told by its `fault`.

    Raises:
        ValueError: Intrinsics or pose are of another camera.
    """
    if len(frames := {image.frame, info.frame, pose.camera_frame}) > 1:
        raise ValueError(f"picture, intrinsics and pose are of several cameras: {', '.join(sorted(frames))}")
    pixels = np.asarray(image.pixels)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    return Picture(
        source=image.source,
        time_s=image.time_ns * 1e-9,
        pixels=_as_bytes(pixels),
        matrix=np.asarray(info.matrix, float),
        distortion=np.asarray(info.distortion, float),
        pose_camera_in_world=Pose(pose.position, pose.quaternion),
        size_px=(info.region_px[2] // info.binning, info.region_px[3] // info.binning),
    )


def _as_bytes(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns whole numbers from 0 to 255 as bytes; others stay as they are, for the picture's `fault` to tell."""
    if pixels.dtype.kind in "iu" and pixels.size and pixels.min() >= 0 and pixels.max() <= 255:
        return pixels.astype(np.uint8, copy=False)
    return pixels

"""One frame of a detector, ready for association: usable rows in the cell's frame, and their distances to tracks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import squared_distances
from cellwright.core.errors import UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.core.rotation import multiply
from cellwright.perception.table import TrackTable
from cellwright.perception.yaw import turned

__all__ = ["Frame", "read_frame"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
LEAST = 1e-12


@dataclass(frozen=True)
class Frame:
    """Detections of one frame.

    Attributes:
        skus: As which they were recognised.
        kinds: The SKUs as numbers of the tracks.
        positions: m x 3.
        quaternions: m x 4.
        variances: m x 6; infinite where nothing was measured.
        slopes: By how much the place of each shifts for each metre that it is higher than was assumed, m x 2; zero
            where the height was measured, or the camera is not known.
    """

    skus: list[str]
    kinds: Rows
    positions: Array
    quaternions: Array
    variances: Array
    slopes: Array

    def costs(self, places: Array, known: Array) -> Array:
        """Returns the squared Mahalanobis distances of tracks and detections, n x m, whatever kinds they are of.

        Args:
            places: Where the tracks should be seen, n x 3.
            known: Their variances, n x 3.
        """
        if not self.slopes.any():
            return squared_distances(places, known, self.positions, self.variances[:, :3])
        total = np.zeros((len(places), len(self.skus)))
        higher = places[:, 2:] - self.positions[:, 2]
        for axis in (0, 1):
            off = places[:, axis, None] - self.positions[:, axis] - self.slopes[:, axis] * higher
            spread = known[:, axis, None] + self.variances[:, axis] + self.slopes[:, axis] ** 2 * known[:, 2, None]
            total += off**2 / spread
        return total + higher**2 / (known[:, 2, None] + self.variances[:, 2])

    def at_heights(self, numbers: Rows, heights_m: Array) -> tuple[Array, Array]:
        """Returns positions and variances of detections that are as high as given, where that was not measured."""
        positions, variances, slopes = self.positions[numbers], self.variances[numbers], self.slopes[numbers]
        if slopes.any():
            positions = positions.copy()
            positions[:, :2] += slopes * (heights_m - positions[:, 2])[:, None]
        return positions, variances


def read_frame(
    message: Detections,
    table: TrackTable,
    min_score: float,
    frames: Mapping[str, Pose],
    bias: Array,
    eye: Array | None,
) -> Frame:
    """Returns the usable rows of a message.

    Args:
        message: The message.
        table: The tracks, which number kinds.
        min_score: Detections below are left out.
        frames: Frame of detections -> its pose in the cell.
        bias: By how much the detector sees everything off: x, y, yaw.
        eye: The centre of projection of its camera; None when that is not known.
    """
    positions, quaternions = message.positions.reshape(-1, 3), message.quaternions.reshape(-1, 4)
    good = np.isfinite(positions).all(axis=1) & (message.scores >= min_score)
    lengths = np.sqrt((quaternions**2).sum(axis=1))
    good &= (lengths > LEAST) & np.isfinite(lengths)
    variances = message.variances.reshape(-1, 6)
    good &= ~np.isnan(variances).any(axis=1) & np.isfinite(variances[:, :2]).all(axis=1)
    skus = [sku for sku, usable in zip(message.skus, good, strict=True) if usable]
    positions, quaternions = positions[good], quaternions[good] / lengths[good, None]
    if message.frame not in ("world", ""):
        if message.frame not in frames:
            raise UnknownName("frame", message.frame, ["world", *frames], f"tracker: {message.source}")
        pose = frames[message.frame]
        positions = pose.apply(positions).reshape(-1, 3)
        quaternions = np.array([multiply(pose.quaternion, q) for q in quaternions]).reshape(-1, 4)
    if bias.any():
        positions = positions - [*bias[:2], 0.0]
        quaternions = turned(quaternions, np.full(len(quaternions), -bias[2]))
    variances = np.maximum(variances[good], LEAST)
    slopes = np.zeros((len(skus), 2))
    if eye is not None:
        flat = np.isinf(variances[:, 2]) & (np.abs(positions[:, 2] - eye[2]) > 0.1)
        slopes[flat] = (positions[flat, :2] - eye[:2]) / (positions[flat, 2:] - eye[2])
    return Frame(skus, table.kinds_of(skus), positions, quaternions, variances, slopes)

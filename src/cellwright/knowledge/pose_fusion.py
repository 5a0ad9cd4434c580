"""Fusion of a detection with what is believed about an object: a Kalman filter for something that stands still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.kalman import gain, predicted_variances

__all__ = ["BeliefCfg", "fuse", "poses_of", "predicted", "yaw_between"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BeliefCfg:
    """Parameters of the belief filter.

    Attributes:
        gate: Square of the Mahalanobis distance up to which a detection may be of an object; 16.3 loses 1 in 1000.
        bias_sd_m: Error that does not average out: cameras are mounted by hand.
        drift_sd_m: By how much an object's place becomes uncertain in one second, growing with the root of time.
        drift_sd_rad: The same for its turn.
        max_sd_m: No object becomes more uncertain than this.
        prior_sd_m: Of an object that was never seen and is known from drawings.
        prior_sd_rad: Likewise.
        min_score: Detections with a lower score are left out.
        min_detections: The number of detections of something to become an object, or to have moved.
        miss_timeout_s: After how long something that was not seen often enough is forgotten, and after how long an
            object that should be seen is missing: then it is reported, and may be what was seen elsewhere.
        max_speed_mps: The highest speed between detections of something that is not yet an object.
        separation_m: Two objects of a kind are not closer than this: a second detection is of the same one.
        reach_m: The farthest that an object that is missing may have gone; farther away it is another one.
    """

    gate: float = 16.3
    bias_sd_m: float = 0.002
    drift_sd_m: float = 0.0003
    drift_sd_rad: float = 0.005
    max_sd_m: float = 0.01
    prior_sd_m: float = 0.01
    prior_sd_rad: float = 0.1
    min_score: float = 0.3
    min_detections: int = 3
    miss_timeout_s: float = 0.5
    max_speed_mps: float = 0.5
    separation_m: float = 0.01
    reach_m: float = 2.0


def poses_of(positions: Array, quaternions: Array) -> Array:
    """Returns matrices, n x 4 x 4; not a number where the message has none, or no rotation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    poses = np.zeros((len(positions), 4, 4))
    poses[:, 0, 0], poses[:, 0, 1], poses[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    poses[:, 1, 0], poses[:, 1, 1], poses[:, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    poses[:, 2, 0], poses[:, 2, 1], poses[:, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    poses[:, :3, 3], poses[:, 3, 3] = positions, 1.0
    return poses


def predicted(variances: Array, seconds: Array, cfg: BeliefCfg) -> Array:
    """Returns the variances of objects some time after they were seen, n x 4."""
    drift = np.array([cfg.drift_sd_m] * 3 + [cfg.drift_sd_rad]) ** 2
    return predicted_variances(variances, seconds, drift, np.array([cfg.max_sd_m] * 3 + [np.pi]) ** 2)


def yaw_between(before: Array, after: Array) -> Array:
    """Returns the turn about the vertical from one orientation to another, n x 4 x 4 each, in -pi to pi."""
    turn = after[:, :3, :3] @ before[:, :3, :3].transpose(0, 2, 1)
    result: Array = np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], turn[:, 0, 0] + turn[:, 1, 1])
    return result


def fuse(poses: Array, variances: Array, seen: Array, seen_variances: Array, turned: Array) -> tuple[Array, Array]:
    """Returns belief and detections of the same objects, fused.

    Args:
        poses: Believed, n x 4 x 4.
        variances: n x 4.
        seen: n x 4 x 4.
        seen_variances: n x 4.
        turned: The turns from belief to detection, already checked; not a number leaves the orientation as it is.

    Returns:
        Poses and variances after it.
    """
    share = gain(variances, seen_variances)
    believed = np.isfinite(turned)
    share[~believed, 3] = 0.0
    result = poses.copy()
    result[:, :3, 3] += share[:, :3] * (seen[:, :3, 3] - poses[:, :3, 3])
    angle = share[:, 3] * np.where(believed, turned, 0.0)
    c, s = np.cos(angle), np.sin(angle)
    x_row, y_row = result[:, 0, :3].copy(), result[:, 1, :3].copy()
    result[:, 0, :3] = c[:, None] * x_row - s[:, None] * y_row
    result[:, 1, :3] = s[:, None] * x_row + c[:, None] * y_row
    return result, (1.0 - share) * variances

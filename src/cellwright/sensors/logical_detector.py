"""The logical detector: poses with all six numbers, by the truth with noise, of what its camera can see."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from cellwright.core.config import Cfg
from cellwright.core.pose import Pose
from cellwright.sensors.base import SENSORS, SensorCfg
from cellwright.sensors.detector import Detector, DetectorCfg, Seen
from cellwright.sensors.pose_noise import AngleNoise, LengthNoise, PoseNoise
from cellwright.sensors.rotations import combined, from_rotation_vectors

__all__ = ["LogicalDetector", "LogicalDetectorCfg", "LogicalNoiseCfg"]

Array = npt.NDArray[np.float64]


class LogicalNoiseCfg(Cfg):
    """The noise of a pose with six numbers: for each a standard deviation, or clusters.

    Attributes:
        x_m: Along x of the cell.
        y_m: Along y.
        z_m: Along z.
        roll_deg: About x of the cell.
        pitch_deg: About y.
        yaw_deg: About z.
    """

    x_m: LengthNoise = 0.00028
    y_m: LengthNoise = 0.00033
    z_m: LengthNoise = 0.0005
    roll_deg: AngleNoise = 0.3
    pitch_deg: AngleNoise = 0.3
    yaw_deg: AngleNoise = 0.3


class LogicalDetectorCfg(DetectorCfg):
    """A detector that measures position and orientation whole, like the logical cameras of ARIAC.

    Attributes:
        noise: Of each object in each frame; `none` is a perfect sensor, from which things can be hidden all the same.
    """

    noise: Literal["none"] | LogicalNoiseCfg = LogicalNoiseCfg()


@SENSORS.register("logical_detector")
class LogicalDetector(Detector[LogicalDetectorCfg]):
    """Poses with six numbers, each with its noise and its variance."""

    Cfg: ClassVar[type[SensorCfg]] = LogicalDetectorCfg

    @classmethod
    def noise_of(cls, cfg: LogicalDetectorCfg) -> PoseNoise:
        """Returns the noise of all six."""
        if isinstance(cfg.noise, str):
            return PoseNoise([0.0] * 6, [1.0] * 6)
        own = cfg.noise
        axes = [own.x_m, own.y_m, own.z_m, own.roll_deg, own.pitch_deg, own.yaw_deg]
        return PoseNoise(axes, [1.0] * 3 + [np.pi / 180] * 3)

    @cached_property
    def _camera_error(self) -> tuple[Pose, Array]:
        """The pose of the calibrated camera as seen from where it really is, and its rotation."""
        off = self.calibrated.pose_in_world @ self.actual.pose_in_world.inverse()
        return off, off.rotation_matrix

    def measured(self, seen: Seen) -> tuple[Array, Array, Array]:
        """Returns the pose of each object in its camera, turned into the cell as that is calibrated."""
        off, turn = self._camera_error
        poses = self.true_poses[seen.objects]
        seeming = self.actual.seeming(poses[:, :3])
        positions = seeming @ turn.T + off.position + seen.shifts_m + seen.errors[:, :3]
        turns = combined(from_rotation_vectors(seen.errors[:, 3:]), off.quaternion[None])
        quaternions = combined(turns, poses[:, 3:])
        if seen.flipped.any():
            quaternions[seen.flipped] = combined(quaternions[seen.flipped], np.array([[0.0, 0.0, 0.0, 1.0]]))
        return positions, quaternions, self.variances_of(seen)

    def imagined(self, position: Array, yaw_rad: float, sku: int, errors: Array) -> tuple[Array, Array, Array]:
        """Returns an object there that seems to be as upright as others do."""
        upright = from_rotation_vectors(np.array([[0.0, 0.0, yaw_rad]]))
        quaternion = combined(from_rotation_vectors(errors[:, 3:]), upright)
        return position + errors[:, :3], quaternion, self._class_variances[[sku]]

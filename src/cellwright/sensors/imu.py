"""The accelerometer and the gyroscope of a mobile robot."""

from __future__ import annotations

from math import radians
from typing import ClassVar

import numpy as np

from cellwright.core.messages import Imu, Message
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sensors.noise import NoiseCfg

__all__ = ["ImuCfg", "ImuSensor"]

COUNT_MPS2 = 9.81 / 800  # one count of the e-puck's accelerometer, by its firmware; Table 1 of the paper has multiples
MOST_MPS2 = 2 * 9.81
GYRO_COUNT_RADPS = radians(250) / 2**15  # the e-puck2's
ACCELERATION = NoiseCfg(sd=COUNT_MPS2, resolution=COUNT_MPS2, low=-MOST_MPS2, high=MOST_MPS2)
TURN_RATE = NoiseCfg(sd=radians(0.1), resolution=GYRO_COUNT_RADPS, low=-radians(250), high=radians(250))


class ImuCfg(SensorCfg):
    """Accelerometer and gyroscope.

    Attributes:
        robot: The mobile robot.
        acceleration: Errors of the accelerometer, m/s2; by default one count of noise, whole counts, and 2 g at most.
        turn_rate: Errors of the gyroscope, rad/s; by default those of the e-puck2's, the noise estimated.
    """

    robot: str
    acceleration: NoiseCfg = ACCELERATION
    turn_rate: NoiseCfg = TURN_RATE


@SENSORS.register("imu")
class ImuSensor(Sensor[ImuCfg]):
    """Acceleration and turn rate in the robot's own axes, on `/<robot>/imu`: x ahead, y left, z up; +9.81 at rest on z.

    A reading is the mean over the last physics step, with which bumps of the floor, motors, blows and slopes come in.
    """

    Cfg: ClassVar[type[SensorCfg]] = ImuCfg
    message_type: ClassVar[type[Message]] = Imu

    def __init__(self, cfg: ImuCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self._frame = f"{cfg.robot}/imu"
        self._acceleration, self._turn_rate = self.noises["acceleration"], self.noises["turn_rate"]
        self._variances = tuple(_variance(errors) for errors in (cfg.acceleration, cfg.turn_rate))
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        robot, sensed = self.world.mobile(self.cfg.robot), self.world.data.sensordata
        self._felt = sensed[robot.accelerometer : robot.accelerometer + 3]
        self._turned = sensed[robot.gyroscope : robot.gyroscope + 3]

    def noise_size(self, key: str) -> int:
        """Returns the number of axes."""
        return 3

    def sample(self) -> Imu:
        """Returns one reading."""
        acceleration_variance, turn_rate_variance = self._variances
        return Imu(
            *self.header(),
            frame=self._frame,
            acceleration=self._acceleration.apply(self._felt),
            angular_velocity=self._turn_rate.apply(self._turned),
            acceleration_variance=acceleration_variance,
            angular_velocity_variance=turn_rate_variance,
        )


def _variance(errors: NoiseCfg) -> np.ndarray:
    """Returns the variances of a reading's axes: of noise and of rounding."""
    return np.full(3, errors.probability * errors.sd**2 + errors.resolution**2 / 12)

"""A laser that measures a distance from a robot's flange."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from cellwright.core.messages import Message, Range
from cellwright.core.pose import Pose
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg
from cellwright.sensors.noise import NoiseCfg

__all__ = ["LaserRangeCfg", "LaserRangeSensor"]

Length = Annotated[float, Field(ge=0, le=100)]
Vector = tuple[float, float, float]


class LaserRangeCfg(SensorCfg):
    """A laser that is fixed to a flange.

    Attributes:
        robot: The robot.
        xyz_m: Its place in the flange's frame.
        rpy_deg: Its turn there; it measures along its z axis, which without a turn is the flange's.
        min_range_m: The least distance that it tells.
        max_range_m: The largest; the reading when nothing is so near.
        noise: Its errors, in m.
    """

    robot: str
    xyz_m: Vector = (0.0, 0.0, 0.0)
    rpy_deg: Vector = (0.0, 0.0, 0.0)
    min_range_m: Length = 0.0
    max_range_m: Length = 2.0
    noise: NoiseCfg = NoiseCfg()

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_range_m >= self.max_range_m:
            raise ValueError(f"min_range_m is {self.min_range_m:g}, not below max_range_m, {self.max_range_m:g}")
        return self


@SENSORS.register("laser_range")
class LaserRangeSensor(Sensor[LaserRangeCfg]):
    """The distance to the first surface before a robot's flange, on `/<robot>/laser_range`; tools and parts count."""

    Cfg: ClassVar[type[SensorCfg]] = LaserRangeCfg
    message_type: ClassVar[type[Message]] = Range

    def sample(self) -> Range:
        """Returns one reading, between the limits."""
        cfg = self.cfg
        mount = Pose.from_xyz_rpy(cfg.xyz_m, np.radians(cfg.rpy_deg))
        laser = self.world.flange_pose(cfg.robot) @ mount
        beam, far_m = laser.rotation_matrix[:, 2], cfg.max_range_m
        away_m = self.world.ray(laser.position, beam, far_m, mounted_on=cfg.robot)
        range_m = min(max(self.noisy(far_m if away_m is None else away_m), cfg.min_range_m), far_m)
        return Range(
            *self.header(),
            frame=f"{self.source}/{cfg.type}",
            range_m=range_m,
            min_range_m=cfg.min_range_m,
            max_range_m=far_m,
        )

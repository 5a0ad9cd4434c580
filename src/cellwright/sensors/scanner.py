"""A laser scanner: distances all round in a plane."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from cellwright.core.messages import LaserScan, Message
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sensors.mount import MountCfg, mount_pose
from cellwright.sensors.noise import NoiseCfg

__all__ = ["LaserScannerCfg", "LaserScannerSensor"]

Length = Annotated[float, Field(ge=0, le=100)]


class LaserScannerCfg(MountCfg, SensorCfg):
    """A scanner whose plane is spanned by its x axis, the middle of its angle, and its y axis, to the left.

    Attributes:
        name: Its source name; the default is that of its robot.
        fov_deg: The angle that it scans.
        beams: The number of readings across that, both ends included.
        min_range_m: The least distance that it tells.
        max_range_m: The largest.
        noise: Errors of each distance, in m.
        lost: Probability that a beam brings no distance back, in each scan.
    """

    fov_deg: Annotated[float, Field(gt=0, le=360)] = 270.0
    beams: Annotated[int, Field(ge=2, le=4096)] = 541
    min_range_m: Length = 0.05
    max_range_m: Length = 10.0
    noise: NoiseCfg = NoiseCfg(sd=0.01)
    lost: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_range_m >= self.max_range_m:
            raise ValueError(f"min_range_m is {self.min_range_m:g}, not below max_range_m, {self.max_range_m:g}")
        return self


@SENSORS.register("laser_scanner")
class LaserScannerSensor(Sensor[LaserScannerCfg]):
    """Distances to what can be touched, in a plane, on `/<name>/scan`; the robot that carries it is looked through."""

    Cfg: ClassVar[type[SensorCfg]] = LaserScannerCfg
    message_type: ClassVar[type[Message]] = LaserScan
    topic_name: ClassVar[str] = "scan"

    def __init__(self, cfg: LaserScannerCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        half = np.radians(cfg.fov_deg) / 2
        self._angles_rad = np.linspace(-half, half, cfg.beams)
        self._ways = np.column_stack([np.cos(self._angles_rad), np.sin(self._angles_rad), np.zeros(cfg.beams)])
        mount_pose(self.world, cfg)  # a robot that is none is told now

    def noise_size(self, key: str) -> int:
        """Returns the number of its beams."""
        return self.cfg.beams

    def sample(self) -> LaserScan:
        """Returns one scan: endless where nothing is as near as the limit, minus that where something is too near."""
        cfg, place = self.cfg, mount_pose(self.world, self.cfg)
        ways = self._ways @ place.rotation_matrix.T
        away_m = self.world.rays(place.position, ways, cfg.max_range_m, mounted_on=cfg.robot)
        away_m = self.noises["noise"].apply(away_m)
        away_m[away_m > cfg.max_range_m] = np.inf
        away_m[away_m < cfg.min_range_m] = -np.inf
        if cfg.lost:
            away_m[self.context.rng.random(cfg.beams) < cfg.lost] = np.inf
        return LaserScan(
            *self.header(),
            frame=f"{self.source}/laser",
            first_angle_rad=float(self._angles_rad[0]),
            step_rad=float(self._angles_rad[1] - self._angles_rad[0]),
            scan_time_s=1 / cfg.rate_hz,
            min_range_m=cfg.min_range_m,
            max_range_m=cfg.max_range_m,
            ranges_m=away_m.astype(np.float32),
        )

"""The logical detector: object recognition simulated by truth with noise (the APRS paper's first method)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from cellwright.core.errors import UnknownName
from cellwright.core.messages import Detections, Message
from cellwright.core.pose import Pose
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorSite

__all__ = ["LogicalDetector", "LogicalDetectorCfg"]

Deviation = Annotated[float, Field(ge=0, le=1)]


class LogicalDetectorCfg(SensorCfg):
    """A detector looking at a rectangle of the cell.

    Attributes:
        camera: The camera whose mounting error shifts everything that is seen.
        sd_m: Noise of x, y and z.
        yaw_sd_deg: Noise of the turn about the vertical.
        miss: Probability that one object is not seen in one frame.
        min_xy_m: One corner of what it sees.
        max_xy_m: The other.
    """

    name: str
    camera: str | None = None
    sd_m: tuple[Deviation, Deviation, Deviation] = (0.0, 0.0, 0.0)
    yaw_sd_deg: Annotated[float, Field(ge=0, le=180)] = 0.0
    miss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    min_xy_m: tuple[float, float] = (-100.0, -100.0)
    max_xy_m: tuple[float, float] = (100.0, 100.0)


@SENSORS.register("logical_detector")
class LogicalDetector(Sensor[LogicalDetectorCfg]):
    """SKU and pose of every tray and part in view, on `/<name>/detections`, in the cell's frame.

    Objects have no identity: rows are ordered by SKU and, inside it, by a score that changes from frame to frame,
    as the lab's own recognition does.
    """

    Cfg: ClassVar[type[SensorCfg]] = LogicalDetectorCfg
    message_type: ClassVar[type[Message]] = Detections

    def __init__(self, cfg: LogicalDetectorCfg, site: SensorSite) -> None:
        super().__init__(cfg, site)
        cameras = self.world.layout.camera_errors
        if cfg.camera is not None and cfg.camera not in cameras:
            raise UnknownName("camera", cfg.camera, cameras, f"{site.where}: camera")
        error = cameras[cfg.camera] if cfg.camera else Pose.identity()
        self._shift, self._turn_rad = error.position[:2], float(error.rpy[2])
        self._sd = np.array([*cfg.sd_m, np.radians(cfg.yaw_sd_deg)])
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        objects = list(self.world.objects.values())
        self._skus = np.array([item.sku for item in objects], dtype=object)
        self._rank = np.array([sorted({*self._skus}).index(sku) for sku in self._skus], dtype=float)
        self._gather = np.array([np.arange(item.qpos, item.qpos + 7) for item in objects], dtype=np.intp).reshape(-1, 7)

    @property
    def source(self) -> str:
        """Its own name."""
        return self.cfg.name

    @property
    def topic(self) -> str:
        """As ROS would name it."""
        return f"/{self.cfg.name}/detections"

    def sample(self) -> Detections:
        """One frame."""
        rng, cfg = self.site.rng, self.cfg
        poses = self.world.data.qpos[self._gather]
        count = len(poses)
        noise = rng.normal(0.0, 1.0, (count, 4)) * self._sd
        luck = rng.random((count, 2))  # drawn for all, so that what is in view does not shift the stream
        low, high = cfg.min_xy_m, cfg.max_xy_m
        x, y = poses[:, 0], poses[:, 1]
        seen = (x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]) & (luck[:, 0] >= cfg.miss)
        scores = 1.0 - 0.3 * luck[:, 1] ** 2
        rows = np.flatnonzero(seen)
        rows = rows[np.lexsort((-scores[rows], self._rank[rows]))]
        positions = poses[rows, :3] + noise[rows, :3]
        positions[:, :2] -= self._shift
        quaternions = _turned(poses[rows, 3:], noise[rows, 3] - self._turn_rad)
        variances = np.broadcast_to(self._sd**2, (len(rows), 4)).copy()
        skus = tuple(self._skus[rows].tolist())
        return Detections(*self.header(), "world", skus, positions, quaternions, variances, scores[rows])


def _turned(quaternions: np.ndarray, angles_rad: np.ndarray) -> np.ndarray:
    """Quaternions turned about the vertical."""
    c, s = np.cos(angles_rad / 2)[:, None], np.sin(angles_rad / 2)[:, None]
    w, x, y, z = (quaternions[:, i : i + 1] for i in range(4))
    return np.concatenate([c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w], axis=1)

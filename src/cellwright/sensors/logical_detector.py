"""The logical detector: object recognition simulated by truth with noise (the APRS paper's first method)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from cellwright.core.errors import UnknownName
from cellwright.core.messages import Detections, Message
from cellwright.core.pose import Pose
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sim.occlusion import TrayOcclusion

__all__ = ["LogicalDetector", "LogicalDetectorCfg"]

Deviation = Annotated[float, Field(ge=0, le=1)]

# Position and quaternion, and the quaternion once more backwards: turned about the vertical by an angle a it is
# cos(a/2) (w, x, y, z) + sin(a/2) (-z, -y, x, w).
COLUMNS = np.array([0, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3])
TURN_SIGNS = np.array([-1.0, -1.0, 1.0, 1.0])


class LogicalDetectorCfg(SensorCfg):
    """A detector looking at a rectangle of the cell.

    Attributes:
        name: Its name, by which a vision server takes it.
        camera: The camera whose mounting error shifts all detections.
        sd_m: Noise of x, y and z.
        yaw_sd_deg: Noise of the turn about the vertical.
        miss: Probability that one object is not seen in one frame.
        min_xy_m: One corner of its field of view.
        max_xy_m: The other.
    """

    name: str
    camera: str | None = None
    sd_m: tuple[Deviation, Deviation, Deviation] = (0.0, 0.0, 0.0)
    yaw_sd_deg: Annotated[float, Field(ge=0, le=180)] = 0.0
    miss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    min_xy_m: tuple[float, float] = (-100.0, -100.0)
    max_xy_m: tuple[float, float] = (100.0, 100.0)

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.min_xy_m[0] < self.max_xy_m[0] and self.min_xy_m[1] < self.max_xy_m[1]):
            raise ValueError("min_xy_m must be below max_xy_m in both coordinates")
        return self


@SENSORS.register("logical_detector")
class LogicalDetector(Sensor[LogicalDetectorCfg]):
    """SKU and pose of every tray and part in view, on `/<name>/detections`, in the cell's frame.

    It looks straight down: what has a tray above its middle is not seen.

    Objects have no identity: rows are ordered by SKU and, inside it, by a score that changes from frame to frame,
    as the lab's own recognition does.
    """

    Cfg: ClassVar[type[SensorCfg]] = LogicalDetectorCfg
    message_type: ClassVar[type[Message]] = Detections
    topic_name: ClassVar[str] = "detections"

    def __init__(self, cfg: LogicalDetectorCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        cameras = self.world.layout.camera_errors
        if cfg.camera is not None and cfg.camera not in cameras:
            raise UnknownName("camera", cfg.camera, cameras, f"{context.where}.camera")
        error = cameras[cfg.camera] if cfg.camera else Pose.identity()
        self._offset = np.array([*-error.position, -error.rpy[2]])
        centre = self.world.layout.fixtures[cfg.camera].position[:2] if cfg.camera else np.zeros(2)
        c, s = np.cos(error.rpy[2]), np.sin(error.rpy[2])
        # A camera that is turned by an angle sees everything turned back by it, about itself.
        self._swing = None if s == 0.0 else (centre, np.array([[c, -s], [s, c]]))
        self._sd = np.array([*cfg.sd_m, np.radians(cfg.yaw_sd_deg)])
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        objects = list(self.world.objects.values())
        self._skus = [item.sku for item in objects]
        kinds = sorted({*self._skus})
        self._rank = np.array([kinds.index(sku) for sku in self._skus], dtype=float)
        # Repeated for every object: broadcasting would cost more than the sum itself.
        self._sds, self._offsets = (np.tile(row, (len(objects), 1)) for row in (self._sd, self._offset))
        self._variances = np.insert(self._sds**2, [3, 3], 0.0, axis=1)
        self._covers = TrayOcclusion([item.figures for item in objects])
        self._qpos = self.world.data.qpos
        self._gather = np.array([item.qpos + COLUMNS for item in objects], dtype=np.intp).reshape(-1, len(COLUMNS))

    def sample(self) -> Detections:
        """Returns one frame."""
        rng, cfg = self.context.rng, self.cfg
        poses = self._qpos[self._gather]
        noise = rng.standard_normal(self._sds.shape) * self._sds + self._offsets
        uniform = rng.random((len(poses), 2))  # drawn for all, so that what is in view does not shift the stream
        (x_min, y_min), (x_max, y_max) = cfg.min_xy_m, cfg.max_xy_m
        x, y = poses[:, 0], poses[:, 1]
        seen = (x >= x_min) & (x <= x_max) & (y >= y_min) & (y <= y_max) & (uniform[:, 0] >= cfg.miss)
        seen &= ~self._covers.hidden(poses)
        rows = seen.nonzero()[0]
        scores = 1.0 - 0.3 * uniform[rows, 1] ** 2
        order = (self._rank[rows] - scores).argsort()  # scores differ by less than ranks do
        rows, scores = rows[order], scores[order]
        poses, noise = poses.take(rows, 0), noise.take(rows, 0)
        half_rad = noise[:, 3:] / 2
        quaternions = np.cos(half_rad) * poses[:, 3:7] + np.sin(half_rad) * (poses[:, 7:] * TURN_SIGNS)
        skus = tuple([self._skus[row] for row in rows.tolist()])
        positions, variances = poses[:, :3] + noise[:, :3], self._variances[: len(rows)]
        if self._swing is not None:
            centre, turn = self._swing
            positions[:, :2] = (positions[:, :2] - centre) @ turn + centre
        return Detections(
            *self.header(),
            frame="world",
            skus=skus,
            positions=positions,
            quaternions=quaternions,
            variances=variances,
            scores=scores,
        )

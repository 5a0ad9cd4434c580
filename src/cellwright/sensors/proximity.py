"""The infrared proximity sensors of a mobile robot: counts by a response table, and what drivers make of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.catalogue import PROXIMITY_TABLE
from cellwright.core.errors import ConfigError
from cellwright.core.messages import InfraredReading, LaserScan, Message, Range
from cellwright.core.pose import Pose
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sensors.noise import NoiseCfg, ReadingStream

__all__ = [
    "ProximityCfg",
    "ProximitySensor",
    "counts_at",
    "front_scan",
    "range_of_root",
    "range_of_table",
    "round_scan",
]

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Distance = Annotated[float, Field(ge=0, le=10)]

MAX_COUNTS = 4095
ROOT_M = 0.5  # of the drivers: range in m = 0.5 / sqrt(counts), "from field tests"
SCAN_SENSORS = 8
SCAN_RADIUS_M = 0.035  # of the circle on which drivers believe the sensors
FRONT_STEP_RAD, ROUND_STEP_RAD = np.radians(10.0), np.radians(15.0)
ROUND_BEAMS = {0: 3, 4: 2, 7: 1, 9: 0, 11: 7, 13: 6, 16: 5, 20: 4}  # beam of the ROS 2 driver's scan -> sensor
ROUND_MIDDLE, ROUND_COUNT = 10, 21
ROUND_IR_M, ROUND_MAX_M = 0.025, 1.0
_TABLE_M, _TABLE_COUNTS, _TABLE_SHARES = (np.array(column) for column in zip(*PROXIMITY_TABLE, strict=True))
_KNOWN = _TABLE_M <= 0.05  # what the ROS 2 driver has of it; it goes on along the last piece
_SLOPE_M = (_TABLE_M[_KNOWN][-1] - _TABLE_M[_KNOWN][-2]) / (_TABLE_COUNTS[_KNOWN][-2] - _TABLE_COUNTS[_KNOWN][-1])
_DARK_M = _TABLE_M[_KNOWN][-1] + _TABLE_COUNTS[_KNOWN][-1] * _SLOPE_M
_INVERSE = (
    np.array([0.0, *_TABLE_COUNTS[_KNOWN][::-1]]),
    np.array([_DARK_M, *_TABLE_M[_KNOWN][::-1]]),
)


def _front_weights() -> tuple[Array, npt.NDArray[np.intp]]:
    """Returns for each of 19 beams the weights of two sensors, and their numbers."""
    angles = {2: -90, 1: -40, 0: -10, 7: 10, 6: 40, 5: 90}
    order = list(angles)
    weights, pairs = [], []
    for beam in range(-90, 91, 10):
        at = next(n for n in range(len(order) - 1) if beam <= angles[order[n + 1]])
        low, high = order[at], order[at + 1]
        share = (beam - angles[low]) / (angles[high] - angles[low])
        weights.append((1 - share, share))
        pairs.append((low, high))
    return np.array(weights), np.array(pairs)


_FRONT_WEIGHTS, _FRONT_PAIRS = _front_weights()


def counts_at(away_m: Array) -> Array:
    """Returns the counts for a white surface at distances: by the table, then as the inverse square; 0 for none."""
    far = np.maximum(away_m, _TABLE_M[-1])
    beyond = _TABLE_COUNTS[-1] * (_TABLE_M[-1] / far) ** 2
    return np.asarray(np.where(away_m > _TABLE_M[-1], beyond, np.interp(away_m, _TABLE_M, _TABLE_COUNTS)))


def range_of_root(counts: Counts, limits_m: tuple[float, float]) -> Array:
    """Returns ranges as the ROS 1 drivers compute them: 0.5 / sqrt(counts), within the limits."""
    away_m = np.where(counts > 0, ROOT_M / np.sqrt(np.maximum(counts, 1)), limits_m[1])
    return np.asarray(np.minimum(np.maximum(away_m, limits_m[0]), limits_m[1]))


def range_of_table(counts: Counts) -> Array:
    """Returns ranges as the ROS 2 driver computes them: the inverse of its table, straight on beyond its end."""
    return np.asarray(np.interp(counts, *_INVERSE))


def front_scan(counts: Counts) -> Array:
    """Returns the 19 beams, from -90 to 90 degrees, that the ROS 1 drivers make of the counts of six sensors."""
    parts = np.floor(_FRONT_WEIGHTS * counts[_FRONT_PAIRS] + 1e-9)  # the drivers compute in whole numbers
    return range_of_root(parts.sum(axis=1).astype(np.int64), (0.005, 0.05)) + SCAN_RADIUS_M


def round_scan(ranges_m: Array, ahead_m: float) -> Array:
    """Returns the 21 beams, from -150 to 150 degrees, of the ROS 2 driver: 0 where it has no sensor.

    Args:
        ranges_m: Of the eight proximity sensors; what is farther than 25 mm counts as 0.
        ahead_m: Of the time of flight sensor; 0 for nothing.
    """
    beams = np.zeros(ROUND_COUNT)
    beams[ROUND_MIDDLE] = ahead_m + SCAN_RADIUS_M
    for beam, sensor in ROUND_BEAMS.items():
        away_m = ranges_m[sensor]
        beams[beam] = (away_m if away_m <= ROUND_IR_M else 0.0) + SCAN_RADIUS_M
    return beams


class ProximityCfg(SensorCfg):
    """The infrared proximity sensors all round a mobile robot.

    Attributes:
        robot: The mobile robot.
        conversion: How ranges come about. `distance` is the nearest distance within the cone, as V-REP has it; `root`
            is 0.5 / sqrt(counts), as the ROS 1 drivers compute; `table` is the inverse of the response table.
        range_m: The least and the largest range that is told.
        fov_rad: The angle of the cone, which messages tell.
        rays: Rays over the cone: one in its middle, the others round its edge.
        counts_noise: Factor of the noise of counts that the response table has; 0 for none.
        noise: Errors of ranges, in m; their limits are those of the range.
        reflectance: Fixture, object, robot or `arena` -> how much light it sends back, where that is not as much as
            white does. A dark thing looks farther away to all but `distance`.
        scan: `front` adds the scan of 19 beams that the ROS 1 drivers make of the counts, `all_round` that of 21 beams
            of the ROS 2 driver, which has the time of flight sensor in its middle.
    """

    robot: str
    conversion: Literal["distance", "root", "table"] = "distance"
    range_m: tuple[Distance, Distance] = (0.0015, 0.05)
    fov_rad: Annotated[float, Field(gt=0, le=3.0)] = 0.26
    rays: Annotated[int, Field(ge=1, le=64)] = 5
    counts_noise: Annotated[float, Field(ge=0, le=100)] = 1.0
    noise: NoiseCfg = NoiseCfg()
    reflectance: dict[str, Annotated[float, Field(ge=0, le=2)]] = Field(default_factory=dict)
    scan: Literal["none", "front", "all_round"] = "none"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.range_m[0] >= self.range_m[1]:
            raise ValueError(f"range_m is {list(self.range_m)}: the first should be below the second")
        return self


@SENSORS.register("proximity")
class ProximitySensor(Sensor[ProximityCfg]):
    """All of a robot's proximity sensors on `/<robot>/proximity`, and each as a range on `/<robot>/proximity0` ....

    A count is what white would send back from where each ray ends, averaged over the rays, with noise by the table.
    """

    Cfg: ClassVar[type[SensorCfg]] = ProximityCfg
    message_type: ClassVar[type[Message]] = InfraredReading

    def __init__(self, cfg: ProximityCfg, context: SensorContext) -> None:
        self._figures = context.world.mobile(cfg.robot).figures.proximity
        noise = cfg.noise.within(*cfg.range_m)
        super().__init__(cfg.model_copy(update={"noise": noise}), context)
        self._rays = self.world.proximity_rays(cfg.robot, cfg.fov_rad, cfg.rays)
        self._stream = ReadingStream(context.rng)
        self._names = tuple(f"proximity{n}" for n in range(len(self._figures)))
        self._ends = [
            (f"/{self.source}/{name}", f"{cfg.robot}/base_{figures.name}")
            for name, figures in zip(self._names, self._figures, strict=True)
        ]
        self._frame = f"{cfg.robot}/base_link"
        nothing = np.full((len(self._figures), 1), np.inf)
        self._sends: Array | None = None
        self._nothing = self._read(nothing, np.full(nothing.shape, -1), np.random.default_rng(0))
        if cfg.scan != "none" and len(self._figures) != SCAN_SENSORS:
            problem = f"a scan is made of {SCAN_SENSORS} sensors, and {cfg.robot} has {len(self._figures)}"
            raise ConfigError(context.where, "scan", problem)
        if cfg.scan == "front":
            self._empty_scan = front_scan(self._nothing[0])
        self._ahead = None if cfg.scan != "all_round" else np.array([[1.0, 0.0, 0.0]])
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        if not self.cfg.reflectance:
            return
        model = self.world.model
        owners = [str(model.body(int(body)).name).partition("/")[0] for body in model.geom_bodyid]
        self._sends = np.array([*(self.cfg.reflectance.get(owner, 1.0) for owner in owners), 1.0])

    def noise_size(self, key: str) -> int:
        """Returns the number of the robot's sensors."""
        return len(self._figures)

    @cached_property
    def other_topics(self) -> Mapping[str, type[Message]]:
        """A topic for the range of each sensor, and that of the scan."""
        scan = {} if self.cfg.scan == "none" else {f"/{self.source}/scan": LaserScan}
        return {topic: Range for topic, _ in self._ends} | scan

    @property
    def frames(self) -> Mapping[str, Pose]:
        """The frame of the scan, in the middle of the robot at the height of the sensors."""
        if self.cfg.scan == "none":
            return {}
        return {"base_laser": Pose.from_xyz_rpy((0.0, 0.0, self._figures[0].xyz_m[2]), (0.0, 0.0, 0.0))}

    @property
    def is_skippable(self) -> bool:
        """Whether no reading depends on those before."""
        return not self.noises["noise"].has_walk

    def sample(self) -> InfraredReading:
        """Returns one reading of all sensors."""
        cfg, head = self.cfg, self.header()
        rng = self._stream.of(head[1])
        seen = self._rays.cast(cfg.robot)
        counts, clean_m = self._nothing if seen is None else self._read(*seen, rng)
        ranges_m = clean_m.copy() if cfg.conversion == "table" else self.noises["noise"].apply(clean_m, rng)
        (low, high), fov_rad = cfg.range_m, cfg.fov_rad
        self.beside += [
            (
                topic,
                Range(
                    *head,
                    frame=frame,
                    range_m=away,
                    min_range_m=low,
                    max_range_m=high,
                    field_of_view_rad=fov_rad,
                ),
            )
            for (topic, frame), away in zip(self._ends, ranges_m.tolist(), strict=True)
        ]
        if cfg.scan != "none":
            self.beside.append((f"/{self.source}/scan", self._scan(head, counts, ranges_m)))
        return InfraredReading(
            *head, frame=self._frame, names=self._names, counts=tuple(counts.tolist()), ranges_m=ranges_m
        )

    def _read(self, away_m: Array, hits: Any, rng: np.random.Generator) -> tuple[Counts, Array]:
        """Returns counts, and the ranges that are made of them or of the distances."""
        nearest_m = away_m.min(axis=1)
        counts = self._counts(away_m, hits, nearest_m, rng)
        if self.cfg.conversion == "distance":
            return counts, np.minimum(np.maximum(nearest_m, self.cfg.range_m[0]), self.cfg.range_m[1])
        if self.cfg.conversion == "table":
            return counts, range_of_table(counts)
        return counts, range_of_root(counts, self.cfg.range_m)

    def _counts(self, away_m: Array, hits: Any, nearest_m: Array, rng: np.random.Generator) -> Counts:
        noise = rng.standard_normal(len(nearest_m)) if self.cfg.counts_noise else None
        each = counts_at(away_m)
        if self._sends is not None:
            each *= self._sends[hits]
        counts = each.mean(axis=1)
        if noise is not None:
            counts *= 1 + self.cfg.counts_noise * noise * np.interp(nearest_m, _TABLE_M, _TABLE_SHARES)
        return np.asarray(np.minimum(np.maximum(np.rint(counts), 0), MAX_COUNTS), np.int64)

    def _scan(self, head: tuple[int, int, str], counts: Counts, ranges_m: Array) -> LaserScan:
        if self._ahead is None:
            beams = self._empty_scan if counts is self._nothing[0] else front_scan(counts)
            first, step = -np.pi / 2, FRONT_STEP_RAD
            low, high = 0.005 + SCAN_RADIUS_M, 0.05 + SCAN_RADIUS_M
        else:
            place = self.world.pose_of(self.cfg.robot)
            origin = place.apply([SCAN_RADIUS_M, 0.0, self._figures[0].xyz_m[2]])
            ways = self._ahead @ place.rotation_matrix.T
            ahead = float(self.world.rays(origin, ways, ROUND_MAX_M, mounted_on=self.cfg.robot)[0])
            beams, step = round_scan(ranges_m, ahead if np.isfinite(ahead) else 0.0), ROUND_STEP_RAD
            first, low, high = -10 * step, 0.009 + SCAN_RADIUS_M, ROUND_MAX_M + SCAN_RADIUS_M
        return LaserScan(
            *head,
            frame=f"{self.cfg.robot}/base_laser",
            first_angle_rad=float(first),
            step_rad=float(step),
            scan_time_s=1 / self.cfg.rate_hz,
            min_range_m=low,
            max_range_m=high,
            ranges_m=beams.astype(np.float32),
        )

"""Further senses of small mobile robots: ground sensors over lines, time of flight, the charge of the battery."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.catalogue import GROUND_TABLE
from cellwright.core.messages import Battery, InfraredReading, Message, Range
from cellwright.core.pose import Pose
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sensors.noise import NoiseCfg, ReadingStream
from cellwright.sim.proximity_rays import cone

__all__ = [
    "BatteryCfg",
    "BatterySensor",
    "GroundCfg",
    "GroundSensor",
    "TimeOfFlightCfg",
    "TimeOfFlightSensor",
    "cover_of_lines",
    "ground_range",
    "resting_voltage",
]

Array = npt.NDArray[np.float64]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, le=100)]

(GROUND_NEAR_M, MOST_COUNTS, GROUND_SHARE), (GROUND_FAR_M, LEAST_COUNTS, _) = GROUND_TABLE
COUNTS_PER_M = (LEAST_COUNTS - MOST_COUNTS) / (GROUND_FAR_M - GROUND_NEAR_M)
GROUND_XY_M = ((0.030, 0.009), (0.030, 0.0), (0.030, -0.009))  # ROS 2 driver; gs0 is the left one
GROUND_FOV_RAD = 0.2618  # of messages: the ROS 2 driver
MAX_COUNTS = 1023  # of its converter, 10 bits

CHARGES = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)
VOLTAGES = (3.4, 3.6, 3.7, 3.8, 4.0, 4.2)  # at rest; from the driver's least to its largest, between them estimated
LEAST_V, LARGEST_V = 3.4, 4.2  # between which the driver has its percentage
STEP_V = 3.0 / 4096 * 550 / 330  # of the driver's converter behind its divider
RESISTANCE_OHM = 0.15  # estimated: a lithium cell of this size with its plug


def cover_of_lines(points_m: Array, starts_m: Array, ends_m: Array, width_m: float, spot_m: float) -> Array:
    """Returns the share of a sensor's spot that lines cover, for points on the floor: 0 beside them, 1 on one.

    Args:
        points_m: Middles of the spots, (n, 2).
        starts_m: Where the pieces of the lines begin, (m, 2).
        ends_m: Where they end.
        width_m: The width of the lines.
        spot_m: The diameter of a spot.
    """
    if not len(starts_m):
        return np.zeros(len(points_m))
    way = ends_m - starts_m
    from_start = points_m[:, None] - starts_m
    along = np.clip((from_start * way).sum(axis=2) / (way**2).sum(axis=1), 0.0, 1.0)
    aside = np.hypot(*(from_start - along[..., None] * way).transpose(2, 0, 1)).min(axis=1)
    return np.asarray(np.clip((width_m / 2 - aside) / spot_m + 0.5, 0.0, 1.0))


def ground_range(counts: Array) -> Array:
    """Returns the ranges that the ROS 2 driver computes of counts: the inverse of its table, and straight on."""
    return np.asarray(GROUND_NEAR_M + (counts - MOST_COUNTS) / COUNTS_PER_M)


def _ground_counts(height_m: float) -> float:
    """Returns the counts over white, which end where the table does."""
    return MOST_COUNTS + COUNTS_PER_M * min(max(height_m, GROUND_NEAR_M), GROUND_FAR_M)


def resting_voltage(charge: float) -> float:
    """Returns the voltage of a lithium cell that nothing draws from, for what is left in it, from 0 to 1."""
    return float(np.interp(charge, CHARGES, VOLTAGES))


class GroundCfg(SensorCfg):
    """Three infrared sensors below a robot's front that look at the floor.

    Attributes:
        robot: The mobile robot.
        height_m: Their height over the floor.
        line_reflectance: Light that a line sends back, as a share of what the table's white does.
        floor_reflectance: The same of the floor beside the lines.
        spot_m: Diameter of what a sensor sees.
        counts_noise: Factor of the noise of the response table, a tenth of the counts, which is less steady than any
            line follower could use; a tenth of that by default, 0 for none.
    """

    robot: str
    height_m: Annotated[float, Field(ge=0, le=0.016)] = 0.003
    line_reflectance: Share = 0.2
    floor_reflectance: Share = 0.95
    spot_m: Annotated[float, Field(gt=0, le=0.1)] = 0.004
    counts_noise: Amount = 0.1


@SENSORS.register("ground")
class GroundSensor(Sensor[GroundCfg]):
    """Counts of the ground sensors, left to right, on `/<robot>/ground`, and as ranges on `/<robot>/ground0` ....

    They see the lines of the cell's arena; where there is no arena, a floor without lines at height 0. One that is
    lifted off the floor counts less, as over a line.
    """

    Cfg: ClassVar[type[SensorCfg]] = GroundCfg
    message_type: ClassVar[type[Message]] = InfraredReading

    def __init__(self, cfg: GroundCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self.world.mobile(cfg.robot)
        arena = self.world.cell.arena
        pieces = [] if arena is None else [(a, b) for line in arena.lines_m for a, b in pairwise(line)]
        self._starts, self._ends = np.array(pieces, float).reshape(-1, 2, 2).transpose(1, 0, 2)
        self._width_m = 0.0 if arena is None else arena.line_width_m
        world_in_floor = Pose.identity() if arena is None else arena.pose.pose.inverse()
        self._to_floor = world_in_floor.rotation_matrix.T, world_in_floor.position
        self._places = np.array([(x, y, cfg.height_m) for x, y in GROUND_XY_M])
        self._names = tuple(f"ground{n}" for n in range(len(GROUND_XY_M)))
        self._ends_of_topics = [(f"/{self.source}/{name}", f"{cfg.robot}/base_{name}") for name in self._names]
        self._stream = ReadingStream(context.rng)

    @cached_property
    def other_topics(self) -> Mapping[str, type[Message]]:
        """A topic for the range of each sensor."""
        return {topic: Range for topic, _ in self._ends_of_topics}

    @property
    def frames(self) -> Mapping[str, Pose]:
        """A frame for each sensor; x looks at the floor."""
        down = (0.0, np.pi / 2, 0.0)
        return {f"base_{n}": Pose.from_xyz_rpy(at, down) for n, at in zip(self._names, self._places, strict=True)}

    @property
    def is_skippable(self) -> bool:
        """True: no reading depends on those before."""
        return True

    def sample(self) -> InfraredReading:
        """Returns one reading of all three."""
        cfg, head = self.cfg, self.header()
        turn, shift = self._to_floor
        here = self.world.pose_of(cfg.robot).apply(self._places) @ turn + shift
        light = np.full(len(here), cfg.floor_reflectance)
        if len(self._starts):
            cover = cover_of_lines(here[:, :2], self._starts, self._ends, self._width_m, cfg.spot_m)
            light += cover * (cfg.line_reflectance - cfg.floor_reflectance)
        noise = self._stream.of(head[1]).standard_normal(len(here)) * cfg.counts_noise * GROUND_SHARE
        # As plain numbers: three of them are too few for arrays.
        counts = tuple(
            round(min(max(sent * _ground_counts(height_m) * (1.0 + error), 0.0), MAX_COUNTS))
            for sent, height_m, error in zip(light.tolist(), here[:, 2].tolist(), noise.tolist(), strict=True)
        )
        ranges_m = ground_range(np.array(counts, float))
        self.beside += [
            (
                topic,
                Range(
                    *head,
                    frame=frame,
                    range_m=away_m,
                    min_range_m=GROUND_NEAR_M,
                    max_range_m=GROUND_FAR_M,
                    field_of_view_rad=GROUND_FOV_RAD,
                ),
            )
            for (topic, frame), away_m in zip(self._ends_of_topics, ranges_m.tolist(), strict=True)
        ]
        return InfraredReading(
            *head, frame=f"{cfg.robot}/base_link", names=self._names, counts=counts, ranges_m=ranges_m
        )


class TimeOfFlightCfg(SensorCfg):
    """A time of flight sensor that looks ahead over a cone.

    Attributes:
        robot: The mobile robot.
        xyz_m: Its place on the robot.
        pitch_rad: Its turn about y; negative looks up.
        range_m: The least and the largest distance that is told.
        fov_rad: The angle of its cone.
        rays: Rays over the cone: one in its middle, the others round its edge.
        noise: Its errors, in m; their limits are those of the range.
    """

    robot: str
    xyz_m: tuple[float, float, float] = (0.035, 0.0, 0.034)
    pitch_rad: Annotated[float, Field(ge=-1.6, le=1.6)] = 0.0
    range_m: tuple[Amount, Amount] = (0.005, 2.0)
    fov_rad: Annotated[float, Field(gt=0, le=3.0)] = 0.43
    rays: Annotated[int, Field(ge=1, le=64)] = 1
    noise: NoiseCfg = NoiseCfg(sd=0.003, resolution=0.001)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.range_m[0] >= self.range_m[1]:
            raise ValueError(f"range_m is {list(self.range_m)}: the first should be below the second")
        return self


@SENSORS.register("time_of_flight")
class TimeOfFlightSensor(Sensor[TimeOfFlightCfg]):
    """The distance to what is ahead, the nearest of its rays, on `/<robot>/time_of_flight`."""

    Cfg: ClassVar[type[SensorCfg]] = TimeOfFlightCfg
    message_type: ClassVar[type[Message]] = Range

    def __init__(self, cfg: TimeOfFlightCfg, context: SensorContext) -> None:
        super().__init__(cfg.model_copy(update={"noise": cfg.noise.within(*cfg.range_m)}), context)
        self.world.mobile(cfg.robot)
        self._own = Pose.from_xyz_rpy(cfg.xyz_m, (0.0, cfg.pitch_rad, 0.0))
        self._ways = cone(cfg.fov_rad, cfg.rays) @ self._own.rotation_matrix.T
        self._stream = ReadingStream(context.rng)

    @property
    def frames(self) -> Mapping[str, Pose]:
        """Its own frame; x looks along the middle of its cone."""
        return {"time_of_flight": self._own}

    @property
    def is_skippable(self) -> bool:
        """Whether no reading depends on those before."""
        return not self.noises["noise"].has_walk

    def sample(self) -> Range:
        """Returns one reading."""
        cfg, head = self.cfg, self.header()
        place = self.world.pose_of(cfg.robot)
        turn = place.rotation_matrix.T
        origin_m = self._own.position @ turn + place.position
        away_m = float(self.world.rays(origin_m, self._ways @ turn, cfg.range_m[1], mounted_on=cfg.robot).min())
        noise, (low, high) = self.noises["noise"], cfg.range_m
        read_m = noise.apply(np.array([min(max(away_m, low), high)]), self._stream.of(head[1]))
        return Range(
            *head,
            frame=f"{cfg.robot}/time_of_flight",
            range_m=float(read_m[0]),
            min_range_m=cfg.range_m[0],
            max_range_m=cfg.range_m[1],
            field_of_view_rad=cfg.fov_rad,
        )


class BatteryCfg(SensorCfg):
    """The battery of a mobile robot, a lithium cell.

    Attributes:
        robot: The mobile robot.
        rate_hz: Readings per second, in steps of which the charge falls.
        capacity_ah: What it holds when full.
        start: What is left at the start, from 0 to 1.
        idle_a: Current of the robot at rest.
        motor_a: What a turning wheel adds: a stepper motor takes the same current at any speed.
        led_a: What an LED adds that is lit.
    """

    robot: str
    rate_hz: Annotated[float, Field(gt=0, le=100)] = 1.0
    capacity_ah: Annotated[float, Field(gt=0, le=1000)] = 1.8
    start: Share = 1.0
    idle_a: Amount = 0.3
    motor_a: Amount = 0.15
    led_a: Amount = 0.01


@SENSORS.register("battery")
class BatterySensor(Sensor[BatteryCfg]):
    """Voltage, current and charge on `/<robot>/battery`; the charge falls with time, and faster while wheels turn.

    The percentage is what the driver makes of the measured voltage, so it drops while the motors pull. An empty battery
    does not stop the robot.
    """

    Cfg: ClassVar[type[SensorCfg]] = BatteryCfg
    message_type: ClassVar[type[Message]] = Battery

    def sample(self) -> Battery:
        """Returns one reading, after the current of this moment has flowed for one period."""
        cfg, world = self.cfg, self.world
        turning = np.count_nonzero(world.wheels.commanded(world.wheels.rows[cfg.robot]))
        lit = int(world.leds.on[cfg.robot].sum())
        current_a = cfg.idle_a + turning * cfg.motor_a + lit * cfg.led_a
        charge = self.state.get("charge", cfg.start)
        charge = max(0.0, charge - current_a / cfg.rate_hz / 3600 / cfg.capacity_ah)
        self.state["charge"] = charge
        loaded_v = resting_voltage(charge) - current_a * RESISTANCE_OHM
        voltage_v = round(loaded_v / STEP_V) * STEP_V
        return Battery(
            *self.header(),
            frame=f"{cfg.robot}/base_link",
            voltage_v=voltage_v,
            current_a=-current_a,
            percentage=min(max((voltage_v - LEAST_V) / (LARGEST_V - LEAST_V), 0.0), 1.0),
            capacity_ah=cfg.capacity_ah,
        )

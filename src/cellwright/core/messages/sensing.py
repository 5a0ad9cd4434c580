"""Readings of single sensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from cellwright.core.messages.base import Array, Message

__all__ = ["Beam", "Encoder", "Imu", "LaserScan", "Odometry", "Range", "Wrench"]

Singles = npt.NDArray[np.float32]


@dataclass(slots=True, kw_only=True)
class Wrench(Message):
    """Force (N) and torque (N m) that the load exerts on the flange, in the flange frame."""

    ROS_TYPE: ClassVar[str | None] = "geometry_msgs/msg/WrenchStamped"

    frame: str
    force: Array
    torque: Array


@dataclass(slots=True, kw_only=True)
class Range(Message):
    """A distance (m) with the limits between which it means anything."""

    frame: str
    range_m: float
    min_range_m: float = 0.0
    max_range_m: float
    field_of_view_rad: float = 0.0


@dataclass(slots=True, kw_only=True)
class Imu(Message):
    """Acceleration with gravity (m/s2) and turn rate (rad/s), with variances per axis."""

    frame: str
    acceleration: Array
    angular_velocity: Array
    acceleration_variance: Array
    angular_velocity_variance: Array


@dataclass(slots=True, kw_only=True)
class Beam(Message):
    """A light barrier: whether something is in it, and of a curtain in which beams, from the bottom."""

    frame: str
    interrupted: bool
    beams: tuple[bool, ...] = ()


@dataclass(slots=True, kw_only=True)
class LaserScan(Message):
    """The distances that a laser scanner measures in the plane of x and y of its frame, turning from x to y.

    Attributes:
        frame: That of the scanner: x the middle of what it scans, z its axis.
        first_angle_rad: Of the first reading.
        step_rad: From reading to reading.
        scan_time_s: From scan to scan.
        min_range_m: The least distance that it tells.
        max_range_m: The largest.
        ranges_m: The distances; endless where nothing came back, minus endless where something was too near.
    """

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/LaserScan"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "angle_min": np.float32,
        "angle_max": np.float32,
        "angle_increment": np.float32,
        "time_increment": np.float32,
        "scan_time": np.float32,
        "range_min": np.float32,
        "range_max": np.float32,
        "ranges": Singles,
        "intensities": Singles,
    }

    frame: str
    first_angle_rad: float
    step_rad: float
    scan_time_s: float
    min_range_m: float
    max_range_m: float
    ranges_m: Singles

    time_increment: ClassVar[float] = 0.0  # a scan is of one moment

    @property
    def angles_rad(self) -> Array:
        """The angle of each reading."""
        return np.asarray(self.first_angle_rad + self.step_rad * np.arange(len(self.ranges_m)), float)

    @property
    def angle_min(self) -> float:
        """The angle of the first reading."""
        return self.first_angle_rad

    @property
    def angle_max(self) -> float:
        """The angle of the last reading."""
        return self.first_angle_rad + self.step_rad * (len(self.ranges_m) - 1)

    @property
    def angle_increment(self) -> float:
        """From reading to reading."""
        return self.step_rad

    @property
    def scan_time(self) -> float:
        """From scan to scan."""
        return self.scan_time_s

    @property
    def range_min(self) -> float:
        """The least distance."""
        return self.min_range_m

    @property
    def range_max(self) -> float:
        """The largest distance."""
        return self.max_range_m

    @property
    def ranges(self) -> Singles:
        """The distances."""
        return self.ranges_m

    @property
    def intensities(self) -> Singles:
        """None are measured."""
        return np.empty(0, np.float32)

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        return cls(
            **{key: values[key] for key in ("time_ns", "sequence", "source", "frame")},
            first_angle_rad=float(values["angle_min"]),
            step_rad=float(values["angle_increment"]),
            scan_time_s=float(values["scan_time"]),
            min_range_m=float(values["range_min"]),
            max_range_m=float(values["range_max"]),
            ranges_m=np.asarray(values["ranges"], np.float32),
        )


@dataclass(slots=True, kw_only=True)
class Encoder(Message):
    """Whole counts of wheel or axis encoders."""

    names: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class Odometry(Message):
    """A pose integrated from encoders, with the covariance of x, y, yaw row by row."""

    frame: str
    child_frame: str
    position: Array
    quaternion: Array
    linear_velocity: Array
    angular_velocity: Array
    covariance: Array

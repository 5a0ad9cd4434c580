"""Readings of single sensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from cellwright.core.messages.base import Array, Message

__all__ = ["Battery", "Beam", "Encoder", "Imu", "InfraredReading", "LaserScan", "Odometry", "Range", "Wrench"]

Singles = npt.NDArray[np.float32]
HEAD = ("time_ns", "sequence", "source", "frame")
NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])  # in the order of ROS: x, y, z, w
PLANAR = np.ix_((0, 1, 5), (0, 1, 5))  # x, y and yaw among x, y, z and the turns about them


@dataclass(slots=True, kw_only=True)
class Wrench(Message):
    """Force (N) and torque (N m) that the load exerts on the flange, in the flange frame."""

    ROS_TYPE: ClassVar[str | None] = "geometry_msgs/msg/WrenchStamped"

    frame: str
    force: Array
    torque: Array


@dataclass(slots=True, kw_only=True)
class Range(Message):
    """A distance (m) with the limits between which it means anything, measured by infrared light or a laser."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Range"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "radiation_type": np.uint8,
        "field_of_view": np.float32,
        "min_range": np.float32,
        "max_range": np.float32,
        "range": np.float32,
        "variance": np.float32,
    }

    frame: str
    range_m: float
    min_range_m: float = 0.0
    max_range_m: float
    field_of_view_rad: float = 0.0

    radiation_type: ClassVar[int] = 1  # infrared
    variance: ClassVar[float] = 0.0  # not known

    @property
    def field_of_view(self) -> float:
        """The angle of its cone."""
        return self.field_of_view_rad

    @property
    def min_range(self) -> float:
        """The least distance that means anything."""
        return self.min_range_m

    @property
    def max_range(self) -> float:
        """The largest distance that means anything."""
        return self.max_range_m

    @property
    def range(self) -> float:
        """The distance."""
        return self.range_m

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        return cls(
            **{key: values[key] for key in HEAD},
            range_m=float(values["range"]),
            min_range_m=float(values["min_range"]),
            max_range_m=float(values["max_range"]),
            field_of_view_rad=float(values["field_of_view"]),
        )


@dataclass(slots=True, kw_only=True)
class InfraredReading(Message):
    """All infrared sensors of one kind of a robot at one moment: what they count, and the ranges (m) made of that."""

    frame: str
    names: tuple[str, ...]
    counts: tuple[int, ...]
    ranges_m: Array


@dataclass(slots=True, kw_only=True)
class Battery(Message):
    """The voltage (V) of a battery and what is left in it, from 0 to 1, and the current (A) out of it, negative."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/BatteryState"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "voltage": np.float32,
        "temperature": np.float32,
        "current": np.float32,
        "charge": np.float32,
        "capacity": np.float32,
        "design_capacity": np.float32,
        "percentage": np.float32,
        "power_supply_status": np.uint8,
        "power_supply_health": np.uint8,
        "power_supply_technology": np.uint8,
        "present": bool,
        "cell_voltage": Singles,
        "cell_temperature": Singles,
        "location": str,
        "serial_number": str,
    }

    frame: str
    voltage_v: float
    current_a: float
    percentage: float
    capacity_ah: float

    temperature: ClassVar[float] = float("nan")  # as ROS has it for: not measured
    power_supply_status: ClassVar[int] = 2  # discharging
    power_supply_health: ClassVar[int] = 1  # good
    power_supply_technology: ClassVar[int] = 2  # lithium-ion
    present: ClassVar[bool] = True
    cell_voltage: ClassVar[Singles] = np.empty(0, np.float32)
    cell_temperature: ClassVar[Singles] = np.empty(0, np.float32)
    location: ClassVar[str] = ""
    serial_number: ClassVar[str] = ""

    @property
    def voltage(self) -> float:
        """The voltage."""
        return self.voltage_v

    @property
    def current(self) -> float:
        """The current, negative while it is used."""
        return self.current_a

    @property
    def charge(self) -> float:
        """The ampere-hours that are left."""
        return self.percentage * self.capacity_ah

    @property
    def capacity(self) -> float:
        """The capacity when it was last full."""
        return self.capacity_ah

    @property
    def design_capacity(self) -> float:
        """The capacity of a new one."""
        return self.capacity_ah

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        return cls(
            **{key: values[key] for key in HEAD},
            voltage_v=float(values["voltage"]),
            current_a=float(values["current"]),
            percentage=float(values["percentage"]),
            capacity_ah=float(values["capacity"]),
        )


@dataclass(slots=True, kw_only=True)
class Imu(Message):
    """Acceleration with gravity (m/s2) and turn rate (rad/s), with variances per axis; it measures no orientation."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Imu"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "orientation": Array,
        "orientation_covariance": Array,
        "angular_velocity": Array,
        "angular_velocity_covariance": Array,
        "linear_acceleration": Array,
        "linear_acceleration_covariance": Array,
    }

    frame: str
    acceleration: Array
    angular_velocity: Array
    acceleration_variance: Array
    angular_velocity_variance: Array

    orientation: ClassVar[Array] = NO_TURN
    orientation_covariance: ClassVar[Array] = np.array([-1.0, *np.zeros(8)])  # ROS for: not measured

    @property
    def linear_acceleration(self) -> Array:
        """The acceleration."""
        return self.acceleration

    @property
    def linear_acceleration_covariance(self) -> Array:
        """Its covariance, row by row."""
        return np.diag(self.acceleration_variance).ravel()

    @property
    def angular_velocity_covariance(self) -> Array:
        """The covariance of the turn rate, row by row."""
        return np.diag(self.angular_velocity_variance).ravel()

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        return cls(
            **{key: values[key] for key in HEAD},
            acceleration=values["linear_acceleration"],
            angular_velocity=values["angular_velocity"],
            acceleration_variance=values["linear_acceleration_covariance"][::4].copy(),
            angular_velocity_variance=values["angular_velocity_covariance"][::4].copy(),
        )


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
            **{key: values[key] for key in HEAD},
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

    ROS_TYPE: ClassVar[str | None] = "nav_msgs/msg/Odometry"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "child_frame": str,
        "position": Array,
        "orientation": Array,
        "pose_covariance": Array,
        "linear_velocity": Array,
        "angular_velocity": Array,
        "twist_covariance": Array,
    }

    frame: str
    child_frame: str
    position: Array
    quaternion: Array
    linear_velocity: Array
    angular_velocity: Array
    covariance: Array

    twist_covariance: ClassVar[Array] = np.zeros(36)  # ROS for: not known

    @property
    def orientation(self) -> Array:
        """The orientation in the order of ROS: x, y, z, w."""
        return self.quaternion[[1, 2, 3, 0]]

    @property
    def pose_covariance(self) -> Array:
        """The covariance of x, y, z and the turns about them, row by row."""
        whole = np.zeros((6, 6))
        whole[PLANAR] = self.covariance.reshape(3, 3)
        return whole.ravel()

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        taken = ("child_frame", "position", "linear_velocity", "angular_velocity")
        return cls(
            **{key: values[key] for key in (*HEAD, *taken)},
            quaternion=values["orientation"][[3, 0, 1, 2]],
            covariance=values["pose_covariance"].reshape(6, 6)[PLANAR].ravel(),
        )

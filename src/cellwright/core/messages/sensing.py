"""Readings of single sensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellwright.core.messages.base import Array, Message

__all__ = ["Beam", "Encoder", "Imu", "Odometry", "Range", "Wrench"]


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
    """A light barrier: whether something is in it."""

    frame: str
    interrupted: bool


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

"""Commands that programs outside send to robots, as the log keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellwright.core.messages.base import Array, Message

__all__ = ["LedCommand", "VelocityCommand"]


@dataclass(slots=True, kw_only=True)
class VelocityCommand(Message):
    """The speed (m/s) and the turn rate (rad/s) that a mobile robot is told, in the units of whoever sent them."""

    ROS_TYPE: ClassVar[str | None] = "geometry_msgs/msg/Twist"

    linear: Array
    angular: Array


@dataclass(slots=True, kw_only=True)
class LedCommand(Message):
    """The states that a mobile robot's LEDs are told, by their numbers: 0 off, 1 on, 2 the other one of the two."""

    values: tuple[int, ...]

"""Reports of a robot and its tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellwright.core.messages.base import Array, Message

__all__ = ["IoState", "JointState", "SafetyStatus", "ToolStatus"]


@dataclass(slots=True, kw_only=True)
class JointState(Message):
    """Joint positions (rad or m), velocities and efforts as the controller reports them."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/JointState"

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array


@dataclass(slots=True, kw_only=True)
class ToolStatus(Message):
    """The report of the mounted tool: `width_m` of a gripper, `power` 0..1 of a vacuum tool, whether it holds."""

    tool: str
    kind: str
    width_m: float
    power: float
    holding: bool
    locked: bool


@dataclass(slots=True, kw_only=True)
class SafetyStatus(Message):
    """The safety state: the stop category in force (empty when none) and the zones that are entered."""

    stop_category: str
    zones_entered: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class IoState(Message):
    """Named digital inputs and outputs."""

    names: tuple[str, ...]
    values: tuple[bool, ...]

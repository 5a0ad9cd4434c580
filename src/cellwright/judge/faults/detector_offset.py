"""Offsets of detectors, through the filters that every sensor's messages pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from cellwright.core import rotation
from cellwright.core.messages import Detections, Message

__all__ = ["DetectorOffset", "FilteredSensor", "offset_detections"]


class FilteredSensor(Protocol):
    """A sensor with a name and the filters that its messages pass."""

    @property
    def source(self) -> str:
        """The source in its messages."""

    @property
    def message_type(self) -> type[Message]:
        """The class of its messages."""

    @property
    def filters(self) -> list[Callable[[Message], Message | None]]:
        """The filters: each returns the message, another in its place, or none."""


@dataclass(frozen=True)
class DetectorOffset:
    """The error of a detector.

    Attributes:
        shift_m: Along x and y of its frame.
        yaw_rad: About the vertical through the pivot.
        pivot_m: The middle of what it saw first.
    """

    shift_m: tuple[float, float]
    yaw_rad: float
    pivot_m: tuple[float, float]


def offset_detections(message: Detections, offset: DetectorOffset) -> Detections:
    """Returns the same objects, seen elsewhere."""
    if not len(message.positions):
        return message
    c, s = np.cos(offset.yaw_rad), np.sin(offset.yaw_rad)
    positions = message.positions.copy()
    pivot = np.array(offset.pivot_m)
    positions[:, :2] = (positions[:, :2] - pivot) @ np.array([[c, s], [-s, c]]) + pivot + offset.shift_m
    turn = np.array([np.cos(offset.yaw_rad / 2), 0.0, 0.0, np.sin(offset.yaw_rad / 2)])
    quaternions = np.array([rotation.multiply(turn, quaternion) for quaternion in message.quaternions])
    return replace(message, positions=positions, quaternions=quaternions)

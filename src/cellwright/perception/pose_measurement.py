"""Poses that were measured in pictures, with how good they are, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose

__all__ = ["MeasurementStatus", "PoseMeasurement"]


class MeasurementStatus(StrEnum):
    """The outcome of a measurement."""

    FOUND = "found"
    BAD_PICTURE = "bad picture"  # black, saturated, empty, of the wrong size
    BAD_PAIR = "bad pair"  # two pictures that are no stereo pair: swapped, of two moments, one missing
    NOT_SEEN = "not seen"  # nothing like the object is in view
    POOR = "poor"  # something was fitted, but not well enough to be grasped


@dataclass(frozen=True, kw_only=True)
class PoseMeasurement:
    """The pose of one object as measured in pictures.

    Attributes:
        status: Whether it was found, or why not.
        reason: One sentence where it was not found or is poor; empty otherwise.
        pose_in_world: Where it was found or fitted poorly, else None.
        variances: (6,): x, y, z in m2, roll, pitch, yaw in rad2 about fixed axes; infinite where nothing was measured.
            None without a pose.
        quality: 0 to 1; what the method defines, comparable within it alone.
        other_turns_rad: Turns about z from the pose that are about as likely as it, where its yaw is one of several
            and has an infinite variance; empty where it is known, and where nothing is known of it.
    """

    status: MeasurementStatus
    reason: str = ""
    pose_in_world: Pose | None = None
    variances: npt.NDArray[np.float64] | None = None
    quality: float = 0.0
    other_turns_rad: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if (self.status is MeasurementStatus.FOUND) != (not self.reason):
            raise ValueError(f"a measurement is found, or has a reason: {self.status}, {self.reason!r}")
        if self.status is MeasurementStatus.FOUND and (self.pose_in_world is None or self.variances is None):
            raise ValueError("a measurement that is found has a pose and variances")

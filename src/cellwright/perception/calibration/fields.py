"""Field types of calibration files: metres and degrees that look like it, and poses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Self

import numpy as np
from pydantic import AfterValidator, Field

from cellwright.core.config import Cfg
from cellwright.core.pose import Pose

__all__ = ["Degrees", "FittedPose", "Metres", "Offset", "Turn"]

FARTHEST_M = 20.0  # that anything in a cell is from its origin; the lab's coordinates in millimetres are above it
LARGEST_OFFSET_M = 0.2
LARGEST_TURN_DEG = 20.0
DIGITS = 9  # of metres and degrees in a file: a nanometre


def _within(limit: float, unit: str, hint: str) -> Callable[[float], float]:
    def check(value: float) -> float:
        if not math.isfinite(value):
            raise ValueError(f"not a finite number ({value}): the measurement failed; calibrate again")
        if abs(value) > limit:
            raise ValueError(f"units mixed up? {value:g} {unit} is beyond {limit:g} {unit}: {hint}")
        return value

    return check


_LIKE_MM = "looks like millimetres; write metres"
_Open = Field(allow_inf_nan=True)
Metres = Annotated[float, _Open, AfterValidator(_within(FARTHEST_M, "m", _LIKE_MM))]
Offset = Annotated[float, _Open, AfterValidator(_within(LARGEST_OFFSET_M, "m", _LIKE_MM))]
Degrees = Annotated[float, _Open, AfterValidator(_within(360.0, "degrees", "write degrees between -360 and 360"))]
Turn = Annotated[float, _Open, AfterValidator(_within(LARGEST_TURN_DEG, "degrees", "a correction is a small turn"))]


class FittedPose(Cfg):
    """A pose as it was fitted.

    Attributes:
        xyz_m: The position.
        rpy_deg: Roll, pitch, yaw about fixed axes.
    """

    xyz_m: tuple[Metres, Metres, Metres] = (0.0, 0.0, 0.0)
    rpy_deg: tuple[Degrees, Degrees, Degrees] = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, pose: Pose) -> Self:
        """Returns the form of a pose that a file has."""
        return cls(xyz_m=rounded(pose.position), rpy_deg=rounded(np.degrees(pose.rpy)))

    @property
    def pose(self) -> Pose:
        """The pose as an object."""
        return Pose.from_xyz_rpy(self.xyz_m, np.radians(self.rpy_deg))


def rounded(numbers: np.ndarray) -> tuple[float, float, float]:
    """Returns three numbers with as many digits as a file has; no -0.0."""
    x, y, z = (round(float(number), DIGITS) + 0.0 for number in numbers)
    return x, y, z

"""Field types of calibration files: metres and degrees that look like it, and poses."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from pydantic import AfterValidator, Field

from cellwright.core.config import Cfg
from cellwright.core.pose import Pose
from cellwright.core.registration_points import Metres, within

__all__ = ["Degrees", "FittedPose"]

DIGITS = 9  # of metres and degrees in a file: a nanometre

Degrees = Annotated[
    float,
    Field(allow_inf_nan=True),
    AfterValidator(within(360.0, "degrees", "write degrees between -360 and 360")),
]


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

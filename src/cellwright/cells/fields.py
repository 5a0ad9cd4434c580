"""Field types that the sections of a cell file have in common: names, coordinates, poses."""

from __future__ import annotations

import re
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, WithJsonSchema

from cellwright.core.config import Cfg
from cellwright.core.pose import Pose

__all__ = ["Angle", "Coordinate", "Name", "PoseCfg", "Vector", "checked_name"]

Coordinate = Annotated[float, Field(ge=-100, le=100)]
Vector = tuple[Coordinate, Coordinate, Coordinate]
Angle = Annotated[float, Field(ge=-720, le=720)]
NAME_PATTERN = r"^[a-z][a-z0-9_]{0,47}$"


def checked_name(name: str) -> str:
    """Returns the name if it is valid: it becomes part of topics, of file names, of names in models."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise ValueError(f"a name is a small letter and up to 47 small letters, digits or _, not '{name}'")
    return name


Name = Annotated[str, AfterValidator(checked_name), WithJsonSchema({"type": "string", "pattern": NAME_PATTERN})]


class PoseCfg(Cfg):
    """A pose in the cell's frame.

    Attributes:
        xyz_m: The position.
        rpy_deg: Roll, pitch, yaw about fixed axes.
    """

    xyz_m: Vector
    rpy_deg: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)

    @property
    def pose(self) -> Pose:
        """The pose as an object."""
        return Pose.from_xyz_rpy(self.xyz_m, np.radians(self.rpy_deg))

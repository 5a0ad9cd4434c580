"""The `safety` section of a cell: zones with the robots that work in them, and the guards around them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from cellwright.cells.fields import Coordinate, Name, PoseCfg, Vector
from cellwright.core.config import Cfg
from cellwright.core.pose import Pose

__all__ = ["CurtainCfg", "SafetyCfg", "SafetyInputCfg", "ZoneCfg"]

Category = Literal["Immediate", "Fast", "Normal"]
Length = Annotated[float, Field(gt=0, le=100)]
Box = tuple[Pose, Vector]

BEAM_M = 0.02  # estimated: as thick as the beams of such a curtain


class ZoneCfg(Cfg):
    """A box in the cell.

    Attributes:
        robots: Those that stop when it is entered.
        pose: The middle of its floor.
        size_m: Its size along its x, y and z axes.
        category: The stop category of the robots.
        watched: Whether it also notices by itself what comes in from outside, as an area scanner does. What is carried
            in by a robot comes in, too.
    """

    robots: tuple[Name, ...]
    pose: PoseCfg
    size_m: tuple[Length, Length, Length]
    category: Category = "Fast"
    watched: bool = False

    @property
    def box(self) -> Box:
        """Its middle in the world, and its size."""
        return self.pose.pose @ Pose.from_xyz_rpy([0.0, 0.0, self.size_m[2] / 2]), self.size_m


class CurtainCfg(Cfg):
    """A light curtain: upright between two posts.

    Attributes:
        from_xy_m: One post.
        to_xy_m: The other post.
        bottom_m: Height of the lowest beam.
        top_m: Height of the highest beam.
    """

    from_xy_m: tuple[Coordinate, Coordinate]
    to_xy_m: tuple[Coordinate, Coordinate]
    bottom_m: Coordinate
    top_m: Coordinate

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.from_xy_m == self.to_xy_m or self.bottom_m >= self.top_m:
            raise ValueError("the posts must be apart, and bottom_m below top_m")
        return self

    @property
    def box(self) -> Box:
        """Its middle in the world, and its size, x along the beams."""
        along = np.subtract(self.to_xy_m, self.from_xy_m)
        x, y = np.add(self.to_xy_m, self.from_xy_m) / 2
        middle = Pose.from_xyz_rpy([x, y, (self.bottom_m + self.top_m) / 2], [0, 0, np.arctan2(along[1], along[0])])
        return middle, (float(np.hypot(*along)), BEAM_M, self.top_m - self.bottom_m)


class SafetyInputCfg(Cfg):
    """A guard, which is a digital input: the zones that count as entered when it opens, and the stop of their robots.

    Attributes:
        kind: The kind of guard.
        zones: Those that count as entered when it opens.
        category: The stop category, instead of the zones' own.
        curtain: The place of a light curtain; without it, its signal comes from elsewhere, as a gate's does.
    """

    kind: Literal["gate", "light_curtain", "e_stop"]
    zones: tuple[Name, ...]
    category: Category | None = None
    curtain: CurtainCfg | None = None

    @model_validator(mode="after")
    def _curtains_only(self) -> Self:
        if self.curtain is not None and self.kind != "light_curtain":
            raise ValueError(f"only a light_curtain has a curtain, not a {self.kind}")
        return self

    @property
    def box(self) -> Box | None:
        """The box in which an object interrupts the guard, if it can be: the middle in the world, and the size."""
        return None if self.curtain is None else self.curtain.box


class SafetyCfg(Cfg):
    """Zones with the robots that work in them, and the guards around them.

    Attributes:
        zones: Boxes, each with the robots that work in it.
        inputs: The guards.
    """

    zones: dict[Name, ZoneCfg] = Field(default_factory=dict)
    inputs: dict[Name, SafetyInputCfg] = Field(default_factory=dict)

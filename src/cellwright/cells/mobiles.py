"""Robots on wheels in a cell file: one, or many in an arrangement, in an arena with walls."""

from __future__ import annotations

import re
from copy import deepcopy
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from cellwright.catalogue import MOBILE_PROFILES
from cellwright.cells.fields import Angle, Coordinate, PoseCfg
from cellwright.core.config import Cfg

__all__ = [
    "ArenaCfg",
    "Arrangement",
    "Counters",
    "GridCfg",
    "MobileCfg",
    "MobileName",
    "RingCfg",
    "RoughnessCfg",
    "ScatterCfg",
]

NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]{0,39}$"
Distance = Annotated[float, Field(gt=0, le=100)]
Point = tuple[Coordinate, Coordinate]
Counters = Literal["commanded", "turned"]


def _checked_name(name: str) -> str:
    """Returns a valid name, with capital letters allowed: the ROS topics of e-pucks begin with `/ePuck0`."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise ValueError(f"a name of mobile robots is a letter and up to 39 letters, digits or _, not '{name}'")
    return name


MobileName = Annotated[str, AfterValidator(_checked_name), WithJsonSchema({"type": "string", "pattern": NAME_PATTERN})]


class GridCfg(Cfg):
    """Rows and columns about the middle, the first robot at the lowest x and y.

    Attributes:
        shape: The name of this arrangement; a file must say it.
        spacing_m: Distance of rows and of columns.
        columns: Number of columns; without it, as many as rows, or one more.
        yaw_deg: Direction in which all of them look; 0 is along x.
    """

    shape: Literal["grid"] = "grid"
    spacing_m: Distance
    columns: Annotated[int, Field(ge=1)] | None = None
    yaw_deg: Angle = 0.0


class RingCfg(Cfg):
    """A circle about the middle, counter-clockwise from +x.

    Attributes:
        shape: The name of this arrangement.
        radius_m: Radius of the circle.
        facing: Direction in which robots look: out of the circle, into it or along it.
    """

    shape: Literal["ring"]
    radius_m: Distance
    facing: Literal["out", "in", "along"] = "out"


class ScatterCfg(Cfg):
    """Random places in a rectangle about the middle, by the seed.

    Attributes:
        shape: The name of this arrangement.
        size_m: Extent of the rectangle along x and y.
        gap_m: The least distance of a robot from another one and from inner walls.
    """

    shape: Literal["scatter"]
    size_m: tuple[Distance, Distance]
    gap_m: Annotated[float, Field(ge=0, le=10)] = 0.02


Arrangement = Annotated[GridCfg | RingCfg | ScatterCfg, Field(discriminator="shape")]


class MobileCfg(Cfg):
    """Robots on wheels of one kind.

    Attributes:
        model: The robot's model.
        pose: Its start; of several, the middle of their arrangement.
        count: Their number. They are named by their key and a number from 0; without a count there is one, with the key
            as its name.
        arrange: The arrangement of several.
        counters: Which steps the counters count, and so odometry: those that the motors are `commanded`, as a real
            e-puck does, which does not notice when a motor loses some, or those that the wheels have `turned`.
        odometry_hz: The rate at which their controllers count steps and compute their odometry.
        profile: The driver as which they behave, such as `epuck1-driver`: names of topics, gains, signs, frames, and
            the sensors that the robot has with it. Without one they have only what stands under `sensors`.
        camera_hz: Pictures per second of a profile's camera; 0 takes them on demand alone.
        sensors: Lines as in the cell's `sensors`, without `robot`: each robot has all of these. One of a type that the
            profile has as well changes the profile's.
    """

    model: str
    pose: PoseCfg = PoseCfg(xyz_m=(0.0, 0.0, 0.0))
    count: Annotated[int, Field(ge=1, le=500)] | None = None
    arrange: Arrangement | None = None
    counters: Counters = "commanded"
    odometry_hz: Annotated[float, Field(gt=0, le=500)] = 25.0
    profile: str | None = None
    camera_hz: Annotated[float, Field(ge=0, le=100)] = 0.0
    sensors: tuple[dict[str, Any], ...] = ()

    @model_validator(mode="after")
    def _arranged(self) -> Self:
        if (self.count is None) != (self.arrange is None):
            raise ValueError("count and arrange belong together; give both or neither")
        if any("robot" in line for line in self.sensors):
            raise ValueError("sensors of mobile robots are those of each robot: leave out the key robot")
        return self

    def lines(self) -> list[tuple[str, dict[str, Any]]]:
        """Returns the sensors' lines with their places below the robots' key, those of the profile first."""
        own = [(f"sensors.{i}", dict(line)) for i, line in enumerate(self.sensors)]
        if self.profile is None or self.profile not in MOBILE_PROFILES:
            return own
        camera = {"type": "color_camera", "rate_hz": self.camera_hz, "resolution_px": (52, 39)}
        lines = [deepcopy(dict(line)) for line in (*MOBILE_PROFILES.get(self.profile).sensors, camera)]
        for place, line in own:
            same = [known for known in lines if known["type"] == line.get("type")]
            if not same or line.get("name") is not None:
                continue
            same[0].update(line, place=place)
        changed = {line["place"] for line in lines if "place" in line}
        return [
            *((line.pop("place", f"profile.{line['type']}"), line) for line in lines),
            *((place, line) for place, line in own if place not in changed),
        ]

    def names(self, key: str) -> list[str]:
        """Returns the names of the robots under a key."""
        return [key] if self.count is None else [f"{key}{number}" for number in range(self.count)]


class RoughnessCfg(Cfg):
    """One kind of roughness of the floor; several add up.

    Attributes:
        length_m: How far a bump reaches: at this distance the autocorrelation of the heights has fallen to 1/e.
        rms_m: Root mean square of the heights.
    """

    length_m: Annotated[float, Field(ge=0.001, le=0.05)]
    rms_m: Annotated[float, Field(ge=0, le=0.0002)]


class ArenaCfg(Cfg):
    """An even ground within walls; its inside has the size that is given.

    Attributes:
        size_m: Extent within the walls along x and y.
        pose: The pose of its middle.
        wall_height_m: Height of the walls.
        wall_thickness_m: Thickness of the walls.
        inner_walls_m: Walls inside, each from a point to a point in the arena's frame.
        lines_m: Black lines on the ground for ground sensors, each through points in the arena's frame.
        line_width_m: Their width.
    """

    size_m: tuple[Distance, Distance]
    pose: PoseCfg = PoseCfg(xyz_m=(0.0, 0.0, 0.0))
    wall_height_m: Distance = 0.06
    wall_thickness_m: Distance = 0.012
    inner_walls_m: tuple[tuple[Point, Point], ...] = ()
    lines_m: tuple[tuple[Point, ...], ...] = ()
    line_width_m: Distance = 0.015

    @model_validator(mode="after")
    def _walls_have_length(self) -> Self:
        for number, (start, end) in enumerate(self.inner_walls_m):
            if start == end:
                raise ValueError(f"inner wall {number} begins where it ends")
        for number, line in enumerate(self.lines_m):
            if len(line) < 2 or any(a == b for a, b in pairwise(line)):
                raise ValueError(f"line {number} should have at least two points, one after the other not the same")
        return self

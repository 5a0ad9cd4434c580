"""The kinds of everyday objects and their figures.

Origin of every object: the middle of its underside, z up; of a block: its centre.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot, pi
from typing import Any

from cellwright.catalogue.parts import PartFigures, PartGrasp

__all__ = [
    "BlockFigures",
    "BoundedFigures",
    "CartonFigures",
    "CrateFigures",
    "CuboidFigures",
    "GraspPoint",
    "HandleFigures",
    "ObjectFigures",
    "TurnedFigures",
]

Size3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class ObjectFigures(PartFigures):
    """Base of all objects.

    Attributes:
        friction: Sliding friction against a table.
        colours: Finish name -> red, green, blue, 0 to 1.
    """

    friction: float
    colours: Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True, kw_only=True)
class HandleFigures:
    """A handle in the half plane of +x and z.

    Attributes:
        path_xz_m: Its middle line, from where it leaves the wall to where it comes back.
        radius_m: Half its thickness.
    """

    path_xz_m: tuple[tuple[float, float], ...]
    radius_m: float


@dataclass(frozen=True, kw_only=True)
class TurnedFigures(ObjectFigures):
    """A body of revolution, solid or open at the top, perhaps with a handle.

    Attributes:
        profile_rz_m: Radius and height of its outside, bottom to top.
        bands: Finish, lower and upper height of what is painted otherwise than the body.
        wall_m: Thickness of wall and floor of a hollow body, whose wall must be straight; zero when it is filled.
        handle: The handle, if it has one.
    """

    profile_rz_m: tuple[tuple[float, float], ...]
    bands: tuple[tuple[str, float, float], ...] = ()
    wall_m: float = 0.0
    handle: HandleFigures | None = None

    def outer_radius_m(self, height_m: float) -> float:
        """Returns the radius of the outside at a height between bottom and top."""
        for (low_r, low), (high_r, high) in pairwise(self.profile_rz_m):
            if low <= height_m <= high:
                return low_r + (high_r - low_r) * (height_m - low) / (high - low)
        raise ValueError(f"{self.name} is {self.height_m:g} m high and has no radius at {height_m:g} m")

    @property
    def height_m(self) -> float:
        """The height of the body, whose top is above the handle."""
        return self.profile_rz_m[-1][1]

    @property
    def radius_m(self) -> float:
        """The radius of the body, or to the outside of the handle."""
        body = max(radius for radius, _ in self.profile_rz_m)
        if self.handle is None:
            return body
        return max(body, max(x for x, _ in self.handle.path_xz_m) + self.handle.radius_m)

    @property
    def is_round(self) -> bool:
        """True without a handle."""
        return self.handle is None

    @property
    def grasp_width_m(self) -> float:
        """The width across the body at the height of the grasp."""
        return 2 * self.outer_radius_m(self.grasp_height_m)


@dataclass(frozen=True, kw_only=True)
class CuboidFigures(ObjectFigures):
    """An object as large as a box.

    Attributes:
        size_m: Of the whole along x, y, z.
    """

    size_m: Size3

    @property
    def height_m(self) -> float:
        """The height along z."""
        return self.size_m[2]

    @property
    def radius_m(self) -> float:
        """The radius to a vertical edge."""
        return hypot(self.size_m[0], self.size_m[1]) / 2

    @property
    def grasp_width_m(self) -> float:
        """The width between two faces."""
        return self.size_m[0]


@dataclass(frozen=True, kw_only=True)
class CartonFigures(CuboidFigures):
    """A folded carton: a box, a gable whose ridge runs along y, a seam that stands on the ridge.

    Attributes:
        gable_m: Height where the gable begins.
        ridge_m: Height where the seam begins.
        seam_m: Thickness of the seam.
    """

    gable_m: float
    ridge_m: float
    seam_m: float


@dataclass(frozen=True, kw_only=True)
class CrateFigures(CuboidFigures):
    """A box open at the top.

    Attributes:
        wall_m: Thickness of walls and floor.
    """

    wall_m: float

    @property
    def grasp_xyz_m(self) -> Size3:
        """The grasp point, on the wall towards +x."""
        return ((self.size_m[0] - self.wall_m) / 2, 0.0, self.grasp_height_m)

    @property
    def grasp_width_m(self) -> float:
        """The width across a wall, which is all that fits between fingers."""
        return self.wall_m


@dataclass(frozen=True, kw_only=True)
class BlockFigures(CuboidFigures):
    """A cuboid."""

    @property
    def bottom_m(self) -> float:
        """The underside, below its centre."""
        return -self.size_m[2] / 2


@dataclass(frozen=True)
class GraspPoint:
    """A place for two fingers that come from above.

    Attributes:
        xyz_m: Between the fingers, in the part's frame.
        yaw_rad: Direction from one finger to the other, about z.
        width_m: Distance of the fingers when they touch.
        worth: 0 to 1; most at the centre of mass, narrow, with faces that are square to the fingers.
        feature: In words.
    """

    xyz_m: Size3
    yaw_rad: float
    width_m: float
    worth: float
    feature: str


@dataclass(frozen=True, kw_only=True)
class BoundedFigures(ObjectFigures):
    """An object of any shape, known by its bounding box and by its collision solids.

    Attributes:
        low_m: Lowest x, y and z.
        high_m: Highest.
        outer_radius_m: Largest distance of any of its points from its z axis.
        grasps: Places for two fingers, best first.
        solids: Convex meshes in its frame.
    """

    low_m: Size3
    high_m: Size3
    outer_radius_m: float
    grasps: tuple[GraspPoint, ...]
    solids: tuple[Any, ...] = field(repr=False, compare=False)

    @property
    def height_m(self) -> float:
        """The height from its lowest point to its highest."""
        return self.high_m[2] - self.low_m[2]

    @property
    def radius_m(self) -> float:
        """The largest distance from its z axis."""
        return self.outer_radius_m

    @property
    def bottom_m(self) -> float:
        """The height of its lowest point."""
        return self.low_m[2]

    @property
    def grasp_width_m(self) -> float:
        """The width at the best grasp; without any, across the box."""
        return self.grasps[0].width_m if self.grasps else self.high_m[0] - self.low_m[0]

    @property
    def grasp_xyz_m(self) -> Size3:
        """The point of the best grasp."""
        return self.grasps[0].xyz_m if self.grasps else (0.0, 0.0, self.grasp_height_m)

    @property
    def points(self) -> tuple[GraspPoint, ...]:
        """The grasps to try: its own; without any, its middle, along and across."""
        if self.grasps:
            return self.grasps
        x, y, z = ((low + high) / 2 for low, high in zip(self.low_m, self.high_m, strict=True))
        sizes = [high - low for low, high in zip(self.low_m, self.high_m, strict=True)]
        return tuple(
            GraspPoint((x, y, z), yaw_rad, width_m, 0.5, "its middle")
            for yaw_rad, width_m in ((0.0, sizes[0]), (pi / 2, sizes[1]))
        )

    @abstractmethod
    def grasp_for(self, tool: object) -> PartGrasp:
        """Returns the grasp for a tool, by what of its solids is between the fingers."""

"""The planning scene: a robot, obstacles, what it holds and what it may touch, all as believed.

Beliefs, not truth: poses come from drawings and perception, shapes from the catalogue. A scene is a value; a change
makes another scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cellwright.catalogue import ArmFigures, Figures
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose

__all__ = [
    "TOOL",
    "AttachedObject",
    "Box",
    "CatalogueModel",
    "ConvexMesh",
    "Cylinder",
    "InSomePoses",
    "Obstacle",
    "Scene",
    "SceneRobot",
    "Shape",
]

TOOL = "tool"  # the name of the whole tool, fingers included
LARGEST_M = 1e3


@dataclass(frozen=True)
class Box:
    """A box about its origin, by its full lengths along x, y, z."""

    size_m: tuple[float, float, float]

    def __post_init__(self) -> None:
        for length in self.size_m:
            _check_length("length of a box", length)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about its origin, along z."""

    radius_m: float
    length_m: float

    def __post_init__(self) -> None:
        _check_length("radius of a cylinder", self.radius_m)
        _check_length("length of a cylinder", self.length_m)


@dataclass(frozen=True)
class ConvexMesh:
    """The convex hull of at least four points that are not in one plane."""

    vertices_m: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        points = np.asarray(self.vertices_m, float)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise BadInput(f"a convex mesh needs rows of 3 finite numbers, got shape {points.shape}")
        if np.linalg.matrix_rank(points - points[0], tol=1e-9) < 3:
            raise BadInput("a convex mesh needs at least 4 points that are not in one plane")


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue, solid where its model is; joints that are not named stay where they are drawn."""

    figures: Figures
    joints: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class InSomePoses:
    """A shape that is in one of some poses, all of which must stay free of collisions: which one is not known."""

    shape: Box | Cylinder | ConvexMesh | CatalogueModel
    poses: tuple[Pose, ...]


Shape = Box | Cylinder | ConvexMesh | CatalogueModel | InSomePoses


@dataclass(frozen=True, eq=False)
class Obstacle:
    """An obstacle in the cell."""

    name: str
    shape: Shape
    pose_in_world: Pose


@dataclass(frozen=True, eq=False)
class AttachedObject:
    """An object that is attached to the tool, by its pose at the tool's centre point; the tool may touch it."""

    name: str
    shape: Shape
    pose_in_tool: Pose


@dataclass(frozen=True, eq=False)
class SceneRobot:
    """An arm with or without a tool.

    Attributes:
        arm: Its figures.
        pose_base_in_world: The pose of its base.
        tool: Figures of the tool on the flange.
        tool_joints: Positions of the tool's joints while planning, such as the opening of the fingers.
    """

    arm: ArmFigures
    pose_base_in_world: Pose = field(default_factory=Pose.identity)
    tool: Figures | None = None
    tool_joints: Mapping[str, float] = field(default_factory=dict)

    @property
    def links(self) -> tuple[str, ...]:
        """The base and the links, as they are named in collisions."""
        return tuple(link.name for link in self.arm.links)


@dataclass(frozen=True, eq=False)
class Scene:
    """A robot among obstacles.

    Attributes:
        robot: The robot that is planned for.
        obstacles: The objects that it must not touch.
        held: The object that it carries.
        allowed: Pairs of names that may touch: obstacles, links, `tool`, the held object.
    """

    robot: SceneRobot
    obstacles: tuple[Obstacle, ...] = ()
    held: AttachedObject | None = None
    allowed: frozenset[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        names = list(self.names)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadInput(f"a scene names each thing once, and these twice: {', '.join(twice)}")
        for name in sorted({name for pair in self.allowed for name in pair}):
            if name not in names:
                raise UnknownName("thing of the scene", name, names)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that occur in collisions: links, tool, held object, obstacles."""
        robot = (*self.robot.links, *((TOOL,) if self.robot.tool else ()))
        return (*robot, *((self.held.name,) if self.held else ()), *(o.name for o in self.obstacles))

    def with_obstacles(self, obstacles: Iterable[Obstacle]) -> Scene:
        """Returns the scene with these obstacles added; one of the same name is replaced."""
        added = {o.name: o for o in obstacles}
        return replace(self, obstacles=(*(o for o in self.obstacles if o.name not in added), *added.values()))

    def without(self, *names: str) -> Scene:
        """Returns the scene without these obstacles, and without their allowed contacts."""
        known = [o.name for o in self.obstacles]
        for name in names:
            if name not in known:
                raise UnknownName("obstacle", name, known)
        allowed = frozenset(pair for pair in self.allowed if not pair & set(names))
        return replace(self, obstacles=tuple(o for o in self.obstacles if o.name not in names), allowed=allowed)

    def holding(self, held: AttachedObject | None) -> Scene:
        """Returns the scene with that object in the tool, or with an empty tool."""
        gone = {self.held.name} if self.held else set()
        allowed = frozenset(pair for pair in self.allowed if not pair & gone)
        return replace(self, held=held, allowed=allowed)

    def allowing(self, first: str, second: str) -> Scene:
        """Returns the scene in which these two may touch."""
        return replace(self, allowed=self.allowed | {frozenset((first, second))})


def _check_length(what: str, length_m: float) -> None:
    if not 0 < length_m <= LARGEST_M:
        raise OutOfRange(what, length_m, 0, LARGEST_M, "m")

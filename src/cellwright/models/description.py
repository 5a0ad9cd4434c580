"""Robot descriptions, independent of the file format: links, joints, shapes, frames, sensors.

Plain data in SI units and radians; readers of files make it, builders and writers take it. A link's frame is its own
(not its centre of mass), and every pose says in its name or in its docstring what it is given in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.core.pose import Pose

__all__ = [
    "BoxGeometry",
    "CapsuleGeometry",
    "CylinderGeometry",
    "EllipsoidGeometry",
    "FrameDescription",
    "Geometry",
    "Inertial",
    "JointDescription",
    "JointKind",
    "LimitsDescription",
    "LinkDescription",
    "Material",
    "MeshFile",
    "Mimic",
    "ModelDescription",
    "PlacedModel",
    "PlaneGeometry",
    "SensorDescription",
    "Shape",
    "SphereGeometry",
    "WorldDescription",
]

Array = npt.NDArray[np.float64]
Vector3 = tuple[float, float, float]
WORLD = "world"
"""As the parent of a joint: the link is fastened to the ground."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Inertial:
    """Mass and inertia of a link.

    Attributes:
        mass_kg: Mass.
        pose: The frame of the moments, its origin the centre of mass, in the link's frame.
        inertia_kgm2: (3, 3) about the centre of mass, in the axes of `pose`.
    """

    mass_kg: float
    pose: Pose
    inertia_kgm2: Array


@dataclass(frozen=True)
class BoxGeometry:
    """A cuboid about its origin, by its whole sides."""

    size_m: Vector3


@dataclass(frozen=True)
class CylinderGeometry:
    """A cylinder along z, about its origin."""

    radius_m: float
    length_m: float


@dataclass(frozen=True)
class CapsuleGeometry:
    """A capsule along z, about its origin; the length is that of the cylinder between the two half spheres."""

    radius_m: float
    length_m: float


@dataclass(frozen=True)
class SphereGeometry:
    """A sphere about its origin."""

    radius_m: float


@dataclass(frozen=True)
class EllipsoidGeometry:
    """An ellipsoid about its origin, by its half axes."""

    radii_m: Vector3


@dataclass(frozen=True)
class PlaneGeometry:
    """A plane through its origin, z its normal; the size is what is drawn, in collisions it is without end."""

    size_m: tuple[float, float]


@dataclass(frozen=True)
class MeshFile:
    """A mesh in a file.

    Attributes:
        uri: As it was written.
        path: The file; None where it was not found.
        scale: Factors along its axes, applied after the file's own unit.
        submesh: Name of the part of the file that is meant; empty for all of it.
        centred: Whether that part is moved to the origin.
    """

    uri: str
    path: Path | None
    scale: Vector3 = (1.0, 1.0, 1.0)
    submesh: str = ""
    centred: bool = False


Geometry = (
    BoxGeometry | CylinderGeometry | CapsuleGeometry | SphereGeometry | EllipsoidGeometry | PlaneGeometry | MeshFile
)


@dataclass(frozen=True, kw_only=True)
class Material:
    """The appearance of a shape.

    Attributes:
        name: Of the material, if it has one.
        rgba: Colour, 0 to 1; None where the description gives none.
        texture: A picture, if it was found.
    """

    name: str = ""
    rgba: tuple[float, float, float, float] | None = None
    texture: Path | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """A visual or collision geometry on a link.

    Attributes:
        name: Its own, or an empty text.
        pose: In the link's frame.
        geometry: Its geometry.
        material: Its appearance.
        friction: Sliding friction, where the description gives one.
    """

    name: str = ""
    pose: Pose = field(default_factory=Pose.identity)
    geometry: Geometry
    material: Material = Material()
    friction: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkDescription:
    """A rigid body.

    Attributes:
        name: Unique in its model.
        inertial: None where the description gives none.
        visuals: Visual shapes.
        collisions: Collision shapes.
    """

    name: str
    inertial: Inertial | None = None
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()


class JointKind(StrEnum):
    """The kinds of joints, by the motion that they allow."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    SCREW = "screw"
    UNIVERSAL = "universal"
    BALL = "ball"
    PLANAR = "planar"
    FLOATING = "floating"


@dataclass(frozen=True, kw_only=True)
class LimitsDescription:
    """The limits of a joint, in rad or m, rad/s or m/s, N m or N; None where the description says nothing.

    Attributes:
        lower: Lowest position.
        upper: Highest position.
        velocity: Highest speed.
        effort: Largest torque or force.
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: ``position = multiplier * position of the other + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class JointDescription:
    """A joint between two links.

    Attributes:
        name: Unique in its model.
        kind: Its kind of motion.
        parent: Name of a link, or `world`.
        child: Name of a link.
        pose: The child link's frame in the parent link's, at position zero.
        anchor_m: A point on the joint's axis, in the child's frame; its origin in formats that know no other.
        axis: Unit vector of a positive motion, in the child's frame.
        axis_2: The second axis of a universal joint.
        limits: Of its motion.
        damping: Viscous loss, N m s/rad or N s/m.
        friction: Dry friction, N m or N.
        mimic: The joint that it follows, if it does.
        thread_pitch_m: Of a screw: metres along its axis per turn.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    pose: Pose = field(default_factory=Pose.identity)
    anchor_m: Vector3 = (0.0, 0.0, 0.0)
    axis: Vector3 = (1.0, 0.0, 0.0)
    axis_2: Vector3 | None = None
    limits: LimitsDescription = LimitsDescription()
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    thread_pitch_m: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FrameDescription:
    """A named place on a link.

    Attributes:
        name: Unique among links and frames of its model.
        link: The link that carries it.
        pose: In the link's frame.
    """

    name: str
    link: str
    pose: Pose = field(default_factory=Pose.identity)


@dataclass(frozen=True, kw_only=True, eq=False)
class SensorDescription:
    """A sensor on a link, as far as it is described.

    Attributes:
        name: Its own.
        kind: The format's word for it, such as `camera` or `force_torque`.
        link: The link that carries it.
        pose: In the link's frame.
        rate_hz: Its rate; None where nothing is said.
        settings: Everything else, path of the setting -> its text.
    """

    name: str
    kind: str
    link: str
    pose: Pose = field(default_factory=Pose.identity)
    rate_hz: float | None = None
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelDescription:
    """The description of one model: a robot, a tool, an object.

    Attributes:
        name: Its own.
        links: In the order of the file; one of them is the root, the child of no joint.
        joints: In the order of the file; a child of two joints closes a loop with the second.
        frames: Named places.
        sensors: The sensors on its links.
        static: Whether it is fastened to the ground as a whole.
    """

    name: str
    links: tuple[LinkDescription, ...]
    joints: tuple[JointDescription, ...] = ()
    frames: tuple[FrameDescription, ...] = ()
    sensors: tuple[SensorDescription, ...] = ()
    static: bool = False

    def link(self, name: str) -> LinkDescription:
        """Returns the link of that name."""
        return next(link for link in self.links if link.name == name)

    def joint_of(self, child: str) -> JointDescription | None:
        """Returns the joint that carries a link: the first one that has it as its child."""
        return next((joint for joint in self.joints if joint.child == child), None)

    @property
    def roots(self) -> tuple[str, ...]:
        """The links that are no joint's child, or fastened to the world."""
        carried = {joint.child for joint in self.joints if joint.parent != WORLD}
        return tuple(link.name for link in self.links if link.name not in carried)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedModel:
    """A model at its place: the pose is its root link's, in the world."""

    model: ModelDescription
    pose: Pose = field(default_factory=Pose.identity)


@dataclass(frozen=True, kw_only=True, eq=False)
class WorldDescription:
    """Models at their places.

    Attributes:
        name: Of the world.
        models: In the order of the file.
        gravity_mps2: Acceleration of what falls.
    """

    name: str
    models: tuple[PlacedModel, ...]
    gravity_mps2: Vector3 = (0.0, 0.0, -GRAVITY_MPS2)

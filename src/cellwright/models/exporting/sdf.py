"""SDF: a description as the XML that Gazebo reads, a model or a world of models."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import (
    WORLD,
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    Geometry,
    Inertial,
    JointDescription,
    JointKind,
    LinkDescription,
    MeshFile,
    ModelDescription,
    PlaneGeometry,
    SensorDescription,
    Shape,
    SphereGeometry,
    WorldDescription,
)
from cellwright.models.exporting.mechanism import is_open_at_zero
from cellwright.models.exporting.names import NameScope
from cellwright.models.exporting.text import MOMENTS, add, number, numbers, pretty, xyz
from cellwright.models.importing.notes import Notes

__all__ = ["sdf_text"]

LEAST_INERTIAL = Inertial(mass_kg=1e-9, pose=Pose.identity(), inertia_kgm2=np.eye(3) * 1e-12)
"""Of links without an inertial: the format knows no massless link, and would take 1 kg."""
ON_JOINTS = ("force_torque",)
"""Sensors that measure between two links."""
UNKNOWN = {
    JointKind.PLANAR: "SDF has no planar joint; written as fixed",
    JointKind.FLOATING: "SDF has no floating joint; the link is free",
}


def sdf_text(described: ModelDescription | WorldDescription, notes: Notes) -> str:
    """Returns the text of a file, in the lowest version from 1.9 on that can say it all.

    A link's pose is given relative to the link that carries it, a joint's axis in its child's frame, rotations as
    quaternions, which keep every bit.

    Args:
        described: The description.
        notes: Gets a note for everything that is changed or left out.
    """
    models = [placed.model for placed in described.models] if isinstance(described, WorldDescription) else [described]
    joints = [joint for model in models for joint in model.joints]
    mimics, screws = any(j.mimic for j in joints), any(j.kind is JointKind.SCREW for j in joints)
    root = ET.Element("sdf", version="1.11" if mimics else "1.10" if screws else "1.9")
    if isinstance(described, ModelDescription):
        _Writer(notes).model(root, described, described.name, Pose.identity())
        return pretty(root)
    scope = NameScope(notes, (WORLD,), "::")
    world = add(root, "world", name=NameScope(notes, (), "::").take("world", described.name))
    add(world, "gravity", numbers(described.gravity_mps2))
    for placed in described.models:
        _Writer(notes).model(world, placed.model, scope.take("model", placed.model.name), placed.pose)
    return pretty(root)


class _Writer:
    """Writes one model; its links, joints and frames share one scope of names."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._names = NameScope(notes, (WORLD,), "::")

    def model(self, parent: ET.Element, model: ModelDescription, name: str, pose: Pose) -> None:
        element = add(parent, "model", name=name)
        if model.static:
            add(element, "static", "true")
        _add_pose(element, pose)
        for link in model.links:
            self._names.take("link", link.name)
        for joint in model.joints:
            self._names.take("joint", joint.name)
        for link in model.links:
            on_link = [s for s in model.sensors if s.link == link.name and not self._on_joint(model, s)]
            self._link(element, link, model.joint_of(link.name), on_link, static=model.static)
        for joint in model.joints:
            first = model.joint_of(joint.child) is joint
            if not first and is_open_at_zero(model, joint):
                self._notes.dropped(f"joint {joint.name}", "closes a loop that is torn where all joints are at zero")
                continue
            sensors = [s for s in model.sensors if first and s.link == joint.child and self._on_joint(model, s)]
            self._joint(element, joint, sensors)
        for frame in model.frames:
            attached = self._names.written("link", frame.link)
            _add_pose(
                add(element, "frame", name=self._names.take("frame", frame.name), attached_to=attached), frame.pose
            )

    def _on_joint(self, model: ModelDescription, sensor: SensorDescription) -> bool:
        return sensor.kind in ON_JOINTS and model.joint_of(sensor.link) is not None

    def _link(
        self,
        parent: ET.Element,
        link: LinkDescription,
        carrier: JointDescription | None,
        sensors: list[SensorDescription],
        *,
        static: bool,
    ) -> None:
        element = add(parent, "link", name=self._names.written("link", link.name))
        if carrier is not None:
            relative_to = "" if carrier.parent == WORLD else self._names.written("link", carrier.parent)
            _add_pose(element, carrier.pose, relative_to)
        if link.inertial is not None or not static:
            _add_inertial(element, link.inertial or LEAST_INERTIAL)
        for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            scope = NameScope(self._notes, (), "::")
            for place, shape in enumerate(shapes, 1):
                self._shape(element, tag, shape, scope.take(tag, shape.name or f"{tag}_{place}"))
        for sensor in sensors:
            self._sensor(element, sensor, sensor.pose)

    def _shape(self, link: ET.Element, tag: str, shape: Shape, name: str) -> None:
        element = add(link, tag, name=name)
        _add_pose(element, shape.pose)
        _add_geometry(add(element, "geometry"), shape.geometry)
        if tag == "collision" and shape.friction is not None:
            ode = add(add(add(element, "surface"), "friction"), "ode")
            add(ode, "mu", number(shape.friction))
            add(ode, "mu2", number(shape.friction))
        if tag == "visual" and shape.material.rgba is not None:
            material = add(element, "material")
            add(material, "ambient", numbers(shape.material.rgba))
            add(material, "diffuse", numbers(shape.material.rgba))
        if shape.material.texture is not None:
            self._notes.dropped(f"material {shape.material.name}", "its texture")

    def _joint(self, parent: ET.Element, joint: JointDescription, sensors: list[SensorDescription]) -> None:
        kind = joint.kind
        if kind in UNKNOWN:
            self._notes.changed(f"joint {joint.name}", UNKNOWN[kind])
            if kind is JointKind.FLOATING:
                return
            kind = JointKind.FIXED
        element = add(parent, "joint", name=self._names.written("joint", joint.name), type=kind.value)
        add(element, "parent", WORLD if joint.parent == WORLD else self._names.written("link", joint.parent))
        add(element, "child", self._names.written("link", joint.child))
        anchor = Pose.from_xyz_rpy(joint.anchor_m)
        _add_pose(element, anchor)
        if kind not in (JointKind.FIXED, JointKind.BALL):
            self._axis(add(element, "axis"), joint, joint.axis)
        if kind is JointKind.UNIVERSAL and joint.axis_2 is not None:
            self._axis(add(element, "axis2"), joint, joint.axis_2)
        if kind is JointKind.SCREW:
            add(element, "screw_thread_pitch", number(joint.thread_pitch_m))
        for sensor in sensors:  # in the joint's frame, which is the child's, moved to the anchor
            self._sensor(element, sensor, anchor.inverse() @ sensor.pose)

    def _axis(self, element: ET.Element, joint: JointDescription, axis: tuple[float, float, float]) -> None:
        add(element, "xyz", numbers(axis))
        limits = joint.limits
        given = {"lower": limits.lower, "upper": limits.upper, "velocity": limits.velocity, "effort": limits.effort}
        if any(value is not None for value in given.values()):
            limit = add(element, "limit")
            for key, value in given.items():
                if value is not None:
                    add(limit, key, number(value))
        if joint.damping or joint.friction:
            dynamics = add(element, "dynamics")
            add(dynamics, "damping", number(joint.damping))
            add(dynamics, "friction", number(joint.friction))
        if joint.mimic is not None:
            mimic = add(element, "mimic", joint=self._names.written("joint", joint.mimic.joint))
            add(mimic, "multiplier", number(joint.mimic.multiplier))
            add(mimic, "offset", number(joint.mimic.offset))
            add(mimic, "reference", "0")

    def _sensor(self, parent: ET.Element, sensor: SensorDescription, pose: Pose) -> None:
        element = add(parent, "sensor", name=sensor.name, type=sensor.kind)
        _add_pose(element, pose)
        if sensor.rate_hz is not None:
            add(element, "update_rate", number(sensor.rate_hz))
        for path, text in sensor.settings.items():
            at = element
            *groups, last = path.split("/")
            for group in groups:
                found = at.find(group)
                at = add(at, group) if found is None else found
            add(at, last, text)


def _add_pose(parent: ET.Element, pose: Pose, relative_to: str = "") -> None:
    """Adds the pose of an element; none where it is at its frame's origin."""
    w, x, y, z = pose.quaternion.tolist()
    straight = not any((x, y, z))
    if not relative_to and straight and not np.any(pose.position):
        return
    attributes = {"relative_to": relative_to} if relative_to else {}
    if straight:
        add(parent, "pose", f"{xyz(pose)} 0 0 0", **attributes)
    else:
        add(parent, "pose", f"{xyz(pose)} {numbers([x, y, z, w])}", **attributes, rotation_format="quat_xyzw")


def _add_inertial(link: ET.Element, inertial: Inertial) -> None:
    element = add(link, "inertial")
    _add_pose(element, inertial.pose)
    add(element, "mass", number(inertial.mass_kg))
    tensor, i = add(element, "inertia"), inertial.inertia_kgm2
    for key, row, column in MOMENTS:
        add(tensor, key, number(i[row, column]))


def _add_geometry(holder: ET.Element, geometry: Geometry) -> None:
    match geometry:
        case BoxGeometry(size):
            add(add(holder, "box"), "size", numbers(size))
        case CylinderGeometry(radius, length) | CapsuleGeometry(radius, length):
            element = add(holder, "cylinder" if isinstance(geometry, CylinderGeometry) else "capsule")
            add(element, "radius", number(radius))
            add(element, "length", number(length))
        case SphereGeometry(radius):
            add(add(holder, "sphere"), "radius", number(radius))
        case EllipsoidGeometry(radii):
            add(add(holder, "ellipsoid"), "radii", numbers(radii))
        case PlaneGeometry(size):
            element = add(holder, "plane")
            add(element, "normal", "0 0 1")
            add(element, "size", numbers(size))
        case MeshFile(uri=uri, scale=scale):
            element = add(holder, "mesh")
            add(element, "uri", uri)
            if scale != (1.0, 1.0, 1.0):
                add(element, "scale", numbers(scale))
            if geometry.submesh:
                submesh = add(element, "submesh")
                add(submesh, "name", geometry.submesh)
                add(submesh, "center", str(geometry.centred).lower())

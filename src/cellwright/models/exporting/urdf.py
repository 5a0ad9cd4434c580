"""URDF: a description as the XML that ROS reads.

The format knows one tree of links, joints at the origin of their child, no frames and no friction. What it cannot say
is brought into a form that it can, or noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from xml.etree import ElementTree as ET

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
    Material,
    MeshFile,
    ModelDescription,
    PlaneGeometry,
    Shape,
    SphereGeometry,
    WorldDescription,
)
from cellwright.models.exporting.mechanism import as_one_model, with_plain_joints, without_loops
from cellwright.models.exporting.mesh_files import Rgba, colour_name
from cellwright.models.exporting.names import NameScope
from cellwright.models.exporting.text import MOMENTS, add, number, numbers, pretty, rpy, xyz
from cellwright.models.importing.notes import Notes

__all__ = ["NO_LIMIT", "urdf_text"]

NO_LIMIT = 1e16
"""What stands for "without limit" where a number must be written; SDF's own word for it."""
SLAB_M = 0.1
MOVING = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)


def urdf_text(described: ModelDescription | WorldDescription, notes: Notes, ball: str = "meshes/ball.stl") -> str:
    """Returns the text of a file.

    Sites become links without mass on fixed joints. Of a world, or of a model that is fastened to the ground, `world`
    is the root link. A `mujoco` element, which other readers pass over, keeps MuJoCo from merging links.

    Args:
        described: The description.
        notes: Gets a note for everything that is changed or left out.
        ball: URI of a mesh of the unit sphere, which stands for ellipsoids, scaled.
    """
    model = as_one_model(described) if isinstance(described, WorldDescription) else described
    model = with_plain_joints(without_loops(model, notes), notes)
    return pretty(_Writer(notes, ball).robot(model))


class _Writer:
    def __init__(self, notes: Notes, ball: str) -> None:
        self._notes = notes
        self._ball = ball
        self._links = NameScope(notes)
        self._joints = NameScope(notes)
        self._materials: dict[tuple[str, Rgba], str] = {}

    def robot(self, model: ModelDescription) -> ET.Element:
        root = ET.Element("robot", name=model.name)
        settings = {"strippath": "false", "fusestatic": "false", "discardvisual": "false"}
        add(add(root, "mujoco"), "compiler", **settings, **_least_mass(model))
        grounded = any(joint.parent == WORLD for joint in model.joints)
        if grounded:
            add(root, "link", name=self._links.take("link", WORLD))
        for link in model.links:
            self._links.take("link", link.name)
        for joint in model.joints:
            self._joints.take("joint", joint.name)
        self._define_materials(root, model.links)
        for link in model.links:
            self._link(root, link)
        for joint in model.joints:
            self._joint(root, joint)
        for frame in model.frames:
            name = self._links.take("frame", frame.name)
            add(root, "link", name=name)
            carrier = add(root, "joint", name=self._joints.take("joint", f"{name}_fixed"), type="fixed")
            self._ends(carrier, frame.pose, self._links.written("link", frame.link), name)
        self._note_rest(model)
        return root

    def _note_rest(self, model: ModelDescription) -> None:
        for sensor in model.sensors:
            self._notes.dropped(f"sensor {sensor.name}", f"URDF has no {sensor.kind} sensor")
        count = sum(shape.friction is not None for link in model.links for shape in link.collisions)
        if count:
            self._notes.dropped("friction", f"of {count} collision shapes: URDF has none")

    def _define_materials(self, root: ET.Element, links: Iterable[LinkDescription]) -> None:
        scope = NameScope(self._notes)
        for link in links:
            for shape in link.visuals:
                rgba = shape.material.rgba
                if rgba is None:
                    continue
                key = (shape.material.name, rgba)
                if key not in self._materials:
                    self._materials[key] = name = scope.take("material", shape.material.name or colour_name(rgba))
                    add(add(root, "material", name=name), "color", rgba=numbers(rgba))

    def _link(self, root: ET.Element, link: LinkDescription) -> None:
        element = add(root, "link", name=self._links.written("link", link.name))
        if link.inertial is not None:
            self._inertial(element, link.inertial)
        for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in shapes:
                for piece in self._pieces(shape, link.name):
                    self._shape(element, tag, piece)

    def _inertial(self, link: ET.Element, inertial: Inertial) -> None:
        element = add(link, "inertial")
        add(element, "origin", xyz=xyz(inertial.pose), rpy=rpy(inertial.pose))
        add(element, "mass", value=number(inertial.mass_kg))
        i = inertial.inertia_kgm2
        add(element, "inertia", **{key: number(i[row, column]) for key, row, column in MOMENTS})

    def _pieces(self, shape: Shape, link: str) -> list[Shape]:
        """Returns the shape in geometries that every reader of URDF knows."""
        match shape.geometry:
            case CapsuleGeometry(radius, length):
                self._notes.changed(f"link {link}", "capsules are written as a cylinder and two spheres")
                ends = [shape.pose @ Pose.from_xyz_rpy([0.0, 0.0, side * length / 2]) for side in (-1, 1)]
                pieces = [replace(shape, geometry=CylinderGeometry(radius, length))]
                pieces += [replace(shape, pose=end, geometry=SphereGeometry(radius)) for end in ends]
                return [replace(p, name=f"{p.name}_{n}" if p.name else "") for n, p in enumerate(pieces, 1)]
            case PlaneGeometry((x, y)):
                self._notes.changed(f"link {link}", f"a plane is written as a slab of {x:g} x {y:g} x {SLAB_M:g} m")
                below = shape.pose @ Pose.from_xyz_rpy([0.0, 0.0, -SLAB_M / 2])
                return [replace(shape, pose=below, geometry=BoxGeometry((x, y, SLAB_M)))]
            case EllipsoidGeometry(radii):
                self._notes.changed(f"link {link}", "ellipsoids are written as meshes")
                return [replace(shape, geometry=MeshFile(self._ball, None, radii))]
            case MeshFile(submesh=part) if part:
                self._notes.changed(f"link {link}", f"all of a mesh file is meant, not only its part '{part}'")
        return [shape]

    def _shape(self, link: ET.Element, tag: str, shape: Shape) -> None:
        element = add(link, tag, **({"name": shape.name} if shape.name else {}))
        add(element, "origin", xyz=xyz(shape.pose), rpy=rpy(shape.pose))
        _geometry(add(element, "geometry"), shape.geometry)
        if tag == "visual":
            self._material(element, shape.material)

    def _material(self, visual: ET.Element, material: Material) -> None:
        if material.texture is not None:
            self._notes.dropped(f"material {material.name}", "its texture")
        if material.rgba is not None:
            add(visual, "material", name=self._materials[material.name, material.rgba])

    def _joint(self, root: ET.Element, joint: JointDescription) -> None:
        bounded = joint.limits.lower is not None or joint.limits.upper is not None
        kind = joint.kind
        if kind is JointKind.REVOLUTE and not bounded:
            kind = JointKind.CONTINUOUS
        element = add(root, "joint", name=self._joints.written("joint", joint.name), type=kind.value)
        ends = (self._links.written("link", link) for link in (joint.parent, joint.child))
        self._ends(element, joint.pose, *ends)
        if kind not in (*MOVING, JointKind.PLANAR):
            return
        add(element, "axis", xyz=numbers(joint.axis))
        if kind is JointKind.PLANAR:
            return
        self._limit(element, joint, kind)
        if joint.damping or joint.friction:
            add(element, "dynamics", damping=number(joint.damping), friction=number(joint.friction))
        if joint.mimic is not None:
            leader = self._joints.written("joint", joint.mimic.joint)
            factors = {"multiplier": number(joint.mimic.multiplier), "offset": number(joint.mimic.offset)}
            add(element, "mimic", joint=leader, **factors)

    def _limit(self, element: ET.Element, joint: JointDescription, kind: JointKind) -> None:
        """Adds the limits; the format demands effort and speed, and what is not known is written as without limit."""
        limits = joint.limits
        given = {"effort": limits.effort, "velocity": limits.velocity}
        if kind is JointKind.CONTINUOUS and limits.effort is None and limits.velocity is None:
            return
        ends = {} if kind is JointKind.CONTINUOUS else {"lower": limits.lower, "upper": limits.upper}
        missing = [key for key, value in (ends | given).items() if value is None]
        if missing:
            what = f"no {', '.join(missing)} known; written as {NO_LIMIT:g}, which stands for none"
            self._notes.guessed(f"joint {joint.name}", what)
        signs = {"lower": -NO_LIMIT}
        filled = {key: signs.get(key, NO_LIMIT) if value is None else value for key, value in (ends | given).items()}
        add(element, "limit", **{key: number(value) for key, value in filled.items()})

    def _ends(self, element: ET.Element, pose: Pose, parent: str, child: str) -> None:
        add(element, "origin", xyz=xyz(pose), rpy=rpy(pose))
        add(element, "parent", link=parent)
        add(element, "child", link=child)


def _least_mass(model: ModelDescription) -> dict[str, str]:
    """Returns the compiler setting that makes MuJoCo accept links between joints that weigh nothing."""
    heavy = {link.name for link in model.links if link.inertial is not None}
    bare = any(joint.kind is not JointKind.FIXED and joint.child not in heavy for joint in model.joints)
    return {"boundmass": "1e-9", "boundinertia": "1e-12"} if bare else {}


def _geometry(holder: ET.Element, geometry: Geometry) -> None:
    """Adds a geometry; capsules, planes and ellipsoids were replaced before."""
    match geometry:
        case BoxGeometry(size):
            add(holder, "box", size=numbers(size))
        case CylinderGeometry(radius, length):
            add(holder, "cylinder", radius=number(radius), length=number(length))
        case SphereGeometry(radius):
            add(holder, "sphere", radius=number(radius))
        case MeshFile(uri=uri, scale=scale):
            attributes = {} if scale == (1.0, 1.0, 1.0) else {"scale": numbers(scale)}
            add(holder, "mesh", filename=uri, **attributes)

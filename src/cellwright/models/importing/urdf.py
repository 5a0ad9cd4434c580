"""URDF: the XML of ROS robot descriptions, as it is really written.

Impossible content of a file is corrected where a robot remains, one note for each fact; only a file without a usable
link is an error.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import (
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    Geometry,
    Inertial,
    JointDescription,
    JointKind,
    LimitsDescription,
    LinkDescription,
    Material,
    MeshFile,
    Mimic,
    ModelDescription,
    Shape,
    SphereGeometry,
)
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.tree import normalized_tree
from cellwright.models.importing.unused_tags import UnusedTags
from cellwright.models.importing.xml import XmlReader, parse_numbers, read_xml

__all__ = ["read_urdf"]

XACRO = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro", "http://wiki.ros.org/xacro")
KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.CONTINUOUS,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
    "floating": JointKind.FLOATING,
    "planar": JointKind.PLANAR,
    "spherical": JointKind.BALL,
    "ball": JointKind.BALL,
}
LEAST_SIZE_M = 1e-7
UNLIMITED = 1e15  # numbers like 1e16 stand for "without limit"
KNOWN = {"link", "joint", "material", "mujoco"}
KNOWN_IN_JOINT = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}
KNOWN_IN_LINK = {"inertial", "visual", "collision"}
KNOWN_IN_SHAPE = {"origin", "geometry", "material"}


def read_urdf(path: Path, finder: FileFinder, notes: Notes, text: bytes | None = None) -> ModelDescription:
    """Returns the model of a file, or of text that xacro made from it.

    Raises:
        DescriptionError: No usable link remains, or something is wrong that cannot be guessed.
    """
    root = read_xml(path, text)
    return _Urdf(path, finder, notes, made=text is not None).model(root)


class _Urdf(XmlReader):
    def __init__(self, path: Path, finder: FileFinder, notes: Notes, *, made: bool) -> None:
        super().__init__(path, notes, made=made)
        self.finder = finder
        self.materials: dict[str, Material] = {}
        self.unused = UnusedTags()

    def model(self, root: Any) -> ModelDescription:
        if root.tag != "robot":
            raise self.error(root, f"is no URDF: its root is <{str(root.tag)[:40]}>, not <robot>")
        for element in root.iter():
            if isinstance(element.tag, str) and element.tag.startswith(tuple(f"{{{uri}}}" for uri in XACRO)):
                name = element.tag.partition("}")[2]
                raise self.error(element, f"holds <xacro:{name}>: import the .xacro file, or run it through xacro")
        self._read_materials(root)
        self._note_unused(root)
        links = [self._link(element) for element in root.findall("link")]
        joints = [joint for element in root.findall("joint") if (joint := self._joint(element)) is not None]
        name = (root.get("name") or "").strip() or self.file.stem
        self.unused.note(self.file.name, self.notes)
        if not links:
            raise self.error(root, f"robot '{name}' has no <link>{self._hint(root)}")
        return normalized_tree(
            ModelDescription(name=name, links=tuple(links), joints=tuple(joints)), self.file, self.notes
        )

    def _read_materials(self, root: Any) -> None:
        """Reads the materials: colours may be defined anywhere and used by name everywhere."""
        for element in root.iter("material"):
            material = self._own_material(element)
            if material.name and (material.rgba or material.texture):
                self.materials.setdefault(material.name, material)

    def _note_unused(self, root: Any) -> None:
        counts = Counter(str(e.tag).rpartition("}")[2] for e in root if e.tag not in KNOWN)
        for tag, count in sorted(counts.items()):
            what = "plugins and settings of Gazebo" if tag == "gazebo" else f"<{tag}> is not used"
            self.notes.dropped(self.file.name, f"{count} x <{tag}>: {what}" if tag == "gazebo" else f"{count} x {what}")

    def _hint(self, root: Any) -> str:
        """Returns a reason why a file that xacro processed may be empty."""
        if (root.find("include") is not None) or root.find("macro") is not None:
            return ": <include> and <macro> need the prefix xacro:"
        return ": it may only define macros; import the file that calls them" if self._made else ""

    def _pose(self, element: Any) -> Pose:
        origins = [] if element is None else element.findall("origin")
        if len(origins) > 1:
            self.notes.changed(self.where(origins[1]), f"second <origin> in <{element.tag}>; the first is used")
        origin = origins[0] if origins else None
        xyz = self.numbers(origin, "xyz", [0.0, 0.0, 0.0])
        if origin is not None and origin.get("quat_xyzw"):
            x, y, z, w = self.numbers(origin, "quat_xyzw", [0.0, 0.0, 0.0, 1.0])
            return Pose(np.array(xyz), np.array([w, x, y, z]))
        return Pose.from_xyz_rpy(xyz, self.numbers(origin, "rpy", [0.0, 0.0, 0.0]))

    def _link(self, element: Any) -> LinkDescription:
        name = self.name(element)
        self.unused.collect(element, name, KNOWN_IN_LINK)
        inertials = element.findall("inertial")
        if len(inertials) > 1:
            self.notes.changed(self.where(inertials[1]), f"second <inertial> of link '{name}'; the first is used")
        shapes = {}
        for tag in ("visual", "collision"):
            found = [self._shape(e, name) for e in element.findall(tag)]
            shapes[tag] = tuple(shape for shape in found if shape is not None)
        inertial = self._inertial(inertials[0], name) if inertials else None
        return LinkDescription(name=name, inertial=inertial, visuals=shapes["visual"], collisions=shapes["collision"])

    def _inertial(self, element: Any, link: str) -> Inertial | None:
        masses, tensors = element.findall("mass"), element.findall("inertia")
        if len(masses) > 1 or len(tensors) > 1:
            self.notes.changed(self.where(element), f"<inertial> of link '{link}' says it twice; the first is used")
        mass = self.number(masses[0], "value") if masses else None
        if mass is None:
            self.notes.changed(self.where(element), f"<inertial> of link '{link}' has no mass; taken as missing")
            return None
        tensor = np.zeros((3, 3))
        if tensors:
            for i, j, key in ((0, 0, "ixx"), (1, 1, "iyy"), (2, 2, "izz"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 2, "iyz")):
                tensor[i, j] = tensor[j, i] = self.number(tensors[0], key, 0.0)
        return Inertial(mass_kg=mass, pose=self._pose(element), inertia_kgm2=tensor)

    def _shape(self, element: Any, link: str) -> Shape | None:
        what = f"<{element.tag}> of link '{link}'"
        self.unused.collect(element, link, KNOWN_IN_SHAPE)
        holder = element.find("geometry")
        inside = None if holder is None else next(iter(holder), None)
        if inside is None:
            self.notes.dropped(self.where(element), f"{what} has no geometry")
            return None
        geometry = self._geometry(inside, what)
        if geometry is None:
            return None
        material = element.find("material")
        own = Material() if material is None else self._own_material(material)
        if own.rgba is None and own.texture is None:
            own = self.materials.get(own.name, own)
        return Shape(name=element.get("name", ""), pose=self._pose(element), geometry=geometry, material=own)

    def _geometry(self, element: Any, what: str) -> Geometry | None:
        match element.tag:
            case "box":
                size = self.numbers(element, "size", [0.0, 0.0, 0.0])
                return self._sized(BoxGeometry((size[0], size[1], size[2])), size, element, what)
            case "cylinder" | "capsule":
                radius, length = (self.number(element, key, 0.0) or 0.0 for key in ("radius", "length"))
                made = (CylinderGeometry if element.tag == "cylinder" else CapsuleGeometry)(radius, length)
                return self._sized(made, [radius, length], element, what)
            case "sphere":
                radius = self.number(element, "radius", 0.0) or 0.0
                return self._sized(SphereGeometry(radius), [radius], element, what)
            case "mesh":
                return self._mesh(element, what)
        known = "box, cylinder, capsule, sphere, mesh"
        self.notes.dropped(self.where(element), f"{what}: unknown geometry <{element.tag}> (known: {known})")
        return None

    def _sized(self, geometry: Geometry, sizes: list[float], element: Any, what: str) -> Geometry | None:
        if min(sizes) > LEAST_SIZE_M:
            return geometry
        self.notes.dropped(self.where(element), f"{what}: <{element.tag}> has no extent ({sizes})")
        return None

    def _mesh(self, element: Any, what: str) -> Geometry | None:
        uri = (element.get("filename") or "").strip()
        if not uri:
            self.notes.dropped(self.where(element), f"{what}: <mesh> has no filename")
            return None
        text = element.get("scale") or "1 1 1"
        try:
            scale = parse_numbers(text)
        except ValueError as error:
            raise self.error(element, f"scale of <mesh>: {error}") from None
        scale = scale * 3 if len(scale) == 1 else scale
        if len(scale) != 3 or 0.0 in scale:
            wrong = "is not three numbers" if len(scale) != 3 else "leaves nothing of it"
            self.notes.changed(self.where(element), f"{what}: scale '{text}' {wrong}; taken as 1")
            scale = [1.0, 1.0, 1.0]
        path = self.finder.find(uri)
        if path is None or not path.is_file():
            self.notes.dropped(self.where(element), f"{what}: mesh {uri} {self.finder.why_not(uri)}")
            path = None
        return MeshFile(uri, path, (scale[0], scale[1], scale[2]))

    def _own_material(self, element: Any) -> Material:
        colour, texture = element.find("color"), element.find("texture")
        rgba = None
        if colour is not None and colour.get("rgba"):
            try:
                r, g, b, a = (min(max(n, 0.0), 1.0) for n in parse_numbers(colour.get("rgba"), 4))
                rgba = (r, g, b, a)
            except ValueError as error:
                self.notes.dropped(self.where(colour), f"colour: {error}")
        if texture is not None and texture.get("filename"):
            note = f"picture {texture.get('filename')} of material '{element.get('name')}': surfaces have one colour"
            self.notes.dropped(self.where(texture), note)
        picture = None if texture is None else self.finder.find(texture.get("filename") or "")
        return Material(name=(element.get("name") or "").strip(), rgba=rgba, texture=picture)

    def _joint(self, element: Any) -> JointDescription | None:
        if element.find("parent") is None and element.find("child") is None and element.get("type") is None:
            return None  # joints inside <transmission> or <ros2_control> look like this
        name, text = self.name(element), (element.get("type") or "").strip().lower()
        kind = KINDS.get(text)
        if kind is None:
            problem = f"joint '{name}' has the unknown type '{text}' (known: {', '.join(KINDS)}); taken as fixed"
            self.notes.changed(self.where(element), problem)
            kind = JointKind.FIXED
        ends = []
        for tag in ("parent", "child"):
            end = element.find(tag)
            link = "" if end is None else (end.get("link") or "").strip()
            if not link:
                self.notes.dropped(self.where(element), f"joint '{name}' has no <{tag} link=...>")
                return None
            ends.append(link)
        self.unused.collect(element, name, KNOWN_IN_JOINT)
        axis = self._axis(element, name, kind)
        if axis is None:
            kind, axis = JointKind.FIXED, (1.0, 0.0, 0.0)
        dynamics = element.find("dynamics")
        return JointDescription(
            name=name,
            kind=kind,
            parent=ends[0],
            child=ends[1],
            pose=self._pose(element),
            axis=axis,
            limits=self._limits(element, name, kind),
            damping=max(0.0, self.number(dynamics, "damping", 0.0) or 0.0),
            friction=max(0.0, self.number(dynamics, "friction", 0.0) or 0.0),
            mimic=self._mimic(element, name),
        )

    def _axis(self, element: Any, name: str, kind: JointKind) -> tuple[float, float, float] | None:
        """Returns the unit axis; None where it has no direction."""
        axis = np.array(self.numbers(element.find("axis"), "xyz", [1.0, 0.0, 0.0]))
        length = float(np.linalg.norm(axis))
        if kind in (JointKind.FIXED, JointKind.FLOATING, JointKind.BALL):
            return (1.0, 0.0, 0.0)
        if length < 1e-9:
            self.notes.changed(self.where(element), f"joint '{name}' has an axis without direction; taken as fixed")
            return None
        if abs(length - 1) > 1e-3:
            self.notes.changed(self.where(element), f"axis of joint '{name}' has the length {length:.4g}; made a unit")
        x, y, z = axis / length
        return (float(x), float(y), float(z))

    def _limits(self, element: Any, name: str, kind: JointKind) -> LimitsDescription:
        found = element.findall("limit")
        if len(found) > 1:
            self.notes.changed(self.where(found[1]), f"joint '{name}' has {len(found)} <limit>; the first is used")
        limit = found[0] if found else None
        speed, effort = (self._bounded(limit, key) for key in ("velocity", "effort"))
        if kind is JointKind.CONTINUOUS:
            return LimitsDescription(velocity=speed, effort=effort)
        if kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC) or limit is None:
            return LimitsDescription(velocity=speed, effort=effort)
        if limit.get("lower") is None and limit.get("upper") is None:
            self.notes.changed(self.where(limit), f"joint '{name}': neither lower nor upper; taken as without limits")
            return LimitsDescription(velocity=speed, effort=effort)
        lower, upper = (self.number(limit, key, 0.0) or 0.0 for key in ("lower", "upper"))
        if max(abs(lower), abs(upper)) >= UNLIMITED:
            return LimitsDescription(velocity=speed, effort=effort)
        if lower > upper:
            self.notes.changed(self.where(limit), f"joint '{name}': lower {lower:g} is above upper {upper:g}; swapped")
            lower, upper = upper, lower
        return LimitsDescription(lower=lower, upper=upper, velocity=speed, effort=effort)

    def _bounded(self, limit: Any, key: str) -> float | None:
        """Returns a limit; None for a number beyond all measure, or below zero."""
        value = self.number(limit, key)
        return None if value is None or value < 0 or value >= UNLIMITED else value

    def _mimic(self, element: Any, name: str) -> Mimic | None:
        mimic = element.find("mimic")
        if mimic is None:
            return None
        leader = (mimic.get("joint") or "").strip()
        if not leader:
            self.notes.dropped(self.where(mimic), f"<mimic> of joint '{name}' names no joint")
            return None
        return Mimic(leader, self.number(mimic, "multiplier", 1.0) or 0.0, self.number(mimic, "offset", 0.0) or 0.0)

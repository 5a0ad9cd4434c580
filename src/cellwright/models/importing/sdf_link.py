"""Links of SDF files: inertials, shapes, sensors, and numbers that are written as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_matrix
from cellwright.models.description import (
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    Geometry,
    Inertial,
    LinkDescription,
    Material,
    MeshFile,
    PlaneGeometry,
    SensorDescription,
    Shape,
    SphereGeometry,
)
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.xml import XmlReader

__all__ = ["LinkReader"]

LEAST_SIZE_M = 1e-7
MOST_SETTINGS = 200


class LinkReader(XmlReader):
    """Reads the links of an SDF file."""

    def __init__(self, path: Path, notes: Notes, finder: FileFinder) -> None:
        super().__init__(path, notes)
        self.finder = finder

    def child_number(self, element: Any, tag: str, default: float | None = None) -> float | None:
        """Returns the number in a child element; an invalid one is noted and taken as missing."""
        child = None if element is None else element.find(tag)
        if child is None or not (child.text or "").strip():
            return default
        text = child.text.strip().lower()
        if text in ("inf", "+inf", "-inf", "infinity"):
            return -1e16 if text.startswith("-") else 1e16
        try:
            return self.text_numbers(child, 1)[0]
        except Exception as error:
            self.notes.changed(self.where(child), f"{error}; taken as missing")
            return default

    def pose(self, element: Any) -> Pose:
        """Returns a <pose>: position and roll, pitch, yaw, in degrees or as a quaternion where it says so."""
        if element is None or not (element.text or "").strip():
            return Pose.identity()
        if element.get("rotation_format") == "quat_xyzw":
            x, y, z, qx, qy, qz, qw = self.text_numbers(element, 7)
            try:
                return Pose(np.array([x, y, z]), np.array([qw, qx, qy, qz]))
            except ValueError as error:
                raise self.error(element, f"<pose>: {error}") from None
        numbers = self.text_numbers(element, 6)
        angles = np.array(numbers[3:])
        if (element.get("degrees") or "").lower() in ("true", "1"):
            angles = np.radians(angles)
        return Pose.from_xyz_rpy(numbers[:3], angles)

    def link(self, element: Any, name: str) -> tuple[LinkDescription, list[SensorDescription]]:
        """Returns a link under its scoped name, and the sensors on it."""
        shapes: dict[str, list[Shape]] = {"visual": [], "collision": []}
        for tag, found in shapes.items():
            for inner in element.findall(tag):
                shape = self._shape(inner, f"<{tag}> of link '{name}'")
                if shape is not None:
                    found.append(shape)
        inertials = element.findall("inertial")
        if len(inertials) > 1:
            self.notes.changed(self.where(inertials[1]), f"second <inertial> of link '{name}'; the first is used")
        link = LinkDescription(
            name=name,
            inertial=self._inertial(inertials[0], name) if inertials else None,
            visuals=tuple(shapes["visual"]),
            collisions=tuple(shapes["collision"]),
        )
        return link, [self._sensor(sensor, name) for sensor in element.findall("sensor")]

    def _inertial(self, element: Any, link: str) -> Inertial | None:
        mass = self.child_number(element, "mass")
        if mass is None:
            self.notes.changed(self.where(element), f"<inertial> of link '{link}' has no mass; taken as missing")
            return None
        tensor, given = np.zeros((3, 3)), element.find("inertia")
        if given is not None:
            for i, j, key in ((0, 0, "ixx"), (1, 1, "iyy"), (2, 2, "izz"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 2, "iyz")):
                tensor[i, j] = tensor[j, i] = self.child_number(given, key, 1.0 if i == j else 0.0)
        return Inertial(mass_kg=mass, pose=self.pose(element.find("pose")), inertia_kgm2=tensor)

    def _shape(self, element: Any, what: str) -> Shape | None:
        holder = element.find("geometry")
        inside = None if holder is None else next(iter(holder), None)
        if inside is None:
            self.notes.dropped(self.where(element), f"{what} has no geometry")
            return None
        made = self._geometry(inside, what)
        if made is None:
            return None
        geometry, turn = made
        friction = self.child_number(element.find("surface/friction/ode"), "mu")
        if friction is not None and not 0 <= friction <= 10:
            self.notes.changed(self.where(element), f"{what}: friction {friction:g} is not used")
            friction = None
        return Shape(
            name=element.get("name", ""),
            pose=self.pose(element.find("pose")) @ turn,
            geometry=geometry,
            material=self._material(element.find("material")),
            friction=friction,
        )

    def _geometry(self, element: Any, what: str) -> tuple[Geometry, Pose] | None:
        made: Geometry | None = None
        turn = Pose.identity()
        sizes: list[float] = []
        match element.tag:
            case "box":
                sizes = self._vector(element, "size", [1.0, 1.0, 1.0])
                made = BoxGeometry((sizes[0], sizes[1], sizes[2]))
            case "cylinder" | "capsule":
                sizes = [self.child_number(element, key, 0.0) or 0.0 for key in ("radius", "length")]
                made = (CylinderGeometry if element.tag == "cylinder" else CapsuleGeometry)(sizes[0], sizes[1])
            case "sphere":
                sizes = [self.child_number(element, "radius", 0.0) or 0.0]
                made = SphereGeometry(sizes[0])
            case "ellipsoid":
                sizes = self._vector(element, "radii", [1.0, 1.0, 1.0])
                made = EllipsoidGeometry((sizes[0], sizes[1], sizes[2]))
            case "plane":
                sizes = self._vector(element, "size", [1.0, 1.0])
                made, turn = (
                    PlaneGeometry((sizes[0], sizes[1])),
                    _onto(self._vector(element, "normal", [0.0, 0.0, 1.0])),
                )
            case "mesh":
                mesh = self._mesh(element, what)
                return None if mesh is None else (mesh, turn)
            case _:
                self.notes.dropped(self.where(element), f"{what}: geometry <{element.tag}> is not used")
                return None
        if min(sizes) <= LEAST_SIZE_M:
            self.notes.dropped(self.where(element), f"{what}: <{element.tag}> has no extent ({sizes})")
            return None
        return made, turn

    def _vector(self, element: Any, tag: str, default: list[float]) -> list[float]:
        child = element.find(tag)
        return default if child is None else self.text_numbers(child, len(default))

    def _mesh(self, element: Any, what: str) -> MeshFile | None:
        uri = (element.findtext("uri") or "").strip()
        x, y, z = self._vector(element, "scale", [1.0, 1.0, 1.0])
        path = self.finder.find(uri)
        if path is None or not path.is_file():
            self.notes.dropped(self.where(element), f"{what}: mesh {uri} {self.finder.why_not(uri)}")
            path = None
        inner = element.find("submesh")
        submesh = "" if inner is None else (inner.findtext("name") or "").strip()
        centred = inner is not None and (inner.findtext("center") or "").strip() in ("1", "true")
        return MeshFile(uri, path, (x, y, z), submesh, centred)

    def _material(self, element: Any) -> Material:
        if element is None:
            return Material()
        script = (element.findtext("script/name") or "").strip()
        for picture in element.iter("albedo_map"):
            self.notes.dropped(self.where(picture), f"picture {(picture.text or '').strip()}: surfaces have one colour")
        for tag in ("diffuse", "ambient"):
            colour = element.find(tag)
            if colour is not None:
                numbers = [min(max(n, 0.0), 1.0) for n in self.text_numbers(colour)]
                if len(numbers) >= 3:
                    alpha = numbers[3] if len(numbers) > 3 else 1.0
                    return Material(name=script, rgba=(numbers[0], numbers[1], numbers[2], alpha))
        if script:
            self.notes.dropped(self.where(element), f"material script {script}: grey instead")
        return Material(name=script)

    def _sensor(self, element: Any, link: str) -> SensorDescription:
        settings: dict[str, str] = {}
        tree = element.getroottree()
        start = len(tree.getpath(element)) + 1
        for inner in element.iter():
            text = (inner.text or "").strip()
            if (
                text
                and inner is not element
                and inner.tag not in ("pose", "update_rate")
                and len(settings) < MOST_SETTINGS
            ):
                settings[tree.getpath(inner)[start:]] = text
        rate = self.child_number(element, "update_rate")
        return SensorDescription(
            name=element.get("name") or f"{link}_sensor",
            kind=element.get("type", ""),
            link=link,
            pose=self.pose(element.find("pose")),
            rate_hz=rate or None,
            settings=settings,
        )


def _onto(normal: list[float]) -> Pose:
    """Returns the rotation that turns z onto a direction."""
    z = np.array(normal) / max(float(np.linalg.norm(normal)), 1e-12)
    x = np.cross(np.eye(3)[1] if abs(z[1]) < 0.9 else np.eye(3)[0], z)
    x /= np.linalg.norm(x)
    if np.allclose(z, [0, 0, 1]):
        return Pose.identity()
    return Pose(np.zeros(3), quaternion_from_matrix(np.column_stack([x, np.cross(z, x), z])))

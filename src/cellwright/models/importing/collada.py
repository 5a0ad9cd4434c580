"""COLLADA (.dae): geometry, colours, the nodes' transforms and the file's unit.

Inside a robot description the up-axis is not applied, as viewers of ROS and Gazebo do: descriptions are made to look
right there, in spite of the tag. A part that is imported by itself stands as its file says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from cellwright.core.rotation import matrix_from_quaternion, quaternion_from_vector
from cellwright.models.importing.mesh_part import MeshPart
from cellwright.models.importing.notes import listed
from cellwright.shapes.mesh import Mesh

__all__ = ["read_collada"]

Array = npt.NDArray[np.float64]
Colour = tuple[float, float, float, float]
MAX_DEPTH = 64
TURNS = {
    "Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "X_UP": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
}
"""Onto z."""

GEOMETRY = "{*}mesh/{*}%s"


def read_collada(data: bytes, *, upright: bool = False) -> tuple[list[MeshPart], list[str]]:
    """Returns all triangles of the scene, in metres, and notes for the user.

    Args:
        data: The file's contents.
        upright: Whether its up-axis is turned to z.
    """
    return _Collada(data).read(upright)


class _Collada:
    def __init__(self, data: bytes) -> None:
        parser = etree.XMLParser(
            resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True, remove_comments=True
        )  # arrays of numbers are longer than libxml2 allows by itself; the file's size is bounded before
        try:
            self.root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise ValueError(error.msg) from None
        self.ids = {e.get("id"): e for e in self.root.iter() if isinstance(e.tag, str) and e.get("id")}
        self.parts: list[MeshPart] = []

    def read(self, upright: bool) -> tuple[list[MeshPart], list[str]]:
        unit = self.root.find("{*}asset/{*}unit")
        metres = float(unit.get("meter", 1.0)) if unit is not None else 1.0
        if not 0 < metres < 1e6:
            raise ValueError(f"its unit is {metres:g} m")
        axis = (self.root.findtext("{*}asset/{*}up_axis") or "Y_UP").strip()
        base = np.diag([metres, metres, metres, 1.0])
        facts = []
        if axis != "Z_UP" and upright:
            base[:3, :3] = metres * TURNS.get(axis, np.eye(3))
            facts.append(f"its up axis {axis} is turned to z")
        elif axis != "Z_UP":
            facts.append(f"its up axis {axis} is not applied, as in ROS")
        if self.root.find(".//{*}diffuse/{*}texture") is not None:
            pictures = [(e.text or "").strip() for e in self.root.iterfind(".//{*}image/{*}init_from")]
            facts.append(f"pictures are not used, surfaces have one colour: {listed(pictures)}")
        scene = self._target(self.root.find("{*}scene/{*}instance_visual_scene"))
        if scene is None:
            scene = self.root.find("{*}library_visual_scenes/{*}visual_scene")
        if scene is None:  # geometry without a scene is shown as it is
            for geometry in self.root.iterfind("{*}library_geometries/{*}geometry"):
                self._geometry(geometry, base, {}, geometry.get("name", ""))
        else:
            for node in scene.iterfind("{*}node"):
                self._node(node, base, 0)
        return self.parts, facts

    def _target(self, element: Any) -> Any:
        """Returns the element that an element's url refers to, in this file only."""
        url = "" if element is None else element.get("url") or element.get("target") or ""
        return self.ids.get(url[1:]) if url.startswith("#") else None

    def _node(self, node: Any, above: Array, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ValueError("its nodes are nested too deep, or in a circle")
        here = above
        for element in node:
            match etree.QName(element).localname:
                case "matrix" | "translate" | "rotate" | "scale":
                    here = here @ _transform(element)
        for element in node:
            match etree.QName(element).localname:
                case "instance_geometry":
                    self._instance(element, self._target(element), here, node.get("name", ""))
                case "instance_controller":
                    skin = self._target(element)
                    source = None if skin is None else skin.find("{*}skin")
                    if source is not None:
                        geometry = self.ids.get((source.get("source") or "#")[1:])
                        self._instance(element, geometry, here, node.get("name", ""))
                case "instance_node":
                    if (other := self._target(element)) is not None:
                        self._node(other, here, depth + 1)
                case "node":
                    self._node(element, here, depth + 1)

    def _instance(self, element: Any, geometry: Any, transform: Array, name: str) -> None:
        if geometry is None:
            return
        bound = {
            bind.get("symbol"): self._colour(self._target(bind))
            for bind in element.iterfind("{*}bind_material/{*}technique_common/{*}instance_material")
        }
        self._geometry(geometry, transform, bound, name or geometry.get("name", ""))

    def _geometry(self, geometry: Any, transform: Array, bound: dict[str, Colour | None], name: str) -> None:
        points = self._points(geometry)
        if points is None:
            return
        placed = points @ transform[:3, :3].T + transform[:3, 3]
        mirrored = np.linalg.det(transform[:3, :3]) < 0
        for kind in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
            for group in geometry.iterfind(GEOMETRY % kind):
                faces = self._faces(group, kind)
                if len(faces):
                    faces = faces[:, ::-1] if mirrored else faces
                    symbol = group.get("material") or ""
                    colour = bound.get(symbol) or self._colour(self.ids.get(symbol))
                    self.parts.append(MeshPart(Mesh(placed, faces), colour, name))

    def _points(self, geometry: Any) -> Array | None:
        given = geometry.find(GEOMETRY % "vertices/{*}input[@semantic='POSITION']")
        source = None if given is None else self.ids.get((given.get("source") or "#")[1:])
        array = None if source is None else source.find("{*}float_array")
        if source is None or array is None:
            return None
        numbers = np.array((array.text or "").split(), float)
        accessor = source.find("{*}technique_common/{*}accessor")
        stride = int(accessor.get("stride", 3)) if accessor is not None else 3
        if stride < 3 or len(numbers) % stride:
            raise ValueError(f"its points come in {stride} numbers each, and there are {len(numbers)}")
        return numbers.reshape(-1, stride)[:, :3]

    def _faces(self, group: Any, kind: str) -> npt.NDArray[np.int64]:
        inputs = group.findall("{*}input")
        stride = 1 + max((int(i.get("offset", 0)) for i in inputs), default=0)
        offset = next((int(i.get("offset", 0)) for i in inputs if i.get("semantic") == "VERTEX"), 0)
        lists = [np.array((p.text or "").split(), np.int64)[offset::stride] for p in group.iterfind("{*}p")]
        if not lists:
            return np.empty((0, 3), np.int64)
        if kind == "triangles":
            corners = np.concatenate(lists)
            return corners[: len(corners) // 3 * 3].reshape(-1, 3)
        if kind == "polylist":
            counts = np.array((group.findtext("{*}vcount") or "").split(), np.int64)
            if counts.sum() > len(lists[0]):
                raise ValueError("a polygon names more corners than there are")
            lists = np.split(lists[0], np.cumsum(counts)[:-1])
        faces: list[tuple[int, int, int]] = []
        for corners in lists:
            at = corners.tolist()
            for i in range(len(at) - 2):
                if kind == "tristrips":
                    faces.append((at[i], at[i + 1], at[i + 2]) if i % 2 == 0 else (at[i + 1], at[i], at[i + 2]))
                else:
                    faces.append((at[0], at[i + 1], at[i + 2]))
        return np.array(faces, np.int64).reshape(-1, 3)

    def _colour(self, material: Any) -> Colour | None:
        """Returns the diffuse colour of a material's effect."""
        instance = None if material is None else material.find("{*}instance_effect")
        effect = self._target(instance)
        if effect is None:
            return None
        for path in (".//{*}diffuse/{*}color", ".//{*}ambient/{*}color", ".//{*}emission/{*}color"):
            if (colour := effect.find(path)) is not None:
                numbers = [min(max(float(n), 0.0), 1.0) for n in (colour.text or "").split()]
                if len(numbers) >= 3:
                    return (numbers[0], numbers[1], numbers[2], 1.0)
        return None


def _transform(element: Any) -> Array:
    kind, numbers = etree.QName(element).localname, np.array((element.text or "").split(), float)
    matrix = np.eye(4)
    match kind:
        case "matrix":
            return numbers.reshape(4, 4)
        case "translate":
            matrix[:3, 3] = numbers
        case "scale":
            matrix[:3, :3] = np.diag(numbers)
        case "rotate":
            turn = numbers[:3] / max(float(np.linalg.norm(numbers[:3])), 1e-12) * np.radians(numbers[3])
            matrix[:3, :3] = matrix_from_quaternion(quaternion_from_vector(turn))
    return matrix

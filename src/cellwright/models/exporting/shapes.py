"""The geoms of a compiled specification as shapes of a description, and the files of their meshes."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.models.description import (
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    Geometry,
    Material,
    MeshFile,
    PlaneGeometry,
    Shape,
    SphereGeometry,
)
from cellwright.models.exporting.mesh_files import Rgba, colour_name, mtl_bytes, obj_bytes, stl_bytes
from cellwright.models.exporting.names import file_name
from cellwright.models.importing.notes import Notes

__all__ = ["ShapeReader"]

COLOURS = "colours.mtl"
LAST_VISIBLE_GROUP = 2
"""MuJoCo draws groups 0 to 2; what is in the others is not meant to be seen."""
ENDLESS_M = 20.0
Kind = mujoco.mjtGeom


class ShapeReader:
    """Reads the geoms of one specification.

    Args:
        spec: The specification.
        model: The compiled model.
        notes: Gets a note for everything that cannot be described.
        folder: The beginning of the meshes' URIs.

    Attributes:
        files: Name of a mesh file in the folder -> its bytes; grows as shapes are read.
    """

    def __init__(self, spec: Any, model: Any, notes: Notes, folder: str) -> None:
        self._spec = spec
        self._model = model
        self._notes = notes
        self._folder = folder
        self._meshes = {mesh.name: mesh for mesh in spec.meshes}
        self._written: dict[tuple[int, Rgba | None], str] = {}
        self._colours: set[Rgba] = set()
        self.files: dict[str, bytes] = {}

    def of_body(self, body: int, prefix: str) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Returns the visual and the collision shapes of a body; names lose the prefix."""
        visuals, collisions = [], []
        first = int(self._model.body_geomadr[body])
        for geom in range(first, first + int(self._model.body_geomnum[body])):
            touched = bool(self._model.geom_contype[geom] | self._model.geom_conaffinity[geom])
            seen = int(self._model.geom_group[geom]) <= LAST_VISIBLE_GROUP
            name = self._model.geom(geom).name.removeprefix(prefix)  # may be empty: shapes need none
            if touched and (shape := self._shape(geom, name, seen=False)):
                collisions.append(shape)
            if seen and (shape := self._shape(geom, name, seen=True)):
                visuals.append(shape)
            if not touched and not seen:
                self._notes.dropped(f"geom {name or geom}", "is neither seen nor touched")
        return tuple(visuals), tuple(collisions)

    def finish(self) -> None:
        """Writes the colours that were met."""
        if self._colours:
            self.files[COLOURS] = mtl_bytes(self._colours)

    def _shape(self, geom: int, name: str, *, seen: bool) -> Shape | None:
        model = self._model
        pose = Pose(model.geom_pos[geom], model.geom_quat[geom])
        material = self._material(geom) if seen else Material()
        kind = Kind(int(model.geom_type[geom]))
        geometry: Geometry | None
        if kind == Kind.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            # The compiler moved the geom to the mesh's centre and principal axes; the file keeps the mesh's own frame.
            pose = _rounded(pose @ Pose(model.mesh_pos[mesh], model.mesh_quat[mesh]).inverse())
            file = self._mesh_file(mesh, material.rgba if seen else None)
            geometry = MeshFile(f"{self._folder}{file}", None)
        else:
            geometry = _primitive(kind, model.geom_size[geom].tolist())
        if geometry is None:
            self._notes.dropped(
                f"geom {name or geom}", f"a {kind.name.removeprefix('mjGEOM_').lower()} cannot be described"
            )
            return None
        friction = None if seen else float(model.geom_friction[geom, 0])
        return Shape(name=name, pose=pose, geometry=geometry, material=material, friction=friction)

    def _material(self, geom: int) -> Material:
        model = self._model
        at = int(model.geom_matid[geom])
        rgba = _rgba(model.geom_rgba[geom] if at < 0 else model.mat_rgba[at])
        if at >= 0 and (model.mat_texid[at] >= 0).any():
            self._notes.dropped(f"material {model.mat(at).name}", "its texture; the colour is kept")
        return Material(name=colour_name(rgba), rgba=rgba)

    def _mesh_file(self, mesh: int, rgba: Rgba | None) -> str:
        """Returns the file of a mesh: its convex hull for collisions, or the visual mesh in one colour."""
        if (mesh, rgba) in self._written:
            return self._written[mesh, rgba]
        own = self._model.mesh(mesh).name
        vertices, normals = self._vertices(mesh, own)
        stem, ending = file_name(own if rgba else f"{own}_hull"), "obj" if rgba else "stl"
        number, name = 1, f"{stem}.{ending}"
        while name in self.files:
            number += 1
            name = f"{stem}_{number}.{ending}"
        if rgba:
            self._colours.add(rgba)
            self.files[name] = obj_bytes(vertices, normals, self._faces(mesh), COLOURS, colour_name(rgba))
        else:
            self.files[name] = stl_bytes(vertices, self._hull(mesh))
        self._written[mesh, rgba] = name
        return name

    def _vertices(self, mesh: int, name: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]:
        """Returns corners in the mesh's own frame, as they were given where they were given as numbers."""
        model = self._model
        span = slice(int(model.mesh_vertadr[mesh]), int(model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh]))
        pose = Pose(model.mesh_pos[mesh], model.mesh_quat[mesh])
        vertices = pose.apply(model.mesh_vert[span]).astype(np.float32)
        asset = self._meshes[name]
        given = np.array(asset.uservert, np.float32).reshape(-1, 3)
        if given.shape == vertices.shape and np.allclose(given, vertices, atol=1e-5 * max(1.0, np.abs(given).max())):
            vertices = given
        normals = np.array(asset.usernormal, np.float32).reshape(-1, 3)
        return vertices, normals if normals.shape == vertices.shape else None

    def _faces(self, mesh: int) -> npt.NDArray[np.int64]:
        first = int(self._model.mesh_faceadr[mesh])
        return np.array(self._model.mesh_face[first : first + int(self._model.mesh_facenum[mesh])], np.int64)

    def _hull(self, mesh: int) -> npt.NDArray[np.int64]:
        """Returns triangles of the convex hull, or of the mesh where the compiler needed no hull.

        The graph holds the numbers of corners, faces; then per corner its place and its number; then the edges, and
        the faces last.
        """
        start = int(self._model.mesh_graphadr[mesh])
        if start < 0:
            return self._faces(mesh)
        corners, faces = (int(n) for n in self._model.mesh_graph[start : start + 2])
        first = start + 2 + 2 * corners + corners + 3 * faces
        return np.array(self._model.mesh_graph[first : first + 3 * faces], np.int64).reshape(-1, 3)


def _rounded(pose: Pose) -> Pose:
    """Returns the pose without the last bits, which moving there and back leaves."""
    return Pose(np.round(pose.position, 15), np.round(pose.quaternion, 15))


def _rgba(values: Any) -> Rgba:
    r, g, b, a = (float(str(value)) for value in values)  # single precision: 0.1, not 0.10000000149
    return (r, g, b, a)


def _primitive(kind: Any, size: list[float]) -> Geometry | None:
    """Returns a geometry by its whole sides and lengths; MuJoCo counts half ones."""
    x, y, z = size
    match kind:
        case Kind.mjGEOM_BOX:
            return BoxGeometry((2 * x, 2 * y, 2 * z))
        case Kind.mjGEOM_CYLINDER:
            return CylinderGeometry(x, 2 * y)
        case Kind.mjGEOM_CAPSULE:
            return CapsuleGeometry(x, 2 * y)
        case Kind.mjGEOM_SPHERE:
            return SphereGeometry(x)
        case Kind.mjGEOM_ELLIPSOID:
            return EllipsoidGeometry((x, y, z))
        case Kind.mjGEOM_PLANE:
            return PlaneGeometry((2 * x or ENDLESS_M, 2 * y or ENDLESS_M))
    return None

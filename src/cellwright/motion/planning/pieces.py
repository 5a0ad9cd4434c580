"""Convex pieces, into which every shape is decomposed before collisions are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import Figures
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.motion.planning.scene import Box, CatalogueModel, ConvexMesh, Cylinder, InSomePoses, Shape

__all__ = ["ConvexPiece", "Kind", "arm_pieces", "shape_pieces", "tool_pieces"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Kind = Literal["box", "cylinder", "sphere", "plane", "mesh"]

_KINDS: Mapping[int, Kind] = {
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
    int(mujoco.mjtGeom.mjGEOM_PLANE): "plane",
    int(mujoco.mjtGeom.mjGEOM_MESH): "mesh",
}
_CAPSULE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
TCP_SITE = "tcp"


@dataclass(frozen=True, eq=False)
class ConvexPiece:
    """One convex solid.

    Attributes:
        kind: `box` (half sizes), `cylinder` (radius, half length; along z), `sphere` (radius), `plane` (all below
            its z = 0) or `mesh`.
        size_m: As the kind says.
        pose: In the frame of its body.
        vertices_m: Corners (n, 3) of a mesh, in the piece's own frame.
        triangles: Its faces (m, 3), counter-clockwise from outside.
    """

    kind: Kind
    size_m: tuple[float, ...]
    pose: Pose
    vertices_m: Array = field(default_factory=lambda: np.empty((0, 3)))
    triangles: Indices = field(default_factory=lambda: np.empty((0, 3), np.int64))

    def moved(self, pose: Pose) -> ConvexPiece:
        """Returns the piece in the frame in which its frame has that pose."""
        return replace(self, pose=pose @ self.pose)


def arm_pieces(figures: Figures) -> dict[str, list[ConvexPiece]]:
    """Returns the solid pieces of every body of an arm, in the body's frame."""
    model = _solid_model(figures)
    bodies: dict[str, list[ConvexPiece]] = {}
    for geom in range(model.ngeom):
        pose = Pose(model.geom_pos[geom], model.geom_quat[geom])
        bodies.setdefault(model.body(model.geom_bodyid[geom]).name, []).extend(_geom_pieces(model, geom, pose))
    return bodies


def tool_pieces(figures: Figures, joints: Mapping[str, float]) -> tuple[list[ConvexPiece], Pose]:
    """Returns the solid pieces of a tool in the flange's frame, and its centre point there (the model's site `tcp`)."""
    model, data = _posed(figures, joints)
    if TCP_SITE not in [model.site(number).name for number in range(model.nsite)]:
        raise BadInput(f"tool model '{figures.name}' has no site '{TCP_SITE}' for its centre point")
    site = data.site(TCP_SITE)
    return _rigid(model, data), Pose.from_matrix(np.column_stack([site.xmat.reshape(3, 3), site.xpos]))


def shape_pieces(shape: Shape) -> list[ConvexPiece]:
    """Returns the solid pieces of a shape, in its own frame."""
    match shape:
        case Box(size_m=size):
            return [ConvexPiece("box", tuple(length / 2 for length in size), Pose.identity())]
        case Cylinder(radius_m=radius, length_m=length):
            return [ConvexPiece("cylinder", (radius, length / 2), Pose.identity())]
        case ConvexMesh(vertices_m=vertices):
            return [_hull(np.asarray(vertices, float))]
        case CatalogueModel(figures=figures, joints=joints):
            return _rigid(*_posed(figures, joints))
        case InSomePoses(shape=one, poses=poses):
            pieces = shape_pieces(one)
            return [piece.moved(pose) for pose in poses for piece in pieces]


def _solid_model(figures: Figures) -> Any:
    """Returns the model without its visual geoms, which take a hundred times longer to compile."""
    spec = build(figures)
    for geom in list(spec.geoms):
        if geom.contype == 0 and geom.conaffinity == 0:
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
    return spec.compile()


def _posed(figures: Figures, joints: Mapping[str, float]) -> tuple[Any, Any]:
    model = _solid_model(figures)
    data = mujoco.MjData(model)
    names = [model.joint(number).name for number in range(model.njnt)]
    for name, position in joints.items():
        if name not in names:
            raise UnknownName(f"joint of {figures.name}", name, names)
        data.joint(name).qpos[:] = position
    mujoco.mj_kinematics(model, data)
    return model, data


def _rigid(model: Any, data: Any) -> list[ConvexPiece]:
    pieces = []
    for geom in range(model.ngeom):
        matrix = np.column_stack([data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]])
        pieces += _geom_pieces(model, geom, Pose.from_matrix(matrix))
    return pieces


def _geom_pieces(model: Any, geom: int, pose: Pose) -> list[ConvexPiece]:
    code, size = int(model.geom_type[geom]), model.geom_size[geom]
    if code == _CAPSULE:  # never checked as such: the engine misses a capsule that pierces a thin box
        ends = [Pose.from_xyz_rpy([0.0, 0.0, sign * size[1]]) for sign in (-1.0, 1.0)]
        balls = [ConvexPiece("sphere", (float(size[0]),), pose @ end) for end in ends]
        return [ConvexPiece("cylinder", (float(size[0]), float(size[1])), pose), *balls]
    if code not in _KINDS:
        name = model.geom(geom).name
        kind = mujoco.mjtGeom(code).name
        raise BadInput(f"geom '{name}' is of {kind}; planning knows capsule, {', '.join(sorted(_KINDS.values()))}")
    kind = _KINDS[code]
    if kind == "mesh":
        vertices, triangles = _mesh_hull(model, int(model.geom_dataid[geom]))
        return [ConvexPiece(kind, (), pose, vertices, triangles)]
    count = {"box": 3, "cylinder": 2, "sphere": 1, "plane": 0}[kind]
    return [ConvexPiece(kind, tuple(float(length) for length in size[:count]), pose)]


def _hull(points: Array) -> ConvexPiece:
    """Returns the convex hull of points, by the engine, which turns it into its principal axes."""
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh(name="hull")
    mesh.uservert = points.reshape(-1)
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull")
    model = spec.compile()
    return _geom_pieces(model, 0, Pose(model.geom_pos[0], model.geom_quat[0]))[0]


def _mesh_hull(model: Any, mesh: int) -> tuple[Array, Indices]:
    """Returns corners and triangles of a mesh's convex hull, out of the engine's graph.

    The graph lists the number of corners and of faces, two rows about the corners, the edges and at last the faces
    by corners of the mesh.
    """
    start = int(model.mesh_graphadr[mesh])
    corners, faces = (int(n) for n in model.mesh_graph[start : start + 2])
    edges_start = start + 2 + 2 * corners
    faces_start = edges_start + corners + 3 * faces
    triangles = model.mesh_graph[faces_start : faces_start + 3 * faces].reshape(-1, 3)
    used, local = np.unique(triangles, return_inverse=True)
    first = int(model.mesh_vertadr[mesh])
    vertices = np.array(model.mesh_vert[first + used], float)
    return vertices, _outwards(vertices, local.reshape(-1, 3))


def _outwards(vertices: Array, triangles: Indices) -> Indices:
    """Returns the triangles, each turned so that its normal points away from the middle."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    inward = np.einsum("ij,ij->i", normals, a - vertices.mean(axis=0)) < 0
    turned = triangles.copy()
    turned[inward] = turned[inward][:, ::-1]
    return turned

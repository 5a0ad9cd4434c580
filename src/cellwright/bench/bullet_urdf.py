"""Bodies of a compiled MuJoCo model as URDF, the one way into PyBullet for compounds of more than 16 shapes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from cellwright.core.pose import Pose

__all__ = ["PADDING_M", "inset", "link_name", "write_urdf"]

PADDING_M = 0.001  # by which Bullet pads every hull from a file, on all sides; nothing can tell it not to

BOX, CYLINDER, SPHERE, PLANE, MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")) for kind in ("BOX", "CYLINDER", "SPHERE", "PLANE", "MESH")
)


def link_name(body: int) -> str:
    """Returns the name of a body's link."""
    return f"body_{body}"


def write_urdf(model: Any, bodies: Sequence[int], folder: Path) -> Path:
    """Writes one file with a body and its descendants, parents first; collision shapes only.

    Args:
        model: The compiled model.
        bodies: The root and its descendants.
        folder: The folder for the file and the hulls.
    """
    root = bodies[0]
    lines = [f'<robot name="{link_name(root)}">']
    for body in bodies:
        lines += _link(model, body, folder)
        if body != root:
            lines += _joint(model, body)
    path = folder / f"{link_name(root)}.urdf"
    path.write_text("\n".join([*lines, "</robot>"]), encoding="utf-8")
    return path


def inset(vertices: Any, faces: Any, distance_m: float) -> Any:
    """Returns a convex solid with all faces moved inwards; padded again, it is the old one but for its edges."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals[lengths > 0] / lengths[lengths > 0, None]
    kept = faces[lengths > 0]
    moved = np.array(vertices, float)
    for number, vertex in enumerate(np.asarray(vertices, float)):
        around = np.unique(np.round(normals[(kept == number).any(axis=1)], 4), axis=0)
        if len(around):
            moved[number] = vertex - np.linalg.lstsq(around, np.full(len(around), distance_m), rcond=None)[0]
    return moved


def _link(model: Any, body: int, folder: Path) -> list[str]:
    moves = model.body_weldid[body] != 0
    mass_kg, (xx, yy, zz) = float(model.body_mass[body]) * moves, model.body_inertia[body] * moves
    inertial = [
        f"<inertial>{_origin(Pose(model.body_ipos[body], model.body_iquat[body]))}",
        f'<mass value="{mass_kg:.9g}"/><inertia ixx="{xx:.9g}" iyy="{yy:.9g}" izz="{zz:.9g}"'
        ' ixy="0" ixz="0" iyz="0"/></inertial>',
    ]
    geoms = np.flatnonzero((model.geom_bodyid == body) & (model.geom_contype != 0))
    collisions = [
        f"<collision>{_origin(Pose(model.geom_pos[g], model.geom_quat[g]))}"
        f"<geometry>{_geometry(model, int(g), folder)}</geometry></collision>"
        for g in geoms
    ]
    return [f'<link name="{link_name(body)}">', *inertial, *collisions, "</link>"]


def _joint(model: Any, body: int) -> list[str]:
    joint, kind = int(model.body_jntadr[body]), "fixed"
    if joint >= 0:
        kind = "prismatic" if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE else "revolute"
    lines = [
        f'<joint name="joint_{body}" type="{kind}"><parent link="{link_name(int(model.body_parentid[body]))}"/>'
        f'<child link="{link_name(body)}"/>{_origin(Pose(model.body_pos[body], model.body_quat[body]))}'
    ]
    if joint >= 0:
        low, high = model.jnt_range[joint] - model.qpos0[model.jnt_qposadr[joint]]
        lines.append(f'<axis xyz="{_numbers(model.jnt_axis[joint])}"/>')
        lines.append(f'<limit lower="{low:.9g}" upper="{high:.9g}" effort="1000" velocity="100"/>')
        lines.append(f'<dynamics damping="{float(np.ravel(model.dof_damping[model.jnt_dofadr[joint]])[0]):.9g}"/>')
    return [*lines, "</joint>"]


def _geometry(model: Any, geom: int, folder: Path) -> str:
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == BOX:
        return f'<box size="{_numbers(2 * size)}"/>'
    if kind == CYLINDER:
        return f'<cylinder radius="{size[0]:.9g}" length="{2 * size[1]:.9g}"/>'
    if kind == SPHERE:
        return f'<sphere radius="{size[0]:.9g}"/>'
    if kind == PLANE:
        return '<plane normal="0 0 1"/>'
    if kind == MESH:
        return f'<mesh filename="{_hull_file(model, int(model.geom_dataid[geom]), folder).name}"/>'
    raise ValueError(f"no URDF shape for geom type {kind}")


def _hull_file(model: Any, mesh: int, folder: Path) -> Path:
    path = folder / f"hull_{mesh}.obj"
    if not path.exists():
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        faces = model.mesh_face[model.mesh_faceadr[mesh] : model.mesh_faceadr[mesh] + model.mesh_facenum[mesh]]
        vertices = inset(model.mesh_vert[first : first + count], faces, PADDING_M)
        lines = [f"v {_numbers(vertex)}" for vertex in vertices]
        lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _origin(pose: Pose) -> str:
    return f'<origin xyz="{_numbers(pose.position)}" rpy="{_numbers(pose.rpy)}"/>'


def _numbers(values: Any) -> str:
    return " ".join(f"{float(value):.9g}" for value in values)

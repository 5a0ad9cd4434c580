"""A loose part from a description: all of its links, as one rigid body."""

from __future__ import annotations

from itertools import product
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput
from cellwright.models.contact_settings import GeomGroup
from cellwright.models.importing.fixture import rigid_spec
from cellwright.models.importing.grasp_points import grasp_points
from cellwright.models.importing.meshes import convex_hull, simplified
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.part import MOST_SAMPLED, ImportedPartFigures
from cellwright.models.importing.source import ParsedDescription
from cellwright.shapes.mesh import Mesh, lathe, merge

__all__ = ["import_body"]

ROUND = 72  # corners of what is round


def import_body(source: ParsedDescription, name: str, settings: ModelSettings, notes: Notes) -> ImportedPartFigures:
    """Returns the part of a description file; its frame is the root link's, its joints stay at zero.

    Raises:
        BadInput: It has no collision shape.
    """
    spec = rigid_spec(source, name, settings, "part", notes)
    model = spec.copy().compile()
    solids = _solids(model)
    if not solids:
        raise BadInput(f"{source.path}: has no solid that can be touched; a part needs one")
    points = np.concatenate([solid.vertices for solid in solids])
    grasps = grasp_points(simplified(merge(solids), MOST_SAMPLED))
    if not grasps:
        notes.guessed("grasps", "none found: no two faces are opposite, upright and near enough to each other")
    low, high = points.min(axis=0), points.max(axis=0)
    at = grasps[0].xyz_m if grasps else (0.0, 0.0, float((low[2] + high[2]) / 2))
    spec.body("part").add_site(name="grasp", pos=at, group=GeomGroup.COLLISION)
    said = source.path.name
    fields = (
        "low_m",
        "high_m",
        "outer_radius_m",
        "grasps",
        "solids",
        "grasp_feature",
        "grasp_height_m",
        "spec",
        "notes",
    )
    return ImportedPartFigures(
        name=name,
        title=settings.title or source.spec.modelname or name,
        sku=settings.sku or f"sku_{name}",
        mass_kg=float(model.body_mass.sum()),
        grasp_feature=grasps[0].feature if grasps else "its middle",
        grasp_height_m=at[2],
        friction=settings.friction,
        colours=MappingProxyType({}),
        low_m=(float(low[0]), float(low[1]), float(low[2])),
        high_m=(float(high[0]), float(high[1]), float(high[2])),
        outer_radius_m=float(np.hypot(points[:, 0], points[:, 1]).max()),
        grasps=grasps,
        solids=tuple(solids),
        spec=spec,
        notes=tuple(notes),
        sources=MappingProxyType(
            dict.fromkeys((*fields, "colours"), said)
            | {"sku": "given" if settings.sku else "estimated: its name", "friction": "as the file has it"}
            | {"mass_kg": f"{said}; from geometry where it gives none"}
        ),
    )


def _solids(model: Any) -> list[Mesh]:
    """Returns convex meshes of all collision shapes, in the root's frame."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    root, back = data.xpos[1], data.xmat[1].reshape(3, 3)
    found = []
    for geom in np.flatnonzero(model.geom_contype + model.geom_conaffinity > 0):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue
        points = _corners(model, int(geom)) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        hull = convex_hull((points - root) @ back)
        found += [] if hull is None else [hull]
    return found


def _corners(model: Any, geom: int) -> npt.NDArray[np.float64]:
    """Returns points whose hull is a geom, in its own frame; round ones are met to a thousandth of their radius."""
    size = model.geom_size[geom]
    rise = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)
    match mujoco.mjtGeom(model.geom_type[geom]):
        case mujoco.mjtGeom.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            return np.asarray(model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]], float)
        case mujoco.mjtGeom.mjGEOM_CYLINDER:
            profile = [(size[0], -size[1]), (size[0], size[1])]
        case mujoco.mjtGeom.mjGEOM_CAPSULE:
            profile = [(size[0] * np.cos(a), size[0] * np.sin(a) + (size[1] if a > 0 else -size[1])) for a in rise]
        case mujoco.mjtGeom.mjGEOM_SPHERE:
            profile = [(size[0] * np.cos(a), size[0] * np.sin(a)) for a in rise]
        case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            return np.asarray(lathe([(np.cos(a), np.sin(a)) for a in rise], ROUND).vertices * size)
        case _:
            ends = np.array(list(product((-1, 1), repeat=3)))
            return np.asarray(model.geom_aabb[geom, :3] + model.geom_aabb[geom, 3:] * ends)
    return lathe(profile, ROUND).vertices

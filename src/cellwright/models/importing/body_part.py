"""A loose part from a description: everything that it holds, as one rigid body."""

from __future__ import annotations

from itertools import product
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput
from cellwright.models.importing.fixture import still
from cellwright.models.importing.grasp_points import grasp_points
from cellwright.models.importing.meshes import convex_hull
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.part import ImportedPartFigures
from cellwright.models.importing.source import Source
from cellwright.models.surfaces import GeomGroup

__all__ = ["import_body"]


def import_body(source: Source, name: str, settings: ModelSettings, notes: Notes) -> ImportedPartFigures:
    """The part of a description file; its frame is the root link's, its joints stay at zero.

    Raises:
        BadInput: It has no shape that can be touched.
    """
    spec = still(source, name, settings, "part", notes)
    model = spec.copy().compile()
    points = _points(model)
    hull = convex_hull(points) if len(points) > 3 else None
    if hull is None:
        raise BadInput(f"{source.path}: has no solid that can be touched; a part needs one")
    grasps = grasp_points(hull)
    if not grasps:
        notes.guessed("grasps", "none found: no two faces are opposite, upright and near enough to each other")
    low, high = points.min(axis=0), points.max(axis=0)
    at = grasps[0].xyz_m if grasps else (0.0, 0.0, float((low[2] + high[2]) / 2))
    spec.body("part").add_site(name="grasp", pos=at, group=GeomGroup.COLLISION)
    said = source.path.name
    fields = ("low_m", "high_m", "outer_radius_m", "grasps", "grasp_feature", "grasp_height_m", "spec", "notes")
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
        spec=spec,
        notes=tuple(notes),
        sources=MappingProxyType(
            dict.fromkeys((*fields, "colours"), said)
            | {"sku": "given" if settings.sku else "estimated: its name", "friction": "as the file has it"}
            | {"mass_kg": f"{said}; from geometry where it gives none"}
        ),
    )


def _points(model: Any) -> npt.NDArray[np.float64]:
    """Corners of all that is touched, in the root's frame."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = [np.empty((0, 3))]
    for geom in np.flatnonzero(model.geom_contype + model.geom_conaffinity > 0):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            own = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(float)
        else:
            own = model.geom_aabb[geom, :3] + model.geom_aabb[geom, 3:] * np.array(list(product((-1, 1), repeat=3)))
        found.append(own @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    root = np.array(data.xmat[1]).reshape(3, 3)
    return np.asarray((np.concatenate(found) - data.xpos[1]) @ root)

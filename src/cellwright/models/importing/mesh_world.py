"""A mesh file by itself as a fixture: a bin, a bench, a drawn fixture."""

from __future__ import annotations

from pathlib import Path

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.pose import Pose
from cellwright.models.description import (
    LinkDescription,
    Material,
    MeshFile,
    ModelDescription,
    PlacedModel,
    Shape,
    WorldDescription,
)
from cellwright.models.importing.mesh_files import load_mesh
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.part import metres_per_number, offset_to_origin
from cellwright.shapes.mesh import merge

__all__ = ["mesh_world"]


def mesh_world(path: Path, settings: ModelSettings, notes: Notes) -> WorldDescription:
    """Returns one link with the mesh as its visual and its collision shape; its origin as a part's.

    Raises:
        MeshError: It cannot be read.
    """
    loaded = load_mesh(path)
    whole = merge([part.mesh for part in loaded.parts])
    scale = metres_per_number(path, settings, whole, notes)
    pose = Pose.from_xyz_rpy(offset_to_origin(whole.vertices * scale, settings.origin))
    mesh = MeshFile(path.name, path, (scale, scale, scale))
    plain = all(part.rgba is None for part in loaded.parts)
    seen = Shape(pose=pose, geometry=mesh, material=Material(rgba=settings.rgba) if plain else Material())
    link = LinkDescription(name="mesh", visuals=(seen,), collisions=(Shape(pose=pose, geometry=mesh),))
    return WorldDescription(
        name=path.stem, models=(PlacedModel(model=ModelDescription(name=path.stem, links=(link,), static=True)),)
    )

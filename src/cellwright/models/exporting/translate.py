"""A description file in another format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cellwright.catalogue import ArmFigures
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput
from cellwright.models.build import build
from cellwright.models.description import ModelDescription
from cellwright.models.exporting.files import ExportedFiles, ModelFormat, export_spec, write_description
from cellwright.models.exporting.mechanism import as_world
from cellwright.models.exporting.names import file_name
from cellwright.models.importing.figures import import_figures
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.source import read_description, read_source

__all__ = ["export_file"]


def export_file(
    path: Path, search: Sequence[Path], out: Path, form: ModelFormat, *, mesh_uri: str = ""
) -> ExportedFiles:
    """Writes the content of a URDF, SDF, xacro, MJCF or figures file in another format.

    URDF and SDF are turned into each other without an engine between: what the file leaves out stays left out, and
    meshes are copied as they are. A URDF of a whole cell becomes an SDF world.

    Raises:
        DescriptionError: The file cannot be read, or nothing usable remains.
        BadInput: It would be written over itself.
    """
    if out.resolve() == path.resolve():
        raise BadInput(f"{out} would be written over itself; give another --out")
    if path.suffix.lower() in (".yaml", ".yml"):
        figures = import_figures(file_name(path.stem), ModelSettings(file=str(path.absolute())), path.parent)
        arms = {figures.name: figures} if isinstance(figures, ArmFigures) else {}
        exported = export_spec(build(figures), out, form, name=figures.name, mesh_uri=mesh_uri, arms=arms)
        return replace(exported, notes=(*figures.notes, *exported.notes))
    notes = Notes()
    world = read_description(path, search, notes)
    if world is not None and form is not ModelFormat.MJCF:
        content = world.models[0].model if len(world.models) == 1 else world
        if form is ModelFormat.SDF and isinstance(content, ModelDescription):
            content = as_world(content)
        return write_description(content, out, form, notes=notes, mesh_uri=mesh_uri)
    spec = read_source(path, ModelSettings(file=str(path)), search, notes := Notes()).spec
    several = len(list(spec.worldbody.bodies)) > 1
    exported = export_spec(spec, out, form, name=spec.modelname, whole=several, mesh_uri=mesh_uri)
    return replace(exported, notes=(*notes, *exported.notes))

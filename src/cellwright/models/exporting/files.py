"""Specifications and descriptions as files: the description, and its meshes in a folder beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import BadInput, OutputError
from cellwright.models.description import Geometry, LinkDescription, MeshFile, ModelDescription, WorldDescription
from cellwright.models.exporting.describe import describe
from cellwright.models.exporting.mesh_files import stl_bytes
from cellwright.models.exporting.mjcf import write_mjcf
from cellwright.models.exporting.names import file_name
from cellwright.models.exporting.ros_names import with_ros_names
from cellwright.models.exporting.sdf import sdf_text
from cellwright.models.exporting.urdf import urdf_text
from cellwright.models.importing.notes import Note, Notes
from cellwright.shapes.mesh import lathe

__all__ = ["BALL", "ExportedFiles", "ModelFormat", "export_spec", "unit_ball", "write_description"]

BALL = "ball.stl"
_COLOURS = re.compile(rb"^mtllib\s+(.+)$", re.MULTILINE)
BALL_SEGMENTS = 48


class ModelFormat(StrEnum):
    """Formats of robot descriptions."""

    MJCF = "mjcf"
    URDF = "urdf"
    SDF = "sdf"


@dataclass(frozen=True, kw_only=True)
class ExportedFiles:
    """The files of an export, and its notes.

    Attributes:
        files: The description first, then its meshes or pictures.
        notes: Everything that was changed, guessed or left out.
        links: Number of rigid bodies of the description.
        joints: Number of joints.
    """

    files: tuple[Path, ...]
    notes: tuple[Note, ...]
    links: int
    joints: int


def export_spec(
    spec: Any,
    path: Path,
    form: ModelFormat,
    *,
    name: str = "",
    whole: bool = False,
    fastened: bool = False,
    mesh_uri: str = "",
    arms: Mapping[str, ArmFigures] | None = None,
) -> ExportedFiles:
    """Writes a specification as MJCF, URDF or SDF.

    Args:
        spec: An `MjSpec`, of one model or of a cell.
        path: The file; its meshes go into `<stem>_meshes` beside it.
        form: The format.
        name: Of the model or the world.
        whole: Whether a world is written, with everything at its place and fastened as it is; otherwise one model,
            on its own.
        fastened: Whether one model stays fastened to the ground in formats that say so (SDF).
        mesh_uri: The beginning of the meshes' URIs, such as `package://my_robots/`; by default nothing, which makes
            them relative to the file.
        arms: Models that are arms, by their names; their frames are called as ROS has them (URDF, SDF).

    Raises:
        BadInput: Several models are to be written as one, or a file cannot be written.
    """
    if form is ModelFormat.MJCF:
        compiled = spec.copy().compile()
        written = tuple(write_mjcf(spec, path))
        return ExportedFiles(files=written, notes=(), links=compiled.nbody - 1, joints=compiled.njnt)
    folder = f"{file_name(path.stem)}_meshes/"
    described = describe(spec, name=name, folder=folder)
    content: ModelDescription | WorldDescription
    if whole:
        placed = [replace(p, model=_by_ros_names(p.model, arms or {})) for p in described.world.models]
        content = replace(described.world, models=tuple(placed))
    else:
        content = _by_ros_names(described.model(fastened=fastened and form is ModelFormat.SDF), arms or {})
    return write_description(content, path, form, files=described.files, notes=described.notes, mesh_uri=mesh_uri)


def _by_ros_names(model: ModelDescription, arms: Mapping[str, ArmFigures]) -> ModelDescription:
    return with_ros_names(model, arms[model.name]) if model.name in arms else model


def write_description(
    described: ModelDescription | WorldDescription,
    path: Path,
    form: ModelFormat,
    *,
    files: dict[str, bytes] | None = None,
    notes: Notes | None = None,
    mesh_uri: str = "",
) -> ExportedFiles:
    """Writes a description as URDF or SDF.

    Meshes that have a file are copied into `<stem>_meshes`; of the others the bytes are among `files`.

    Args:
        described: A model, or a world of them.
        path: The file.
        form: The format.
        files: Mesh files, path relative to the description -> bytes.
        notes: Notes of what is known to be missing; grows.
        mesh_uri: The beginning of the meshes' URIs.
    """
    if form is ModelFormat.MJCF:
        raise BadInput("a description is written as urdf or sdf; mjcf is written from a specification")
    notes = Notes() if notes is None else notes
    folder = f"{file_name(path.stem)}_meshes/"
    collected = _Meshes(folder, dict(files or {}), mesh_uri)
    described = collected.collect(described)
    ball = f"{mesh_uri}{folder}{BALL}"
    text = urdf_text(described, notes, ball) if form is ModelFormat.URDF else sdf_text(described, notes)
    if f'"{ball}"' in text:
        collected.files[f"{folder}{BALL}"] = unit_ball()
    contents = {path.name: text.encode("utf-8"), **collected.files}
    written = []
    for relative, data in contents.items():
        file = path.parent / relative
        try:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(data)
        except OSError as error:
            raise OutputError(file, error.strerror or str(error)) from None
        written.append(file)
    models = [placed.model for placed in described.models] if isinstance(described, WorldDescription) else [described]
    return ExportedFiles(
        files=tuple(written),
        notes=tuple(notes),
        links=sum(len(model.links) for model in models),
        joints=sum(len(model.joints) for model in models),
    )


class _Meshes:
    """Gathers the meshes of a description in one folder, and makes its URIs point there."""

    def __init__(self, folder: str, files: dict[str, bytes], prefix: str) -> None:
        self._folder = folder
        self.files = files
        self._prefix = prefix
        self._copied: dict[Path, str] = {}

    def collect(self, described: ModelDescription | WorldDescription) -> ModelDescription | WorldDescription:
        if isinstance(described, ModelDescription):
            return self._model(described)
        return replace(described, models=tuple(replace(p, model=self._model(p.model)) for p in described.models))

    def _model(self, model: ModelDescription) -> ModelDescription:
        return replace(model, links=tuple(self._link(link) for link in model.links))

    def _link(self, link: LinkDescription) -> LinkDescription:
        visuals, collisions = (
            tuple(replace(shape, geometry=self._geometry(shape.geometry)) for shape in shapes)
            for shapes in (link.visuals, link.collisions)
        )
        return replace(link, visuals=visuals, collisions=collisions)

    def _geometry(self, geometry: Geometry) -> Geometry:
        if not isinstance(geometry, MeshFile):
            return geometry
        if geometry.path is None:
            return replace(geometry, uri=f"{self._prefix}{geometry.uri}") if geometry.uri in self.files else geometry
        return replace(geometry, uri=f"{self._prefix}{self._copy(geometry.path)}")

    def _copy(self, path: Path) -> str:
        if path not in self._copied:
            stem, number = file_name(path.stem), 1
            name = f"{self._folder}{stem}{path.suffix}"
            while name in self.files:
                number += 1
                name = f"{self._folder}{stem}_{number}{path.suffix}"
            try:
                self.files[name] = data = path.read_bytes()
                if path.suffix.lower() == ".obj":
                    self._copy_colours(path.parent, data)
            except OSError as error:
                raise BadInput(f"mesh {path}: cannot be read: {error.strerror}") from None
            self._copied[path] = name
        return self._copied[path]

    def _copy_colours(self, beside: Path, data: bytes) -> None:
        """Copies the files that an OBJ file takes its colours from, under the names by which it refers to them."""
        for name in _COLOURS.findall(data):
            colours = beside / name.decode("utf-8", "replace").strip()
            if colours.parent == beside and colours.is_file():
                self.files.setdefault(f"{self._folder}{colours.name}", colours.read_bytes())


def unit_ball() -> bytes:
    """Returns the mesh file of the unit sphere, which stands for ellipsoids."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, BALL_SEGMENTS // 2 + 1)[1:-1]
    mesh = lathe([(float(np.cos(a)), float(np.sin(a))) for a in angles], BALL_SEGMENTS)
    return stl_bytes(mesh.vertices.astype(np.float32), mesh.faces)

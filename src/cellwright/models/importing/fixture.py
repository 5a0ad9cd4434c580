"""Something that never moves, from a description: tables, fences, whole worlds."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import mujoco

from cellwright.catalogue import FurnitureFigures
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput
from cellwright.models.description import WORLD
from cellwright.models.importing.arm_spec import note_replaced, only_subtree
from cellwright.models.importing.notes import Note, Notes, listed
from cellwright.models.importing.source import ParsedDescription
from cellwright.shapes.furniture import BODY

__all__ = ["ImportedFixtureFigures", "import_fixture", "rigid_spec"]


@dataclass(frozen=True, kw_only=True)
class ImportedFixtureFigures(FurnitureFigures):
    """A fixture that was imported from a description file.

    Attributes:
        spec: Its model, as `models.build` gives it.
        notes: Notes of what importing changed, guessed and dropped.
    """

    spec: Any = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(repr=False, default=())


def import_fixture(
    source: ParsedDescription, name: str, settings: ModelSettings, notes: Notes
) -> ImportedFixtureFigures:
    """Returns all of a file as one piece; its joints stay where the file has them at zero."""
    spec = rigid_spec(source, name, settings, BODY, notes)
    if not list(spec.geoms):
        lost = next((f" ({note.where}: {note.what})" for note in notes if note.kind == "dropped"), "")
        raise BadInput(f"{source.path}: nothing of it can be seen or touched{lost}")
    said = source.path.name
    return ImportedFixtureFigures(
        name=name,
        title=settings.title or source.spec.modelname or name,
        colours=MappingProxyType({}),
        spec=spec,
        notes=tuple(notes),
        sources=MappingProxyType({"colours": said, "spec": said, "notes": said}),
    )


def rigid_spec(source: ParsedDescription, name: str, settings: ModelSettings, root: str, notes: Notes) -> Any:
    """Returns all of a file as one rigid piece.

    Args:
        source: The file.
        name: Of the model.
        settings: Its settings.
        root: The name for its root body.
        notes: Gets a note for everything that was fixed.
    """
    spec = source.spec.copy()
    if settings.base:
        spec = only_subtree(spec, settings.base, notes)
    note_replaced(spec, "nothing, since nothing of it moves", notes)
    for item in [*spec.actuators, *spec.sensors, *spec.tendons, *spec.equalities]:
        spec.delete(item)
    floating = [joint.parent.name for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE]
    if root == BODY and (loose := _loose(source) + floating):
        what = "loose in the file: it stands fast here; --kind part makes one that lies about"
        notes.changed(listed(loose), f"{what}, --model names one of several" if len(loose) > 1 else what)
    joints = [joint for joint in spec.joints if joint.type != mujoco.mjtJoint.mjJNT_FREE]
    if joints:
        named = listed([joint.name for joint in joints])
        notes.changed("joints", f"{len(joints)} are fixed, since nothing of it moves: {named}")
    for joint in list(spec.joints):
        spec.delete(joint)
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    spec = _one_piece(spec, name, root)
    spec.copy().compile()
    return spec


def _loose(source: ParsedDescription) -> list[str]:
    """Returns models of an SDF file that are neither static nor fastened to the world: there they fall."""
    models = [placed.model for placed in source.world.models] if source.world and source.format == "sdf" else []
    fastened = {model.name for model in models if any(joint.parent == WORLD for joint in model.joints)}
    return [model.name for model in models if not model.static and model.name not in fastened]


def _one_piece(spec: Any, name: str, root: str) -> Any:
    """Returns the spec with all bodies as one, which has the name that cells expect."""
    bodies = list(spec.worldbody.bodies)
    if len(bodies) == 1 and spec.body(root) is None:
        bodies[0].name = root
        return spec
    whole = mujoco.MjSpec()
    whole.modelname = name
    whole.compiler.degree = False
    frame = whole.worldbody.add_body(name=root).add_frame()
    compiled = spec.copy().compile()
    for body in bodies:
        place = compiled.body(body.name)  # with the frames that the file may have round it
        body.pos, body.quat = place.pos, place.quat
        frame.attach_body(body, "piece ", "")
    return whole

"""Any description file as an `MjSpec` with the content of the file: nothing fused, nothing driven yet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.models.description import ModelDescription, PlacedModel, WorldDescription
from cellwright.models.importing.build import build_description
from cellwright.models.importing.inertia import complete_inertials
from cellwright.models.importing.meshes import MeshStore
from cellwright.models.importing.mjcf import read_mjcf
from cellwright.models.importing.notes import DescriptionError, Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.sdf import read_sdf
from cellwright.models.importing.srdf import Semantics, find_semantics, read_semantics
from cellwright.models.importing.urdf import read_urdf
from cellwright.models.importing.xacro import run_xacro
from cellwright.models.importing.xml import read_xml

__all__ = ["ParsedDescription", "read_description", "read_source"]


FINGERPRINT_FIELDS = (
    *("body_parentid", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
    *("jnt_type", "jnt_limited", "jnt_pos", "jnt_axis", "jnt_range", "jnt_actfrcrange", "dof_damping"),
    *("geom_type", "geom_bodyid", "geom_group", "geom_pos", "geom_quat", "geom_size", "geom_rgba", "mat_rgba"),
    *("mesh_vert", "mesh_face", "site_pos", "site_quat", "eq_type", "eq_data", "exclude_signature"),
    *("actuator_trnid", "actuator_gear", "actuator_forcerange", "actuator_ctrlrange"),
)
"""Arrays of a compiled model that hold what its file says."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ParsedDescription:
    """A description file that was read.

    Attributes:
        path: The file.
        format: `urdf`, `sdf` or `mjcf`.
        spec: All of it; top-level bodies are the roots.
        world: Its content, free of the engine; None for MJCF, which is kept as it is.
        velocity_limits: Joint -> highest speed, which MuJoCo's format has no place for.
        semantics: Its SRDF: ends of the arm, a pose to start from.
        fingerprint: Of all its numbers, from all of its files.
        guessed_masses: Links whose mass the file does not give.
    """

    path: Path
    format: str
    spec: Any
    world: WorldDescription | None
    velocity_limits: Mapping[str, float]
    semantics: Semantics
    fingerprint: str
    guessed_masses: frozenset[str] = frozenset()


def read_description(
    path: Path, search: Sequence[Path], notes: Notes, arguments: Mapping[str, str] | None = None
) -> WorldDescription | None:
    """Returns the content of a URDF, SDF or xacro file; None for MJCF.

    Raises:
        DescriptionError: It is none of them, or nothing usable remains.
    """
    if not path.is_file():
        raise DescriptionError(path, "is a folder; name the file in it" if path.is_dir() else "does not exist")
    finder = FileFinder(path, search)
    if path.suffix.lower() == ".xacro":
        model = read_urdf(path, finder, notes, run_xacro(path, search, arguments or {}, notes))
        return WorldDescription(name=model.name, models=(PlacedModel(model=model),))
    root = str(read_xml(path).tag)
    if root == "robot":
        model = read_urdf(path, finder, notes)
        return WorldDescription(name=model.name, models=(PlacedModel(model=model),))
    if root == "sdf":
        return read_sdf(path, finder, notes)
    if root in ("mujoco", "mujocoinclude"):
        return None
    raise DescriptionError(path, f"is neither URDF (<robot>) nor SDF (<sdf>) nor MJCF (<mujoco>): <{root[:40]}>", 1)


def read_source(
    path: Path,
    settings: ModelSettings,
    search: Sequence[Path],
    notes: Notes,
    *,
    in_pieces: bool = False,
    made: WorldDescription | None = None,
) -> ParsedDescription:
    """Reads a file and builds all of it.

    Args:
        path: The file.
        settings: Its settings.
        search: Folders that hold packages or models.
        notes: Gets a note for everything that is not as in the file.
        in_pieces: Whether hollow meshes collide as convex pieces, not as their hulls.
        made: The content of the file, where it is no description.

    Raises:
        DescriptionError: Nothing usable remains.
    """
    world = read_description(path, search, notes, settings.arguments) if made is None else made
    if world is None:
        if settings.srdf:
            raise DescriptionError(path, "is MJCF, which has excludes and keyframes of its own; srdf belongs to URDF")
        spec, speeds, home = read_mjcf(path, search, notes)
        semantics = Semantics(home=home, home_name="its keyframe" if home else "")
        return ParsedDescription(
            path=path,
            format="mjcf",
            spec=spec,
            world=None,
            velocity_limits=speeds,
            semantics=semantics,
            fingerprint=_fingerprint(spec.compile(), speeds, semantics),
        )
    store = MeshStore(notes)
    placed = [_chosen(world, settings.model, path)] if settings.model else list(world.models)
    done, guessed = [], set()
    for name, item in zip(_scopes(placed), placed, strict=True):
        own = Notes()
        model = complete_inertials(
            item.model, store, own, density_kgpm3=settings.density_kgpm3, total_kg=settings.mass_kg
        )
        for note in own:
            notes.add(note.kind, note.where.replace("link ", f"link {name}", 1), note.what)
        given = {link.name: link.inertial.mass_kg for link in item.model.links if link.inertial}
        found = {link.name: link.inertial.mass_kg for link in model.links if link.inertial}
        guessed |= {f"{name}{link}" for link, mass_kg in found.items() if given.get(link) != mass_kg}
        done.append(PlacedModel(model=model, pose=item.pose))
    whole = WorldDescription(name=world.name, models=tuple(done), gravity_mps2=world.gravity_mps2)
    semantics = Semantics()
    if len(done) == 1:
        semantics = _semantics(path, settings, search, done[0].model, notes)
    try:
        spec = _assemble(whole, store, notes, in_pieces)
        for first, second in semantics.pairs:
            if spec.body(first) is not None and spec.body(second) is not None:
                spec.add_exclude(name=f"{first}-{second}", bodyname1=first, bodyname2=second)
        compiled = spec.compile()
    except ValueError as error:
        raise DescriptionError(path, f"makes no mechanism: {' '.join(str(error).split())}") from None
    speeds = {
        f"{scope}{joint.name}": joint.limits.velocity
        for scope, item in zip(_scopes(done), done, strict=True)
        for joint in item.model.joints
        if joint.limits.velocity
    }
    kind = "sdf" if path.suffix.lower() in (".sdf", ".world") else "urdf"
    static = [placed.model.static for placed in done]
    said = _fingerprint(compiled, speeds, semantics, (static, sorted(guessed)))
    return ParsedDescription(
        path=path,
        format=kind,
        spec=spec,
        world=whole,
        velocity_limits=speeds,
        semantics=semantics,
        fingerprint=said,
        guessed_masses=frozenset(guessed),
    )


def _semantics(
    path: Path, settings: ModelSettings, search: Sequence[Path], model: ModelDescription, notes: Notes
) -> Semantics:
    """Returns the semantics of the SRDF that is named, or found."""
    if settings.srdf:
        return read_semantics(Path(settings.srdf), search, model, notes)
    found = find_semantics(path, search, model, notes)
    if found is None:
        return Semantics()
    notes.guessed("SRDF", f"{found} is of this robot; --srdf names another")
    return read_semantics(found, search, model, notes)


def _chosen(world: WorldDescription, name: str, path: Path) -> PlacedModel:
    for placed in world.models:
        if placed.model.name == name:
            return placed
    raise UnknownName("model", name, [placed.model.name for placed in world.models], str(path))


def _fingerprint(model: Any, speeds: Mapping[str, float], semantics: Semantics, more: object = "") -> str:
    """Returns a digest that changes with anything in a file, or one it includes, about bodies, joints and shapes."""
    total = hashlib.sha256(bytes(model.names))
    total.update(f"{sorted(speeds.items())} {semantics} {more}".encode())
    for name in FINGERPRINT_FIELDS:
        total.update(np.ascontiguousarray(getattr(model, name)).tobytes())
    return total.hexdigest()


def _assemble(world: WorldDescription, store: MeshStore, notes: Notes, in_pieces: bool) -> Any:
    """Returns all models in one spec; names of several models are told apart by the model's."""
    if len(world.models) == 1:
        spec = build_description(world.models[0].model, store, notes, in_pieces=in_pieces)
        for body in spec.worldbody.bodies:
            _move(body, world.models[0].pose)
        return spec
    whole: Any = None
    for scope, placed in zip(_scopes(world.models), world.models, strict=True):
        spec = build_description(placed.model, store, notes, in_pieces=in_pieces)
        if whole is None:
            whole = type(spec)()
            whole.modelname = world.name
            whole.compiler.degree = False
        for body in list(spec.worldbody.bodies):
            _move(body, placed.pose)  # a frame's pose would get lost
            whole.worldbody.add_frame().attach_body(body, scope, "")
    return whole


def _scopes(models: Sequence[PlacedModel]) -> list[str]:
    """Returns the prefixes of the names of each model's elements: nothing where there is only one."""
    scopes: list[str] = []
    for placed in models if len(models) > 1 else ():
        name = placed.model.name
        while f"{name}::" in scopes:
            name += "_"
        scopes.append(f"{name}::")
    return scopes or [""] * len(models)


def _move(body: Any, pose: Pose) -> None:
    moved = pose @ Pose(np.array(body.pos), np.array(body.quat))
    body.pos, body.quat = np.array(moved.position), np.array(moved.quaternion)

"""MJCF: read by MuJoCo itself and kept as it is; only what belongs to a whole simulation is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco

from cellwright.models.importing.mesh_files import FORMATS, load_mesh
from cellwright.models.importing.notes import DescriptionError, Notes
from cellwright.models.importing.xml import read_xml
from cellwright.shapes.mesh import merge

__all__ = ["read_mjcf"]


def read_mjcf(path: Path, notes: Notes) -> Any:
    """The file as a spec without lights, keyframes and what is drawn on the ground itself.

    Meshes are taken into the spec, so that it can be written anywhere.

    Raises:
        DescriptionError: with what MuJoCo says.
    """
    root = read_xml(path)  # size, document type and syntax are checked before
    if root.find("extension/plugin") is not None:
        raise DescriptionError(path, "needs a plugin of MuJoCo, which is not loaded", root.find("extension").sourceline)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        _absolute(spec, path)
        spec.compile()
        spec.compiler.savecompiled = False
        spec = mujoco.MjSpec.from_string(spec.to_xml())  # the same numbers, all angles in radians
        _take_meshes(spec)
        _name_all(spec)
        spec.compile()
    except (ValueError, OSError) as error:
        raise DescriptionError(path, f"is no MJCF file that MuJoCo reads: {' '.join(str(error).split())}") from None
    for what, items in (("light", spec.lights), ("keyframe", spec.keys)):
        if found := list(items):
            notes.dropped(path.name, f"{len(found)} x <{what}> is not used")
            for item in found:
                spec.delete(item)
    if root.find("option") is not None:
        notes.dropped(path.name, "<option>: time step, gravity and solver are the cell's")
    usual = mujoco.MjSpec().option
    for name in (name for name in dir(usual) if not name.startswith("_")):
        setattr(spec.option, name, getattr(usual, name))
    loose = [*spec.worldbody.geoms, *spec.worldbody.cameras]
    if loose and list(spec.worldbody.bodies):
        notes.dropped(path.name, f"{len(loose)} geoms and cameras of the world itself, such as the floor")
        for item in loose:
            spec.delete(item)
    if not list(spec.worldbody.bodies) and not list(spec.worldbody.geoms):
        raise DescriptionError(path, "has no <body>", 1)
    return spec


def _name_all(spec: Any) -> None:
    """Names for bodies and joints that have none: everything here is known by its name."""
    for kind, items in (("body", list(spec.bodies)[1:]), ("joint", list(spec.joints))):
        taken = {item.name for item in items}
        for number, item in enumerate(items):
            if not item.name:
                item.name = next(
                    n for n in (f"{kind}_{number}", f"{kind} {number}", f"{kind}:{number}") if n not in taken
                )


def _take_meshes(spec: Any) -> None:
    """Reads mesh files into the spec; those of MuJoCo's own formats stay where they are."""
    for asset in spec.meshes:
        if Path(asset.file).suffix.lower() in FORMATS:
            whole = merge([part.mesh for part in load_mesh(Path(asset.file)).parts])
            asset.uservert, asset.userface = whole.vertices.reshape(-1), whole.faces.reshape(-1)
            asset.file = ""


def _absolute(spec: Any, path: Path) -> None:
    """Files by their whole names: folders that are set in one file do not hold where it is attached."""
    meshes, textures = (Path(str(folder or "")) for folder in (spec.meshdir, spec.texturedir))
    for assets, folder in (
        (spec.meshes, meshes),
        (spec.skins, meshes),
        (spec.hfields, meshes),
        (spec.textures, textures),
    ):
        for asset in assets:
            if asset.file and not Path(asset.file).is_absolute():
                found = (path.parent / folder / asset.file).absolute()
                if not asset.name:
                    asset.name = Path(asset.file).stem
                asset.file = str(found)
    spec.meshdir = spec.texturedir = ""

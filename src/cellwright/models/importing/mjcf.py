"""MJCF: read by MuJoCo itself and kept as it is; only what belongs to a whole simulation is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from lxml import etree

from cellwright.models.importing.mesh_files import FORMATS, load_mesh
from cellwright.models.importing.mesh_part import MeshError
from cellwright.models.importing.notes import DescriptionError, Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.xml import read_xml
from cellwright.shapes.mesh import Mesh, merge

__all__ = ["read_mjcf"]

NAMES = {"name", "joint", "body", "site", "geom", "mesh", "material", "class", "childclass", "file"}


def read_mjcf(path: Path, search: Sequence[Path], notes: Notes) -> tuple[Any, Mapping[str, float], Mapping[str, float]]:
    """Returns the file as a spec without lights, keyframes and what is drawn on the ground itself.

    Meshes are taken into the spec, so that it can be written anywhere.

    Returns:
        The spec, speed limits of joints, and the positions of joints in the keyframe `home`.

    Raises:
        DescriptionError: with what MuJoCo says.
    """
    root = read_xml(path)  # size, document type and syntax are checked before
    if root.find("extension/plugin") is not None:
        raise DescriptionError(path, "needs a plugin of MuJoCo, which is not loaded", root.find("extension").sourceline)
    for element in root.iter():
        for key, value in element.attrib.items():
            if "nan" in value.lower().split() and key not in NAMES:
                problem = f"{key} of <{element.tag}>: '{value[:60]}' has a number that is not finite"
                raise DescriptionError(path, problem, element.sourceline)
    try:
        spec = _read(path, root)
        meshes = _find_files(spec, path, search, notes)
        compiled = spec.compile()
        spec.compiler.savecompiled = False
        spec = mujoco.MjSpec.from_string(_without_option(spec, path, notes))  # the same numbers, all angles in radians
        _take_meshes(spec, meshes)
        _name_all(spec)
        spec.compile()
    except (ValueError, OSError) as error:
        raise DescriptionError(path, f"is no MJCF file that MuJoCo reads: {' '.join(str(error).split())}") from None
    home = _home(compiled)
    for what, items, used in (("light", spec.lights, 0), ("keyframe", spec.keys, 1 if home else 0)):
        found = list(items)
        if len(found) > used:
            notes.dropped(path.name, f"{len(found) - used} x <{what}> is not used")
        for item in found:
            spec.delete(item)
    loose = [*spec.worldbody.geoms, *spec.worldbody.cameras]
    if loose and list(spec.worldbody.bodies):
        notes.dropped(path.name, f"{len(loose)} geoms and cameras of the world itself, such as the floor")
        for item in loose:
            spec.delete(item)
    if not list(spec.worldbody.bodies) and not list(spec.worldbody.geoms):
        raise DescriptionError(path, "has no <body>", 1)
    return spec, _speeds(spec), home


def _read(path: Path, root: Any) -> Any:
    """Returns the file as read by MuJoCo, which accepts only `.xml`; of another ending, it gets the text."""
    if path.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    for included in root.iter("include"):
        included.set("file", str(path.parent.absolute() / (included.get("file") or "")))
    return mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))


def _without_option(spec: Any, path: Path, notes: Notes) -> str:
    """Returns the text of a spec without its options: even default ones, once written, contradict those of a cell."""
    usual = mujoco.MjSpec().option
    names = [name for name in dir(usual) if not name.startswith("_")]
    if not all(np.array_equal(getattr(spec.option, name), getattr(usual, name)) for name in names):
        notes.dropped(path.name, "<option>: time step, gravity and solver are the cell's")
    root = etree.fromstring(spec.to_xml())
    for said in root.findall("option"):
        root.remove(said)
    return str(etree.tostring(root, encoding="unicode"))


def _home(model: Any) -> dict[str, float]:
    """Returns positions of joints in the keyframe of that name; none where all are zero."""
    single = [n for n in range(model.njnt) if int(model.jnt_type[n]) in (2, 3)]
    for number in range(model.nkey):
        if model.key(number).name.lower() == "home":
            found = {model.joint(n).name: float(model.key_qpos[number, model.jnt_qposadr[n]]) for n in single}
            return found if any(found.values()) else {}
    return {}


def _speeds(spec: Any) -> dict[str, float]:
    """Returns the highest speeds, where servos have them: those of PID servos, input limits of velocity servos."""
    speeds = {}
    for servo in spec.actuators:
        if servo.trntype != mujoco.mjtTrn.mjTRN_JOINT:
            continue
        limits = np.array(servo.velrange)
        affine = servo.biastype == mujoco.mjtBias.mjBIAS_AFFINE
        if affine and servo.biasprm[1] == 0 and servo.biasprm[2] < 0:  # only speed is fed back
            limits = np.array(servo.ctrlrange)
        if limits.any() and np.isfinite(limits).all():
            speeds[servo.target] = float(np.abs(limits).max()) / (abs(float(servo.gear[0])) or 1.0)
    return speeds


def _name_all(spec: Any) -> None:
    """Names bodies and joints that have no name: everything here is known by its name."""
    for kind, items in (("body", list(spec.bodies)[1:]), ("joint", list(spec.joints))):
        taken = {item.name for item in items}
        for number, item in enumerate(items):
            if not item.name:
                item.name = next(
                    n for n in (f"{kind}_{number}", f"{kind} {number}", f"{kind}:{number}") if n not in taken
                )


def _take_meshes(spec: Any, meshes: Mapping[str, Mesh]) -> None:
    """Puts what was read into the spec; meshes of MuJoCo's own formats stay in their files."""
    for asset in spec.meshes:
        if (whole := meshes.get(asset.file)) is not None:
            asset.uservert, asset.userface = whole.vertices.reshape(-1), whole.faces.reshape(-1)
            asset.file = ""


def _find_files(spec: Any, path: Path, search: Sequence[Path], notes: Notes) -> dict[str, Mesh]:
    """Gives files their whole names: folders that are set in one file do not hold where it is attached.

    A mesh that is missing or cannot be read is left out with all that is made of it.

    Returns:
        The meshes, by the names of their files.
    """
    finder = FileFinder(path, search)
    folders = [Path(str(folder or "")) for folder in (spec.meshdir, spec.texturedir)]
    read: dict[str, Mesh] = {}
    kinds = (("mesh", spec.meshes), ("skin", spec.skins), ("hfield", spec.hfields), ("texture", spec.textures))
    for kind, assets in kinds:
        folder = folders[kind == "texture"]
        for asset in list(assets):
            if not asset.file:
                continue
            said = Path(asset.file)
            if not asset.name:
                asset.name = said.stem
            found = (path.parent / folder / said).absolute()
            if not found.is_file():
                found = finder.find(str(folder / said)) or finder.find(said.name) or found
            asset.file = str(found)
            if kind == "texture":
                _drop_missing_picture(spec, asset, found, said, path, notes)
            elif kind == "mesh":
                _read_mesh(spec, asset, found, said, path, read, notes)
    spec.meshdir = spec.texturedir = ""
    return read


def _read_mesh(spec: Any, asset: Any, file: Path, said: Path, path: Path, read: dict[str, Mesh], notes: Notes) -> None:
    problem = f"mesh {said} not found (give its folder with --search)"
    if file.is_file():
        if file.suffix.lower() not in FORMATS:
            return
        try:
            read[str(file)] = merge([part.mesh for part in load_mesh(file).parts])
            return
        except MeshError as error:
            problem = str(error).removeprefix(f"mesh {file}: ")
            problem = f"mesh {said} {problem}"
    geoms = [geom for geom in spec.geoms if geom.meshname == asset.name]
    notes.dropped(path.name, f"{problem}; {len(geoms)} geoms are left out")
    for geom in geoms:
        spec.delete(geom)
    spec.delete(asset)


def _drop_missing_picture(spec: Any, asset: Any, file: Path, said: Path, path: Path, notes: Notes) -> None:
    if file.is_file():
        return
    notes.dropped(path.name, f"picture {said} not found")
    for material in spec.materials:
        if asset.name in list(material.textures):
            material.textures = [""] * len(list(material.textures))
    spec.delete(asset)

"""An imported model on disk: MJCF, or the mesh of a part, and a figures file that a cell can name."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import yaml

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput, OutputError
from cellwright.models.exporting.mjcf import write_mjcf
from cellwright.models.importing.arm import ImportedArmFigures
from cellwright.models.importing.figures import Imported, parsed_description
from cellwright.models.importing.gripper import ImportedGripperFigures
from cellwright.models.importing.mesh_files import FORMATS
from cellwright.models.importing.part import ImportedPartFigures

__all__ = ["free_name", "model_name", "usual_name", "write_figures"]

_HEAD = """# {title}, imported from {file}. Name it in the section `models` of a cell: {name}: {name}.yaml
# Figures that were guessed are here to be replaced by better ones.
{origin}
"""
MOST_NAMES = 10_000
GENERIC = ("model", "robot", "scene")
"""What many files are called; their folder says more."""


def model_name(text: str) -> str:
    """Returns a name that cells accept, made of any text."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return name if name[:1].isalpha() else f"model_{name}".rstrip("_")


def usual_name(path: Path) -> str:
    """Returns the name of a file, or of its folder where every file has that name."""
    stem = path.name.partition(".")[0]
    return model_name(path.absolute().parent.name if stem.lower() in GENERIC else stem)


def free_name(name: str, settings: ModelSettings, path: Path, folder: Path) -> str:
    """Returns the name itself, or one with a number: what another import wrote into the folder stays.

    Args:
        name: The wanted name.
        settings: Its settings: the same file with another base, say, is another import.
        path: The file that it comes from.
        folder: The folder to write to.
    """
    origin = _origin(settings, path, folder)
    for number in range(1, MOST_NAMES):
        own = name if number == 1 else f"{name[:36]}_{number}"
        sheet = folder / f"{own}.yaml"
        if sheet.is_file() and origin in sheet.read_text(encoding="utf-8", errors="replace").splitlines()[:5]:
            return own
        files = [folder / f"{own}{ending}" for ending in (".yaml", ".xml", *FORMATS)]
        if not any(file.exists() for file in files if not _is_mesh_itself(file, path)):
            return own
    raise OutputError(folder, f"has {MOST_NAMES} models called '{name}'; give --name")


def _is_mesh_itself(file: Path, path: Path) -> bool:
    return file.suffix.lower() in FORMATS and file.resolve() == path.resolve()


def _origin(settings: ModelSettings, path: Path, folder: Path) -> str:
    """Returns one line that tells this import from others: the file, seen from the folder, and its settings."""
    said = settings.model_dump(mode="json", exclude_defaults=True, exclude={"file", "search", "title"})
    place = Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    return f"# Source: {' '.join(place.split())} {json.dumps(said, sort_keys=True)}"


def write_figures(figures: Imported, settings: ModelSettings, path: Path, folder: Path) -> list[Path]:
    """Writes a model into a folder; returns the files.

    Args:
        figures: The imported figures.
        settings: Their settings.
        path: The file that it came from.
        folder: The folder to write to.
    """
    name = figures.name
    if any((folder / f"{name}{ending}").resolve() == path.resolve() for ending in (".yaml", ".xml")):
        raise BadInput(f"{path} would be written over; give another --name or --out")
    said = settings.model_dump(
        exclude_defaults=True, exclude={"file", "search", "arguments", "srdf", "model", "joints"}
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(figures, ImportedPartFigures) and path.suffix.lower() in FORMATS:
            model = folder / f"{name}{path.suffix.lower()}"
            if model.resolve() != path.resolve():
                model.write_bytes(path.read_bytes())
            written = [model]
            data = {"file": model.name, "kind": "part", **said, "sku": figures.sku, "mass_kg": figures.mass_kg}
        else:
            model = folder / f"{name}.xml"
            written = write_mjcf(parsed_description(figures).spec, model)
            said.pop("mass_kg", None)  # it is in the model now
            data = {"file": model.name, "title": figures.title, **said, **_figures(figures)}
        text = yaml.safe_dump(_plain(data), sort_keys=False, allow_unicode=True, width=120)
        sheet, title = folder / f"{name}.yaml", " ".join(figures.title.split())
        sheet.write_text(
            _HEAD.format(title=title, file=path.name, name=name, origin=_origin(settings, path, folder)) + text,
            encoding="utf-8",
        )
    except OSError as error:
        raise OutputError(folder, error.strerror or str(error)) from None
    return [sheet, *written]


def _figures(figures: Imported) -> dict[str, Any]:
    if isinstance(figures, ImportedArmFigures):
        joints = {
            joint.name: {
                "position_limits_rad": list(joint.position_limits_rad),
                "velocity_radps": joint.velocity_limit_radps,
                "acceleration_radps2": joint.acceleration_limit_radps2,
                "jerk_radps3": joint.jerk_limit_radps3,
                "effort_nm": joint.effort_limit_nm,
                "rotor_inertia_kgm2": joint.rotor_inertia_kgm2,
                "gear_ratio": joint.gear_ratio,
                "damping_nms_per_rad": joint.viscous_damping_nms_per_rad,
            }
            for joint in figures.joints
        }
        own = {"payload_kg": figures.payload_kg, "home_rad": list(figures.home_rad), "joints": joints}
        return {"kind": "arm", "base": figures.base_link, "tip": figures.tip_link, **own}
    if isinstance(figures, ImportedGripperFigures):
        return {"kind": "tool", "grip_force_n": figures.grip_force_n, "closing_time_s": figures.closing_time_s}
    if isinstance(figures, ImportedPartFigures):
        return {"kind": "part", "sku": figures.sku}
    return {"kind": "fixture"}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, float) else value

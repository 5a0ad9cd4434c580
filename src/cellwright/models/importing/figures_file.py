"""An imported model on disk: MJCF, or the mesh of a part, and a figures file that a cell can name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import OutputError
from cellwright.models.exporting.mjcf import write_mjcf
from cellwright.models.importing.arm import ImportedArmFigures
from cellwright.models.importing.figures import Imported, read_again
from cellwright.models.importing.gripper import ImportedGripperFigures
from cellwright.models.importing.mesh_files import FORMATS
from cellwright.models.importing.part import ImportedPartFigures

__all__ = ["model_name", "write_figures"]

_HEAD = """# {title}, imported from {file}. Name it in the section `models` of a cell: {name}: {name}.yaml
# Figures that were guessed are here to be replaced by better ones.
"""


def model_name(text: str) -> str:
    """A name that cells accept, made of any text."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return name if name[:1].isalpha() else f"model_{name}".rstrip("_")


def write_figures(figures: Imported, settings: ModelSettings, path: Path, folder: Path) -> list[Path]:
    """Writes a model into a folder; returns the files.

    Args:
        figures: What was imported.
        settings: What was said about it.
        path: The file that it came from.
        folder: Where to write.
    """
    name = figures.name
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
            written = write_mjcf(read_again(figures).spec, model)
            said.pop("mass_kg", None)  # it is in the model now
            data = {"file": model.name, "title": figures.title, **said, **_figures(figures)}
        text = yaml.safe_dump(_plain(data), sort_keys=False, allow_unicode=True, width=120)
        sheet = folder / f"{name}.yaml"
        sheet.write_text(_HEAD.format(title=figures.title, file=path.name, name=name) + text, encoding="utf-8")
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

"""The `models` section of a cell: robots, tools, parts and fixtures from files of the cell's author.

An imported model is registered in the catalogue under the cell's name for it and a digest of its files and settings,
such as `my_arm-3f9c21ab`: two cells that mean different things by one name do not collide, and a cell that names no
file cannot use what another one imported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS, TRAYS, prefer_part
from cellwright.catalogue.model_settings import Kind, ModelSettings
from cellwright.core.config import parse_yaml
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.core.registry import Registry

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell

__all__ = ["models_missing", "own_name", "unknown_models", "with_models", "with_own_names"]

_USES: tuple[tuple[str, str, Kind, Registry[Any]], ...] = (
    ("robots", "model", "arm", ROBOTS),
    ("robots", "tool", "tool", TOOLS),
    ("tools", "model", "tool", TOOLS),
    ("fixtures", "model", "fixture", FURNITURE),
    ("parts", "model", "part", PARTS),
)

_REGISTERED = re.compile(r"(.+)-[0-9a-f]{8}")


def with_models(cell: Cell, collector: ErrorCollector | None = None) -> Cell:
    """Returns the cell with its own models read and registered, under the names by which they are registered.

    Args:
        cell: The cell.
        collector: Collects the errors; the cell is then without invalid entries.

    Raises:
        BadInput: A file cannot be used, or a model is not what it is used as; unless `collector` is given.
    """
    if not cell.models:
        return cell
    found, wrong = ErrorCollector(), []
    changes: dict[str, Any] = {}
    for section, key, kind, registry in _USES:
        items = changes.get(section, getattr(cell, section))
        renamed = {}
        for name, item in items.items():
            registered, count = None, len(found.found)
            with found.collecting():
                registered = _register(cell, getattr(item, key), kind, registry, f"{section}.{name}.{key}")
            wrong += [f"{section}.{name}"] * (len(found.found) - count)
            update: dict[str, Any] = {key: registered}
            if registered and kind == "arm" and not item.home_deg:
                update["home_deg"] = tuple(np.degrees(registry.get(registered).home_rad).tolist())
            renamed[name] = item.model_copy(update=update) if registered else item
        changes[section] = renamed
    populations = []
    for place, item in cell.numbered_populations:
        registered, count = None, len(found.found)
        with found.collecting():
            registered = _register(cell, item.model, "part", PARTS, f"{place}.model")
        wrong += [place] * (len(found.found) - count)
        populations.append(item.model_copy(update={"model": registered}) if registered else item)
    made = cell.model_copy(update={**changes, "populations": tuple(populations)})
    if collector is None:
        found.raise_errors()
    elif found.found:
        collector.found += found.found
        return made.without(wrong)
    return made


def unknown_models(file: Path) -> list[BadInput]:
    """Returns errors for models that a cell file names and that do not exist, also where the rest of it is invalid."""
    try:
        data = parse_yaml(file.read_text(encoding="utf-8"), file)
    except (BadInput, OSError, ValueError):
        return []
    found: list[BadInput] = []
    said = data if isinstance(data, dict) else {}
    own = said.get("models")
    for section, key, _, registry in (*_USES, ("trays", "model", "fixture", TRAYS)):
        entries = said.get(section)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            model = entry.get(key) if isinstance(entry, dict) else None
            if isinstance(model, str) and model not in registry and not (isinstance(own, dict) and model in own):
                names = {known for known in registry if own_name(known) == known}
                known = {*names, *own} if isinstance(own, dict) and registry is not TRAYS else names
                found.append(UnknownName(registry.kind, model, known, f"{file}: {section}.{name}.{key}"))
    return found


def own_name(registered: str) -> str:
    """Returns the name that the cell's author gave to a model: its registered name without the digest."""
    found = _REGISTERED.fullmatch(registered)
    return found.group(1) if found else registered


def with_own_names(cell: Cell) -> Cell:
    """Returns the cell with its own models under the names that its author gave them, as they stand in its file."""

    def named(item: Any, key: str) -> Any:
        own = own_name(getattr(item, key) or "")
        return item.model_copy(update={key: own}) if own in cell.models else item

    changes: dict[str, Any] = {}
    for section, key, _, _ in _USES:
        items = changes.get(section, getattr(cell, section))
        changes[section] = {name: named(item, key) for name, item in items.items()}
    populations = tuple(named(item, "model") for item in cell.populations)
    return cell.model_copy(update={**changes, "populations": populations})


def models_missing(cell: Cell) -> bool:
    """Returns whether a model of the cell is not registered here: the cell was loaded by another process."""
    for section, key, _, registry in _USES:
        names = (getattr(item, key) or "" for item in getattr(cell, section).values())
        if any(_REGISTERED.fullmatch(name) and name not in registry for name in names):
            return True
    return any(_REGISTERED.fullmatch(item.model) and item.model not in PARTS for item in cell.populations)


def _register(cell: Cell, name: str | None, kind: Kind, registry: Registry[Any], path: str) -> str | None:
    """Reads and registers a model, if the name is one of the cell's own."""
    own = own_name(name or "")
    if own not in cell.models or (own != name and (name or "") in registry):
        return None  # a name of the catalogue, or registered before; the cell's own names go before the catalogue's
    from cellwright.models.importing import digest_of, import_figures, located_in_settings

    said = cell.models[own]
    settings = ModelSettings(file=said) if isinstance(said, str) else said
    if settings.kind not in (None, kind):
        article = "an" if kind == "arm" else "a"
        raise ConfigError(cell.where, path, f"models.{own} is a {settings.kind}, and is used as {article} {kind}")
    folder = Path.cwd() if cell.file is None else cell.file.absolute().parent
    try:
        figures = import_figures(own, settings, folder, kind)
    except BadInput as error:
        raise located_in_settings(error, cell.where, f"models.{own}") from None
    registered = f"{own}-{digest_of(figures)}"
    if registered not in registry:
        # what names a part in stored worlds is what it is registered under; of an arm, errors use the cell's name
        registry.add(registered, figures if kind == "arm" else replace(figures, name=registered))
    if kind == "part":
        prefer_part(registry.get(registered))
    return registered

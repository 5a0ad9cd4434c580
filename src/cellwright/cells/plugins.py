"""The plugins of a cell: Python files beside its own that register trays, kit designs, sensors and their like."""

from __future__ import annotations

from pathlib import Path

from cellwright.cells.schema import Cell
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError
from cellwright.core.plugins import load_plugin

__all__ = ["load_plugins"]


def load_plugins(cell: Cell, errors: ErrorCollector | None = None) -> bool:
    """Imports the cell's plugins, relative to its file; returns whether all of them could be.

    Args:
        cell: The cell.
        errors: Collects why a plugin cannot be imported. Without it nothing is told: whoever reads a cell needs the
            names that its plugins register, and the check of the whole cell tells what is wrong with them.
    """
    folder, failed = cell.file.parent if cell.file else Path(), 0
    for number, plugin in enumerate(cell.plugins):
        try:
            load_plugin(folder / plugin)
        except BadInput as error:
            failed += 1
            if errors is not None:
                errors.add(ConfigError(cell.where, f"plugins.{number}", str(error)))
    return not failed

"""All errors of a cell, in one round: the parts that its errors leave valid are checked as well."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cellwright.cells.models import unknown_models, with_models
from cellwright.cells.plugins import load_plugins
from cellwright.cells.schema import Cell
from cellwright.core.config import parse_yaml, validate
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, ConfigErrors

__all__ = ["CellConfigErrors", "errors_of_file"]

ROUNDS = 4  # of removing invalid entries; a removed entry may leave others invalid
_UNKNOWN_KEY = re.compile(r"unknown key '(.*?)'")


class CellConfigErrors(ConfigErrors):
    """All errors of a cell that were found.

    Attributes:
        valid_part: The cell without its invalid entries, for further checks; None when too little is valid.
    """

    def __init__(self, errors: Sequence[BadInput], valid_part: Cell | None) -> None:
        super().__init__(errors)
        self.valid_part = valid_part


def errors_of_file(
    error: ConfigError, file: Path, variants: Sequence[str], check: Callable[[Cell], Any]
) -> CellConfigErrors:
    """Returns all errors of a cell file that cannot be read.

    Args:
        error: The error that made it unreadable.
        file: The file.
        variants: The variants that are wanted, one after the other.
        check: Raises the errors of a cell that can be read.
    """
    collector = ErrorCollector()
    collector.add(error)
    valid = _readable(collector.found, file)
    for variant in variants:
        with collector.collecting():
            valid = valid and valid.variant(variant)
    if valid is not None:
        valid = with_models(valid, collector)
        load_plugins(valid)
    for unknown in unknown_models(file):  # also in entries that are left out
        collector.add(unknown)
    if valid is not None:
        further = ErrorCollector(valid.left_out)
        try:
            check(valid)
        except CellConfigErrors as found:
            further.add(found)
            valid = found.valid_part
        collector.found += further.found
    return CellConfigErrors(collector.sorted_errors(), valid)


def _readable(errors: Sequence[BadInput], file: Path) -> Cell | None:
    """Returns the cell of a file without its invalid entries."""
    try:
        data = parse_yaml(file.read_text(encoding="utf-8"), file)
    except (BadInput, OSError, ValueError):
        return None
    left_out: set[str] = set()
    for first in (True, *[False] * (ROUNDS - 1)):
        if not isinstance(data, dict):
            return None
        data = {"name": "unnamed", "title": ""} | copy.deepcopy(data)
        for error in errors:
            unknown = _UNKNOWN_KEY.match(getattr(error, "problem", ""))
            steps = [*filter(None, getattr(error, "path", "").split(".")), *([unknown[1]] if unknown else [])]
            left_out |= {".".join(steps[:2])} if len(steps) > 1 else set()
            _remove(data, steps if first else steps[:2])
        try:
            cell = validate(data, Cell, file).read_from(file)
        except ConfigErrors as wrong:
            errors = wrong.errors
        except ConfigError as wrong:
            errors = [wrong]
        else:
            return cell.without([f"populations.{number}" for number in _blank(data)], left_out)
    return None


def _remove(data: dict[str, Any], steps: Sequence[str]) -> None:
    """Removes a key from its mapping, or the whole entry where that is not possible; lists keep their length."""
    holder: Any = data
    for step in steps[:-1]:
        holder = holder.get(step) if isinstance(holder, dict) else None
    if isinstance(holder, dict) and steps and steps[-1] in holder:
        del holder[steps[-1]]
    elif len(steps) > 1:
        section, entry = data.get(steps[0]), steps[1]
        if isinstance(section, dict):
            section.pop(entry, None)
        elif isinstance(section, list) and entry.isdecimal() and int(entry) < len(section):
            section[int(entry)] = dict(BLANK) if steps[0] == "populations" else {}
        else:
            data.pop(steps[0], None)


BLANK = {"model": "left_out", "count": 1, "trays": ["left_out"]}


def _blank(data: dict[str, Any]) -> list[int]:
    populations = data.get("populations")
    return [n for n, item in enumerate(populations) if item == BLANK] if isinstance(populations, list) else []

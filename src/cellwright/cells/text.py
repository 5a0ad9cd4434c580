"""Cells as text: a cell as YAML with every default written out, and a cell file under another name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from cellwright.cells.models import with_own_names
from cellwright.cells.schema import Cell
from cellwright.core.config import parse_yaml, validate
from cellwright.core.errors import ConfigError

__all__ = ["cell_yaml", "renamed_text"]

WIDTH = 120  # characters in a line


class _Dumper(yaml.SafeDumper):
    """A dumper that writes values again where they occur again: `*id001` says nothing to a reader."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def cell_yaml(cell: Cell) -> str:
    """Returns a cell as it was validated, as YAML that loads to an equal cell; models of its own under its names."""
    data = with_own_names(cell).model_dump(mode="json")
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=WIDTH, allow_unicode=True)


def renamed_text(text: str, name: str, where: str | Path) -> str:
    """Returns the text of a cell file with the cell's name changed and everything else, comments included, kept.

    Args:
        text: A valid cell file.
        name: The new name.
        where: The file in errors.

    Raises:
        ConfigError: The name cannot be changed alone: it stands in a part that is repeated by `*` or `<<`.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    found = next((value for key, value in pairs if key.value == "name"), None)
    if found is None:
        raise ConfigError(where, "name", "stands in a part that is repeated: write it as a key of its own")
    quoted = yaml.safe_dump(name, default_flow_style=True).splitlines()[0]  # `on` is text only in quotes
    changed = text[: found.start_mark.index] + quoted + text[found.end_mark.index :]
    validate(parse_yaml(changed, where), Cell, where)
    return changed

"""What a person or a program reads: tables on stdout, or one JSON object; progress on stderr."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cellwright.core.errors import OutputError

__all__ = ["console", "err", "prepare_output", "print_json", "table"]

console = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table; columns whose name ends in a unit in brackets are aligned to the right."""
    made = Table(
        title=escape(title) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for column in columns:
        made.add_column(escape(column), justify="right" if column.endswith("]") else "left", overflow="fold")
    for row in rows:
        made.add_row(*(str(value) for value in row))
    console.print(made)


def print_json(data: Any) -> None:
    """One JSON object on stdout and nothing else; numbers that JSON has no word for become null."""
    print(json.dumps(_plain(data), indent=2, allow_nan=False))


def prepare_output(path: Path) -> Path:
    """Makes the folder of a file that will be written, and refuses now what would fail after the work is done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    return path


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value

"""Files that somebody made stay as they are unless somebody says otherwise."""

from __future__ import annotations

from pathlib import Path

from cellwright.core.errors import BadInput

__all__ = ["refuse_existing"]


def refuse_existing(*paths: Path | None) -> None:
    """Refuses names that somebody gave, and that are taken.

    Raises:
        BadInput: What is there, and what to do.
    """
    for path in paths:
        if path is not None and path.is_file():
            raise BadInput(f"{path} exists, and is not overwritten: choose another name, or add --overwrite")

"""Protection of existing files: they are only replaced when the user says so."""

from __future__ import annotations

from pathlib import Path

from cellwright.core.errors import BadInput

__all__ = ["refuse_existing"]


def refuse_existing(*paths: Path | None) -> None:
    """Refuses output paths that exist already.

    Raises:
        BadInput: A path exists; says what to do.
    """
    for path in paths:
        if path is not None and path.is_file():
            raise BadInput(f"{path} exists, and is not overwritten: choose another name, or add --overwrite")

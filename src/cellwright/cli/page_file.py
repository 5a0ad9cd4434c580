"""Pages that a command saves: refused before the work what would fail after it; how the command is repeated."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from cellwright.cli.output import prepare_output
from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import refuse_existing, refuse_same

__all__ = ["command_line", "prepare_page", "remember_command", "write_page"]

_arguments: list[str] = []


def remember_command(arguments: Sequence[str]) -> None:
    """Keeps the arguments of this process, for pages that tell how they are made again."""
    _arguments[:] = arguments


def command_line() -> str:
    """Returns the command as it was given; an address of a database may hold a password, and is not repeated."""
    from cellwright.knowledge.address import redacted_address

    shown = []
    for word in _arguments:
        option, sign, value = word.partition("=") if word.startswith("--") else ("", "", word)
        shown.append(option + sign + (redacted_address(value) if "://" in value else value))
    return shlex.join(["cellwright", *shown]) if shown else ""


def prepare_page(path: Path, *, overwrite: bool = False, read: Iterable[Path] = ()) -> Path:
    """Refuses a page that cannot be written, or that is there already.

    Args:
        path: The page.
        overwrite: Whether one that is there is replaced.
        read: What it is made of, which it never replaces.

    Raises:
        BadInput: It exists, or is a folder.
        OutputError: It cannot be written.
    """
    if path.is_dir():
        raise BadInput(f"{path}: a folder; a page is a file, such as {path / 'run.html'}")
    refuse_same(path, read)
    if not overwrite:
        refuse_existing(path)
    return prepare_output(path)


def write_page(path: Path, text: str) -> None:
    """Writes a page."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None

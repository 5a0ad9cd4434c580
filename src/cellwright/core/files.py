"""Files of the user: existing ones are only replaced when told so; what can be made again is kept in a cache."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cellwright.core.errors import BadInput

__all__ = ["MAX_CHARACTERS", "cache_folder", "read_text", "refuse_existing", "refuse_same", "write_whole"]

MAX_CHARACTERS = 1_000_000  # of a file: far above any cell, far below what takes noticeable time


def read_text(path: Path) -> str:
    """Returns the text of a text file; of one that is too long, one character more than is allowed.

    Raises:
        BadInput: It cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:  # editors of Windows begin files with a mark
            return file.read(MAX_CHARACTERS + 1)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a null character
        reason = getattr(error, "strerror", None) or "not a UTF-8 text file"
        raise BadInput(f"cannot read {path}: {reason}") from None


def cache_folder() -> Path:
    """Returns the folder of the user's cache that is ours; it need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cellwright"


def refuse_existing(*paths: Path | None) -> None:
    """Refuses output paths that exist already.

    Raises:
        BadInput: A path exists; says what to do.
    """
    for path in paths:
        if path is not None and path.is_file():
            raise BadInput(f"{path} exists, and is not overwritten: choose another name, or add --overwrite")


def refuse_same(out: Path | None, others: Iterable[Path | str | None]) -> None:
    """Refuses to write a file over one that is read, or written too, by the same command: also with `--overwrite`.

    Raises:
        BadInput: It is one of them, whatever it is called there.
    """
    if out is not None and any(other is not None and _real(out) == _real(other) for other in others):
        raise BadInput(f"{out} is another file of this command, and would replace it: choose another name")


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all: on a full disk there is none, and an older one stays as it was.

    Raises:
        OSError: It cannot be written.
    """
    if path.exists() and not path.is_file():  # such as /dev/stdout
        path.write_bytes(content)
        return
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise


def _real(path: Path | str) -> str:
    return os.path.realpath(path)

"""The files of a run: where the world is kept beside the database, and which of them a new run replaces."""

from __future__ import annotations

from pathlib import Path

from cellwright.core.errors import BadInput, OutputError

__all__ = ["log_of", "make_room", "world_file_of"]


def database_file(database: str | Path) -> Path | None:
    """The file of an SQLite database; None for one in memory or on a server."""
    text = str(database)
    if "://" not in text:
        return Path(text)
    rest = text.removeprefix("sqlite:///") if text.startswith("sqlite:///") else ""
    return Path(rest) if rest and rest != ":memory:" else None


def world_file_of(database: str | Path, log: Path) -> Path:
    """Beside the database, or beside the log when the database is on a server."""
    return (database_file(database) or log).with_suffix(".world")


def log_of(record: Path, resume: bool) -> Path:
    """Where the log goes: one that is resumed does not overwrite what was recorded before."""
    path, number = record, 2
    while resume and path.exists() and path.is_file():
        path, number = record.with_stem(f"{record.stem}-{number}"), number + 1
    return path


def make_room(database: str | Path, resume: bool) -> None:
    """Makes room for a new run's database; what an earlier run left is taken away, anything else is refused.

    Raises:
        BadInput: The file is no database of a run, or there is none to resume.
    """
    path = database_file(database)
    if path is not None and resume and not path.exists():
        raise BadInput(f"there is no database {path} to resume from")
    if path is not None and not resume and path.exists():
        if path.stat().st_size and not path.read_bytes()[:16].startswith(b"SQLite format 3"):
            raise BadInput(f"{path} is not a database, and will not be overwritten")
        try:
            for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                part.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from None

"""The files of a run's database and of the world beside it, which belong to one run only."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Integer, MetaData, Table, Text, delete, insert, inspect, select

from cellwright.core.errors import BadInput, OutputError
from cellwright.knowledge import Database

__all__ = ["clear_database", "database_file", "note_world_file", "world_file_of"]

FILES = Table("run_files", MetaData(), Column("id", Integer, primary_key=True), Column("world", Text))
"""Not among the tables of the ontology: only the database of a run, on a server, has it."""


def database_file(database: str | Path) -> Path | None:
    """Returns the file of an SQLite database; None for one in memory or on a server."""
    text = str(database)
    if "://" not in text:
        return Path(text)
    rest = text.removeprefix("sqlite:///") if text.startswith("sqlite:///") else ""
    return Path(rest) if rest and rest != ":memory:" else None


def world_file_of(database: str | Path, log: Path, *, resume: bool = False) -> Path:
    """Returns the file of the world: beside the database, or the log when that is on a server, which knows it.

    Raises:
        BadInput: A server that is to say it knows of no run, or cannot be asked.
    """
    path = database_file(database)
    if path is None and resume:
        opened = Database(database, must_exist=True)
        try:
            with opened.transaction() as connection:
                known = inspect(connection).has_table(FILES.name) and connection.scalar(select(FILES.c.world))
        finally:
            opened.close()
        if not known:
            raise BadInput(f"there is no run to resume: database {opened.url} knows of none")
        return Path(known)
    return (path or log).with_suffix(".world")


def note_world_file(database: Database, path: Path) -> None:
    """Writes down on a server where the world is, so that its address is all that is needed to go on."""
    if database.engine.dialect.name == "sqlite":
        return  # beside the file, wherever the two are moved
    with database.transaction() as connection:
        FILES.create(connection, checkfirst=True)
        connection.execute(delete(FILES))
        connection.execute(insert(FILES).values(id=1, world=str(path.absolute())))


def clear_database(database: str | Path) -> None:
    """Makes room for a new run's database; what an earlier run left is taken away, anything else is refused.

    Raises:
        BadInput: The file is no database of a run.
    """
    path = database_file(database)
    if path is not None and path.exists() and path.stat().st_size:
        if not path.read_bytes()[:16].startswith(b"SQLite format 3"):
            raise BadInput(f"{path} is not a database, and will not be overwritten")
        try:
            for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                part.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from None

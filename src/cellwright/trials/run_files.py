"""The files of a run, named so that no run takes another's: log, picture, database, and the world beside it."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Column, Integer, MetaData, Table, Text, delete, insert, inspect, select

from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import refuse_existing
from cellwright.knowledge import Database

__all__ = ["RunFiles", "database_file", "latest_database", "note_world_file", "run_files", "world_file_of"]

USUAL = Path("out/run.db")
LOG, PICTURE, WORLD = ".mcap", ".png", ".world"
WORLDS = Table("run_files", MetaData(), Column("id", Integer, primary_key=True), Column("world", Text))
"""Not among the tables of the ontology: only the database of a run, on a server, has it."""


@dataclass(frozen=True)
class RunFiles:
    """The files that a run writes.

    Attributes:
        log: All messages.
        picture: How it ended; None when no picture is wanted.
        database: Belief and progress: a file, or the address of a server.
        world: The world, to resume from.
    """

    log: Path
    picture: Path | None
    database: str
    world: Path


def latest_database() -> str:
    """Returns the database of the latest run of the usual name, for `--resume` without a name."""
    worlds = sorted(USUAL.parent.glob(f"{USUAL.stem}*{WORLD}"), key=lambda path: path.stat().st_mtime)
    return str(worlds[-1].with_suffix(USUAL.suffix) if worlds else USUAL)


@contextlib.contextmanager
def run_files(
    record: Path | None,
    picture: Path | None,
    database: str | None,
    world: Path | None = None,
    *,
    overwrite: bool = False,
    draw: bool = True,
) -> Iterator[RunFiles]:
    """Gives a run its own files, which no other run gets; names that are not given have the first free number.

    A number is free when no run has a file of it, wherever its others are. Files are taken by making them, in one step:
    of two runs that start at once, each gets its own. Those that are still empty at the end are removed again.

    Args:
        record: The log.
        picture: The picture.
        database: The database.
        world: The world that is resumed from; then it and the database are those of the earlier run, and log and
            picture are called `-resumed` when what they are called exists.
        overwrite: Takes the names as they are, whatever is there.
        draw: Whether a picture is wanted at all.

    Raises:
        BadInput: A name that was given is taken.
        OutputError: A file cannot be written.
    """
    resume = world is not None
    beside = (database_file(database) if resume and database else None) or USUAL

    def named(number: int) -> RunFiles:
        def name(given: Path | None, suffix: str) -> Path:
            usual = beside.with_suffix(suffix)
            if resume:
                return _resumed(given or usual, number)
            return given or _numbered(usual, number)

        log, base = name(record, LOG), database or str(_numbered(USUAL, number))
        return RunFiles(log, name(picture, PICTURE) if draw else None, base, world or world_file_of(base, log))

    def new(files: RunFiles) -> list[Path]:
        stored = [] if resume else [database_file(files.database), files.world]
        return [path for path in (files.log, *stored, files.picture) if path is not None]

    files = named(1)
    taken: list[Path] | None = [] if overwrite else None
    given = [path for path in new(named(1)) if path in new(named(2))]  # the others have a number
    for number in itertools.count(1):
        if taken is not None:
            break
        refuse_existing(*given)
        files = named(number)
        usual = [] if resume else [_numbered(USUAL, number).with_suffix(s) for s in (LOG, PICTURE, WORLD, USUAL.suffix)]
        others = usual if len(given) < len(new(files)) else []  # of a run that has this number, whatever else it names
        if not any(path.is_file() for path in (*new(files), *others)):
            taken = _take([path for path in new(files) if path not in (files.world, files.picture)])
    try:
        if not resume:
            _clear_database(files.database)
            files.world.unlink(missing_ok=True)  # of the run that is overwritten
        yield files
    finally:
        for path in taken or ():
            with contextlib.suppress(OSError):
                if path.is_file() and not path.stat().st_size:
                    path.unlink()


def _numbered(path: Path, number: int) -> Path:
    return path if number == 1 else path.with_stem(f"{path.stem}-{number}")


def _resumed(path: Path, number: int) -> Path:
    """Returns the file of a resumed run: as it is called, then `run-resumed`, `run-resumed-2`, and so on."""
    if number == 1:
        return path
    before = re.fullmatch(r"(.+)-resumed(?:-(\d+))?", path.stem)  # of a run that was resumed already
    if before is None:
        return _numbered(path.with_stem(f"{path.stem}-resumed"), number - 1)
    return _numbered(path.with_stem(f"{before[1]}-resumed"), int(before[2] or 1) + number - 1)


def _take(paths: list[Path]) -> list[Path] | None:
    """Makes files that must not be there yet; None, and nothing is made, when another one was faster."""
    made: list[Path] = []
    try:
        for path in paths:
            if path.exists() and not path.is_file():  # a device, such as /dev/null
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("xb").close()
            made.append(path)
    except OSError as error:
        for path in made:
            path.unlink()
        if isinstance(error, FileExistsError) and Path(error.filename).is_file() and error.filename == str(path):
            return None
        parent = f"{path.parent} is not a folder" if isinstance(error, FileExistsError) else ""
        raise OutputError(path, parent or error.strerror or str(error)) from None
    return made


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
                known = inspect(connection).has_table(WORLDS.name) and connection.scalar(select(WORLDS.c.world))
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
        WORLDS.create(connection, checkfirst=True)
        connection.execute(delete(WORLDS))
        connection.execute(insert(WORLDS).values(id=1, world=str(path.absolute())))


def _clear_database(database: str | Path) -> None:
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

"""The world model's database: SQLite in a file or in memory by default, any other server by its address.

SQLite runs with a write-ahead log: readers see the last finished change while the next one is being written, and a
process that dies in the middle leaves the last finished change behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from cellwright.knowledge.errors import DatabaseError
from cellwright.knowledge.generated import records
from cellwright.knowledge.history import METADATA
from cellwright.knowledge.vocabulary import load_vocabulary

__all__ = ["Database"]

VERSION = Table("schema_version", MetaData(), Column("version", String(32), primary_key=True))
BUSY_TIMEOUT_MS = 5000


class Database:
    """An open world model.

    Args:
        url: `sqlite:///file.db`, `mysql+pymysql://...`, `postgresql+psycopg://...`, or the path of an SQLite file;
            `sqlite://` keeps it in memory.

    Raises:
        DatabaseError: It cannot be reached, or its tables are of another version of the ontology.
    """

    def __init__(self, url: str | Path = "sqlite://") -> None:
        address = str(url) if "://" in str(url) else f"sqlite:///{url}"
        try:
            parsed = make_url(address)
            self.url = parsed.render_as_string(hide_password=True)
            in_memory = parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:")
            options: dict[str, Any] = {"poolclass": StaticPool} if in_memory else {}
            self.engine: Engine = create_engine(parsed, **options)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
            allowed = "a path, sqlite:///FILE, mysql+pymysql://... or postgresql+psycopg://..."
            raise DatabaseError(address.rsplit("@", 1)[-1], f"{first_line(error)}; allowed: {allowed}") from error
        if parsed.get_backend_name() == "sqlite":
            event.listen(self.engine, "connect", prepare_sqlite)
        try:
            self._prepare()
        except SQLAlchemyError as error:
            self.close()
            raise DatabaseError(self.url, first_line(error)) from error

    def _prepare(self) -> None:
        """Makes the tables of a new database; refuses the tables of another version."""
        if inspect(self.engine).has_table(VERSION.name):
            with self.engine.connect() as connection:
                found = connection.scalar(select(VERSION.c.version))
            if found != records.SCHEMA_VERSION:
                self.close()
                raise DatabaseError(
                    self.url,
                    f"its tables are of version {found}, this program needs {records.SCHEMA_VERSION}; "
                    "use another database, or export and import",
                )
            return
        METADATA.create_all(self.engine)
        with Session(self.engine) as session, session.begin():
            load_vocabulary(session)
            VERSION.create(session.connection())
            session.execute(insert(VERSION).values(version=records.SCHEMA_VERSION))

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A unit of work: committed as a whole at the end, or not at all."""
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                yield session
        except SQLAlchemyError as error:
            raise DatabaseError(self.url, first_line(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """The same for plain statements, where the speed of the access classes is not enough."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise DatabaseError(self.url, first_line(error)) from error

    def close(self) -> None:
        """Lets go of all connections."""
        self.engine.dispose()


def prepare_sqlite(connection: Any, _record: object) -> None:
    """Write-ahead log, checked references, and patience with another writer."""
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={BUSY_TIMEOUT_MS}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def first_line(error: Exception) -> str:
    """What the driver said, without the statement and the link that follow."""
    cause = getattr(error, "orig", None) or error
    return str(cause).splitlines()[0] if str(cause) else type(cause).__name__

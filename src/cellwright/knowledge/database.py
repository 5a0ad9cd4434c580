"""The world model's database: SQLite in a file or in memory by default, MariaDB or PostgreSQL by their address.

A change is stored as a whole or not at all, and a reader sees one state from the beginning of its unit of work to the
end. SQLite does this with a write-ahead log: readers see the last finished change while the next one is being
written, and a process that dies in the middle leaves the last finished change behind. A server that is away for a
moment is waited for; one that stays away, or does not answer in time, is an error of one line.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from cellwright.core.errors import MissingExtra
from cellwright.knowledge.address import ALLOWED, DRIVER_MODULES, parse, redacted
from cellwright.knowledge.driver_errors import explain
from cellwright.knowledge.errors import DatabaseError
from cellwright.knowledge.history import METADATA, VERSION, VERSION_NEEDED
from cellwright.knowledge.server_timeouts import (
    ANSWER_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    OUTAGE_TIMEOUT_S,
    connect_with_timeout,
    locked,
)
from cellwright.knowledge.vocabulary import load_vocabulary

__all__ = ["Database"]

BUSY_TIMEOUT_MS = 5000

NOT_MADE = "there is no world model; `cellwright db init` makes one"


class Database:
    """An open world model.

    Args:
        url: `sqlite:///file.db`, `mysql+pymysql://...`, `mariadb+pymysql://...`, `postgresql+psycopg://...`, or the
            path of an SQLite file; `sqlite://` keeps it in memory.
        must_exist: Whether a database without tables is an error, instead of getting them now.

    Attributes:
        in_memory: Whether it is in memory, where it can be used only through this object.

    Raises:
        DatabaseError: It cannot be reached, or its tables are of another version of the ontology.
        MissingExtra: The driver of this server is not installed.
    """

    def __init__(self, url: str | Path = "sqlite://", *, must_exist: bool = False) -> None:
        parsed = parse(str(url))
        self.url = redacted(parsed)
        backend = parsed.get_backend_name()
        if must_exist and backend == "sqlite" and not Path(parsed.database or "").is_file():
            raise DatabaseError(self.url, NOT_MADE)  # opening it would make the file
        self.in_memory = backend == "sqlite" and parsed.database in (None, "", ":memory:")
        self._deferred: list[Callable[[], None]] = []
        self._is_lost = False
        self._others = None
        self._file: tuple[Path, tuple[int, int]] | None = None
        limits = {"connect_timeout": CONNECT_TIMEOUT_S}
        if backend == "sqlite":
            # One thread makes it and another uses it in a notebook, where `Lab.perform` works in a thread of its own.
            shared = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
            options: dict[str, Any] = shared if self.in_memory else {}
        elif backend == "postgresql":  # one state for a unit of work, as the others have it from the start
            options = {"connect_args": limits, "pool_pre_ping": True, "isolation_level": "REPEATABLE READ"}
        else:
            limits |= dict.fromkeys(("read_timeout", "write_timeout"), ANSWER_TIMEOUT_S)
            options = {"connect_args": limits, "pool_pre_ping": True}
        try:
            self.engine: Engine = create_engine(parsed, **options)
        except ModuleNotFoundError as error:
            if backend not in DRIVER_MODULES:
                raise DatabaseError(self.url, f"{error}; allowed: {ALLOWED}") from None
            raise MissingExtra(f"a database at {backend}://", DRIVER_MODULES[backend][0]) from None
        except (ArgumentError, NoSuchModuleError) as error:
            raise DatabaseError(self.url, f"{explain(error)}; allowed: {ALLOWED}") from None
        if backend == "postgresql":
            event.listen(self.engine, "do_connect", connect_with_timeout)
        if backend == "sqlite":
            event.listen(self.engine, "connect", prepare_sqlite)
            if not self.in_memory:  # one that no other process can open needs no isolation
                event.listen(self.engine, "connect", disable_driver_transactions)
                event.listen(self.engine, "begin", begin_transaction)
        try:
            self._prepare(must_exist)
        except SQLAlchemyError as error:
            self.close()
            raise DatabaseError(self.url, explain(error, parsed)) from error
        except (TypeError, ValueError) as error:  # an option behind the address that its driver does not know
            self.close()
            raise DatabaseError(self.url, f"an option behind ? cannot be used: {explain(error)}") from None
        except DatabaseError:
            self.close()
            raise
        name = parsed.database or ""
        if backend == "sqlite" and not self.in_memory and not name.startswith("file:"):
            self._file = Path(name).absolute(), file_identity(Path(name))

    def _prepare(self, must_exist: bool) -> None:
        """Makes the tables of a new database; refuses the tables of another version."""
        if self.in_memory and not must_exist and copy_template(self.engine):
            return
        if self._version(must_exist) is None:
            with locked(self.engine):  # of several that begin at once, one makes the tables and the others find them
                if self._version(must_exist) is None:
                    self._make()

    def _version(self, must_exist: bool) -> str | None:
        """Returns the version of the tables; None when there are none, or not all of them."""
        found: str | None = None
        if inspect(self.engine).has_table(VERSION.name):
            with self.engine.connect() as connection:
                found = connection.scalar(select(VERSION.c.version))
        if found == VERSION_NEEDED:
            return found
        if found is not None:
            raise DatabaseError(
                self.url,
                f"its tables are of version {found}, this program needs {VERSION_NEEDED}; use another database, or "
                "export this one with the program that made it and import it into a new one",
            )
        if must_exist:
            raise DatabaseError(self.url, NOT_MADE)
        return None

    def _make(self) -> None:
        if self.engine.dialect.name in ("mysql", "mariadb"):
            with self.engine.begin() as connection:  # names that differ in case are different names
                connection.execute(text("ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"))
        METADATA.create_all(self.engine)
        with Session(self.engine) as session, session.begin():
            # The version comes with the content: without it, making the tables was interrupted and starts again.
            load_vocabulary(session)
            session.execute(insert(VERSION).values(version=VERSION_NEEDED))
        if self.in_memory:
            keep_template(self.engine)

    @contextmanager
    def session(self, *, exclusive: bool = False) -> Iterator[Session]:
        """Opens a unit of work: committed as a whole at the end, or not at all.

        Args:
            exclusive: Whether others that ask for the same wait until this one is finished; only servers need it.
        """
        self.write_deferred()
        with (
            self._driver_errors(),
            locked(self.engine, exclusive),
            self._connect() as connection,
            Session(connection, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Opens a unit of work for plain statements, where the speed of the access classes is not enough."""
        self.write_deferred()
        with self._driver_errors(), self._connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _driver_errors(self) -> Iterator[None]:
        """Raises errors of the driver as one line."""
        try:
            yield
        except SQLAlchemyError as error:
            self._is_lost = self._is_lost or getattr(error, "connection_invalidated", False)
            raise DatabaseError(self.url, explain(error, self.engine.url)) from error

    def _connect(self) -> Connection:
        """Connects for a unit of work; waits for a server that is away, as nothing is under way."""
        if self._file is not None and file_identity(self._file[0]) != self._file[1]:
            self._is_lost = True
            raise DatabaseError(self.url, "the file was deleted or replaced while it was in use")
        end_s = time.monotonic() + OUTAGE_TIMEOUT_S
        while True:
            try:
                connection = self.engine.connect()
                self._is_lost = False
                return connection
            except SQLAlchemyError:
                if self._is_lost or self.engine.dialect.name == "sqlite" or time.monotonic() >= end_s:
                    self._is_lost = True  # the next try need not wait as long again
                    raise
                time.sleep(0.25)

    def has_news(self) -> bool | None:
        """Returns whether another program wrote since this was last asked; None on a server, which does not tell.

        SQLite counts the changes that others make to a file. Nobody else sees one in memory.
        """
        if self.in_memory or self.engine.dialect.name != "sqlite":
            return False if self.in_memory else None
        with self.transaction() as connection:
            before = self._others
            self._others = connection.exec_driver_sql("PRAGMA data_version").scalar()
        return before is not None and self._others != before

    def defer(self, write: Callable[[], None]) -> None:
        """Defers a write to the beginning of the next unit of work, or to closing."""
        self._deferred.append(write)

    def write_deferred(self) -> None:
        """Writes what was deferred."""
        while self._deferred:
            self._deferred.pop()()

    def close(self) -> None:
        """Writes what was deferred, unless the connection is lost, and closes all connections."""
        try:
            if not self._is_lost:
                self.write_deferred()
        finally:
            self._deferred.clear()
            self.engine.dispose()


def file_identity(path: Path) -> tuple[int, int]:
    """Returns the identity of a file, unlike that of another that gets its name later; zeros when it is gone."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


TEMPLATES: dict[bytes, sqlite3.Connection] = {}
"""What a database in memory was made of -> the first such of this process, as it was when it was new."""
TEMPLATES_LOCK = Lock()
MOST_TEMPLATES = 8


def keep_template(engine: Engine, content: bytes = b"") -> None:
    """Keeps a copy of a new database: making tables, vocabulary and records takes a hundred times as long as copying.

    Args:
        engine: Of the database, which is in memory.
        content: A unique encoding of what was put into it; nothing but the vocabulary by default.
    """
    key = template_key(content)
    with TEMPLATES_LOCK, engine.connect() as connection:
        source = connection.connection.driver_connection
        if isinstance(source, sqlite3.Connection) and key not in TEMPLATES:
            if len(TEMPLATES) >= MOST_TEMPLATES:  # the first ones have nothing but the vocabulary, and are used most
                TEMPLATES.pop(list(TEMPLATES)[MOST_TEMPLATES // 2]).close()
            TEMPLATES[key] = copy = sqlite3.connect(":memory:", check_same_thread=False)
            source.backup(copy)


def copy_template(engine: Engine, content: bytes = b"") -> bool:
    """Makes a new database what the template is; returns whether there is one."""
    with TEMPLATES_LOCK, engine.connect() as connection:
        target, template = connection.connection.driver_connection, TEMPLATES.get(template_key(content))
        if template is None or not isinstance(target, sqlite3.Connection):
            return False
        template.backup(target)
        return True


def template_key(content: bytes) -> bytes:
    """Returns the key of a template: other tables, as tests have them, are another database."""
    return b"%d " % len(METADATA.tables) + content


def prepare_sqlite(connection: Any, _record: object) -> None:
    """Sets the write-ahead log, checked references, and a timeout for another writer."""
    cursor = connection.cursor()
    for setting in (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def disable_driver_transactions(connection: Any, _record: object) -> None:
    """Turns the driver's own transactions off: they begin only with a change, and what was read before is older."""
    connection.isolation_level = None


def begin_transaction(connection: Connection) -> None:
    """Begins a transaction with the first statement: a unit of work reads and writes one state of the database."""
    connection.exec_driver_sql("BEGIN")

"""Timeouts of database servers: one that is gone, one that does not answer, one that another client prepares."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

__all__ = ["ANSWER_TIMEOUT_S", "CONNECT_TIMEOUT_S", "OUTAGE_TIMEOUT_S", "connect_with_timeout", "locked"]

CONNECT_TIMEOUT_S = 5
"""The time for a server to accept a connection."""
ANSWER_TIMEOUT_S = 10
"""The time for an answer to a statement; a server that is stopped keeps its connections open and is silent."""
OUTAGE_TIMEOUT_S = 10.0
"""The time for a server to come back, before a unit of work begins."""
LOCK_TIMEOUT_S = 60.0
"""The time for other clients to release the lock."""
LOCK = 0x63656C6C


@contextmanager
def locked(engine: Engine, wanted: bool = True) -> Iterator[None]:
    """Locks a database so that one of several clients works at a time; nothing else of the server is held up.

    SQLite does not need it: its file has one writer.
    """
    name = f"CONCAT(LEFT(DATABASE(), 40), '{LOCK}')"
    tries = {
        "mysql": (f"SELECT GET_LOCK({name}, 0)", f"DO RELEASE_LOCK({name})"),
        "postgresql": (f"SELECT pg_try_advisory_lock({LOCK})", f"SELECT pg_advisory_unlock({LOCK})"),
    }
    tries["mariadb"] = tries["mysql"]
    if not wanted or engine.dialect.name not in tries:
        yield
        return
    take, give = tries[engine.dialect.name]
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        end_s = time.monotonic() + LOCK_TIMEOUT_S
        while not connection.scalar(text(take)):
            if time.monotonic() > end_s:
                waited = f"another program is preparing it since {LOCK_TIMEOUT_S:g} s"
                raise OperationalError("", None, TimeoutError(waited))
            time.sleep(0.05)
        try:
            yield
        finally:
            if not connection.invalidated:
                connection.execute(text(give))


def connect_with_timeout(_dialect: object, _record: object, arguments: Any, options: Any) -> Any:
    """Connects to PostgreSQL with a limit for every answer, which its driver does not have."""
    import psycopg

    class ConnectionWithTimeout(psycopg.Connection[Any]):  # type: ignore[misc]  # an extra, not always there to be checked
        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            return super().wait(self._until(gen), *arguments, **options)

        def _until(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
            """Yields what the driver waits for; it is woken several times a second while nothing comes."""
            end_s, ready = time.monotonic() + ANSWER_TIMEOUT_S, None
            while True:
                try:
                    wanted = gen.send(ready)
                except StopIteration as end:
                    return end.value
                ready = yield wanted
                if not ready and time.monotonic() > end_s:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server did not answer within {ANSWER_TIMEOUT_S} s")

    return ConnectionWithTimeout.connect(*arguments, **options)

"""A database as an SQL script, for other tools."""

from __future__ import annotations

from typing import Any

from sqlalchemy import LargeBinary, create_mock_engine, insert, select
from sqlalchemy.engine import Dialect

from cellwright.core.errors import UnknownName
from cellwright.knowledge.database import Database
from cellwright.knowledge.history import METADATA

__all__ = ["DIALECTS", "write_script"]

DIALECTS = {"sqlite": "sqlite://", "mariadb": "mariadb+pymysql://", "postgresql": "postgresql+psycopg://"}
"""Name -> an address of that kind."""


def write_script(database: Database, dialect: str = "sqlite") -> str:
    """Returns statements that make all tables and rows anew in an empty database.

    References between tables that refer to each other are declared after the rows are in, where a server can do that.
    Marked states stay behind: they are no text.

    Raises:
        UnknownName: A server that the script cannot be written for.
    """
    if dialect not in DIALECTS:
        raise UnknownName("kind of database", dialect, DIALECTS, "SQL script")
    made: list[str] = []
    engine: Any = create_mock_engine(DIALECTS[dialect], lambda sql, *_, **__: made.append(_text(sql, engine.dialect)))
    METADATA.create_all(engine, checkfirst=False)
    tables = [text for text in made if not text.startswith("ALTER")]
    references = [text for text in made if text.startswith("ALTER")]
    rows = []
    with database.transaction() as connection:
        for table in METADATA.sorted_tables:
            if any(isinstance(column.type, LargeBinary) for column in table.columns):
                continue
            for row in connection.execute(select(table).order_by(*table.primary_key)).mappings():
                known = {name: value for name, value in row.items() if value is not None}
                rows.append(_text(insert(table).values(known), engine.dialect))
    return "".join(f"{text};\n" for text in (*tables, *rows, *references))


def _text(statement: Any, dialect: Dialect) -> str:
    """Returns one statement with its values in it."""
    return str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True})).strip()

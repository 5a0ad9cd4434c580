"""Stable states: all that may change in the world model, stored as a whole and set again as a whole.

What may change follows from the tables: the solid objects, what refers to one of them (locations, slots, whatever an
ontology adds), and the associations of both. Designs, stock keeping units and the vocabulary stay as they are.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Table, inspect
from sqlalchemy.orm import Mapper

from cellwright.knowledge.generated.records import Record, SolidObject

__all__ = ["State", "changeable_tables", "pack", "read_state", "unpack", "write_state"]

State = dict[str, dict[int, list[Any]]]
"""Table -> id -> the other values of the row, in the order of its columns."""


@dataclass(frozen=True)
class Changeable:
    """A table of the state.

    Attributes:
        table: The table.
        kinds: The classes whose rows belong to the state, where it has rows of others, too.
        root: The table that says of which class a row is.
        links: The columns that may be empty and refer to other rows: set when all rows are there.
    """

    table: Table
    kinds: tuple[str, ...]
    root: str
    links: tuple[int, ...]

    @property
    def columns(self) -> list[str]:
        """All but the key."""
        return [column.name for column in self.table.columns if column.name != "id"]


@cache
def changeable_tables(top: type[Record] = SolidObject) -> tuple[Changeable, ...]:
    """Returns the tables that a state consists of; what other rows need comes before them."""
    objects: Mapper[Any] = inspect(top)
    solid = {str(mapper.local_table) for mapper in objects.self_and_descendants}
    others = [m for m in objects.registry.mappers if m.polymorphic_identity is not None and not m.isa(objects)]
    referring = [m for m in others if any(k.column.table.name in solid for k in m.local_table.foreign_keys)]
    stateful = {below for mapper in referring for below in mapper.self_and_descendants}
    kinds = tuple(sorted(str(mapper.polymorphic_identity) for mapper in stateful))
    chosen = {above for mapper in (*objects.self_and_descendants, *stateful) for above in mapper.iterate_to_root()}
    found = [
        changeable(
            mapper.local_table,
            () if mapper in stateful or mapper.isa(objects) else kinds,
            str(mapper.base_mapper.local_table),
        )
        for mapper in sorted(chosen, key=lambda m: (len(list(m.iterate_to_root())), str(m.local_table)))
    ]
    names = {one.table.name for one in found}
    for _, table in sorted(top.metadata.tables.items()):
        ends = {
            key.column.table.name
            for name in ("owner_id", "target_id")
            if name in table.c
            for key in table.c[name].foreign_keys
        }
        if ends & names:
            found.append(changeable(table, (), ""))
    return tuple(found)


def changeable(table: Any, kinds: tuple[str, ...], root: str) -> Changeable:
    """Returns a table with what follows from its columns."""
    columns = [column for column in table.columns if column.name != "id"]
    links = tuple(i for i, column in enumerate(columns) if column.nullable and column.foreign_keys)
    return Changeable(table, kinds, root, links)


def read_state(connection: Connection) -> State:
    """Returns all that may change, as it is now."""
    state: State = {}
    cursor = connection.connection.cursor()
    try:
        for name, query in queries(connection.dialect):
            cursor.execute(query)
            if rows := cursor.fetchall():
                state[name] = {row[0]: list(row[1:]) for row in rows}
    except connection.dialect.loaded_dbapi.Error:
        connection.exec_driver_sql(query)  # raises the usual error
        raise
    finally:
        cursor.close()
    return state


@cache
def queries(dialect: Dialect) -> list[tuple[str, str]]:
    """Returns table -> the query for its rows; built once, because a state is sixty of them."""
    quote = dialect.identifier_preparer.quote
    result = []
    for one in changeable_tables():
        text = f"SELECT {', '.join(map(quote, ['id', *one.columns]))} FROM {quote(one.table.name)}"
        if one.kinds:
            words = ", ".join(f"'{kind}'" for kind in one.kinds)
            text += f" WHERE id IN (SELECT id FROM {quote(one.root)} WHERE kind IN ({words}))"
        result.append((one.table.name, text))
    return result


def write_state(connection: Connection, wanted: State) -> None:
    """Makes the database equal to a state: only rows that differ are touched."""
    now = read_state(connection)
    todo = []
    for one in changeable_tables():
        old, new = now.get(one.table.name, {}), wanted.get(one.table.name, {})
        gone = [key for key in old if key not in new]
        made = {key: row for key, row in new.items() if key not in old}
        changed = {key: row for key, row in new.items() if key in old and old[key] != row}
        if not one.root:  # rows of an association that change places would meet on the way
            gone, made, changed = [*gone, *changed], {**made, **changed}, {}
        todo.append((one, gone, made, changed))
    for one, gone, _, _ in reversed(todo):
        run(connection, "DELETE FROM {table} WHERE {id} = {mark}", one, [(key,) for key in gone], ())
    for one, _, made, _ in todo:
        rows = [(*without(row, one.links), key) for key, row in made.items()]
        names = (*one.columns, "id")
        marks = ", ".join(["{mark}"] * len(names))
        run(connection, f"INSERT INTO {{table}} ({{names}}) VALUES ({marks})", one, rows, names)
    for one, _, made, changed in todo:
        linked = {key: row for key, row in made.items() if any(row[i] is not None for i in one.links)}
        rows = [(*row, key) for key, row in {**linked, **changed}.items()]
        run(connection, "UPDATE {table} SET {settings} WHERE {id} = {mark}", one, rows, tuple(one.columns))


def without(row: list[Any], links: tuple[int, ...]) -> list[Any]:
    """Returns the row with nothing in the columns that refer to rows that may not be there yet."""
    return [None if i in links else value for i, value in enumerate(row)]


def run(
    connection: Connection, form: str, one: Changeable, rows: list[tuple[Any, ...]], names: tuple[str, ...]
) -> None:
    """Runs a statement for all rows."""
    if not rows:
        return
    quote = connection.dialect.identifier_preparer.quote
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    text = form.format(
        table=quote(one.table.name),
        id=quote("id"),
        mark=mark,
        names=", ".join(map(quote, names)),
        settings=", ".join(f"{quote(name)} = {mark}" for name in names),
    )
    connection.exec_driver_sql(text, rows)


def pack(state: State) -> bytes:
    """Returns a state as bytes; numbers come back to the last bit."""
    return zlib.compress(json.dumps(state, separators=(",", ":")).encode(), level=1)


def unpack(content: bytes) -> State:
    """Returns the state that was packed."""
    tables = json.loads(zlib.decompress(content))
    return {table: {int(key): row for key, row in rows.items()} for table, rows in tables.items()}

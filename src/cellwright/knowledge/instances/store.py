"""Conversion between a database and the content of an instance file."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, inspect, select

from cellwright.core.errors import BadInput
from cellwright.knowledge.database import Database
from cellwright.knowledge.generated import records
from cellwright.knowledge.instances.content import Atom, Content, InstanceEntry, Ref
from cellwright.knowledge.instances.schema import InstanceProperty, classes, vocabulary_iris

__all__ = ["copy_of", "read_content", "write_content"]


def read_content(database: Database) -> Content:
    """Returns all that a database holds beyond the ontology's own individuals.

    Tables are read one by one rather than records: that takes a few queries instead of thousands.
    """
    content, by_number = Content(database.url), dict[tuple[str, int], InstanceEntry]()
    given = {Ref(*one) for one in vocabulary_iris().values()}
    with database.transaction() as connection:
        for root in sorted({c.root for c in classes().values()}):
            table: Any = inspect(classes()[root].record).local_table
            for number, kind, name in connection.execute(select(table.c.id, table.c.kind, table.c.name)):
                by_number[root, number] = InstanceEntry(kind, name)
        for described in classes().values():
            together: dict[tuple[str, str], list[InstanceProperty]] = {}
            for known in described.own.values():
                together.setdefault((known.source.table.name, known.source.owner), []).append(known)
            for properties in together.values():
                _read_properties(connection, described.root, properties, by_number)
    for entry in by_number.values():
        if entry.ref not in given:
            content.add(entry)
    return content


def _read_properties(
    connection: Connection,
    root: str,
    properties: list[InstanceProperty],
    by_number: dict[tuple[str, int], InstanceEntry],
) -> None:
    """Reads properties that are stored in one table."""
    table, owner = properties[0].source.table, properties[0].source.owner
    for row in connection.execute(select(table).order_by(table.c.id)).mappings():
        for known in properties:
            numbers = tuple(row[column] for column in known.source.columns)
            if all(number is None for number in numbers):
                continue
            value: Atom = numbers if known.kind == "value" else numbers[0]
            if known.kind == "record":
                value = by_number[classes()[known.target].root, numbers[0]].ref
            by_number[root, row[owner]].values.setdefault(known.label, []).append(value)


def write_content(database: Database, content: Content) -> None:
    """Adds everything to a database, in one change.

    Raises:
        InstanceError: The content contradicts itself.
        BadInput: The database holds something already.
    """
    content.check()
    with database.session() as session:
        there = session.scalars(select(records.SolidObject.name)).first()
        if there is not None:
            raise BadInput(f"database {database.url} holds '{there}' already; read {content.where} into an empty one")
        made = {entry.ref: classes()[entry.kind].record(name=entry.name) for entry in content.ordered()}
        given = {Ref(type(one).__name__, one.name): one for one in session.scalars(select(records.DataThing))}
        for entry in content.ordered():
            described, record = classes()[entry.kind], made[entry.ref]
            for label, values in entry.values.items():
                known = described.properties[label]
                found = [_python(known, value, made, given) for value in values]
                setattr(record, known.name, found if known.many else found[0])
        session.add_all(made.values())


def _python(known: InstanceProperty, value: Atom, made: dict[Ref, Any], given: dict[Ref, Any]) -> Any:
    if isinstance(value, Ref):
        return made.get(value) or given[value]
    if isinstance(value, tuple):
        return getattr(records, known.target)(*value)
    return value


def copy_of(database: Database, into: Database | None = None) -> Database:
    """Returns the same content in another database, empty so far, or in memory; history and marks are left behind."""
    copy = into or Database()
    write_content(copy, read_content(database))
    return copy

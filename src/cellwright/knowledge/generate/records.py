"""Writes the access classes: SQLAlchemy classes with joined inheritance, one table for each class.

A functional property becomes a column, a property with several values an association table, a value class
(`cw:asValue`) columns of its owner and a small dataclass. References between objects run in circles (a robot has a
tool whose location refers to the robot), so their constraints are added after the tables and set after the rows.
"""

from __future__ import annotations

import hashlib

from cellwright.knowledge.generate.model import Datatype, Ontology, OntologyClass, OntologyProperty, snake
from cellwright.knowledge.generate.text import call, condition, docstring, quoted

__all__ = ["write_records"]

COLUMN_TYPES = {
    "string": "Text",
    "token": "String(255)",
    "double": "Double",
    "integer": "Integer",
    "boolean": "Boolean",
}
PYTHON_TYPES = {"string": "str", "token": "str", "double": "float", "integer": "int", "boolean": "bool"}
HEAD = '''"""Tables and access classes of the world model.

Generated from the ontology by `make regenerate`; edit the ontology instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Boolean, Column, Double, Integer, MetaData, String, Table, Text, UniqueConstraint
from sqlalchemy.ext.associationproxy import AssociationProxy, association_proxy
from sqlalchemy.orm import DeclarativeBase, Mapped, composite, foreign, mapped_column, relationship, remote

from cellwright.knowledge.columns import NAMING, below, non_negative, one_of, part_of, reference, root
from cellwright.knowledge.named import Named
'''
RECORD = '''class Record(DeclarativeBase):
    """Base of everything that is stored; its metadata holds every table."""

    metadata = MetaData(naming_convention=NAMING)
'''


def write_records(ontology: Ontology) -> str:
    """Returns the text of the module."""
    stored = [c for c in ontology.classes.values() if not c.as_value]
    values = [c for c in ontology.classes.values() if c.as_value]
    words = {
        p.datatype.name: p.datatype
        for c in ontology.classes.values()
        for p in c.properties
        if p.datatype is not None and p.datatype.words
    }
    aliases = [
        call(f"{name} = Literal", [quoted(w) for w in words[name].words], 0).replace("(", "[").replace(")", "]")
        for name in sorted(words)
    ]
    associations = [
        association(c, p) for c in stored for p in c.properties if not p.functional and is_reference(ontology, p)
    ]
    blocks = [
        *(value_class(c) for c in values),
        RECORD,
        *([("\n".join(associations)) + "\n"] if associations else []),
        *(access_class(ontology, c) for c in stored),
        *(row_class(ontology, c, p) for c in stored for p in c.properties if is_plain_list(ontology, p)),
    ]
    names = sorted(["Record", "SCHEMA_VERSION", *words, *(c.name for c in ontology.classes.values())], key=order_of_all)
    public = "__all__ = [\n" + "".join(f"    {quoted(n)},\n" for n in names) + "]\n"
    body = "\n\n".join(blocks)
    version = hashlib.sha256(("\n".join(aliases) + body).encode()).hexdigest()[:16]
    constants = "\n".join([f"SCHEMA_VERSION = {quoted(version)}", *aliases])
    return f"{HEAD}\n{public}\n{constants}\n\n\n{body}"


def order_of_all(name: str) -> tuple[bool, str]:
    """Returns the order that ruff wants in `__all__`: constants first."""
    return not name.isupper(), name


def is_reference(ontology: Ontology, entry: OntologyProperty) -> bool:
    return entry.target is not None and not ontology.classes[entry.target].as_value


def is_plain_list(ontology: Ontology, entry: OntologyProperty) -> bool:
    return not entry.functional and not is_reference(ontology, entry)


def row_name(owner: OntologyClass, entry: OntologyProperty) -> str:
    return f"{owner.name}{entry.name[0].upper()}{entry.name[1:]}"


def value_class(entry: OntologyClass) -> str:
    fields = "\n".join(f"    {snake(p.name)}: {python_type(p.datatype)}" for p in entry.properties if p.datatype)
    return f"@dataclass(frozen=True)\nclass {entry.name}:\n{docstring(entry.comment)}\n\n{fields}\n"


def python_type(datatype: Datatype | None) -> str:
    assert datatype is not None
    return datatype.name if datatype.words else PYTHON_TYPES[datatype.base]


def column_arguments(column: str, datatype: Datatype) -> list[str]:
    if datatype.words:
        return [f"one_of({quoted(column)}, {datatype.name})"]
    return [COLUMN_TYPES[datatype.base], *([f"non_negative({quoted(column)})"] if datatype.non_negative else [])]


def association(owner: OntologyClass, entry: OntologyProperty) -> str:
    table = f"{snake(owner.name)}_{snake(entry.name)}"
    assert entry.target is not None
    arguments = [
        quoted(table),
        "Record.metadata",
        'Column("id", Integer, primary_key=True)',
        f'Column("owner_id", part_of({quoted(snake(owner.name))}), nullable=False)',
        f'Column("target_id", part_of({quoted(snake(entry.target))}), index=True, nullable=False)',
        'UniqueConstraint("owner_id", "target_id")',
    ]
    if entry.exclusive:
        arguments.append('UniqueConstraint("target_id")')
    return call(f"{table} = Table", arguments, 0)


def row_class(ontology: Ontology, owner: OntologyClass, entry: OntologyProperty) -> str:
    table = f"{snake(owner.name)}_{snake(entry.name)}"
    lines = [
        f"class {row_name(owner, entry)}(Record):",
        docstring(f"One `{entry.name}` of a {owner.name}."),
        "",
        f"    __tablename__ = {quoted(table)}",
        "    id: Mapped[int] = mapped_column(primary_key=True)",
        call("owner_id: Mapped[int] = mapped_column", [f"part_of({quoted(snake(owner.name))})", "index=True"]),
    ]
    if entry.datatype is not None:
        arguments = column_arguments("value", entry.datatype)
        lines.append(call(f"value: Mapped[{python_type(entry.datatype)}] = mapped_column", arguments))
    else:
        assert entry.target is not None
        lines += value_columns(ontology.classes[entry.target], "value", optional=False)
    return "\n".join(lines) + "\n"


def value_columns(value: OntologyClass, name: str, *, optional: bool) -> list[str]:
    lines, columns = [], []
    none = " | None" if optional else ""
    for part in value.properties:
        assert part.datatype is not None
        column = f"{name}_{snake(part.name)}"
        columns.append(quoted(column))
        arguments = column_arguments(column, part.datatype)
        lines.append(call(f"{column}: Mapped[{python_type(part.datatype)}{none}] = mapped_column", arguments))
    lines.append(call(f"{name}: Mapped[{value.name}{none}] = composite", columns))
    return lines


def access_class(ontology: Ontology, entry: OntologyClass) -> str:
    table = snake(entry.name)
    lines = [f"class {entry.name}({entry.parent or 'Named, Record'}):", docstring(entry.comment), ""]
    lines.append(f"    __tablename__ = {quoted(table)}")
    if entry.parent is None:
        unique = '"name"' if entry.unique_names else '"name", "kind"'
        lines += [
            "    id: Mapped[int] = mapped_column(primary_key=True)",
            "    kind: Mapped[str] = mapped_column(String(64), index=True)",
            "    name: Mapped[str] = mapped_column(String(255), index=True)",
            f"    __table_args__ = (UniqueConstraint({unique}),)",
            f"    __mapper_args__ = root({quoted(entry.name)})",
        ]
    else:
        lines += [
            call("id: Mapped[int] = mapped_column", [f"part_of({quoted(snake(entry.parent))})", "primary_key=True"]),
            f"    __mapper_args__ = below({quoted(entry.name)}, id == {entry.parent}.id)",
        ]
    for item in entry.properties:
        lines += property_lines(ontology, entry, table, item)
        lines.append(docstring(item.comment))
    return "\n".join(lines) + "\n"


def property_lines(ontology: Ontology, owner: OntologyClass, table: str, item: OntologyProperty) -> list[str]:
    name, needed = snake(item.name), item.name in owner.required
    none = "" if needed else " | None"
    if is_plain_list(ontology, item):
        row = row_name(owner, item)
        python = python_type(item.datatype) if item.datatype else item.target
        ordered = [f'order_by="{row}.id"', 'cascade="all, delete-orphan"', "passive_deletes=True"]
        proxy = [quoted(f"{name}_rows"), '"value"', f"creator=lambda value: {row}(value=value)"]
        return [
            call(f"{name}_rows: Mapped[list[{row}]] = relationship", ordered),
            call(f"{name}: AssociationProxy[list[{python}]] = association_proxy", proxy),
        ]
    if item.datatype is not None:
        arguments = column_arguments(name, item.datatype)
        return [call(f"{name}: Mapped[{python_type(item.datatype)}{none}] = mapped_column", arguments)]
    assert item.target is not None
    target = ontology.classes[item.target]
    if target.as_value:
        return value_columns(target, name, optional=not needed)
    if not item.functional:
        joins = [
            f"secondary={table}_{name}",
            condition("primaryjoin", f"{owner.name}.id == {table}_{name}.c.owner_id"),
            condition("secondaryjoin", f"{target.name}.id == {table}_{name}.c.target_id"),
            f"order_by={table}_{name}.c.id",
        ]
        return [call(f"{name}: Mapped[list[{target.name}]] = relationship", joins)]
    key = f"reference({quoted(snake(target.name))}{', required=True' if needed else ''})"
    join = [f"primaryjoin=lambda: foreign({owner.name}.{name}_id) == remote({target.name}.id)"]
    return [
        call(f"{name}_id: Mapped[int{none}] = mapped_column", [key, "index=True"]),
        call(f"{name}: Mapped[{target.name}{none}] = relationship", join if needed else [*join, "post_update=True"]),
    ]

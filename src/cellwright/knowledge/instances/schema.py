"""The schema of instance files: the classes and properties of the ontology, as the access classes have them.

Nothing here knows a class by name. A class or property that is added to the ontology is read and written as soon as
the access classes have been generated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Boolean, Double, Enum, Integer, Table, inspect
from sqlalchemy.orm import Mapper, RelationshipProperty

from cellwright.knowledge.generated import records
from cellwright.knowledge.named import Named

__all__ = ["InstanceClass", "InstanceProperty", "PropertyStorage", "classes", "iris", "is_below", "vocabulary_iris"]

Kind = Literal["text", "number", "integer", "boolean", "value", "record"]
TRIPLE = re.compile(r'<(urn:cellwright:[^>]*)> <([^>]*)> (?:<([^>]*)>|"([^"]*)")')
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
OWL = "http://www.w3.org/2002/07/owl#"


@dataclass(frozen=True)
class PropertyStorage:
    """The storage of a property: columns of its class's table, or a table of pairs, or a table of values."""

    table: Table
    columns: tuple[str, ...]
    owner: str = "id"


@dataclass(frozen=True, kw_only=True)
class InstanceProperty:
    """A property of a class.

    Attributes:
        name: Of the access class's attribute.
        label: Its name in the ontology.
        kind: The kind of its values.
        many: Whether there may be several.
        target: The class of its values, for `value` and `record`.
        fields: The parts of a `value`.
        words: The only texts that are allowed, where that is so.
        required: Whether it must be given.
        quantity: `length`, `angle`, `weight`, their squares as `length2`, or nothing.
        source: Its storage.
    """

    name: str
    label: str
    kind: Kind
    many: bool
    source: PropertyStorage
    target: str = ""
    fields: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    required: bool = False
    quantity: str = ""

    @property
    def element(self) -> str:
        """Its name in XML."""
        return self.label[0].upper() + self.label[1:]


@dataclass(frozen=True, kw_only=True)
class InstanceClass:
    """A class that has records; its properties include those of the classes above it, by label."""

    name: str
    record: type[Any]
    root: str
    abstract: bool
    lineage: tuple[str, ...]
    own: dict[str, InstanceProperty]
    properties: dict[str, InstanceProperty]


@cache
def classes() -> dict[str, InstanceClass]:
    """Returns every class with records, those above before those below."""
    found: dict[str, InstanceClass] = {}
    _, marks = _ontology()
    mappers = [m for m in records.Record.registry.mappers if issubclass(m.class_, Named)]
    for mapper in sorted(mappers, key=lambda m: (len(list(m.iterate_to_root())), m.class_.__name__)):
        name = mapper.class_.__name__
        above = found[mapper.inherits.class_.__name__] if mapper.inherits is not None else None
        own = {p.label: p for p in _own_properties(mapper, marks)}
        both = {**(above.properties if above else {}), **own}
        found[name] = InstanceClass(
            name=name,
            record=mapper.class_,
            root=above.root if above else name,
            abstract=marks.get((name, "abstract")) == "true",
            lineage=(name, *(above.lineage if above else ())),
            own=own,
            properties=dict(sorted(both.items())),
        )
    return found


def is_below(kind: str, ancestor: str) -> bool:
    """Returns whether a class is another one or stands below it."""
    return kind in classes() and ancestor in classes()[kind].lineage


def iris() -> dict[str, str]:
    """Returns name of a class or property -> its full name in OWL."""
    return _ontology()[0]


@cache
def vocabulary_iris() -> dict[str, tuple[str, str]]:
    """Returns full name of an individual of the ontology -> its class and name; every database holds them."""
    local = {iri: name for name, iri in iris().items()}
    found = {}
    for subject, predicate, value, _ in _triples():
        if predicate == TYPE and value in local and subject not in local:
            found[subject] = (local[value], subject.rpartition("#")[2])
    return found


def _triples() -> list[tuple[str, str, str, str]]:
    text = Path(records.__file__).with_name("cellwright.nt").read_text(encoding="utf-8")
    return TRIPLE.findall(text)


@cache
def _ontology() -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Returns full names of classes and properties, and their annotations."""
    names, marks = {}, {}
    kinds = {f"{OWL}{kind}" for kind in ("Class", "ObjectProperty", "DatatypeProperty")}
    for subject, predicate, value, text in _triples():
        local = subject.rpartition("#")[2]
        if predicate == TYPE and value in kinds:
            names[local] = subject
        elif predicate.startswith("urn:cellwright:generate#"):
            marks[local, predicate.rpartition("#")[2]] = text
    return names, marks


def _own_properties(mapper: Mapper[Any], marks: dict[tuple[str, str], str]) -> list[InstanceProperty]:
    """Returns those that the class itself adds; the table that it adds has their columns."""
    table = mapper.local_table
    assert isinstance(table, Table)
    made, taken = [], {"id", "kind", "name"}
    for composite in mapper.composites:
        if composite.parent is mapper:
            columns = tuple(attribute.key for attribute in composite.props)
            taken.update(columns)
            value = composite.composite_class
            made.append(_value(composite.key, False, PropertyStorage(table, columns), value, marks))
    for relation in mapper.relationships:
        if relation.parent is not mapper:
            continue
        taken.update(column.name for column in relation.local_columns)
        made.append(_relation(relation, table, marks))
    for column in table.columns:
        if column.name not in taken:
            made.append(_datum(column.name, False, PropertyStorage(table, (column.name,)), column.type, marks))
    return made


def _datum(
    name: str, many: bool, source: PropertyStorage, kind: Any, marks: dict[tuple[str, str], str]
) -> InstanceProperty:
    words, label = tuple(kind.enums) if isinstance(kind, Enum) else (), _label(name)
    python: Kind = "text"
    if isinstance(kind, Boolean):
        python = "boolean"
    elif isinstance(kind, Double):
        python = "number"
    elif isinstance(kind, Integer):
        python = "integer"
    quantity = marks.get((label, "quantity"), "")
    return InstanceProperty(
        name=name, label=label, kind=python, many=many, source=source, words=words, quantity=quantity
    )


def _relation(relation: RelationshipProperty[Any], table: Table, marks: dict[tuple[str, str], str]) -> InstanceProperty:
    target = relation.mapper.class_
    if not issubclass(target, Named):  # rows of values
        rows, name = inspect(target), relation.key.removesuffix("_rows")
        local, owner = rows.local_table, next(iter(relation.remote_side)).name
        assert isinstance(local, Table)
        if "value" in {composite.key for composite in rows.composites}:
            value = rows.composites["value"]
            source = PropertyStorage(local, tuple(a.key for a in value.props), owner)
            return _value(name, True, source, value.composite_class, marks)
        return _datum(name, True, PropertyStorage(local, ("value",), owner), local.columns["value"].type, marks)
    many, required = relation.secondary is not None, False
    if many:
        assert isinstance(relation.secondary, Table)
        source = PropertyStorage(relation.secondary, ("target_id",), "owner_id")
    else:
        (column,) = relation.local_columns
        source, required = PropertyStorage(table, (str(column.name),)), not column.nullable
    return InstanceProperty(
        name=relation.key,
        label=_label(relation.key),
        kind="record",
        many=many,
        source=source,
        target=target.__name__,
        required=required,
    )


def _value(
    name: str, many: bool, source: PropertyStorage, value: Any, marks: dict[tuple[str, str], str]
) -> InstanceProperty:
    parts, label = tuple(f.name for f in fields(value)), _label(name)
    quantity = marks.get((label, "quantity"), "")
    return InstanceProperty(
        name=name,
        label=label,
        kind="value",
        many=many,
        source=source,
        target=value.__name__,
        fields=parts,
        quantity=quantity,
    )


def _label(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)

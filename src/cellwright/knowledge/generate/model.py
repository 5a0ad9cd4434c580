"""An ontology as the generators need it, free of RDF: classes, properties, individuals.

Everything that is generated (tables, access classes, planning files) starts from this one reading, so they cannot
disagree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cellwright.knowledge.errors import OntologyError

__all__ = ["Datatype", "Individual", "Ontology", "OntologyClass", "OntologyProperty", "snake"]


def snake(name: str) -> str:
    """Returns `primary_location` for `primaryLocation` or `PrimaryLocation`; a group such as `Rcc8` stays whole."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Datatype:
    """A data range: a built-in one, perhaps with a lower bound of zero, or a list of words."""

    name: str
    base: str
    non_negative: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OntologyProperty:
    """A property; exactly one of `datatype` and `target` is given."""

    name: str
    comment: str
    domains: tuple[str, ...]
    functional: bool
    exclusive: bool
    datatype: Datatype | None = None
    target: str | None = None


@dataclass(kw_only=True)
class OntologyClass:
    """A class of ours, with the properties that it is itself the domain of."""

    name: str
    comment: str
    parent: str | None
    foreign_parents: tuple[str, ...]
    abstract: bool
    as_value: bool
    unique_names: bool
    required: frozenset[str]
    properties: list[OntologyProperty] = field(default_factory=list)


@dataclass(frozen=True)
class Individual:
    """A named individual; object values are names of other individuals."""

    name: str
    class_name: str
    values: dict[str, list[str | float | int | bool]]


@dataclass(frozen=True)
class Ontology:
    """Classes with parents before children, and individuals by name."""

    classes: dict[str, OntologyClass]
    individuals: tuple[Individual, ...]

    def lineage(self, name: str) -> list[OntologyClass]:
        """Returns the class and its ancestors among ours, nearest first."""
        found: list[OntologyClass] = []
        step: str | None = name
        while step is not None:
            if step not in self.classes:
                raise OntologyError(name, f"'{step}' is not a class of this ontology")
            found.append(self.classes[step])
            step = found[-1].parent
        return found

    def properties_of(self, name: str) -> dict[str, OntologyProperty]:
        """Returns all properties that an instance of the class may have, by name."""
        return {p.name: p for c in reversed(self.lineage(name)) for p in c.properties}

"""The content of an instance file, free of any form: entries with a class, a name and values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from cellwright.knowledge.instances.errors import InstanceError
from cellwright.knowledge.instances.schema import InstanceProperty, classes, is_below, vocabulary_iris

__all__ = ["Atom", "Content", "InstanceEntry", "Ref", "natural"]


class Ref(NamedTuple):
    """An entry, or an individual of the ontology, by class and name."""

    kind: str
    name: str


Atom = str | float | int | bool | tuple[float | None, ...] | Ref
"""A value: a text, a number, the numbers of a point and the like, or a reference."""


@dataclass
class InstanceEntry:
    """One instance; values by the property's name in the ontology."""

    kind: str
    name: str
    values: dict[str, list[Atom]] = field(default_factory=dict)
    line: int | None = None
    lines: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def ref(self) -> Ref:
        """Its reference: class and name."""
        return Ref(self.kind, self.name)


@dataclass
class Content:
    """All entries, and their file or database."""

    where: str
    entries: dict[Ref, InstanceEntry] = field(default_factory=dict)

    def add(self, entry: InstanceEntry) -> None:
        """Takes in one more.

        Raises:
            InstanceError: A class that does not exist or has no instances, or the same entry twice.
        """
        known = classes().get(entry.kind)
        if known is None or known.abstract:
            allowed = ", ".join(name for name, c in sorted(classes().items()) if not c.abstract)
            problem = "has no direct instances" if known else "is not a class"
            raise InstanceError(self.where, f"'{entry.kind}' {problem} (available: {allowed})", entry.line)
        if entry.ref in self.entries:
            raise InstanceError(self.where, f"{entry.kind} '{entry.name}' is described twice", entry.line)
        self.entries[entry.ref] = entry

    def ordered(self) -> list[InstanceEntry]:
        """Returns the entries by class and name, numbers in names by their value: the order in files."""
        return sorted(self.entries.values(), key=lambda entry: (entry.kind, natural(entry.name)))

    def check(self) -> None:
        """Checks that every value fits its property, and every reference leads somewhere.

        Raises:
            InstanceError: The first that does not.
        """
        solid: dict[str, InstanceEntry] = {}
        known = {Ref(*one) for one in vocabulary_iris().values()}
        for entry in self.entries.values():
            described = classes()[entry.kind]
            if described.root == "SolidObject" and (other := solid.setdefault(entry.name, entry)) is not entry:
                problem = f"'{entry.name}' is the name of a {entry.kind} and of a {other.kind}"
                raise InstanceError(self.where, problem, entry.line)
            for label, values in entry.values.items():
                try:
                    known_property = described.properties.get(label)
                    if known_property is None:
                        raise ValueError(f"is unknown (available: {', '.join(described.properties)})")
                    if len(values) > 1 and not known_property.many:
                        raise ValueError(f"has {len(values)} values, one is allowed")
                    for value in values:
                        self._check_value(known_property, value, known)
                    if known_property.kind == "record" and len(set(values)) < len(values):
                        raise ValueError("names the same thing twice")
                except ValueError as error:
                    what = f"{entry.kind} '{entry.name}': {label} {error}"
                    raise InstanceError(self.where, what, entry.lines.get(label, entry.line)) from None
            for label, needed in described.properties.items():
                if needed.required and not entry.values.get(label):
                    raise InstanceError(self.where, f"{entry.kind} '{entry.name}' needs a {label}", entry.line)

    def _check_value(self, expected: InstanceProperty, value: Atom, known: Iterable[Ref]) -> None:
        if expected.kind == "record":
            assert isinstance(value, Ref)
            if value not in self.entries and value not in known:
                raise ValueError(f"refers to the {value.kind} '{value.name}', which is not there")
            if not is_below(value.kind, expected.target):
                raise ValueError(f"is the {value.kind} '{value.name}', it should be a {expected.target}")
        elif isinstance(value, tuple):
            if not all(number is None or isfinite(float(number)) for number in value):
                raise ValueError(f"is {value}, finite numbers are allowed")
        elif expected.words and value not in expected.words:
            raise ValueError(f"is '{value}' (available: {', '.join(expected.words)})")
        elif isinstance(value, float) and not isfinite(value):
            raise ValueError(f"is {value}, finite numbers are allowed")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Returns a key that sorts `slot_10` after `slot_9`."""
    pieces = re.split(r"([0-9]+)", name)
    key = [(1, int(piece), piece) if piece.isdecimal() else (0, 0, piece) for piece in pieces]
    return tuple(key)

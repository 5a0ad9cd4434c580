"""The ontology for planning: types, relations, and the vocabulary of predicates and actions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

__all__ = ["MAIN_VOCABULARY", "Flag", "PlanningOntology", "Relation", "planning_ontology"]

MAIN_VOCABULARY = "2016"


@dataclass(frozen=True)
class Relation:
    """An object property between types, and where the database keeps it."""

    owner: str
    property: str
    table: str
    column: str
    target: str
    many: bool


@dataclass(frozen=True)
class Flag:
    """A property that is true or false, and where the database keeps it."""

    owner: str
    property: str
    table: str
    column: str


@dataclass(frozen=True)
class PlanningOntology:
    """The generated reading of the ontology.

    Attributes:
        parents: Type -> type above it, None at the top; parents come first.
        tables: Type -> table that has its instances' names.
        relations: Object properties between types.
        flags: Properties that are true or false.
        individuals: Predicates, functions, actions and their pieces by name, as in the vocabulary's file.
    """

    parents: dict[str, str | None]
    tables: dict[str, str]
    relations: tuple[Relation, ...]
    flags: tuple[Flag, ...]
    individuals: dict[str, dict[str, Any]]

    @cached_property
    def vocabularies(self) -> tuple[str, ...]:
        """The vocabularies that have actions."""
        actions = (entry for entry in self.individuals.values() if entry["class"] == "Action")
        return tuple(sorted({entry.get("vocabulary", MAIN_VOCABULARY) for entry in actions}))

    @cached_property
    def below(self) -> dict[str, frozenset[str]]:
        """Type -> itself and all types below it."""
        return {kind: frozenset(k for k in self.parents if kind in self.lineage(k)) for kind in self.parents}

    def lineage(self, kind: str) -> list[str]:
        """Returns the type and those above it."""
        found = [kind]
        while (above := self.parents[found[-1]]) is not None:
            found.append(above)
        return found


def planning_ontology(folder: Path | None = None) -> PlanningOntology:
    """Reads the generated files, those of the package unless a folder is given."""
    return _packaged() if folder is None else _read((folder / "planning.json").read_text("utf-8"), _entries(folder))


@lru_cache
def _packaged() -> PlanningOntology:
    generated = files("cellwright.knowledge.generated")
    entries = json.loads((generated / "vocabulary.json").read_text("utf-8"))
    return _read((generated / "planning.json").read_text("utf-8"), entries)


def _entries(folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((folder / "vocabulary.json").read_text("utf-8"))
    return entries


def _read(text: str, entries: list[dict[str, Any]]) -> PlanningOntology:
    content = json.loads(text)
    return PlanningOntology(
        {entry["name"]: entry["parent"] for entry in content["types"]},
        {entry["name"]: entry["table"] for entry in content["types"]},
        tuple(Relation(**entry) for entry in content["relations"]),
        tuple(Flag(**entry) for entry in content["flags"]),
        {entry["name"]: entry for entry in entries},
    )

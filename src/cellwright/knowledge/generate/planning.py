"""Writes the part of the ontology for planning files: types, and the relations and flags that become predicates.

Planning files are made while a cell runs, when reading OWL would take too long; so this extract is stored with the
package.
"""

from __future__ import annotations

import json
from typing import Any

from cellwright.knowledge.generate.model import Ontology, OntologyClass, snake

__all__ = ["write_planning"]

ROOTS = ("SolidObject", "StockKeepingUnit")
"""The classes of planning: bodies in the cell, and their kinds."""


def write_planning(ontology: Ontology) -> str:
    """Returns types with their parents, object properties between them, and properties that are true or false."""
    types = [c for name, c in ontology.classes.items() if any(a.name in ROOTS for a in ontology.lineage(name))]
    names = {c.name for c in types}
    relations: list[dict[str, Any]] = []
    flags: list[dict[str, Any]] = []
    for owner in types:
        for entry in owner.properties:
            table = snake(owner.name)
            common = {"owner": owner.name, "property": entry.name, "table": table, "column": snake(entry.name)}
            if entry.target in names:
                relations.append({**common, "target": entry.target, "many": not entry.functional})
            elif entry.datatype is not None and entry.datatype.base == "boolean" and entry.functional:
                flags.append(common)
    content = {
        "types": [{"name": c.name, "parent": parent_of(c, names), "table": root_table(ontology, c)} for c in types],
        "relations": relations,
        "flags": flags,
    }
    sections = (f' "{key}": [\n{rows(entries)}\n ]' for key, entries in content.items())
    return "{\n" + ",\n".join(sections) + "\n}\n"


def rows(entries: list[dict[str, Any]]) -> str:
    """Returns one line for each entry."""
    return ",\n".join(f"  {json.dumps(entry)}" for entry in entries)


def parent_of(entry: OntologyClass, names: set[str]) -> str | None:
    return entry.parent if entry.parent in names else None


def root_table(ontology: Ontology, entry: OntologyClass) -> str:
    """Returns the table that has the name and the class of every instance."""
    return snake(ontology.lineage(entry.name)[-1].name)

"""Writes the individuals of the ontology (predicates, actions, failures) as JSON, to be loaded into a new database."""

from __future__ import annotations

import json

from cellwright.knowledge.generate.model import Ontology, snake

__all__ = ["write_vocabulary"]


def write_vocabulary(ontology: Ontology) -> str:
    """Returns one entry for each individual; references are names."""
    entries = []
    for individual in ontology.individuals:
        properties = ontology.properties_of(individual.class_name)
        values = {
            snake(name): found[0] if properties[name].functional else found
            for name, found in sorted(individual.values.items())
        }
        entries.append({"class": individual.class_name, "name": individual.name, **values})
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"

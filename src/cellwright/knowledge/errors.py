"""Errors of the knowledge: an ontology that cannot be generated from, a database that cannot be used."""

from __future__ import annotations

from cellwright.core.errors import BadInput

__all__ = ["DatabaseError", "OntologyError"]


class OntologyError(BadInput):
    """An ontology that tables cannot be made from; names the class or property."""

    def __init__(self, entity: str, problem: str) -> None:
        super().__init__(f"ontology: {entity}: {problem}")
        self.entity = entity
        self.problem = problem


class DatabaseError(BadInput):
    """A database that is gone, locked, read-only or of another version; names the address, without its password."""

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(f"database {url}: {problem}")
        self.url = url
        self.problem = problem

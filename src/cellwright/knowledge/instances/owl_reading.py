"""Reads instance files in OWL, ours and others: RDF/XML, Turtle, N-Triples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.core.errors import MissingExtra
from cellwright.knowledge.instances.content import Atom, Content, InstanceEntry, Ref, natural
from cellwright.knowledge.instances.errors import InstanceError
from cellwright.knowledge.instances.owl import name_in
from cellwright.knowledge.instances.safe_xml import parse
from cellwright.knowledge.instances.schema import InstanceProperty, classes, iris, vocabulary_iris

__all__ = ["OWL_FORMATS", "read_owl"]

OWL_FORMATS = {".owl": "xml", ".rdf": "xml", ".ttl": "turtle", ".nt": "nt"}
OURS = "urn:cellwright:"
PYTHON: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "boolean": (bool,),
}


def read_owl(data: bytes, where: str, form: str = "xml") -> Content:
    """Returns the instances of our classes.

    Raises:
        MissingExtra: rdflib is not installed.
        InstanceError: It is not such a file, or speaks of what the ontology does not have.
    """
    try:
        import rdflib
    except ModuleNotFoundError:
        raise MissingExtra("reading OWL", "planning") from None
    if form == "xml":
        parse(data, where)  # refuses what rdflib would follow, and names the line where it is not XML
    graph = rdflib.Graph()
    try:
        graph.parse(data=data, format=form)
    except Exception as error:  # its parsers raise plain and foreign classes alike
        raise InstanceError(where, f"is not {Path(where).suffix or form}: {error}") from error
    return _Reader(graph, where).content()


class _Reader:
    def __init__(self, graph: Any, where: str) -> None:
        self.where = where
        self.about = dict[str, list[tuple[str, Any]]]()
        for subject, predicate, value in graph:
            self.about.setdefault(str(subject), []).append((str(predicate), value))
        self.local = {iri: name for name, iri in iris().items()}
        self.kinds = {subject: kind for subject in self.about if (kind := self._kind(subject))}

    def content(self) -> Content:
        content = Content(self.where)
        for subject, kind in self.kinds.items():
            if kind in classes() and subject not in vocabulary_iris():
                content.add(self._entry(subject, kind))
        return content

    def _kind(self, subject: str) -> str | None:
        """Returns the class that says most about it."""
        found = [self.local[str(v)] for p, v in self.about[subject] if p.endswith("#type") and str(v) in self.local]
        found.sort(key=lambda name: len(classes()[name].lineage) if name in classes() else 0)
        return found[-1] if found else None

    def _entry(self, subject: str, kind: str) -> InstanceEntry:
        entry = InstanceEntry(kind, name_in(subject, kind))
        properties = classes()[kind].properties
        found: dict[str, list[Any]] = {}
        for predicate, value in self.about[subject]:
            if predicate.startswith(OURS):
                found.setdefault(self.local.get(predicate, predicate), []).append(value)
        for label, nodes in found.items():
            if label not in properties:
                problem = f"{kind} '{entry.name}': {label} is unknown (available: {', '.join(properties)})"
                raise InstanceError(self.where, problem)
            nodes.sort(key=lambda node: natural(str(node)))
            entry.values[label] = [self._atom(entry, properties[label], node) for node in nodes]
        return entry

    def _atom(self, entry: InstanceEntry, known: InstanceProperty, node: Any) -> Atom:
        if known.kind == "record":
            if str(node) in vocabulary_iris():
                return Ref(*vocabulary_iris()[str(node)])
            kind = self.kinds.get(str(node))
            if kind is None:
                raise self._wrong(entry, known, f"refers to {node}, which is not described")
            return Ref(kind, name_in(str(node), kind))
        if known.kind == "value":
            given = {self.local.get(p, p): v for p, v in self.about.get(str(node), []) if p.startswith(OURS)}
            return tuple(self._number(entry, known, given[part]) if part in given else None for part in known.fields)
        if known.kind == "number":
            return self._number(entry, known, node)
        value = getattr(node, "value", None)
        right = isinstance(value, PYTHON[known.kind]) and not (known.kind == "integer" and isinstance(value, bool))
        if right and isinstance(value, str | int | bool):
            return value
        raise self._wrong(entry, known, f"is '{node}', it should be a {known.kind}")

    def _number(self, entry: InstanceEntry, known: InstanceProperty, node: Any) -> float:
        value = getattr(node, "value", None)
        try:
            if isinstance(value, bool | str) or value is None:
                raise TypeError
            return float(value)
        except (TypeError, ValueError):
            raise self._wrong(entry, known, f"is '{node}', it should be a number") from None

    def _wrong(self, entry: InstanceEntry, known: InstanceProperty, problem: str) -> InstanceError:
        return InstanceError(self.where, f"{entry.kind} '{entry.name}': {known.label} {problem}")

"""Instance files in OWL: RDF/XML that every OWL tool reads beside the ontology. Numbers are SI and radians.

Every instance is an individual, also every point and every direction. What has several values is sorted by name, as
RDF has no order, and the same text or number twice is there once: a file says the same as its database, in the same
bytes whichever way the database was filled.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from cellwright.knowledge.instances.content import Atom, Content, InstanceEntry, Ref, natural
from cellwright.knowledge.instances.safe_xml import escaped
from cellwright.knowledge.instances.schema import InstanceProperty, classes, iris, vocabulary_iris

__all__ = ["BASE", "iri_of", "name_in", "write_owl"]

BASE = "urn:cellwright:instances"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
OWL = "http://www.w3.org/2002/07/owl#"
DATATYPES = {bool: "boolean", int: "integer", float: "double"}


def iri_of(ref: Ref) -> str:
    """Returns the full name of an instance; the class is part of it, as names are unique within a class only."""
    return f"{BASE}#{ref.kind}.{quote(ref.name, safe='').replace('.', '%2E')}"


def name_in(iri: str, kind: str) -> str:
    """Returns the instance's name: after its class in our own files, after the hash in others."""
    return unquote(iri.rpartition("#")[2].removeprefix(f"{kind}."))


def write_owl(content: Content) -> str:
    """Returns the whole file."""
    spaces = sorted({iri.rpartition("#")[0] + "#" for iri in iris().values()})
    prefixes = {space: space.rpartition(":")[2].removesuffix("#") for space in spaces}
    writer = _Writer({name: f"{prefixes[i[: len(i) - len(name)]]}:{name}" for name, i in iris().items()})
    head = "".join(f'\n    xmlns:{prefix}="{space}"' for space, prefix in prefixes.items())
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<rdf:RDF\n    xmlns:rdf="{RDF}"\n    xmlns:owl="{OWL}"{head}>',
        f'  <owl:Ontology rdf:about="{BASE}"/>',
    ]
    for entry in content.ordered():
        lines += writer.entry(entry)
    return "\n".join([*lines, "</rdf:RDF>", ""])


class _Writer:
    def __init__(self, qualified: dict[str, str]) -> None:
        self._q = qualified
        self._vocabulary = {Ref(*one): iri for iri, one in vocabulary_iris().items()}

    def entry(self, entry: InstanceEntry) -> list[str]:
        iri, values = iri_of(entry.ref), list[str]()
        lines = [*self._open(entry.kind, iri)]
        for label, known in classes()[entry.kind].properties.items():
            found = entry.values.get(label, [])
            if known.kind == "record":
                found = sorted(found, key=lambda ref: natural(self._iri(ref)))  # type: ignore[arg-type]
            elif known.kind != "value":
                found = sorted(dict.fromkeys(found), key=lambda value: natural(str(value)))
            for number, value in enumerate(found, start=1):
                lines.append(self._statement(known, value, f"{iri}.{label}.{number}"))
                if isinstance(value, tuple) and not isinstance(value, Ref):
                    values += self._value(known, value, f"{iri}.{label}.{number}")
        return [*lines, f"  </{self._q[entry.kind]}>", *values]

    def _open(self, kind: str, iri: str) -> tuple[str, str]:
        # Without the second line owlready2 overlooks individuals.
        return (f'  <{self._q[kind]} rdf:about="{iri}">', f'    <rdf:type rdf:resource="{OWL}NamedIndividual"/>')

    def _iri(self, ref: Ref) -> str:
        return self._vocabulary.get(ref) or iri_of(ref)

    def _statement(self, known: InstanceProperty, value: Atom, value_iri: str) -> str:
        name = self._q[known.label]
        if isinstance(value, Ref):
            return f'    <{name} rdf:resource="{self._iri(value)}"/>'
        if isinstance(value, tuple):
            return f'    <{name} rdf:resource="{value_iri}"/>'
        return f"    {_literal(name, value)}"

    def _value(self, known: InstanceProperty, value: tuple[float | None, ...], iri: str) -> list[str]:
        pairs = zip(known.fields, value, strict=True)
        numbers = [f"    {_literal(self._q[part], number)}" for part, number in pairs if number is not None]
        return [*self._open(known.target, iri), *numbers, f"  </{self._q[known.target]}>"]


def _literal(name: str, value: str | float | int | bool) -> str:
    if isinstance(value, str):
        return f"<{name}>{escaped(value)}</{name}>"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return f'<{name} rdf:datatype="{XSD}{DATATYPES[type(value)]}">{text}</{name}>'

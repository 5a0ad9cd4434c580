"""Reads the hand-written Turtle files into the model, and refuses what tables cannot be made from."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from rdflib import OWL, RDF, RDFS, XSD, BNode, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from cellwright.knowledge.errors import OntologyError
from cellwright.knowledge.generate.model import Datatype, Individual, Ontology, OntologyClass, OntologyProperty

__all__ = ["OURS", "SOURCES", "read_graph", "read_ontology"]

SOURCES = tuple(sorted((Path(__file__).parents[1] / "ontology").glob("*.ttl")))
OURS = "urn:cellwright:"
CW = Namespace("urn:cellwright:generate#")
BUILT_IN = {
    XSD.string: "string",
    XSD.token: "token",
    XSD.double: "double",
    XSD.integer: "integer",
    XSD.nonNegativeInteger: "integer",
    XSD.boolean: "boolean",
}


def read_graph(paths: Iterable[Path] = SOURCES) -> Graph:
    """Returns all files as one graph."""
    graph = Graph()
    for path in paths:
        try:
            graph.parse(path, format="turtle")
        except Exception as error:  # the parser raises plain and foreign classes alike
            raise OntologyError(path.name, f"not Turtle: {error}") from error
    return graph


def read_ontology(graph: Graph) -> Ontology:
    """Returns classes, properties and individuals of our own name spaces."""
    subjects = sorted(s for s in graph.subjects(RDF.type, OWL.Class) if isinstance(s, URIRef) and s.startswith(OURS))
    for earlier, later in pairwise(sorted(subjects, key=local)):
        if local(earlier) == local(later):
            raise OntologyError(local(later), f"is declared as {earlier} and as {later}")
    classes = parents_first({local(s): read_class(graph, s) for s in subjects})
    for kind in (OWL.DatatypeProperty, OWL.ObjectProperty):
        for subject in sorted(s for s in graph.subjects(RDF.type, kind) if isinstance(s, URIRef)):
            entry = read_property(graph, subject, kind == OWL.DatatypeProperty, classes)
            for domain in entry.domains:
                classes[domain].properties.append(entry)
    ontology = Ontology(classes, ())
    for name, entry_class in classes.items():
        entry_class.properties.sort(key=lambda p: p.name)
        inherited = [p.name for c in ontology.lineage(name) for p in c.properties]
        if twice := {p for p in inherited if inherited.count(p) > 1}:
            raise OntologyError(
                name, f"has '{min(twice)}' itself and from an ancestor: name only one of them as domain"
            )
    return Ontology(classes, tuple(read_individuals(graph, ontology)))


def local(node: Node) -> str:
    """Returns the name after the last hash."""
    return str(node).rsplit("#", 1)[-1]


def comment(graph: Graph, subject: URIRef) -> str:
    text = graph.value(subject, RDFS.comment)
    if text is None:
        raise OntologyError(local(subject), "has no rdfs:comment")
    return str(text)


def read_class(graph: Graph, subject: URIRef) -> OntologyClass:
    above = sorted(o for o in graph.objects(subject, RDFS.subClassOf) if isinstance(o, URIRef))
    ours = [local(o) for o in above if o.startswith(OURS)]
    if len(ours) > 1:
        raise OntologyError(local(subject), f"has the parents {', '.join(ours)}; allowed is one")
    restrictions = [o for o in graph.objects(subject, RDFS.subClassOf) if isinstance(o, BNode)]
    required = [
        local(on)
        for r in restrictions
        if graph.value(r, OWL.minCardinality) is not None and (on := graph.value(r, OWL.onProperty)) is not None
    ]
    return OntologyClass(
        name=local(subject),
        comment=comment(graph, subject),
        parent=ours[0] if ours else None,
        foreign_parents=tuple(str(o) for o in above if not o.startswith(OURS)),
        abstract=(subject, CW.abstract, Literal(True)) in graph,
        as_value=(subject, CW.asValue, Literal(True)) in graph,
        unique_names=(subject, CW.uniqueNames, Literal(True)) in graph,
        required=frozenset(required),
    )


def parents_first(classes: dict[str, OntologyClass]) -> dict[str, OntologyClass]:
    ordered: dict[str, OntologyClass] = {}

    def visit(name: str, below: tuple[str, ...]) -> None:
        if name in below:
            raise OntologyError(name, f"is its own ancestor: {' below '.join((*below, name))}")
        if name not in classes:
            raise OntologyError(below[-1], f"has the parent '{name}', which is not declared")
        parent = classes[name].parent
        if parent is not None:
            visit(parent, (*below, name))
        ordered.setdefault(name, classes[name])

    for name in sorted(classes):
        visit(name, ())
    return ordered


def read_property(graph: Graph, subject: URIRef, is_data: bool, classes: dict[str, OntologyClass]) -> OntologyProperty:
    name = local(subject)
    domain, target = graph.value(subject, RDFS.domain), graph.value(subject, RDFS.range)
    if domain is None or target is None:
        raise OntologyError(name, "needs an rdfs:domain and an rdfs:range")
    union = graph.value(domain, OWL.unionOf)
    domains = [local(node) for node in Collection(graph, union)] if union is not None else [local(domain)]
    for known in domains if is_data else [*domains, local(target)]:
        if known not in classes:
            raise OntologyError(name, f"speaks of the class '{known}', which is not declared")
    return OntologyProperty(
        name=name,
        comment=comment(graph, subject),
        domains=tuple(domains),
        functional=(subject, RDF.type, OWL.FunctionalProperty) in graph,
        exclusive=(subject, RDF.type, OWL.InverseFunctionalProperty) in graph,
        datatype=read_datatype(graph, name, target) if is_data else None,
        target=None if is_data else local(target),
    )


def read_datatype(graph: Graph, owner: str, node: Node) -> Datatype:
    if isinstance(node, URIRef) and node in BUILT_IN:
        return Datatype(local(node), BUILT_IN[node], non_negative=node == XSD.nonNegativeInteger)
    definition = graph.value(node, OWL.equivalentClass)
    if definition is not None:
        words, base = graph.value(definition, OWL.oneOf), graph.value(definition, OWL.onDatatype)
        if words is not None:
            return Datatype(local(node), "token", words=tuple(str(w) for w in Collection(graph, words)))
        if isinstance(base, URIRef) and base in BUILT_IN:
            return Datatype(local(node), BUILT_IN[base], non_negative=True)
    allowed = ", ".join(sorted(BUILT_IN.values()))
    raise OntologyError(owner, f"has the range '{local(node)}'; allowed are {allowed} and datatypes made of them")


def read_individuals(graph: Graph, ontology: Ontology) -> list[Individual]:
    found: list[Individual] = []
    for subject in sorted(s for s in set(graph.subjects(RDF.type, None)) if isinstance(s, URIRef)):
        kinds = [local(o) for o in graph.objects(subject, RDF.type) if str(o).startswith(OURS)]
        if not kinds:
            continue
        properties = ontology.properties_of(kinds[0])
        values: dict[str, list[str | float | int | bool]] = {}
        for predicate, value in sorted(graph.predicate_objects(subject)):
            if predicate == RDF.type:
                continue
            if local(predicate) not in properties:
                raise OntologyError(local(subject), f"has '{local(predicate)}', which a {kinds[0]} cannot have")
            python = value.toPython() if isinstance(value, Literal) else local(value)
            values.setdefault(local(predicate), []).append(python)
        found.append(Individual(local(subject), kinds[0], values))
    return found

"""Writes the whole ontology as one file of N-Triples, which every OWL tool reads (owlready2 does not read Turtle)."""

from __future__ import annotations

from rdflib import OWL, RDF, RDFS, BNode, Graph, Literal, URIRef
from rdflib.compare import to_canonical_graph
from rdflib.term import Node

__all__ = ["IRI", "write_triples"]

IRI = URIRef("urn:cellwright:ontology")


def write_triples(graph: Graph) -> str:
    """Returns sorted lines under one ontology header; nameless nodes get names that depend on their content alone."""
    joined = Graph()
    headers = set(graph.subjects(RDF.type, OWL.Ontology))
    for triple in graph:
        if triple[0] not in headers:
            joined.add(triple)
    for subject, kind in graph.subject_objects(RDF.type):
        if (kind, RDF.type, OWL.Class) in graph and isinstance(subject, URIRef):
            joined.add((subject, RDF.type, OWL.NamedIndividual))  # owlready2 overlooks them without
    canonical = to_canonical_graph(joined)
    names: dict[Node, BNode] = {}
    final = Graph()
    for subject, predicate, value in sorted(canonical):
        final.add((rename(subject, names), predicate, rename(value, names)))
    final.add((IRI, RDF.type, OWL.Ontology))
    final.add((IRI, RDFS.comment, Literal("Kitting, SOAP and their place below IEEE 1872; generated, do not edit.")))
    lines = final.serialize(format="nt", encoding="utf-8").decode().splitlines()
    return "\n".join(sorted(line for line in lines if line)) + "\n"


def rename(node: Node, names: dict[Node, BNode]) -> Node:
    """Returns short labels for nameless nodes, numbered in canonical order; others as they are."""
    return names.setdefault(node, BNode(f"b{len(names)}")) if isinstance(node, BNode) else node

"""The generator of all that follows from the hand-written ontology; needs the packages of the extra `planning`.

What is written here ships with the package, so the world model runs without them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cellwright.knowledge.generate.model import Ontology
from cellwright.knowledge.generate.planning import write_planning
from cellwright.knowledge.generate.reading import SOURCES, read_graph, read_ontology
from cellwright.knowledge.generate.records import write_records
from cellwright.knowledge.generate.triples import write_triples
from cellwright.knowledge.generate.vocabulary import write_vocabulary

__all__ = ["GENERATED", "SOURCES", "Ontology", "generated_texts", "read_graph", "read_ontology", "regenerate"]

GENERATED = Path(__file__).parents[1] / "generated"


def generated_texts(sources: Iterable[Path] = SOURCES) -> dict[str, str]:
    """Returns file name -> text, for every generated file."""
    graph = read_graph(sources)
    ontology = read_ontology(graph)
    return {
        "cellwright.nt": write_triples(graph),
        "planning.json": write_planning(ontology),
        "records.py": write_records(ontology),
        "vocabulary.json": write_vocabulary(ontology),
    }


def regenerate(folder: Path = GENERATED, sources: Iterable[Path] = SOURCES) -> list[Path]:
    """Writes the generated files; the same ontology always gives the same bytes."""
    written = []
    for name, text in generated_texts(sources).items():
        path = folder / name
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written

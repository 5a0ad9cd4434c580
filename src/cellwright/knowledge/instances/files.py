"""Instance files on disk; what follows the last dot of a file's name says in which form it is."""

from __future__ import annotations

from pathlib import Path

from cellwright.core.errors import OutputError, UnknownName
from cellwright.knowledge.database import Database
from cellwright.knowledge.instances.owl import write_owl
from cellwright.knowledge.instances.owl_reading import OWL_FORMATS, read_owl
from cellwright.knowledge.instances.safe_xml import read_bytes
from cellwright.knowledge.instances.store import read_content, write_content
from cellwright.knowledge.instances.xml_form import write_xml
from cellwright.knowledge.instances.xml_reading import read_xml

__all__ = ["load_instances", "save_instances"]

WRITERS = {".owl": write_owl, ".rdf": write_owl, ".xml": write_xml}


def save_instances(database: Database, path: str | Path) -> None:
    """Writes all that a database holds: `.owl` in OWL (RDF/XML), `.xml` in the form of the workstation model.

    Raises:
        UnknownName: Another ending.
        OutputError: The file cannot be written.
    """
    target = Path(path)
    if target.suffix not in WRITERS:
        raise UnknownName("form of instance files", target.suffix, WRITERS, str(target))
    text = WRITERS[target.suffix](read_content(database))
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(target, error.strerror or str(error)) from None


def load_instances(path: str | Path, database: Database) -> None:
    """Reads a file into an empty database, as one change; OWL may also be `.rdf`, `.ttl` or `.nt`.

    Raises:
        InstanceError: The file cannot be read; nothing was changed.
        UnknownName: Another ending.
        BadInput: The database is not empty.
    """
    source = Path(path)
    if source.suffix == ".xml":
        content = read_xml(read_bytes(source), str(source))
    elif source.suffix in OWL_FORMATS:
        content = read_owl(read_bytes(source), str(source), OWL_FORMATS[source.suffix])
    else:
        raise UnknownName("form of instance files", source.suffix, [".xml", *OWL_FORMATS], str(source))
    write_content(database, content)

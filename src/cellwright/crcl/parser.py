"""The one place where XML is parsed: no document types, no entities, no other files, bounded size and depth."""

from __future__ import annotations

from typing import Any

from lxml import etree

from cellwright.crcl.errors import DecodeError

__all__ = ["MAX_BYTES", "XSI", "XSI_TYPE", "parse", "path_of"]

MAX_BYTES = 16 * 1024 * 1024
"""The longest document that is read when nothing else is said: programs are files, and some are long."""

XSI = "http://www.w3.org/2001/XMLSchema-instance"
XSI_TYPE = f"{{{XSI}}}type"

_PARSER = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    load_dtd=False,
    no_network=True,
    huge_tree=False,  # libxml2 then refuses more than 256 levels and texts above 10 MB
    remove_comments=True,
    remove_pis=True,
    collect_ids=False,
)


def parse(data: bytes, *, lines_before: int = 0) -> Any:
    """The root element of a document that `prolog.to_utf8` let pass.

    Args:
        data: The document.
        lines_before: What the line numbers in errors begin after.

    Raises:
        DecodeError: It is not well-formed.
    """
    try:
        return etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as error:
        why = error.msg.rpartition(", line ")[0] or error.msg
        raise DecodeError(f"is not well-formed XML: {why}", line=(error.lineno or 1) + lines_before) from None


def path_of(element: Any) -> str:
    """Where an element stands: CRCLProgram/MiddleCommand[3]/EndPosition."""
    return str(element.getroottree().getpath(element))[1:]

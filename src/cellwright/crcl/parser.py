"""The one place where XML is parsed: no document types, no entities, no other files, bounded size and depth."""

from __future__ import annotations

from typing import Any

from lxml import etree

from cellwright.crcl.errors import DecodeError

__all__ = ["MAX_BYTES", "XSI", "XSI_TYPE", "parse", "path_of"]

MAX_BYTES = 16 * 1024 * 1024
"""The longest document that is read by default: programs are files, and some are long."""

XSI = "http://www.w3.org/2001/XMLSchema-instance"
XSI_TYPE = f"{{{XSI}}}type"


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,  # libxml2 then refuses more than 256 levels and texts above 10 MB
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
        recover=recover,
    )


_PARSER, _RECOVERING = _parser(recover=False), _parser(recover=True)


def parse(data: bytes, *, lines_before: int = 0, recover: bool = False) -> Any:
    """Returns the root element of a document that `prolog.to_utf8` let pass.

    Args:
        data: The document.
        lines_before: Number of lines before it, for the line numbers in errors.
        recover: Whether to read what is not well-formed as far as it goes; None if that is nothing.

    Raises:
        DecodeError: It is not well-formed.
    """
    try:
        return etree.fromstring(data, _RECOVERING if recover else _PARSER)
    except etree.XMLSyntaxError as error:
        why = " ".join((error.msg.rpartition(", line ")[0] or error.msg).split())
        raise DecodeError(f"is not well-formed XML: {why}", line=(error.lineno or 1) + lines_before) from None


def path_of(element: Any) -> str:
    """Returns the path of an element: CRCLProgram/MiddleCommand[3]/EndPosition."""
    return str(element.getroottree().getpath(element))[1:]

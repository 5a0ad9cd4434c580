"""Untrusted XML, parsed without document types, entities and network access, and with a bounded size."""

from __future__ import annotations

from typing import Any

__all__ = ["MAX_XML_BYTES", "UntrustedXmlError", "parse_untrusted_xml"]

MAX_XML_BYTES = 64 * 1024 * 1024
"""The longest file that is read."""


class UntrustedXmlError(ValueError):
    """Raised for XML that is refused, with the reason; `line` where that is known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def parse_untrusted_xml(data: bytes) -> Any:
    """Parses XML from an untrusted source and returns the root element.

    Raises:
        UntrustedXml: It is too long, not well-formed, or has a document type.
    """
    from lxml import etree  # here, because loading it takes time that programs without XML need not spend

    if len(data) > MAX_XML_BYTES:
        raise UntrustedXmlError(f"has {len(data)} bytes, allowed are {MAX_XML_BYTES}")
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        said = getattr(error, "msg", None) or str(error)
        why = said.rpartition(", line ")[0] or said
        raise UntrustedXmlError(f"is not well-formed XML: {why}", getattr(error, "lineno", None) or 1) from None
    if root.getroottree().docinfo.doctype:
        raise UntrustedXmlError("has a document type, which is not allowed", 1)
    return root

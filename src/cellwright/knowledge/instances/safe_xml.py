"""XML of strangers, read without document types, entities and network, and not without end; and texts for our own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from cellwright.core.errors import BadInput
from cellwright.knowledge.instances.errors import InstanceError

__all__ = ["MAX_BYTES", "escaped", "parse", "read_bytes"]

MAX_BYTES = 64 * 1024 * 1024
"""The longest instance file that is read."""

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_bytes(path: Path) -> bytes:
    """The file, if it is there and not too long."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InstanceError(str(path), f"has {size} bytes, allowed are {MAX_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise InstanceError(str(path), f"cannot be read: {error.strerror}") from None


def parse(data: bytes, where: str) -> Any:
    """The root element.

    Raises:
        InstanceError: It is too long, not well-formed, or has a document type.
    """
    if len(data) > MAX_BYTES:
        raise InstanceError(where, f"has {len(data)} bytes, allowed are {MAX_BYTES}")
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
        raise InstanceError(where, f"is not well-formed XML: {why}", getattr(error, "lineno", None) or 1) from None
    if root.getroottree().docinfo.doctype:
        raise InstanceError(where, "has a document type, which is not allowed", 1)
    return root


def escaped(text: str) -> str:
    """A text for an element, which comes back as it was.

    Raises:
        BadInput: It has characters that XML cannot hold.
    """
    if found := FORBIDDEN.search(text):
        raise BadInput(f"{text!r} cannot be written: XML has no character {found.group()!r}")
    return escape(text, {"\r": "&#13;"})

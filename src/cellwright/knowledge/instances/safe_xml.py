"""Reading untrusted XML instance files, and escaping texts for those that are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from cellwright.core.errors import BadInput
from cellwright.core.untrusted_xml import MAX_XML_BYTES, UntrustedXmlError, parse_untrusted_xml
from cellwright.knowledge.instances.errors import InstanceError

__all__ = ["MAX_BYTES", "escaped", "parse", "read_bytes"]

MAX_BYTES = MAX_XML_BYTES
"""The longest instance file that is read."""

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_bytes(path: Path) -> bytes:
    """Returns the file, if it is there and not too long."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InstanceError(str(path), f"has {size} bytes, allowed are {MAX_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise InstanceError(str(path), f"cannot be read: {error.strerror}") from None


def parse(data: bytes, where: str) -> Any:
    """Returns the root element.

    Raises:
        InstanceError: It is too long, not well-formed, or has a document type.
    """
    try:
        return parse_untrusted_xml(data)
    except UntrustedXmlError as error:
        raise InstanceError(where, str(error), error.line) from None


def escaped(text: str) -> str:
    """Returns a text for an element, which comes back as it was.

    Raises:
        BadInput: It has characters that XML cannot hold.
    """
    if found := FORBIDDEN.search(text):
        raise BadInput(f"{text!r} cannot be written: XML has no character {found.group()!r}")
    return escape(text, {"\r": "&#13;"})

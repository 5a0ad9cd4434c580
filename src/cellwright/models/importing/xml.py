"""Untrusted XML: no document types, no entities, no network, bounded size; numbers checked, with their lines."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import Any

from cellwright.core.untrusted_xml import MAX_XML_BYTES, UntrustedXmlError, parse_untrusted_xml
from cellwright.models.importing.notes import DescriptionError, Notes

__all__ = ["XmlReader", "parse_numbers", "read_xml"]

MAX_BYTES = MAX_XML_BYTES
"""The longest description that is read."""

_DECLARATION = re.compile(rb"""\A((?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*["'])([^"']*)(["'])""")
# blank lines before it and versions such as 0.0 are forbidden, and occur
MAX_NUMBER = 1e18  # what is larger is a mistake, or means "without limit" (1e16 in SDF)


def read_xml(path: Path, text: bytes | None = None) -> Any:
    """Returns the root element of a file, or of text that was made from it.

    Raises:
        DescriptionError: It cannot be read, is too long, not well-formed, or has a document type.
    """
    try:
        if text is None:
            size = path.stat().st_size
            if size > MAX_BYTES:
                raise DescriptionError(path, f"has {size} bytes, allowed are {MAX_BYTES}")
            text = path.read_bytes()
    except (OSError, ValueError) as error:
        raise DescriptionError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not text.strip():
        raise DescriptionError(path, "is empty")
    if text.startswith(b"\x1f\x8b"):
        raise DescriptionError(path, "is compressed by gzip; unpack it first")
    try:
        return parse_untrusted_xml(_DECLARATION.sub(rb"\g<1>1.0\g<3>", text.lstrip(), count=1))
    except UntrustedXmlError as error:
        raise DescriptionError(path, str(error), error.line) from None


def parse_numbers(text: str, count: int | None = None) -> list[float]:
    """Returns finite numbers separated by blanks, or by commas as some files have them.

    Raises:
        ValueError: with what is wrong.
    """
    words = text.replace(",", " ").split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        hint = ": that is xacro, run it through xacro first" if "${" in text or "$(" in text else ""
        raise ValueError(f"'{text.strip()[:60]}' is not made of numbers{hint}") from None
    if any(not isfinite(n) for n in numbers):
        raise ValueError(f"'{text.strip()[:60]}' has a number that is not finite")
    if any(abs(n) > MAX_NUMBER for n in numbers):
        raise ValueError(f"'{text.strip()[:60]}' has a number beyond {MAX_NUMBER:g}")
    if count is not None and len(numbers) != count:
        raise ValueError(f"'{text.strip()[:60]}' has {len(numbers)} numbers, {count} are needed")
    return numbers


class XmlReader:
    """Reads elements of one file; every problem names its file and line.

    Args:
        file: The file.
        notes: Gets a note for everything that is not used as written.
        made: Whether the text was made from the file: its lines are then not the file's.
    """

    def __init__(self, file: Path, notes: Notes, *, made: bool = False) -> None:
        self.file = file
        self.notes = notes
        self._made = made

    def where(self, element: Any) -> str:
        """Returns file and line of an element."""
        return self.file.name if self._made else f"{self.file.name}:{element.sourceline}"

    def error(self, element: Any, problem: str) -> DescriptionError:
        """Returns an error at an element."""
        return DescriptionError(self.file, problem, None if self._made else element.sourceline)

    def numbers(self, element: Any, attribute: str, default: list[float]) -> list[float]:
        """Returns as many numbers as the default has, from an attribute; the default where it is missing."""
        text = None if element is None else element.get(attribute)
        if text is None or not text.strip():
            return list(default)
        try:
            return parse_numbers(text, len(default))
        except ValueError as error:
            raise self.error(element, f"{attribute} of <{element.tag}>: {error}") from None

    def number(self, element: Any, attribute: str, default: float | None = None) -> float | None:
        """Returns a number from an attribute; an invalid one is noted and taken as missing."""
        if element is None or not (element.get(attribute) or "").strip():
            return default
        try:
            return parse_numbers(element.get(attribute), 1)[0]
        except ValueError as error:
            if "xacro" in str(error):
                raise self.error(element, f"{attribute} of <{element.tag}>: {error}") from None
            self.notes.changed(self.where(element), f"{attribute} of <{element.tag}>: {error}; taken as missing")
            return default

    def text_numbers(self, element: Any, count: int | None = None) -> list[float]:
        """Returns the numbers that an element holds."""
        try:
            return parse_numbers(element.text or "", count)
        except ValueError as error:
            raise self.error(element, f"<{element.tag}>: {error}") from None

    def name(self, element: Any) -> str:
        """Returns the name that an element must have."""
        name = (element.get("name") or "").strip()
        if not name:
            raise self.error(element, f"<{element.tag}> has no name")
        return name

"""The prolog of a document: declarations, comments, white space, bytes that peers put between messages."""

from __future__ import annotations

import re

from cellwright.crcl.errors import DecodeError

__all__ = ["to_utf8"]

_PADDING = re.compile(rb"[ \t\r\n\0]*")
_BOM = b"\xef\xbb\xbf"
_ENCODING = re.compile(rb"""\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"}


def to_utf8(data: bytes | str, max_bytes: int) -> tuple[bytes, int]:
    """Returns a document in UTF-8, whatever its declaration says, and where in it the root element begins.

    A document type declaration is refused here, before any XML parser sees it: CRCL has none, and with it go entities
    and external files.

    Raises:
        DecodeError: It is too long, or there is a document type, an unsupported encoding, or no element at all.
    """
    is_text = isinstance(data, str)
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(data) > max_bytes:
        raise DecodeError(f"has {len(data)} bytes", allowed=f"{max_bytes} or fewer")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data, is_text = _recode(data, "utf-16"), True
    at = 0
    while True:
        padding = _PADDING.match(data, at)
        at = padding.end() if padding else at
        if data.startswith(b"<?", at):
            end = _end(data, b"?>", at)
            found = _ENCODING.search(data, at, end) if data.startswith(b"<?xml", at) and not is_text else None
            encoding = found.group(1).decode("ascii").lower() if found else "utf-8"
            if encoding != "utf-8":
                data = data[:end] + _recode(data[end:], encoding)
            at = end
        elif data.startswith(b"<!--", at):
            at = _end(data, b"-->", at + 4)
        elif data.startswith(b"<!", at):
            raise DecodeError("has a document type declaration", line=_line(data, at), allowed="none")
        elif data.startswith(b"<", at):
            return data, at
        elif data.startswith(_BOM, at):
            at += len(_BOM)
        else:
            raise DecodeError("does not begin with an element", line=_line(data, at), allowed="an XML document")


def _end(data: bytes, terminator: bytes, start: int) -> int:
    at = data.find(terminator, start)
    if at < 0:
        raise DecodeError("ends inside what stands before the document", line=_line(data, len(data)))
    return at + len(terminator)


def _recode(data: bytes, encoding: str) -> bytes:
    if encoding not in _ENCODINGS and encoding != "utf-16":
        raise DecodeError(f"has the encoding '{encoding}'", allowed=", ".join(sorted(_ENCODINGS | {"utf-16"})))
    try:
        return data.decode(encoding).encode()
    except UnicodeError:
        raise DecodeError(f"is not text in {encoding}") from None


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1

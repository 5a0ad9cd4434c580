"""Cuts a stream of bytes into documents.

CRCL has no delimiter and no length: documents follow each other, split and glued as the network likes, with XML
declarations, white space or NULs between them. A document ends with its root's end tag. Looking for that tag alone is
fast, and safe because `<` may occur as itself only in comments, CDATA sections and processing instructions, which are
skipped. Every byte is looked at a bounded number of times, however small the pieces are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from cellwright.crcl.errors import FramingError

__all__ = ["MAX_MESSAGE_BYTES", "MessageStream"]

MAX_MESSAGE_BYTES = 1024 * 1024
"""The longest message that a stream takes by default; a status has some 1500 bytes."""

_BOM = b"\xef\xbb\xbf"
_PADDING = re.compile(rb"[ \t\r\n\0]*")
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_.:-]{0,100}")
_NAME_END = re.compile(rb"[ \t\r\n/>]")
_TAG_MARK = re.compile(rb"[>\"']")
_SECTION_ENDS = {b"!--": b"-->", b"![CDATA[": b"]]>", b"?": b"?>"}


@lru_cache(maxsize=16)
def _marks(name: bytes) -> re.Pattern[bytes]:
    """Returns the pattern of tags of the root's name, and of sections in which tags are text."""
    tag = re.escape(name)
    return re.compile(rb"<(/%b(?=[ \t\r\n>])|%b(?=[ \t\r\n/>])|!--|!\[CDATA\[|\?)" % (tag, tag))


class MessageStream:
    """Takes pieces of a stream and gives whole documents, each with the declaration before it.

    Args:
        max_bytes: The longest document; one that is longer or does not end is an error as soon as that is known.
    """

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._start = self._at = 0  # of the document; of what was not looked at yet
        self._depth = 0  # of elements with the root's name
        self._whole = False
        self._step: Callable[[], bool] = self._between
        self._after_section: Callable[[], bool] = self._between
        self._section_end = b""
        self._content_marks = _PADDING
        self._longest_mark = 0
        self._error: FramingError | None = None

    @property
    def pending(self) -> int:
        """The number of bytes held of an unfinished document."""
        return len(self._buffer) - self._start

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Returns the documents that end in this piece; iterate over them before the next piece comes.

        Raises:
            FramingError: After the documents that were whole; the stream stays unreadable.
        """
        if self._error is not None:
            raise self._error
        self._buffer += data
        return self._documents()

    def _documents(self) -> Iterator[bytes]:
        try:
            while self._step():
                if self._whole:
                    yield self._cut()
            if self.pending > self._max_bytes:
                raise FramingError(f"a message has more than {self._max_bytes} bytes and no end")
        except FramingError as error:
            self._error = error
            self._start = self._at = len(self._buffer)
            raise
        finally:
            del self._buffer[: self._start]
            self._at -= self._start
            self._start = 0

    def _cut(self) -> bytes:
        document = bytes(self._buffer[self._start : self._at])
        if len(document) > self._max_bytes:
            raise FramingError(f"a message has {len(document)} bytes (allowed: {self._max_bytes})")
        self._start = self._at
        self._whole = False
        self._step = self._between
        return document

    # Each step below looks at the buffer from `_at` on. It returns False when it needs more bytes.

    def _between(self) -> bool:
        """Reads what is before a root: padding, declarations, comments."""
        buffer = self._buffer
        fresh = self._at == self._start
        padding = _PADDING.match(buffer, self._at)
        self._at = padding.end() if padding else self._at
        if fresh:
            self._start = self._at
        head = bytes(buffer[self._at : self._at + 4])
        if head[:2] == b"<?":
            return self._enter_section(b"?", self._between)
        if head == b"<!--":
            return self._enter_section(b"!--", self._between)
        if head[:3] == _BOM:
            self._at += 3
            return True
        if b"<!--".startswith(head) or _BOM.startswith(head):
            return False
        if head[:1] != b"<" or head[:2] == b"<!":
            raise FramingError(f"no message begins with {_shown(head)} (allowed: an XML element)")
        end = _NAME_END.search(buffer, self._at + 1, self._at + 110)
        if end is None and len(buffer) < self._at + 110:
            return False
        name = bytes(buffer[self._at + 1 : end.start() if end else None])
        if end is None or _NAME.fullmatch(name) is None:
            raise FramingError(f"no message begins with {_shown(bytes(buffer[self._at : self._at + 20]))}")
        self._content_marks = _marks(name)
        self._longest_mark = max(len(name) + 3, 9)
        self._at = end.start()
        self._step = self._tag
        return True

    def _tag(self) -> bool:
        """Reads the inside of a start tag of the root's name."""
        mark = _TAG_MARK.search(self._buffer, self._at)
        if mark is None:
            self._at = len(self._buffer)
            return False
        self._at = mark.end()
        if mark[0] != b">":
            self._section_end = mark[0]
            self._after_section = self._tag
            self._step = self._section
        elif self._buffer[mark.start() - 1 : mark.start()] == b"/":
            self._whole = self._depth == 0
            self._step = self._content
        else:
            self._depth += 1
            self._step = self._content
        return True

    def _content(self) -> bool:
        """Reads the inside of the root."""
        mark = self._content_marks.search(self._buffer, self._at)
        if mark is None:
            self._at = max(self._at, len(self._buffer) - self._longest_mark)
            return False
        found = mark[1]
        if found in _SECTION_ENDS:
            self._at = mark.start()
            return self._enter_section(found, self._content)
        self._at = mark.end()
        self._step = self._end_tag if found[:1] == b"/" else self._tag
        return True

    def _end_tag(self) -> bool:
        """Reads the inside of an end tag of the root's name."""
        end = self._buffer.find(b">", self._at)
        if end < 0:
            self._at = len(self._buffer)
            return False
        self._at = end + 1
        self._depth -= 1
        self._whole = self._depth == 0
        self._step = self._content
        return True

    def _enter_section(self, begin: bytes, after: Callable[[], bool]) -> bool:
        self._at += 1 + len(begin)
        self._section_end = _SECTION_ENDS[begin]
        self._after_section = after
        self._step = self._section
        return True

    def _section(self) -> bool:
        """Reads up to a known mark: the end of a comment, a CDATA section, an instruction, a quoted value."""
        end = self._buffer.find(self._section_end, self._at)
        if end < 0:
            self._at = max(self._at, len(self._buffer) - len(self._section_end) + 1)
            return False
        self._at = end + len(self._section_end)
        self._step = self._after_section
        return True


def _shown(data: bytes) -> str:
    """Returns bytes for an error message: as text where they are one."""
    if data.isascii() and (text := data.decode()).isprintable():
        return f"'{text}'"
    return f"the bytes {data.hex(' ')}"

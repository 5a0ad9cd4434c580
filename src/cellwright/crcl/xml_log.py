"""A record as text: every document unchanged, each after a comment with its time, connection, direction and length.

    <!-- 2026-11-15T08:00:00.125000000Z +0.125000 s, connection 1, to robot, document, 214 bytes -->

The whole is a stream of XML documents, as it was on the wire; the length makes it readable byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from cellwright.core.errors import LogError, OutputError
from cellwright.crcl.proxy import ProxiedMessage

__all__ = ["XmlLog", "read_xml_log"]

_HEAD = re.compile(
    rb"<!-- (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z \+[\d.]+ s, connection (\d+), "
    rb"(to|from) robot, (document|bytes), (\d+) bytes -->\n"
)


class XmlLog:
    """Writes a record; every document is with the operating system as soon as it is added.

    Raises:
        OutputError: The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.written = 0
        self._start_ns: int | None = None
        try:
            self._file = FileIO(path, "w")
        except (OSError, ValueError) as error:
            raise OutputError(path, getattr(error, "strerror", None) or str(error)) from None

    def add(self, message: ProxiedMessage) -> None:
        """Adds a message; raises OSError where it cannot be written."""
        if self._start_ns is None:
            self._start_ns = message.time_ns
        seconds, nanoseconds = divmod(message.time_ns, 1_000_000_000)
        stamp = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        since_s = (message.time_ns - self._start_ns) / 1e9
        way, kind = "to" if message.to_robot else "from", "document" if message.is_document else "bytes"
        head = (
            f"<!-- {stamp}.{nanoseconds:09d}Z +{since_s:.6f} s, connection {message.connection}, "
            f"{way} robot, {kind}, {len(message.data)} bytes -->\n"
        )
        rest = memoryview(head.encode() + message.data + b"\n")
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self.written += 1

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def read_xml_log(path: Path) -> Iterator[ProxiedMessage]:
    """Yields the messages of a record, byte for byte; one that was cut off is read as far as it goes.

    Raises:
        LogError: The file cannot be read, or is no such record.
    """
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise LogError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    at = 0
    while head := _HEAD.match(data, at):
        stamp, nanoseconds, connection, way, kind, length = head.groups()
        end = head.end() + int(length)
        if end > len(data):
            return
        seconds = int(datetime.fromisoformat(stamp.decode()).replace(tzinfo=UTC).timestamp())
        time_ns = seconds * 1_000_000_000 + int(nanoseconds)
        yield ProxiedMessage(time_ns, int(connection), way == b"to", data[head.end() : end], kind == b"document")
        at = end + 1
    if at == 0 and data:
        raise LogError(f"{path} is no record of CRCL: it does not begin with a comment that tells a time")

"""Reading the records of an MCAP file as far as possible: complete, cut off anywhere, or damaged."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard
from mcap.exceptions import McapError
from mcap.records import Channel, Chunk, DataEnd, McapRecord, Message, Metadata, Schema, Statistics
from mcap.stream_reader import MAGIC_SIZE, StreamReader, breakup_chunk
from mcap.writer import MCAP0_MAGIC

from cellwright.core.errors import LogError

__all__ = ["Block", "LogRecords", "read_blocks"]

# Errors that the reading of damaged bytes may raise; MemoryError and OverflowError come from absurd lengths.
CUT_OFF = "the file was cut off, or is still being written: its last messages are missing"
DAMAGE = (McapError, struct.error, ValueError, zstandard.ZstdError, MemoryError, OverflowError, RuntimeError, EOFError)


@dataclass
class LogRecords:
    """The records that a pass over a file has read so far.

    Attributes:
        schemas: By number.
        channels: By number.
        metadata: By name of the record.
        problem: The reason why the file is incomplete or damaged; empty when it is neither.
    """

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    problem: str = ""

    def take(self, record: McapRecord) -> Message | None:
        """Stores a record; returns it if it is a message."""
        if isinstance(record, Message):
            return record
        if isinstance(record, Schema):
            self.schemas.setdefault(record.id, record)  # the summary repeats them; the first was read with its messages
        elif isinstance(record, Channel):
            self.channels.setdefault(record.id, record)
        elif isinstance(record, Metadata):
            self.metadata[record.name] = record.metadata
        return None


Block = list[Any]
"""The messages (mcap records) of one chunk."""


def read_blocks(path: Path, found: LogRecords) -> Iterator[Block]:
    """Yields the messages of every sound chunk in the order of the file, each chunk as one block.

    Args:
        path: The file.
        found: Filled on the way; its `problem` is final when the iteration has ended.

    Raises:
        LogError: The file cannot be read, or is not an MCAP file at all.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            if size == 0:
                raise LogError(f"{path} is not a log: the file is empty")
            if file.read(MAGIC_SIZE) != MCAP0_MAGIC:
                raise LogError(f"{path} is not a log: it does not start like an MCAP file")
            # No record is longer than the file: a damaged length is noticed before memory is asked for.
            reader = StreamReader(file, skip_magic=True, emit_chunks=True, record_size_limit=size)
            yield from _blocks(reader, found)
    except (OSError, ValueError) as error:  # a path with a zero byte in it is a ValueError
        raise LogError(f"cannot read log {path}: {getattr(error, 'strerror', None) or error}") from None


def _blocks(reader: StreamReader, found: LogRecords) -> Iterator[Block]:
    count, promised, data_ended = 0, None, False
    records = reader.records
    while True:
        try:
            record = next(records, None)
        except DAMAGE:
            found.problem = "the file was cut off" if data_ended else CUT_OFF
            return
        if record is None:
            break
        inside = [record]
        if isinstance(record, Chunk):
            try:
                inside = breakup_chunk(record, validate_crc=True)
            except DAMAGE:
                continue
        elif isinstance(record, Statistics):
            promised = record.message_count
        data_ended = data_ended or isinstance(record, DataEnd)
        messages = (message for message in map(found.take, inside) if message is not None)
        block = [message for message in messages if message.channel_id in found.channels]
        count += len(block)
        if block:
            yield block
    if promised not in (None, count):
        found.problem = f"the file is damaged: it has {count} readable messages and should have {promised}"

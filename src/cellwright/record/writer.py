"""Writes MCAP files: chunk by chunk, each handed over whole, so that a killed process loses at most the last one.

The records that come once (schemas, channels, the summary) are made by the `mcap` package; the two that come with
every message are packed here, because `mcap.writer.Writer` needs 4 to 8 microseconds for each and a run has some
hundred of them for every simulated second. The files equal those of `mcap.writer.Writer` byte for byte.
"""

from __future__ import annotations

import struct
import zlib
from typing import Protocol

import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.writer import MCAP0_MAGIC

__all__ = ["LogWriter", "Sink", "SinkFailed"]

LIBRARY = "cellwright"  # without a version: versions belong into the metadata, which a comparison sets apart
MAX_CHUNK_BYTES = 1 << 20
MAX_CHUNK_NS = 1_000_000_000

_MESSAGE = int(Opcode.MESSAGE)
_HEAD = struct.Struct("<BQHIQQ")
_HEAD_BYTES = 22  # those of the head that count in the record's length


class Sink(Protocol):
    """Where the bytes go: a file opened without buffer, or anything with its `write`."""

    def write(self, data: memoryview, /) -> int | None:
        """Writes some or all of the data; says how much."""


class SinkFailed(Exception):
    """The sink did not take the bytes; the writer must not be used any more."""


class LogWriter:
    """One MCAP file in the making.

    Any method may raise SinkFailed.

    Args:
        sink: Where to write.
        metadata: What the file says about itself, in one record before all messages.
        chunk_ns: A chunk is closed when a message comes that is this much later than its first.
    """

    def __init__(self, sink: Sink, metadata: dict[str, str], chunk_ns: int = MAX_CHUNK_NS) -> None:
        self._sink, self._chunk_ns, self._position = sink, chunk_ns, 0
        self._compressor = zstandard.ZstdCompressor()
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self.written = 0
        """Messages that the sink has taken."""
        self._counts: dict[int, int] = {}
        self._chunk_indexes: list[ChunkIndex] = []
        self._metadata_indexes: list[MetadataIndex] = []
        self._chunk = bytearray()
        self._index: dict[int, list[int]] = {}
        self._deadline_ns = -1
        self._write(MCAP0_MAGIC + _record(Header("ros2", LIBRARY)))
        self.add_metadata("cellwright", metadata)

    @property
    def pending(self) -> int:
        """Messages that are not yet handed to the sink."""
        return sum(len(entries) // 2 for entries in self._index.values())

    def add_metadata(self, name: str, content: dict[str, str]) -> None:
        """Adds a named record of texts."""
        record = _record(Metadata(name, content))
        self._metadata_indexes.append(MetadataIndex(self._position, len(record), name))
        self._write(record)

    def add_schema(self, name: str, text: str) -> int:
        """Adds a ROS 2 type; returns its number."""
        schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding="ros2msg", name=name)
        self._schemas.append(schema)
        self._chunk += _record(schema)
        return len(self._schemas)

    def add_channel(self, topic: str, schema: int, metadata: dict[str, str]) -> int:
        """Adds a stream of messages of one type on one topic; returns its number."""
        channel = Channel(len(self._channels) + 1, topic, "cdr", metadata, schema)
        self._channels.append(channel)
        self._chunk += _record(channel)
        return len(self._channels)

    def add_message(self, channel: int, sequence: int, log_ns: int, publish_ns: int, data: bytes) -> None:
        """Adds a message; now and then this writes a chunk."""
        if log_ns >= self._deadline_ns:
            self.flush()
            self._deadline_ns = log_ns + self._chunk_ns
        chunk = self._chunk
        entries = self._index.get(channel)
        if entries is None:
            entries = self._index[channel] = []
        position = len(chunk)
        # In one piece: an interrupt may come between two statements and must not leave half a record.
        chunk += _HEAD.pack(_MESSAGE, _HEAD_BYTES + len(data), channel, sequence, log_ns, publish_ns) + data
        entries += (log_ns, position)
        if len(chunk) > MAX_CHUNK_BYTES:
            self.flush()
            self._deadline_ns = -1

    def flush(self) -> None:
        """Writes the chunk in progress with its indexes; without messages there is nothing to write."""
        if not self._index:
            return
        times = [time for entries in self._index.values() for time in entries[::2]]
        data = self._compressor.compress(self._chunk)
        size = len(self._chunk)
        chunk = _record(Chunk("zstd", data, max(times), min(times), zlib.crc32(self._chunk), size))
        block, offsets = [chunk], {}
        position = self._position + len(chunk)
        for channel, entries in self._index.items():
            offsets[channel] = position
            packed = struct.pack(
                f"<BQHI{len(entries)}Q",
                *(Opcode.MESSAGE_INDEX, 6 + 8 * len(entries), channel, 8 * len(entries), *entries),
            )
            block.append(packed)
            position += len(packed)
        index = ChunkIndex(
            chunk_length=len(chunk),
            chunk_start_offset=self._position,
            compression="zstd",
            compressed_size=len(data),
            message_end_time=max(times),
            message_index_length=position - self._position - len(chunk),
            message_index_offsets=offsets,
            message_start_time=min(times),
            uncompressed_size=size,
        )
        self._write(b"".join(block))
        self._chunk_indexes.append(index)
        for channel, entries in self._index.items():
            self._counts[channel] = self._counts.get(channel, 0) + len(entries) // 2
        self.written += self.pending
        self._chunk.clear()
        self._index.clear()

    def finish(self) -> None:
        """Writes what is left and the summary, which lets readers find everything without reading all of it."""
        self.flush()
        self._write(_record(DataEnd(0)))
        statistics = Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=len(self._chunk_indexes),
            message_count=self.written,
            message_end_time=max((index.message_end_time for index in self._chunk_indexes), default=0),
            message_start_time=min((index.message_start_time for index in self._chunk_indexes), default=0),
            metadata_count=len(self._metadata_indexes),
            schema_count=len(self._schemas),
        )
        groups: list[tuple[Opcode, list[McapRecord]]] = [
            (Opcode.SCHEMA, self._schemas),
            (Opcode.CHANNEL, self._channels),
            (Opcode.STATISTICS, [statistics]),
            (Opcode.CHUNK_INDEX, self._chunk_indexes),
            (Opcode.ATTACHMENT_INDEX, []),
            (Opcode.METADATA_INDEX, self._metadata_indexes),
        ]
        summary, offsets, start = b"", b"", self._position
        for opcode, records in groups:
            group = b"".join(map(_record, records))
            offsets += _record(SummaryOffset(opcode, start + len(summary), len(group)))
            summary += group
        footer = _record(Footer(start, start + len(summary), 0))[:-4]  # its last number is the checksum of all before
        summary += offsets + footer
        self._write(summary + struct.pack("<I", zlib.crc32(summary)) + MCAP0_MAGIC)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                taken = self._sink.write(rest)
            except Exception as error:
                raise SinkFailed(getattr(error, "strerror", None) or str(error) or type(error).__name__) from error
            if not taken:
                raise SinkFailed("it takes no more bytes")
            rest = rest[taken:]
        self._position += len(data)


def _record(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())

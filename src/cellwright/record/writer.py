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
    """The target of the bytes: a file opened without buffer, or any object with its `write`."""

    def write(self, data: memoryview, /) -> int | None:
        """Writes some or all of the data; returns how much."""


class SinkFailed(Exception):
    """Raised when the sink did not take the bytes; the writer must not be used any more."""


class LogWriter:
    """One MCAP file that is being written.

    Any method may raise SinkFailed.

    Args:
        sink: The target of the bytes.
        metadata: The file's metadata, in one record before all messages.
        chunk_ns: A chunk is closed when a message comes that is this much later than its first.
    """

    def __init__(self, sink: Sink, metadata: dict[str, str], chunk_ns: int = MAX_CHUNK_NS) -> None:
        self._sink = sink
        self._chunk_ns = chunk_ns
        self._position = 0
        self._compressor = zstandard.ZstdCompressor()
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self.written = 0
        """Messages that the sink has taken."""
        self._counts: dict[int, int] = {}
        self._chunk_indexes: list[ChunkIndex] = []
        self._metadata_indexes: list[MetadataIndex] = []
        # Records of the chunk in progress as (channel, time, bytes); channel 0 for those that are not messages.
        self._entries: list[tuple[int, int, bytes]] = []
        self._entries_bytes = 0
        self._deadline_ns = -1
        self._unfinished = False
        """Between the start of a write and the end of its bookkeeping; an interrupt there ends the file."""
        self._write(MCAP0_MAGIC + _record(Header("ros2", LIBRARY)))
        self._unfinished = False
        self.add_metadata("cellwright", metadata)

    @property
    def pending(self) -> int:
        """The number of messages that are not yet handed to the sink."""
        return sum(channel > 0 for channel, _, _ in self._entries)

    def add_metadata(self, name: str, content: dict[str, str]) -> None:
        """Adds a named record of texts."""
        record = _record(Metadata(name, content))
        index = MetadataIndex(self._position, len(record), name)
        self._write(record)
        self._metadata_indexes.append(index)
        self._unfinished = False

    def add_schema(self, name: str, text: str) -> int:
        """Adds a ROS 2 type; returns its number."""
        schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding="ros2msg", name=name)
        self._schemas.append(schema)
        self._entries.append((0, 0, _record(schema)))
        return len(self._schemas)

    def add_channel(self, topic: str, schema: int, metadata: dict[str, str]) -> int:
        """Adds a stream of messages of one type on one topic; returns its number."""
        channel = Channel(len(self._channels) + 1, topic, "cdr", metadata, schema)
        self._channels.append(channel)
        self._entries.append((0, 0, _record(channel)))
        return len(self._channels)

    def add_message(self, channel: int, sequence: int, log_ns: int, publish_ns: int, data: bytes) -> None:
        """Adds a message; now and then this writes a chunk."""
        if log_ns >= self._deadline_ns:
            self.flush()
            self._deadline_ns = log_ns + self._chunk_ns
        # One append, because an interrupt may come between any two steps and must not leave half a record.
        record = _HEAD.pack(_MESSAGE, _HEAD_BYTES + len(data), channel, sequence, log_ns, publish_ns) + data
        self._entries.append((channel, log_ns, record))
        self._entries_bytes += len(record)
        if self._entries_bytes > MAX_CHUNK_BYTES:
            self.flush()
            self._deadline_ns = -1

    def flush(self) -> None:
        """Writes the chunk in progress with its indexes; without messages there is nothing to write."""
        count = self.pending
        if not count:
            return
        index: dict[int, list[int]] = {}
        position = 0
        for channel, log_ns, record in self._entries:
            if channel:
                index.setdefault(channel, []).extend((log_ns, position))
            position += len(record)
        content = b"".join(record for _, _, record in self._entries)
        self._write_chunk(content, index)
        self.written += count
        for channel, places in index.items():
            self._counts[channel] = self._counts.get(channel, 0) + len(places) // 2
        self._entries = []
        self._entries_bytes = 0
        self._unfinished = False

    def _write_chunk(self, content: bytes, index: dict[int, list[int]]) -> None:
        """Writes a chunk, followed by one record for each channel with the times and places of its messages."""
        times = [time_ns for places in index.values() for time_ns in places[::2]]
        start_ns, end_ns = min(times), max(times)
        compressed = self._compressor.compress(content)
        chunk = _record(Chunk("zstd", compressed, end_ns, start_ns, zlib.crc32(content), len(content)))
        start, position = self._position, self._position + len(chunk)
        block, offsets = [chunk], {}
        for channel, places in index.items():
            size = 8 * len(places)
            block.append(struct.pack(f"<BQHI{len(places)}Q", Opcode.MESSAGE_INDEX, 6 + size, channel, size, *places))
            offsets[channel] = position
            position += len(block[-1])
        self._write(b"".join(block))
        chunk_index = ChunkIndex(
            chunk_length=len(chunk),
            chunk_start_offset=start,
            compression="zstd",
            compressed_size=len(compressed),
            message_end_time=end_ns,
            message_index_length=position - start - len(chunk),
            message_index_offsets=offsets,
            message_start_time=start_ns,
            uncompressed_size=len(content),
        )
        self._chunk_indexes.append(chunk_index)

    def finish(self) -> None:
        """Writes what is left and the summary, which lets readers find everything without reading all of it."""
        self.flush()
        self._write(_record(DataEnd(0)))
        self._unfinished = False
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
        if self._unfinished:
            raise SinkFailed("a write was interrupted")
        self._unfinished = True
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

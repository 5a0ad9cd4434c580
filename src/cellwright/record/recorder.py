"""The recorder: everything that goes over the bus, in one file; its failures never stop the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType

from cellwright.core import Bus, Clock, Role
from cellwright.core.errors import BadInput, CellwrightError, OutputError
from cellwright.core.messages import Depth, Image, Message, PointCloud, Segmentation
from cellwright.core.ros import CdrEncoder, Definition, definition
from cellwright.record.writer import MAX_CHUNK_NS, LogWriter, Sink, SinkFailed

__all__ = ["LostMessages", "Recorder"]

MAX_PICTURE_BYTES = 4 * 1024**3
PICTURES = (Image, Depth, PointCloud, Segmentation)


@dataclass(frozen=True)
class LostMessages:
    """The messages that are missing in the log.

    Attributes:
        messages: The number of messages that were published and are not in the file.
        reason: The reason for the first of them, or for a missing summary at the end.
    """

    messages: int = 0
    reason: str = ""


class Recorder:
    """Records topics of a bus as an MCAP file (profile ros2, CDR, zstd), in simulation time only.

    The same messages give the same bytes. Errors after the file is open never reach the bus: a message that
    cannot be encoded is left out, a disk that is full ends the recording, and `lost` reports both.

    Args:
        bus: The bus to record.
        target: The file, which is replaced when it exists, or something with a `write` method.
        topics: The topics to record; None means all, truth included.
        metadata: The metadata of the run: seed, versions, cell, model hash. No wall-clock times.
        clock: Gives the time of recording; without it a message's own time is taken, which for a delayed sensor is
            the earlier moment that was measured.
        chunk_s: Simulated seconds that a killed process may lose.
        max_picture_bytes: Pictures, depths and points are recorded until they have filled so much, before compression;
            those that come then are left out, which `lost` tells with their number and the topic of the first.

    Raises:
        OutputError: The file cannot be opened for writing.
    """

    def __init__(
        self,
        bus: Bus,
        target: Path | str | Sink,
        *,
        topics: Iterable[str] | None = None,
        metadata: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        chunk_s: float = MAX_CHUNK_NS / 1e9,
        max_picture_bytes: int = MAX_PICTURE_BYTES,
    ) -> None:
        self._picture_bytes_left = max_picture_bytes
        self._max_picture_bytes = max_picture_bytes
        self._published = 0
        self._reason = ""
        self._bus = bus
        self._clock = clock
        self._close_file: Callable[[], None] = lambda: None
        sink = self._open(target) if isinstance(target, Path | str) else target
        self._encoders: dict[type[Message], Callable[[Message], bytes]] = {}
        self._schemas: dict[Definition, int] = {}
        self._channels: dict[tuple[str, type[Message], str], tuple[int, Callable[[Message], bytes]]] = {}
        self._writer: LogWriter | None = None
        self._recorded = 0
        self._notes: dict[str, dict[str, str]] = {}
        try:
            self._writer = LogWriter(sink, {k: str(v) for k, v in (metadata or {}).items()}, round(chunk_s * 1e9))
        except SinkFailed as failure:
            self._stop(failure)
        self._subscriptions = [
            bus.subscribe(topic, self._record, subscriber="recorder", role=Role.RECORDER)
            for topic in ([None] if topics is None else topics)
        ]

    @property
    def recorded(self) -> int:
        """The number of messages that are in the file or on their way into it."""
        writer = self._writer
        return self._recorded if writer is None else writer.written + writer.pending

    @property
    def lost(self) -> LostMessages:
        """The messages that are missing in the log so far."""
        return LostMessages(self._published - self.recorded, self._reason)

    def note(self, name: str, content: Mapping[str, str]) -> None:
        """Keeps texts about the run, which the file gets as metadata when it is completed.

        Args:
            name: Of the record: `log.metadata` has its entries as `<name>.<key>`.
            content: The entries; no wall-clock times. Those of a name that was noted before are replaced.
        """
        self._notes[name] = dict(content)

    def close(self) -> LostMessages:
        """Ends the recording and completes the file; returns what is missing in it."""
        for subscription in self._subscriptions:
            self._bus.unsubscribe(subscription)
        self._subscriptions = []
        if self._writer is not None:
            try:
                self._writer.flush()
                for name, content in self._notes.items():
                    self._writer.add_metadata(name, content)
                if self.lost.messages:
                    content = {"messages": str(self.lost.messages), "reason": self.lost.reason}
                    self._writer.add_metadata("lost", content)
                self._writer.finish()
                self._recorded = self._writer.written
                self._writer = None
            except SinkFailed as failure:
                self._stop(failure)
        self._close_file()
        return self.lost

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, path: Path | str) -> Sink:
        try:
            # Without a buffer a chunk is with the operating system as soon as it is written.
            file = FileIO(path, "w")
        except (OSError, ValueError) as error:
            raise OutputError(path, getattr(error, "strerror", None) or str(error)) from None
        self._close_file = file.close
        return file

    def _record(self, topic: str, message: Message) -> None:
        self._published += 1
        writer = self._writer
        if writer is None:
            return
        try:
            # Standard ROS types have no place for the source, so it belongs to the channel.
            key = (topic, message.__class__, message.source)
            channel, encode = self._channels.get(key) or self._new_channel(writer, key)
            time_ns = message.time_ns
            log_ns = time_ns if self._clock is None else self._clock.time_ns
            data = encode(message)
            if isinstance(message, PICTURES):
                self._picture_bytes_left -= len(data)
                if self._picture_bytes_left < 0:
                    raise BadInput(f"pictures have filled the limit of {self._max_picture_bytes} bytes")
            writer.add_message(channel, message.sequence, log_ns, time_ns, data)
        except SinkFailed as failure:
            self._stop(failure)
        except Exception as error:
            reason = str(error) if isinstance(error, CellwrightError) else f"{type(error).__name__}: {error}"
            self._reason = self._reason or f"{topic}: {reason}"

    def _new_channel(
        self, writer: LogWriter, key: tuple[str, type[Message], str]
    ) -> tuple[int, Callable[[Message], bytes]]:
        topic, message_type, source = key
        described = definition(message_type)
        encode = self._encoders.get(message_type)
        if encode is None:
            encode = self._encoders[message_type] = CdrEncoder(message_type).encode
        if described not in self._schemas:
            self._schemas[described] = writer.add_schema(*described)
        # Of several classes with one ROS type, as of colours and of depths, the log says which it was.
        named = {"class": message_type.__name__} if hasattr(message_type, "ROS_FIELDS") else {}
        channel = writer.add_channel(topic, self._schemas[described], {"source": source, **named})
        self._channels[key] = channel, encode
        return channel, encode

    def _stop(self, failure: SinkFailed) -> None:
        self._recorded = self._writer.written if self._writer else 0
        self._writer = None
        self._reason = self._reason or str(failure)

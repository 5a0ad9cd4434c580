"""Reading a log: its table of contents, and its messages as the classes they were."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from rosbags.typesys import Stores, get_typestore

from cellwright.core.errors import LogError, UnknownName
from cellwright.core.messages import Message
from cellwright.core.rich_text import html_table
from cellwright.core.ros import decode, from_ros, message_class, newer_class, types_of_text
from cellwright.record.records import LogRecords, read_blocks
from cellwright.record.values import fields_of, stacked

__all__ = ["Log", "LogEntry", "RawEntry", "Topic", "read_log"]

TRUTH_PREFIX = "/truth/"


@dataclass
class Topic:
    """One topic of a log.

    Attributes:
        name: Such as `/fanuc/joint_states`.
        type: The ROS type.
        definition: Its full text.
        count: Messages.
        first_ns: Time of the first one.
        last_ns: Time of the last one.
    """

    name: str
    type: str
    definition: str
    count: int
    first_ns: int
    last_ns: int

    @property
    def rate_hz(self) -> float:
        """Messages per second between the first and the last; 0 where that means nothing."""
        return (self.count - 1) * 1e9 / (self.last_ns - self.first_ns) if self.last_ns > self.first_ns else 0.0


class RawEntry(NamedTuple):
    """A message as it is in the file."""

    topic: str
    time_ns: int
    sequence: int
    channel: int
    data: bytes


class LogEntry(NamedTuple):
    """A message of a log: when it was recorded, on which topic, and its content.

    Attributes:
        message: A `Message`, or a `SimpleNamespace` of a type whose class this process does not know.
    """

    topic: str
    time_ns: int
    message: Any


class Log:
    """A recorded run; made by `read_log`. Holds the table of contents, reads the messages from the file when asked.

    Attributes:
        path: The file.
        metadata: The recorder's metadata of the run; entries of other records as `<record>.<key>`.
        topics: By name, in the order of appearance.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records = LogRecords()
        self._block_starts_ns: list[int] = []
        self.topics: dict[str, Topic] = {}
        for block in read_blocks(path, self._records):
            self._block_starts_ns.append(min(message.log_time for message in block))
            for message in block:
                self._count(message)
        self.metadata = {
            key if record == "cellwright" else f"{record}.{key}": value
            for record, content in self._records.metadata.items()
            for key, value in content.items()
        }
        self._decoders: dict[int, Callable[[RawEntry], Any]] = {}

    def _count(self, message: Any) -> None:
        channel = self._records.channels[message.channel_id]
        topic = self.topics.get(channel.topic)
        if topic is None:
            schema = self._records.schemas.get(channel.schema_id)
            ros_type, text = (schema.name, schema.data.decode(errors="replace")) if schema else ("", "")
            topic = Topic(channel.topic, ros_type, text, 0, message.log_time, message.log_time)
            self.topics[channel.topic] = topic
        topic.count += 1
        topic.first_ns = min(topic.first_ns, message.log_time)
        topic.last_ns = max(topic.last_ns, message.log_time)

    @property
    def problem(self) -> str:
        """The reason why the log is incomplete; empty when it is complete."""
        return str(self._records.problem)

    @property
    def count(self) -> int:
        """The number of all messages."""
        return sum(topic.count for topic in self.topics.values())

    @property
    def span_ns(self) -> tuple[int, int]:
        """Times of the first and the last message; zeros when there are none."""
        topics = self.topics.values()
        return min((t.first_ns for t in topics), default=0), max((t.last_ns for t in topics), default=0)

    def topic(self, name: str) -> Topic:
        """Returns the topic of that name; the error lists those that exist."""
        if name not in self.topics:
            raise UnknownName("topic", name, self.topics, where=str(self.path))
        return self.topics[name]

    def class_of(self, topic: str) -> type[Message] | None:
        """Returns the class of a topic's messages; None where this process knows none."""
        channel = next(c for c in self._records.channels.values() if c.topic == self.topic(topic).name)
        schema = self._records.schemas.get(channel.schema_id)
        text = schema.data.decode(errors="replace") if schema else ""
        return message_class(schema.name, text, channel.metadata.get("class", "")) if schema else None

    def is_truth(self, topic: str) -> bool:
        """Returns whether a topic carries what no controller may see: by its class, or else by its name."""
        known = self.class_of(topic)
        return topic.startswith(TRUTH_PREFIX) if known is None else known.TRUTH

    def raw(self, topics: Iterable[str] | None = None) -> Iterator[RawEntry]:
        """Yields messages as bytes in the order of time; those of the same time in the order of recording.

        One chunk after the other is read, so that a log may be larger than the memory.
        """
        wanted = set(self.topics) if topics is None else {self.topic(name).name for name in topics}
        # When a chunk was read, everything before the start of all later ones is complete.
        later_starts = list(accumulate(reversed(self._block_starts_ns[1:]), min))[::-1]
        waiting: list[Any] = []
        blocks = read_blocks(self.path, LogRecords())
        for number, block in enumerate(islice(blocks, len(self._block_starts_ns))):  # no more, if it is still growing
            waiting += block
            waiting.sort(key=attrgetter("log_time"))
            complete = len(waiting)
            if number < len(later_starts):
                complete = bisect_left(waiting, later_starts[number], key=attrgetter("log_time"))
            for message in waiting[:complete]:
                topic = self._records.channels[message.channel_id].topic
                if topic in wanted:
                    yield RawEntry(topic, message.log_time, message.sequence, message.channel_id, message.data)
            del waiting[:complete]

    def decode(self, entry: RawEntry) -> Any:
        """Returns the content of a message: its class where this process knows it, else a namespace of plain fields."""
        decoder = self._decoders.get(entry.channel)
        if decoder is None:
            decoder = self._decoders[entry.channel] = self._decoder(entry.channel)
        try:
            return decoder(entry)
        except Exception as error:  # any error here means damaged bytes
            raise LogError(f"{self.path}: message on {entry.topic} at {entry.time_ns / 1e9:g} s: {error}") from None

    def entries(self, topics: Iterable[str] | None = None) -> Iterator[LogEntry]:
        """Yields messages in the order of time, decoded; of all topics or the named ones."""
        for entry in self.raw(topics):
            yield LogEntry(entry.topic, entry.time_ns, self.decode(entry))

    def arrays(self, topic: str) -> dict[str, np.ndarray[Any, Any]]:
        """Returns a topic as columns: `time_s` (time of recording) and every field, stacked where all have one shape.

        Fields whose shape changes from message to message, and texts, become arrays of objects.
        """
        times: list[float] = []
        columns: dict[str, list[Any]] = {}
        for entry in self.entries([topic]):
            times.append(entry.time_ns / 1e9)
            for name, value in fields_of(entry.message).items():
                columns.setdefault(name, []).append(value)
        return {"time_s": np.array(times), **{name: stacked(values) for name, values in columns.items()}}

    def __repr__(self) -> str:
        return f"<log {self._title()}, {len(self.topics)} topics>"

    def _repr_html_(self) -> str:
        rows = [(topic.name, topic.type, topic.count, f"{topic.rate_hz:.1f}") for topic in self.topics.values()]
        return html_table(self._title(), ["topic", "type", "messages []", "rate [Hz]"], rows)

    def _title(self) -> str:
        first_ns, last_ns = self.span_ns
        about = ", ".join(f"{key} {self.metadata[key]}" for key in ("cell", "seed") if key in self.metadata)
        cut = f", cut: {self.problem}" if self.problem else ""
        return f"{self.path}{about and ': '}{about}, {(last_ns - first_ns) / 1e9:.2f} s, {self.count} messages{cut}"

    def _decoder(self, channel_id: int) -> Callable[[RawEntry], Any]:
        channel = self._records.channels[channel_id]
        schema = self._records.schemas.get(channel.schema_id)
        if channel.message_encoding != "cdr" or schema is None or schema.encoding != "ros2msg":
            written = f"{channel.message_encoding or 'unknown'} / {schema.encoding if schema else 'no schema'}"
            raise LogError(f"{self.path}: topic {channel.topic} is encoded as {written}, readable is cdr / ros2msg")
        text, source = schema.data.decode(errors="replace"), channel.metadata.get("source", "")
        known = message_class(schema.name, text, channel.metadata.get("class", ""))
        if known is not None:
            return lambda entry: decode(
                known, entry.data, sequence=entry.sequence, source=source, time_ns=entry.time_ns
            )
        try:
            store = get_typestore(Stores.EMPTY)
            store.register(types_of_text(schema.name, text))
        except Exception as error:
            raise LogError(f"{self.path}: the definition of {schema.name} cannot be read: {error}") from None
        newer = newer_class(schema.name, store, channel.metadata.get("class", ""))
        if newer is None:
            return lambda entry: _namespace(store.deserialize_cdr(entry.data, schema.name))
        return lambda entry: from_ros(
            newer, store.deserialize_cdr(entry.data, schema.name),
            sequence=entry.sequence, source=source, time_ns=entry.time_ns,
        )  # fmt: skip


def read_log(path: Path | str) -> Log:
    """Opens a log and reads its table of contents; a log that was cut off is read as far as it goes.

    `cw.read_log("run.mcap").arrays("/fanuc/joint_states")["position"]` is a topic as an array.

    Raises:
        LogError: There is no such file, or it is not a log.
    """
    return Log(Path(path))


def _namespace(value: Any) -> Any:
    """Returns a rosbags object as a namespace, nested ones too; without the constants of its type."""
    if hasattr(value, "__msgtype__"):
        kinds = type(value).__annotations__
        fields = {name: item for name, item in vars(value).items() if not kinds[name].startswith("ClassVar")}
        return SimpleNamespace(**{name: _namespace(item) for name, item in fields.items()})
    return [_namespace(item) for item in value] if isinstance(value, list) else value

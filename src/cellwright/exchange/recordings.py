"""Bags of ROS 1 and ROS 2 as logs: whatever reads a log reads them, too."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mcap.records import Channel, Schema
from rosbags.interfaces import Connection
from rosbags.rosbag1 import Reader as Rosbag1Reader
from rosbags.rosbag1.reader import ReaderError as Rosbag1Error
from rosbags.rosbag2 import Reader as Rosbag2Reader
from rosbags.rosbag2 import ReaderError as Rosbag2Error

from cellwright.core.errors import LogError
from cellwright.exchange.types import register_definition
from cellwright.interfaces.ros.types import RosTypes
from cellwright.record.log import Log, RawEntry, Topic
from cellwright.record.records import LogRecords

__all__ = ["BagLog", "read_recording"]

IMAGE = "sensor_msgs/msg/Image"
DEPTHS = "32FC1"
DAMAGE = (Rosbag1Error, Rosbag2Error, OSError, ValueError, KeyError, EOFError, struct.error, AssertionError)
ROSBAG2_NOTE = "metadata.yaml"


def read_recording(path: Path | str) -> Log:
    """Opens a log, a bag of ROS 1 (`.bag`) or a bag of ROS 2 (its folder), and reads its table of contents.

    Raises:
        LogError: There is no such file, or it is none of these.
    """
    path = Path(path)
    return BagLog(path) if path.is_dir() or path.suffix == ".bag" else Log(path)


class BagLog(Log):
    """A bag that is read like a log: messages of our types are what they were, all others namespaces.

    Sources are the first words of topics, and messages of standard types are numbered as they come: a bag has neither.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records = LogRecords()
        self._types = RosTypes({})
        self.topics = {}
        self.metadata = {}
        self._decoders = {}
        self._ids: dict[tuple[str, str], int] = {}
        try:
            with self._opened() as bag:
                if isinstance(bag, Rosbag2Reader):
                    self.metadata = {str(key): str(text) for key, text in (bag.storage.metadata.custom or {}).items()}
                for connection in bag.connections:
                    self._add(connection)
                for connection, time_ns, raw in bag.messages():
                    self._count_one(connection, time_ns, raw)
        except LogError:
            raise
        except DAMAGE as error:
            raise self._error(error) from None

    def raw(self, topics: Iterable[str] | None = None) -> Iterator[RawEntry]:
        """Yields messages as CDR bytes in the order of time."""
        wanted = set(self.topics) if topics is None else {self.topic(name).name for name in topics}
        sequences = dict.fromkeys(self._ids.values(), -1)
        try:
            with self._opened() as bag:
                chosen = [connection for connection in bag.connections if connection.topic in wanted]
                for connection, time_ns, raw in bag.messages(chosen) if chosen else ():
                    channel = self._ids[connection.topic, connection.msgtype]
                    sequences[channel] += 1
                    data = self._cdr(connection, raw)
                    yield RawEntry(connection.topic, time_ns, sequences[channel], channel, data)
        except DAMAGE as error:
            raise self._error(error) from None

    def _opened(self) -> Any:
        if self.path.is_dir():
            return Rosbag2Reader(self.path)
        return Rosbag1Reader(self.path)

    def _add(self, connection: Connection) -> None:
        """Notes a connection; one topic may have several, of as many publishers."""
        key = connection.topic, connection.msgtype
        if key in self._ids:
            return
        number = self._ids[key] = len(self._ids) + 1
        try:
            register_definition(self._types, connection.msgtype, connection.msgdef.data)
            text = self._types.store.generate_msgdef(connection.msgtype, ros_version=2)[0]
        except Exception as error:
            raise LogError(f"{self.path}: the definition of {connection.msgtype} cannot be read: {error}") from None
        self._records.schemas[number] = Schema(
            id=number, data=text.encode(), encoding="ros2msg", name=connection.msgtype
        )
        source = connection.topic.strip("/").partition("/")[0]
        self._records.channels[number] = Channel(number, connection.topic, "cdr", {"source": source}, number)

    def _count_one(self, connection: Connection, time_ns: int, raw: bytes) -> None:
        channel = self._records.channels[self._ids[connection.topic, connection.msgtype]]
        topic = self.topics.get(connection.topic)
        if topic is None:
            text = self._records.schemas[channel.schema_id].data.decode()
            topic = Topic(connection.topic, connection.msgtype, text, 0, time_ns, time_ns)
            self.topics[connection.topic] = topic
            if connection.msgtype == IMAGE:  # two of our classes have this type
                message: Any = self._types.store.deserialize_cdr(self._cdr(connection, raw), IMAGE)
                channel.metadata["class"] = "Depth" if message.encoding == DEPTHS else "Image"
        topic.count += 1
        topic.first_ns = min(topic.first_ns, time_ns)
        topic.last_ns = max(topic.last_ns, time_ns)

    def _cdr(self, connection: Connection, raw: bytes) -> bytes:
        return bytes(raw) if self.path.is_dir() else self._types.of_ros1(connection.msgtype, raw)

    def _error(self, error: BaseException) -> LogError:
        if not self.path.exists():
            return LogError(f"cannot read {self.path}: No such file or directory")
        if self.path.is_dir() and not (self.path / ROSBAG2_NOTE).is_file():
            return LogError(f"{self.path} is a folder without {ROSBAG2_NOTE}: no bag of ROS 2")
        reason = " ".join(str(error).split()) or type(error).__name__
        remedy = "; 'rosbag reindex' mends a bag whose recording was cut off" if "index" in reason.lower() else ""
        return LogError(f"{self.path} is not a bag that can be read: {reason}{remedy}")

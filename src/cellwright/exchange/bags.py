"""Logs as bags of ROS 1 and ROS 2, with the transform tree, so that their players drive rviz and tf."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Rosbag2Writer

from cellwright.core.errors import BadInput, CellwrightError, LogError
from cellwright.exchange.export import Selection
from cellwright.exchange.types import known_types
from cellwright.interfaces.ros.graph import RosGraph
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.interfaces.ros.transforms import FramePublisher
from cellwright.interfaces.ros.types import TF, RosTypes
from cellwright.lab import Lab
from cellwright.lab.cell_file import read_cell
from cellwright.lab.versions import model_hash
from cellwright.viewing.replay import NOTED_CELL

__all__ = ["write_bag", "write_rosbag2"]

CLOCK, CLOCK_TYPE = "/clock", "rosgraph_msgs/msg/Clock"
CLOCK_NS = 10_000_000
CALLER = "/cellwright"
_LATCHED = Qos(
    QosHistory.KEEP_LAST,
    1,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    QosTime(0, 0),
    QosTime(0, 0),
    QosLiveliness.SYSTEM_DEFAULT,
    QosTime(0, 0),
    avoid_ros_namespace_conventions=False,
)
ROSBAG2_VERSION: Literal[8] = 8  # of its metadata; newer players read it, too


class BagMessage(NamedTuple):
    """A message on its way into a bag."""

    topic: str
    ros_type: str
    time_ns: int
    cdr: bytes
    is_latched: bool = False


class _Bag(Protocol):
    def add(self, message: BagMessage) -> None:
        """Writes a message."""


class _FewIndexes(Rosbag1Writer):
    """Keeps of the index of a chunk that is written only how long it is: that of a whole log would fill the memory."""

    def write_chunk(self, chunk: Any) -> None:
        super().write_chunk(chunk)
        chunk.connections = {connection: range(len(places)) for connection, places in chunk.connections.items()}


class _Ros1Bag:
    def __init__(self, writer: Rosbag1Writer, types: RosTypes) -> None:
        self._writer, self._types = writer, types
        self._connections: dict[str, Any] = {}

    def add(self, message: BagMessage) -> None:
        connection = self._connections.get(message.topic)
        if connection is None:
            text, md5 = self._types.text(message.ros_type), self._types.md5(message.ros_type)
            connection = self._connections[message.topic] = self._writer.add_connection(
                message.topic,
                message.ros_type,
                msgdef=text,
                md5sum=md5,
                callerid=CALLER,
                latching=int(message.is_latched),
            )
        # A message at time 0 is before the first time that players of ROS 1 know.
        data = self._types.to_ros1(message.ros_type, message.cdr)
        self._writer.write(connection, max(1, message.time_ns), data)


class _Ros2Bag:
    def __init__(self, writer: Rosbag2Writer, types: RosTypes) -> None:
        self._writer, self._types = writer, types
        self._connections: dict[str, Any] = {}

    def add(self, message: BagMessage) -> None:
        connection = self._connections.get(message.topic)
        if connection is None:
            connection = self._connections[message.topic] = self._writer.add_connection(
                message.topic,
                message.ros_type,
                typestore=self._types.store,
                offered_qos_profiles=[_LATCHED] if message.is_latched else [],
            )
        self._writer.write(connection, message.time_ns, message.cdr)


def write_bag(selection: Selection, out: Path) -> dict[str, dict[str, Any]]:
    """Writes a bag of ROS 1, not compressed; returns topic -> its type and messages."""
    types = known_types(selection.log)
    with _FewIndexes(out) as writer:
        return _write(selection, types, _Ros1Bag(writer, types))


def write_rosbag2(selection: Selection, out: Path) -> dict[str, dict[str, Any]]:
    """Writes a bag of ROS 2; returns topic -> its type and messages."""
    types = known_types(selection.log)
    plugin = StoragePlugin.MCAP if selection.options.storage == "mcap" else StoragePlugin.SQLITE3
    writer: AbstractContextManager[Any] = Rosbag2Writer(out, version=ROSBAG2_VERSION, storage_plugin=plugin)
    with writer as opened:
        for key, text in selection.log.metadata.items():
            opened.set_custom_data(key, text)
        return _write(selection, types, _Ros2Bag(opened, types))


def _write(selection: Selection, types: RosTypes, bag: _Bag) -> dict[str, dict[str, Any]]:
    topics: dict[str, dict[str, Any]] = {}
    for message in _messages(selection, types):
        try:
            bag.add(message)
        except (OSError, CellwrightError):
            raise
        except Exception as error:  # any other means damaged bytes
            place = f"message on {message.topic} at {message.time_ns / 1e9:g} s"
            raise LogError(f"{selection.log.path}: {place}: {error}") from None
        told = topics.setdefault(message.topic, {"type": message.ros_type, "messages": 0})
        told["messages"] += 1
    return topics


def _messages(selection: Selection, types: RosTypes) -> Iterator[BagMessage]:
    """Yields the messages of a log, and behind each the frames that it moves."""
    options = selection.options
    kinds = {name: selection.log.topics[name].type for name in selection.topics}
    graph = _graph(selection) if options.with_frames else None
    frames = None if graph is None else FramePublisher(types, graph.describe()["frames"], kinds)
    latched = set() if graph is None else {t.bus_topic for t in graph.published.values() if t.is_latched}
    clock_ns: int | None = None
    for entry in selection.raw():
        if clock_ns is None:
            clock_ns = entry.time_ns
            if graph is not None and frames is not None and not all(frame.topic for frame in graph.frames):
                yield BagMessage("/tf_static", TF, entry.time_ns, frames.static(), is_latched=True)
        while options.with_clock and clock_ns <= entry.time_ns:
            yield BagMessage(CLOCK, CLOCK_TYPE, clock_ns, _clock(types, clock_ns))
            clock_ns += CLOCK_NS
        yield BagMessage(entry.topic, kinds[entry.topic], entry.time_ns, entry.data, entry.topic in latched)
        moved = None if frames is None else frames.moved(entry.topic, _stamp_ns(entry.data), entry.data)
        if moved is not None:
            yield BagMessage("/tf", TF, entry.time_ns, moved)


def _stamp_ns(data: bytes) -> int:
    """Returns the time in the header with which the bytes of a message begin."""
    seconds, nanoseconds = struct.unpack_from("<iI", data, 4)
    return int(seconds) * 10**9 + int(nanoseconds)


def _clock(types: RosTypes, time_ns: int) -> bytes:
    seconds, nanoseconds = divmod(time_ns, 10**9)
    kinds = types.store.types
    message = kinds[CLOCK_TYPE](clock=kinds["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds))
    return bytes(types.store.serialize_cdr(message, CLOCK_TYPE))


def _graph(selection: Selection) -> RosGraph | None:
    """Returns the graph of the laboratory that was recorded; None, and a note, where the log does not lead to it."""
    metadata = selection.log.metadata
    try:
        if not {"cell", "seed", "model"} <= metadata.keys():
            raise BadInput("the log does not name its cell and seed")
        seed = int(metadata["seed"])
        cell = read_cell(selection.options.cell or metadata.get(NOTED_CELL) or metadata["cell"], seed)
        with Lab.from_cell(cell, seed, fidelity=metadata.get("fidelity")) as lab:
            if model_hash(lab.world.model) != metadata["model"]:
                raise BadInput(f"cell '{cell.name}' with seed {seed} is not the one that was recorded; give its file")
            return graph_of(lab)
    except (CellwrightError, ValueError) as error:
        selection.notes.append(f"no /tf: {error}")
        return None

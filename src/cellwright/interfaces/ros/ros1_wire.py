"""rospy made fit for a laboratory: classes that carry bytes, queues that are bounded and count, registering anew.

Imported in the bridge's process alone, with what rospy brings.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from importlib import import_module
from typing import Any
from xmlrpc.client import MultiCall

from rosbags.interfaces import Nodetype

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros.ros1 import master_of
from cellwright.interfaces.ros.types import HEADER, RosTypes, short_name

__all__ = [
    "MAX_MESSAGE_BYTES",
    "bound_and_tell",
    "raw_class",
    "register_anew",
    "service_class",
]

ROOM_BYTES = 8 * 2**20  # of messages that a subscriber has not read yet
SOCKET_BYTES = 2**18
MOST_MESSAGES, LEAST_MESSAGES = 2000, 2
MAX_MESSAGE_BYTES = 2**20  # of what ROS programs send; a command is small
CLOCK = "/clock"
CLOCK_TICKS = 100  # of which a late subscriber needs no more: older ones are dropped without a word
LENGTH = struct.Struct("<I")


def raw_class(types: RosTypes, ros_type: str, name: str = "") -> type[Any]:
    """Returns a class of messages for rospy that only carries bytes; rospy numbers those that begin with a header."""
    fields: Any = types.ros1.fielddefs[ros_type][1]
    has_header = bool(fields) and fields[0][1] == (Nodetype.NAME, HEADER)
    text, md5 = types.ros1.generate_msgdef(ros_type, ros_version=1)

    class RawMessage(_module("genpy").Message):  # type: ignore[misc]
        """Bytes of a message."""

        _type = name or short_name(ros_type)
        _md5sum, _full_text, _has_header = md5, text, has_header
        _slot_types: tuple[str, ...] = ()
        __slots__ = ("frame_id", "raw", "seq")

        def __init__(self, raw: bytes = b"") -> None:
            self.raw, self.seq, self.frame_id = raw, 0, ""

        @property
        def header(self) -> Any:
            return self

        def serialize(self, buffer: Any) -> None:
            if has_header:
                buffer.write(LENGTH.pack(self.seq & 0xFFFFFFFF))
                buffer.write(memoryview(self.raw)[LENGTH.size :])
            else:
                buffer.write(self.raw)

        def deserialize(self, raw: bytes) -> Any:
            self.raw = raw
            return self

    return RawMessage


def service_class(types: RosTypes, service_type: str) -> type[Any]:
    """Returns the class of a service for rospy, whose request and response only carry bytes.

    Raises:
        BadInput: Its type is not known.
    """
    halves = types.service(service_type)
    if not all(half in types.ros1.fielddefs for half in halves):
        raise BadInput(f"service type {service_type} is not known")
    name = short_name(service_type)
    request, response = (
        raw_class(types, half, name + kind) for half, kind in zip(halves, ("Request", "Response"), strict=True)
    )
    return type(
        "RawService",
        (),
        {
            "_type": name,
            "_md5sum": types.service_md5(service_type),
            "_request_class": request,
            "_response_class": response,
        },
    )


def bound_and_tell(tell: Callable[[str], None]) -> None:
    """Makes rospy's queues bounded by bytes, and tells what they drop and whom rospy refuses.

    Args:
        tell: Called with a line, the same one for each message of the same kind.
    """

    def write_data(connection: Any, data: bytes) -> None:
        topic = connection._connection.name
        most = CLOCK_TICKS if topic == CLOCK else max(LEAST_MESSAGES, min(MOST_MESSAGES, ROOM_BYTES // len(data)))
        with connection._lock:
            if connection._error:
                error, connection._error = connection._error, None
                raise error
            excess = max(0, len(connection._queue) + 1 - most)
            del connection._queue[:excess]
            connection._queue.append(data)
            connection._cond_data_available.notify()
        if topic != CLOCK:
            for _ in range(excess):
                tell(f"{connection._connection.endpoint_id} reads {topic} too slowly; its oldest messages are dropped")

    def read_messages(protocol: Any, buffer: Any, messages: list[Any], _socket: Any) -> None:
        read = buffer.getvalue()[: buffer.tell()]
        skipped_bytes = getattr(protocol, "skipped_bytes", 0)
        at = min(skipped_bytes, len(read))
        protocol.skipped_bytes = skipped_bytes - at
        while len(read) - at >= LENGTH.size:
            (length,) = LENGTH.unpack_from(read, at)
            end = at + LENGTH.size + length
            if length > MAX_MESSAGE_BYTES:
                tell(f"refused: a message of {length / 1e6:.1f} MB on {protocol.resolved_name}")
                protocol.skipped_bytes = max(0, end - len(read))
            elif end > len(read):
                break
            else:
                messages.append(protocol.recv_data_class().deserialize(read[at + LENGTH.size : end]))
            at = min(end, len(read))
        buffer.seek(0)
        buffer.truncate(0)
        buffer.write(read[at:])

    def validate_header(connection: Any, header: dict[str, str]) -> None:
        if "error" in header:
            tell(f"refused: a publisher of {connection.name}: {header['error']}")
        as_rospy_does(connection, header)

    def handle_subscriber(handler: Any, end: Any, address: Any, header: dict[str, str]) -> str | None:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)  # what waits in it is never dropped, and old
        error: str | None = as_rospy_handles(handler, end, address, header)
        if error:
            tell(f"refused: {header.get('callerid')} as a subscriber of {header.get('topic')}: {error}")
        return error

    # Methods, not classes: rospy's own name their classes by what the module has under that name.
    transport, pubsub = _module("rospy.impl.tcpros_base").TCPROSTransport, _module("rospy.impl.tcpros_pubsub")
    as_rospy_does, transport._validate_header = transport._validate_header, validate_header
    as_rospy_handles = pubsub.TCPROSHandler.topic_connection_handler
    pubsub.TCPROSHandler.topic_connection_handler = handle_subscriber
    pubsub.TCPROSSub.read_messages = read_messages
    _module("rospy.topics").QueuedConnection.write_data = write_data


def register_anew(rospy: Any, uri: str) -> None:
    """Tells a master all that the node publishes, subscribes to and serves.

    Raises:
        MASTER_ERRORS: The master does not answer.
    """
    registration = _module("rospy.impl.registration")
    topics, services = registration.get_topic_manager(), registration.get_service_manager()
    name, node_uri = rospy.get_name(), rospy.get_node_uri()
    calls: Any = MultiCall(master_of(uri))
    subscriptions = topics.get_subscriptions()
    for topic, ros_type in subscriptions:
        calls.registerSubscriber(name, topic, ros_type, node_uri)
    for topic, ros_type in topics.get_publications():
        calls.registerPublisher(name, topic, ros_type, node_uri)
    for service, service_uri in services.get_services():
        calls.registerService(name, service, service_uri, node_uri)
    answers = list(calls())
    own = master_of(node_uri)
    for (topic, _), (_, _, publishers) in zip(subscriptions, answers, strict=False):
        if publishers:
            own.publisherUpdate(name, topic, publishers)


def _module(name: str) -> Any:
    return import_module(name)

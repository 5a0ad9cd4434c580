"""A bridge's side of the link to a laboratory, in a process of its own: what every bridge needs."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from cellwright.core.channel import HEADER
from cellwright.core.errors import BadInput
from cellwright.core.side_process import until_orphaned
from cellwright.interfaces.ros.link import (
    LabPacket,
    NodePacket,
    PacketReader,
    json_packet,
    message_head,
    read_json,
    split_message,
)
from cellwright.interfaces.ros.transforms import FramePublisher
from cellwright.interfaces.ros.types import TF, RosTypes

__all__ = ["CLOCK", "LabNode", "run_node"]

CLOCK = "/clock"
CLOCK_TYPE, TEXT_TYPE = "rosgraph_msgs/msg/Clock", "std_msgs/msg/String"
MAX_UNREAD_BYTES = 2**22  # of what the laboratory has not read; more messages are refused
MAX_READ_BYTES = 2**18
CALL_S = 60.0  # of wall time that a service may take


class LabNode(ABC):
    """Knows the laboratory's graph, and carries messages and calls.

    A subclass says what to do with messages of the laboratory (`deliver`), and tells which topics are wanted.

    Attributes:
        types: The types of the graph.
        published: Topic -> its type, of all that the laboratory publishes; `/clock`, `/tf` and `/tf_static` among them.
        latched: Topic -> the CDR bytes of its last message, of those whose last message a late subscriber gets.
        subscribed: Topic -> its type, of all that the laboratory takes.
        services: Name -> service type.
        parameters: Name -> value.
        time_ns: Simulation time.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, description: dict[str, Any]) -> None:
        self._reader, self._writer = reader, writer
        self.types = RosTypes(description["definitions"])
        self.cell: str = description["cell"]
        self.published = {topic["topic"]: topic["ros_type"] for topic in description["published"]}
        self.published |= {CLOCK: CLOCK_TYPE, "/tf": TF, "/tf_static": TF}
        self.subscribed = {topic["topic"]: topic["ros_type"] for topic in description["subscribed"]}
        self.services = {service["name"]: service["service_type"] for service in description["services"]}
        self.parameters: dict[str, Any] = description["parameters"]
        self.time_ns = 0
        self._numbers = {topic: number for number, topic in enumerate(self.subscribed)}
        self._bus_topics: list[str] = description["bus_topics"]
        self._names: dict[str, list[str]] = {}
        for topic in description["published"]:
            self._names.setdefault(topic["bus_topic"], []).append(topic["topic"])
        self._is_latched = {topic["topic"] for topic in description["published"] if topic["is_latched"]}
        self._tree = FramePublisher(self.types, description["frames"], description["bus_types"])
        self.latched: dict[str, bytes] = {"/tf_static": self._tree.static()}
        for name, model in self.parameters.items():
            if name.endswith("/robot_description") and isinstance(model, str):
                self.published[name] = TEXT_TYPE
                text = self.types.store.types[TEXT_TYPE](data=model)
                self.latched[name] = bytes(self.types.store.serialize_cdr(text, TEXT_TYPE))
        self._wanted: set[str] = set()
        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._ids = itertools.count(1)
        self.overrun = 0

    @abstractmethod
    def deliver(self, topic: str, cdr: bytes) -> None:
        """Gives a message of the laboratory to whoever subscribes to its topic; must not wait."""

    def want(self, topics: set[str]) -> None:
        """Says which topics somebody subscribes to now."""
        if topics != self._wanted:
            self._wanted = set(topics)
            self._send(NodePacket.WANTED, sorted(topics | self._is_latched))

    def refuse(self, sender: int, topic: str, reason: str) -> None:  # noqa: B027
        """Learns that the laboratory has refused a message of a sender; a subclass may tell who sent it."""

    def publish(self, topic: str, cdr: bytes, sender: int = 0) -> None:
        """Gives a message to the laboratory; `sender` is whatever number `refuse` is to get back.

        Raises:
            BadInput: It takes none on that topic, or does not keep up.
        """
        if topic not in self._numbers:
            known = ", ".join(sorted(self._numbers)) or "none"
            raise BadInput(f"the laboratory takes nothing on {topic}; topics that it takes: {known}")
        if self._writer.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.overrun += 1
            raise BadInput(f"the laboratory does not keep up with what comes; a message on {topic} is dropped")
        head = message_head(self._numbers[topic], sender)
        self._writer.write(HEADER.pack(NodePacket.MESSAGE, len(head) + len(cdr)) + head + cdr)

    async def call(self, service: str, request: dict[str, Any]) -> dict[str, Any]:
        """Calls a service of the laboratory and returns its response.

        Raises:
            BadInput: There is no such service, or it refuses.
        """
        if service not in self.services:
            raise BadInput(f"there is no service {service}; services: {', '.join(sorted(self.services)) or 'none'}")
        number = next(self._ids)
        future = self._calls[number] = asyncio.get_running_loop().create_future()
        self._send(NodePacket.CALL, {"id": number, "service": service, "request": request})
        try:
            answer = await asyncio.wait_for(future, CALL_S)
        except TimeoutError:
            raise BadInput(f"service {service} did not answer within {CALL_S:g} s") from None
        finally:
            self._calls.pop(number, None)
        if "error" in answer:
            raise BadInput(answer["error"])
        response: dict[str, Any] = answer["response"]
        return response

    def tell(self, line: str) -> None:
        """Tells the user a line, on the laboratory's terminal."""
        self._send(NodePacket.TOLD, line)

    async def feed(self) -> None:
        """Takes what the laboratory sends, until it ends."""
        reader = PacketReader()
        while read := await self._reader.read(MAX_READ_BYTES):
            for kind, packet in reader.take(read):
                if kind == LabPacket.MESSAGE:
                    self._take(*split_message(packet))
                elif kind == LabPacket.CLOCK:
                    self._take_time(int.from_bytes(packet, "little"))
                elif kind == LabPacket.REFUSED:
                    self.refuse(*read_json(packet))
                elif kind == LabPacket.ANSWER:
                    answer = read_json(packet)
                    future = self._calls.get(answer["id"])
                    if future is not None and not future.done():
                        future.set_result(answer)
            await asyncio.sleep(0)

    def _take(self, number: int, time_ns: int, cdr: bytes) -> None:
        bus_topic = self._bus_topics[number]
        if (
            time_ns > self.time_ns
        ):  # no message is ahead of the clock: transforms are asked for at the time that it tells
            self._take_time(time_ns)
        for topic in self._names.get(bus_topic, ()):
            if topic in self._is_latched:
                self.latched[topic] = cdr
            if topic in self._wanted:
                self.deliver(topic, cdr)
        if "/tf" in self._wanted and (moved := self._tree.moved(bus_topic, time_ns, cdr)):
            self.deliver("/tf", moved)

    def _take_time(self, time_ns: int) -> None:
        self.time_ns = time_ns
        if CLOCK in self._wanted:
            seconds, nanoseconds = divmod(time_ns, 10**9)
            store = self.types.store
            stamp = store.types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)
            self.deliver(CLOCK, bytes(store.serialize_cdr(store.types[CLOCK_TYPE](clock=stamp), CLOCK_TYPE)))

    def _send(self, kind: NodePacket, content: Any) -> None:
        self._writer.write(json_packet(kind, content))


def run_node(
    handle: str,
    parent: str,
    open_first: Callable[[], Coroutine[Any, Any, tuple[dict[str, Any], Any]]],
    make: Callable[[asyncio.StreamReader, asyncio.StreamWriter, dict[str, Any], Any], LabNode],
    serve: Callable[[Any], Coroutine[Any, Any, None]],
) -> None:
    """Runs the process of a bridge until its laboratory ends.

    Args:
        handle: The file descriptor of the link.
        parent: The number of the laboratory's process.
        open_first: Takes what the bridge needs, such as a port; returns what to say first (`error` says why not) and
            what it has taken.
        make: Makes the node of the link, the laboratory's description and what was taken.
        serve: Serves until cancelled.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the laboratory, with which it ends
    asyncio.run(_run(socket.socket(fileno=int(handle)), int(parent), open_first, make, serve))


async def _run(end: socket.socket, parent: int, open_first: Any, make: Any, serve: Any) -> None:
    reader, writer = await asyncio.open_connection(sock=end)
    said, taken = await open_first()
    writer.write(json.dumps(said).encode() + b"\n")
    await writer.drain()
    if "error" in said:
        return
    with suppress(asyncio.IncompleteReadError):
        _, length = HEADER.unpack(await reader.readexactly(HEADER.size))
        await _serve(reader, writer, parent, make, serve, read_json(await reader.readexactly(length)), taken)


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    parent: int,
    make: Any,
    serve: Any,
    description: dict[str, Any],
    taken: Any,
) -> None:
    node: LabNode = make(reader, writer, description, taken)
    tasks = [asyncio.ensure_future(work) for work in (node.feed(), serve(node), until_orphaned(parent))]
    _, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    for task in tasks:
        try:
            await task
        except asyncio.CancelledError:
            pass
        except Exception as error:
            node.tell(f"it fails: {type(error).__name__}: {error}")
            with suppress(OSError):
                await writer.drain()

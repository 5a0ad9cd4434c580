"""The laboratory's side of a bridge: sends what is wanted, takes what comes, and never waits for anybody."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from cellwright.core.bus import Role, Subscription
from cellwright.core.channel import Channel, ChannelClosed
from cellwright.core.errors import BadInput
from cellwright.core.messages import Message
from cellwright.core.ros import definition, encode
from cellwright.core.side_process import SideProcess
from cellwright.interfaces.ros.graph import OfferedService, RosGraph
from cellwright.interfaces.ros.link import (
    LabPacket,
    NodePacket,
    PacketReader,
    message_head,
    read_json,
    split_message,
)
from cellwright.interfaces.ros.types import RosTypes
from cellwright.lab.lab import Lab

__all__ = ["RosBridge"]

CLOCK_S = 0.01  # simulation time between two ticks of /clock, as robots that are simulated elsewhere have it
LOOK_S = 0.005  # wall time between two looks at the clock and at the process
ROOM_BYTES = 16 * 2**20  # of messages that the bridge's process has not read yet; more are dropped, and counted
ANSWER_ROOM_BYTES = 16 * 2**20  # besides, for what must not be dropped
MAX_READ_BYTES = 2**18
RESTART_S = 1.0  # of wall time until a process that died is started again


class RosBridge:
    """Connects a laboratory to a process that speaks to ROS programs.

    Attributes:
        said: What the process said when it started, such as its address.
        dropped: Topic -> messages for which the process had no room.
        refused: Topic -> messages of ROS programs that were refused.
        taken: Topic -> messages that were taken.

    Args:
        lab: The laboratory; its event loop must be the one that runs.
        graph: What it offers.
        what: The name of the bridge, for lines to the user.
        module: The module of its process; its `main` gets the arguments.
        arguments: Its arguments.
        environment: Variables of its process.
        say: Tells the user a line.
    """

    def __init__(
        self,
        lab: Lab,
        graph: RosGraph,
        what: str,
        module: str,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._lab = lab
        self._graph = graph
        self._what = what
        self._module = module
        self._arguments = list(arguments)
        self._environment = environment
        self._say = say
        self._subscribed = list(graph.subscribed.values())
        self._bus_topics = sorted(graph.bus_topics_of([*graph.published, "/tf"]))
        self._types = RosTypes(graph.definitions)
        self._numbers = {topic: number for number, topic in enumerate(self._bus_topics)}
        self._conversions = {t.bus_topic: t.convert for t in graph.published.values() if t.convert is not None}
        self._subscriptions: dict[str, Subscription] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._process: SideProcess | None = None
        self._channel: Channel | None = None
        self._reader = PacketReader()
        self._first_line: bytes | None = None
        self._restart_s = 0.0
        self._clock_due_ns = 0
        self.said: dict[str, Any] = {}
        self._failed: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()

    async def start(self) -> Self:
        """Starts the process of the bridge, and what it needs.

        Raises:
            BadInput: The process cannot start; says why.
        """
        self._connect(self._process_of_it())
        self._lab.loop.pacing.watch(self._look, LOOK_S)
        return self

    @property
    def address(self) -> str:
        """The address at which ROS programs find it."""
        return str(self.said["address"])

    @property
    def pid(self) -> int | None:
        """The number of its process; None while there is none."""
        return None if self._process is None else self._process.pid

    async def close(self) -> None:
        """Ends the bridge."""
        self._lab.loop.pacing.unwatch(self._look)
        for task in list(self._tasks):
            task.cancel()
        if (process := self._disconnect()) is not None:
            process.wait()

    # ------------------------------------------------------------ the process

    def _process_of_it(self, *, is_awaited: bool = True) -> SideProcess:
        return SideProcess(self._what, self._module, self._arguments, self._environment, is_awaited=is_awaited)

    def _connect(self, process: SideProcess) -> None:
        self._process = process
        self._channel = Channel(process.end, ROOM_BYTES + ANSWER_ROOM_BYTES)
        self._reader = PacketReader()
        self._first_line = None if process.said else b""
        self._hear(process.said)
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._read)
        description = self._graph.describe() | {"bus_topics": self._bus_topics, "cell": self._lab.cell.name}
        description["bus_types"] = {topic: definition(self._lab.bus.topics[topic]).name for topic in self._bus_topics}
        self._send(LabPacket.GRAPH, json.dumps(description).encode())
        self._send_time()

    def _hear(self, said: dict[str, Any]) -> None:
        """Takes what the process says first; another one in its place begins with the arguments that it names."""
        if said and "error" not in said:
            self.said = said
            self._arguments = said.get("arguments", self._arguments)

    def _disconnect(self) -> SideProcess | None:
        """Leaves the process; returns it."""
        for subscription in self._subscriptions.values():
            self._lab.bus.unsubscribe(subscription)
        self._subscriptions.clear()
        if self._channel is not None:
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            self._channel.close()
            self._channel = None
        process, self._process = self._process, None
        return process

    def _lose(self) -> None:
        """Goes on without its process; another one is started in a while."""
        if self._channel is not None:
            if (process := self._disconnect()) is not None:
                process.kill()  # one that hangs may hold its port
            self._restart_s = time.monotonic() + RESTART_S
            if self._first_line is None:  # it had started
                self._say(f"the process of {self._what} has gone; another one is started, the simulation goes on")

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ------------------------------------------------------------ out

    def _look(self) -> None:
        """Tells the time, sends what had no room before, and starts a process in place of one that has gone."""
        if self._channel is None:
            if time.monotonic() >= self._restart_s:
                self._connect(self._process_of_it(is_awaited=False))
        elif self._lab.world.clock.time_ns >= self._clock_due_ns:
            self._send_time()
        elif self._channel.is_waiting:
            self._pump()

    def _send_time(self) -> None:
        time_ns = self._lab.world.clock.time_ns
        self._clock_due_ns = time_ns + round(CLOCK_S * 1e9)
        self._send(LabPacket.CLOCK, time_ns.to_bytes(8, "little"))

    def _send(self, kind: LabPacket, *pieces: bytes) -> bool:
        """Sends a packet; returns False when there was no room, and it is dropped."""
        channel = self._channel
        is_late = kind in (LabPacket.MESSAGE, LabPacket.CLOCK)
        if channel is None or (is_late and channel.waiting_bytes > ROOM_BYTES) or not channel.enqueue(kind, *pieces):
            return False
        self._pump()
        return True

    def _pump(self) -> None:
        try:
            if self._channel is not None:
                self._channel.pump()
        except ChannelClosed:
            asyncio.get_running_loop().call_soon(self._lose)  # not here: the bus is publishing

    def _publish(self, topic: str, message: Message) -> None:
        head = message_head(self._numbers[topic], message.time_ns)
        if topic in self._conversions:
            message = self._conversions[topic](message)
        if not self._send(LabPacket.MESSAGE, head, encode(message)):
            self._count(self.dropped, topic, f"{self._what}: a message on {topic} had no room")

    def _want(self, topics: list[str]) -> None:
        """Subscribes to what is wanted now, and no longer to the rest; tells the time, which may stand still."""
        self._send_time()
        wanted = self._graph.bus_topics_of(topics)
        for topic in [topic for topic in self._subscriptions if topic not in wanted]:
            self._lab.bus.unsubscribe(self._subscriptions.pop(topic))
        for topic in sorted(wanted - self._subscriptions.keys()):
            is_truth = (known := self._lab.bus.topics.get(topic)) is not None and known.TRUTH
            self._subscriptions[topic] = self._lab.bus.subscribe(
                topic,
                self._publish,
                subscriber=self._what,
                role=Role.RECORDER if is_truth else Role.CONTROLLER,  # a graph has truth only where it was asked for
            )

    # ------------------------------------------------------------ in

    def _read(self) -> None:
        channel = self._channel
        if channel is None:
            return
        try:
            read = self._behind_first_line(channel.read(MAX_READ_BYTES))
            channel.pump()
        except ChannelClosed:
            self._lose()
            return
        packets = self._reader.take(read)
        for kind, packet in packets:
            if kind == NodePacket.MESSAGE:
                self._take(*split_message(packet))
            elif kind == NodePacket.WANTED:
                self._want(read_json(packet))
            elif kind == NodePacket.CALL:
                self._spawn(self._call(read_json(packet)))
            elif kind == NodePacket.TOLD:
                self._say(f"{self._what}: {read_json(packet)}")

    def _behind_first_line(self, read: bytes) -> bytes:
        """Returns what has come without what a process says first, which is JSON: that it has started, or why not."""
        if self._first_line is None:
            return read
        line, end, rest = (self._first_line + read).partition(b"\n")
        if not end:
            self._first_line = line
            return b""
        said = json.loads(line)
        if "error" in said:
            self._count(self._failed, said["error"], f"{self._what}: {said['error']}")
        else:
            self._hear(said)
            self._first_line = None
            self._say(f"{self._what} is there again, at {self.address}")
        return rest

    def _take(self, number: int, sender: int, cdr: bytes) -> None:
        topic = self._subscribed[number]
        try:
            topic.take(self._types.store.deserialize_cdr(cdr, topic.ros_type), self._what)
            self.taken[topic.topic] += 1
        except BadInput as error:
            self._refuse(topic.topic, sender, str(error))
        except Exception as error:  # bytes of others
            self._refuse(topic.topic, sender, f"no {topic.ros_type}: {error}")

    def _refuse(self, topic: str, sender: int, reason: str) -> None:
        self._count(self.refused, topic, f"{self._what}: refused: {topic}: {reason}")
        self._send(LabPacket.REFUSED, json.dumps([sender, topic, reason]).encode())

    async def _call(self, asked: dict[str, Any]) -> None:
        service: OfferedService = self._graph.services[asked["service"]]
        answer: dict[str, Any] = {"id": asked["id"]}
        try:
            answer["response"] = await service.call(asked["request"])
        except BadInput as error:
            answer["error"] = str(error)
        except Exception as error:  # a service must never end the simulation
            answer["error"] = f"{service.name} failed: {type(error).__name__}: {error}"
        self._send(LabPacket.ANSWER, json.dumps(answer).encode())

    def _count(self, counter: Counter[str], key: str, line: str) -> None:
        """Counts what was not done; tells the user at every power of two."""
        counter[key] += 1
        count = counter[key]
        if count & (count - 1) == 0:
            self._say(line if count == 1 else f"{line} ({count} times)")

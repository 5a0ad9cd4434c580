"""The process of the ROS 1 bridge: a node of a roscore that offers all that the laboratory does."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cellwright.core.errors import BadInput
from cellwright.core.rospy_import import import_rospy
from cellwright.interfaces.ros.node import LabNode, run_node
from cellwright.interfaces.ros.plain import PlainMessages
from cellwright.interfaces.ros.ros1 import MASTER_ERRORS, NODE_NAME, living_node, master_of
from cellwright.interfaces.ros.ros1_connections import allow_many_files, bound_connections
from cellwright.interfaces.ros.ros1_wire import (
    MAX_MESSAGE_BYTES,
    bound_and_tell,
    raw_class,
    register_anew,
    service_class,
)

__all__ = ["Ros1Node", "main"]

SIM_TIME = "/use_sim_time"
WATCH_S = 0.5  # of wall time between two looks at the master
MAX_UNTAKEN_BYTES, MESSAGE_COST_BYTES = 2**22, 1000
CALL_ROOM_S = 65.0  # longer than the laboratory takes to say that a service does not answer
TOLD_CHARACTERS = 300
TOLD_ALREADY = (
    "remote error reported: ",
    "'topic': ",
    "Inbound TCP/IP connection failed",
    "incoming connection failed",
)
"""In rospy's words for what `bound_and_tell` and `bound_connections` tell."""


class Ros1Node(LabNode):
    """Publishes what the laboratory publishes, as rospy does, and gives it what ROS programs send.

    Threads of rospy reach the event loop only by `call_soon_threadsafe`; the event loop never waits for them: calls
    of the master are made in threads, and messages wait in a bounded queue of each subscriber.

    Args:
        reader: The link to the laboratory.
        writer: The same.
        description: Its graph.
        master_uri: The address of the roscore.
        rospy: The package.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        description: dict[str, Any],
        master_uri: str,
        rospy: Any,
    ) -> None:
        super().__init__(reader, writer, description)
        self._loop = asyncio.get_running_loop()
        self._uri = master_uri
        self._plain = PlainMessages(self.types, 2)
        self._rospy = rospy
        self._publishers: dict[str, Any] = {}
        self._subscribers: list[Any] = []
        self._lock = threading.Lock()
        self._untaken_bytes = 0
        self._counts: Counter[str] = Counter()
        self._is_sim_time: bool | None = None
        self._was_lost = False

    def deliver(self, topic: str, cdr: bytes) -> None:
        """Publishes a message; each subscriber has a queue and a thread of its own."""
        if (publisher := self._publishers.get(topic)) is None:
            return
        try:
            publisher.publish(publisher.data_class(self.types.to_ros1(self.published[topic], cdr)))
        except self._rospy.ROSException:
            pass  # it is shutting down
        except Exception as error:
            self._complain(topic, f"{topic} has a message that ROS 1 cannot have: {error}")

    async def serve(self) -> None:
        """Is a node of the roscore, until it is told to shut down."""
        try:
            await self._wait_for_master()
            await asyncio.to_thread(self._open)
            while not self._rospy.is_shutdown():
                self._want()
                await asyncio.to_thread(self._look_at_master)
                await asyncio.sleep(WATCH_S)
            self.tell(f"node {NODE_NAME} was told to shut down, by `rosnode kill` or another node of that name")
        finally:
            await asyncio.to_thread(self._close)

    # ------------------------------------------------------------ the node

    async def _wait_for_master(self) -> None:
        """Waits, in the place of a process that has gone, for a roscore and for the node's name."""
        while True:
            try:
                if not (address := await asyncio.to_thread(living_node, self._uri, NODE_NAME)):
                    return
                self._complain("name", f"the roscore has another node {NODE_NAME}, at {address}; waits for its end")
            except MASTER_ERRORS:
                self._complain("no master", f"no roscore answers at {self._uri}; waits for one")
            await asyncio.sleep(WATCH_S)

    def _open(self) -> None:
        rospy = self._rospy

        def tell(line: str) -> None:
            self._later(self._complain, line, line)

        allow_many_files()
        bound_and_tell(tell)
        bound_connections(tell, MAX_MESSAGE_BYTES)
        rospy.init_node(NODE_NAME[1:], argv=[NODE_NAME[1:]], disable_signals=True, disable_rostime=True)
        for name in ("rospy", "rosout"):
            logging.getLogger(name).addHandler(_Forward(self._forward))
        self._set_parameters()
        node = self

        class Listener(rospy.SubscribeListener):  # type: ignore[misc, name-defined]
            def peer_subscribe(self, *_: Any) -> None:
                node._later(node._want)

            peer_unsubscribe = peer_subscribe

        for topic, ros_type in self.published.items():
            self._publishers[topic] = rospy.Publisher(
                topic, raw_class(self.types, ros_type), Listener(), latch=self._keeps(topic), queue_size=1
            )  # the queue is another: see `bound_and_tell`
            if topic in self.latched:
                self._later(self.deliver, topic, self.latched[topic])
        for topic, ros_type in self.subscribed.items():
            kind = raw_class(self.types, ros_type)
            self._subscribers.append(rospy.Subscriber(topic, kind, self._took, topic, tcp_nodelay=True))
        for name, service_type in self.services.items():
            try:
                self._serve_calls(name, service_type)
            except BadInput as error:
                self._complain(name, f"service {name} is not offered: {error}")

    def _keeps(self, topic: str) -> bool:
        return topic in self.latched or topic in self._is_latched

    def _close(self) -> None:
        with suppress(*MASTER_ERRORS):
            master = master_of(self._uri)
            for name in [*self.parameters, *([SIM_TIME] if self._is_sim_time else [])]:
                master.deleteParam(NODE_NAME, name)  # a node that starts later must not wait for a clock
        self._rospy.signal_shutdown("the laboratory has ended")

    def _set_parameters(self) -> None:
        """Sets the laboratory's parameters; simulation time unless the user has decided against it before."""
        master = master_of(self._uri)
        if self._is_sim_time is None:
            code, _, value = master.getParam(NODE_NAME, SIM_TIME)
            self._is_sim_time = not (code == 1 and value is False)
            if not self._is_sim_time:
                self._complain(SIM_TIME, f"{SIM_TIME} is false and stays so; stamps are simulation time all the same")
        for name, value in [*self.parameters.items(), *([(SIM_TIME, True)] if self._is_sim_time else [])]:
            master.setParam(NODE_NAME, name, value)

    def _look_at_master(self) -> None:
        """Registers everything anew with a master that does not know this node: one that was started again."""
        try:
            code, _, _address = master_of(self._uri).lookupNode(NODE_NAME, NODE_NAME)
            if code != 1 and not self._rospy.is_shutdown():
                register_anew(self._rospy, self._uri)
                self._set_parameters()
                self._later(self.tell, f"a new roscore at {self._uri} knows all topics and services now")
            elif self._was_lost:
                self._later(self.tell, "the roscore answers again")
            self._was_lost = False
        except MASTER_ERRORS:
            if not self._was_lost:
                self._later(self.tell, "the roscore does not answer; who is connected stays so, the simulation goes on")
            self._was_lost = True

    def _want(self) -> None:
        connected = {topic for topic, one in list(self._publishers.items()) if one.impl and one.impl.has_connections()}
        self.want(connected | self._is_latched)

    # ------------------------------------------------------------ in threads of rospy

    def _later(self, do: Callable[..., Any], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(do, *arguments)

    def _took(self, message: Any, topic: str) -> None:
        cost = len(message.raw) + MESSAGE_COST_BYTES
        with self._lock:
            has_room = self._untaken_bytes + cost <= MAX_UNTAKEN_BYTES
            self._untaken_bytes += cost if has_room else 0
        if has_room:
            self._later(self._give, topic, message.raw, cost)
        else:
            self._later(self._complain, topic, f"messages on {topic} come faster than they can be taken; dropped")

    def _serve_calls(self, name: str, service_type: str) -> None:
        kind: Any = service_class(self.types, service_type)
        asked, answered = self.types.service(service_type)

        def answer(request: Any) -> Any:
            try:
                fields = json.loads(self._plain.json(asked, self.types.of_ros1(asked, request.raw)))
                called = asyncio.run_coroutine_threadsafe(self.call(name, fields), self._loop)
                response = self._plain.cdr(answered, called.result(CALL_ROOM_S), name)
            except BadInput as error:
                raise self._rospy.ServiceException(str(error)) from None
            return kind._response_class(self.types.to_ros1(answered, response))

        self._rospy.Service(name, kind, answer)

    def _forward(self, line: str) -> None:
        self._later(self._complain, re.sub(r"\d+", "#", line), line)

    # ------------------------------------------------------------ in the event loop

    def _give(self, topic: str, raw: bytes, cost: int) -> None:
        with self._lock:
            self._untaken_bytes -= cost
        try:
            self.publish(topic, self.types.of_ros1(self.subscribed[topic], raw))
        except BadInput as error:
            self._complain(topic, str(error))
        except Exception as error:  # bytes of others
            self._complain(topic, f"refused: bytes on {topic} that are no {self.subscribed[topic]}: {error}")

    def _complain(self, key: str, line: str) -> None:
        """Counts what went wrong; tells it the first time, and at every power of two."""
        self._counts[key] += 1
        count = self._counts[key]
        if count & (count - 1) == 0:
            self.tell(line if count == 1 else f"{line} ({count} times)")


class _Forward(logging.Handler):
    """Passes on what rospy warns of, such as a port that cannot be reached."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if not any(words in text for words in TOLD_ALREADY):
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            self._tell(" ... ".join(lines[:1] + lines[-1:] if len(lines) > 1 else lines)[:TOLD_CHARACTERS])


async def _open_first(uri: str) -> tuple[dict[str, Any], Any]:
    try:
        return {"address": uri}, import_rospy()
    except BadInput as error:
        return {"error": str(error)}, None


def main(handle: str, uri: str, parent: str) -> None:
    """Runs the process."""
    run_node(
        handle,
        parent,
        lambda: _open_first(uri),
        lambda reader, writer, description, rospy: Ros1Node(reader, writer, description, uri, rospy),
        lambda node: node.serve(),
    )
    os._exit(0)  # threads of rospy may wait for subscribers that never read

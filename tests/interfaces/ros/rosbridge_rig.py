"""The rosbridge server in this process, and the laboratory's end of its link in the hands of a test."""

import asyncio
import itertools
import json
import socket
from contextlib import asynccontextmanager, suppress

import cbor2
import numpy as np
from websockets.asyncio.client import connect

from cellwright.core.bus import Bus
from cellwright.core.channel import HEADER
from cellwright.core.messages import Image, JointState
from cellwright.core.ros import encode
from cellwright.interfaces.ros.graph import OfferedService, PublishedTopic, RosGraph, SubscribedTopic
from cellwright.interfaces.ros.link import LabPacket, NodePacket, PacketReader, message_head, read_json, split_message
from cellwright.interfaces.ros.rosbridge import RosbridgeNode

PATIENCE_S = 10.0
JOINTS, PICTURES, SPEEDS, NOTES = "/arm/joint_states", "/camera/image_raw", "/base/cmd_vel", "/notes"


def graph():
    """What the laboratory offers: joints, pictures, a latched topic, a service, a parameter; it takes speeds."""
    bus, offered = Bus(), RosGraph()
    for topic, kind in ((JOINTS, JointState), (PICTURES, Image)):
        bus.declare(topic, kind)
        offered.publish_bus(bus, topic)
    offered.publish(PublishedTopic(topic=NOTES, ros_type="std_msgs/msg/String", is_latched=True))
    offered.subscribe(SubscribedTopic(topic=SPEEDS, ros_type="geometry_msgs/msg/Twist", take=lambda _twist, _who: None))
    offered.offer(OfferedService(name="/lab/pause", service_type="std_srvs/srv/SetBool", call=None))
    offered.parameters["/speed_limit"] = 0.25
    return offered


def description():
    """The same as the process of a bridge gets it."""
    whole = graph().describe() | {"bus_topics": [JOINTS, PICTURES], "cell": "test"}
    return whole | {"bus_types": {JOINTS: "sensor_msgs/msg/JointState", PICTURES: "sensor_msgs/msg/Image"}}


def joints(number=0, position=(0.5, -0.25)):
    """A message of two joints."""
    values = np.array(position)
    return JointState(
        number * 2_000_000, number, "arm", names=("a", "b"), position=values, velocity=np.zeros(2), effort=np.zeros(2)
    )


def picture(rows=2, columns=3):
    """A small picture whose bytes are 0, 1, 2 ..."""
    pixels = np.arange(rows * columns * 3, dtype=np.uint8).reshape(rows, columns, 3)
    return Image(5_000_000, 0, "camera", frame="camera", encoding="rgb8", pixels=pixels)


class LabEnd:
    """The laboratory's end of the link: what it was asked for, and what it sends."""

    def __init__(self, end):
        self._reader, self._end = PacketReader(), end
        self.wanted, self.messages, self.calls, self.told = [], [], [], []

    def read(self):
        with suppress(BlockingIOError):
            while read := self._end.recv(2**18):
                for kind, packet in self._reader.take(read):
                    if kind == NodePacket.MESSAGE:
                        self.messages.append(split_message(packet))
                    else:
                        lists = {
                            NodePacket.WANTED: self.wanted,
                            NodePacket.CALL: self.calls,
                            NodePacket.TOLD: self.told,
                        }
                        lists[kind].append(read_json(packet))

    async def until(self, is_there):
        async with asyncio.timeout(PATIENCE_S):
            while not is_there(self):
                await asyncio.sleep(0.002)
                self.read()

    def send(self, kind, content):
        self._end.sendall(HEADER.pack(kind, len(content)) + content)

    def tell_time(self, time_ns):
        self.send(LabPacket.CLOCK, time_ns.to_bytes(8, "little"))

    def publish(self, topic, message):
        number = [JOINTS, PICTURES].index(topic)
        self.send(LabPacket.MESSAGE, message_head(number, message.time_ns) + encode(message))

    async def publish_large(self, topic, message):
        packet = message_head([JOINTS, PICTURES].index(topic), message.time_ns) + encode(message)
        header = HEADER.pack(LabPacket.MESSAGE, len(packet))
        await asyncio.get_running_loop().sock_sendall(self._end, header + packet)

    def answer(self, **answer):
        self.send(LabPacket.ANSWER, json.dumps(answer).encode())

    def refuse(self, sender, topic, reason):
        self.send(LabPacket.REFUSED, json.dumps([sender, topic, reason]).encode())


class Client:
    """A client that speaks the protocol by hand."""

    _ids = itertools.count()

    def __init__(self, websocket):
        self.websocket = websocket

    async def send(self, **operation):
        await self.websocket.send(json.dumps(operation))

    async def receive(self):
        async with asyncio.timeout(PATIENCE_S):
            raw = await self.websocket.recv()
        return cbor2.loads(raw) if isinstance(raw, bytes) else json.loads(raw, parse_constant=_no_constant)

    async def call(self, service, args=None, **more):
        """The response of a service: whether it was done, and its values."""
        number = f"c{next(self._ids)}"
        await self.send(op="call_service", id=number, service=service, args=args or {}, **more)
        while (answer := await self.receive()).get("id") != number:
            pass
        return answer["result"], answer["values"]

    async def settle(self):
        """Waits until the server has done all that was asked before; returns what came meanwhile."""
        number, came = f"c{next(self._ids)}", []
        await self.send(op="call_service", id=number, service="/rosapi/get_time")
        while (answer := await self.receive()).get("id") != number:
            came.append(answer)
        return came

    async def subscribe(self, topic, **more):
        await self.send(op="subscribe", topic=topic, **more)
        return await self.settle()


def _no_constant(name):
    raise AssertionError(f"{name} is no JSON")


class Rig:
    """The server and what a test has of it."""

    def __init__(self, node, lab, port):
        self.node, self.lab, self.port = node, lab, port

    @asynccontextmanager
    async def client(self, target="/", **options):
        options = {"compression": None, "max_size": None, "max_queue": None} | options
        async with connect(f"ws://127.0.0.1:{self.port}{target}", **options) as websocket:
            yield Client(websocket)


@asynccontextmanager
async def rig(token=None, host="127.0.0.1"):
    """The server, which listens on a free port."""
    mine, theirs = socket.socketpair()
    mine.setblocking(False)
    listening = socket.create_server(("127.0.0.1", 0))
    reader, writer = await asyncio.open_connection(sock=theirs)
    node = RosbridgeNode(reader, writer, description(), host=host, listening=listening, token=token)
    tasks = [asyncio.ensure_future(work) for work in (node.feed(), node.listen())]
    try:
        with mine:
            yield Rig(node, LabEnd(mine), listening.getsockname()[1])
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        writer.close()
        listening.close()
    assert [r for r in results if isinstance(r, Exception) and not isinstance(r, asyncio.CancelledError)] == []

"""USARTruth: true poses of everything that moves, as text over a socket, for tests and programs made for USARSim.

It tells the truth, which no controller may have: nothing starts it unless it is asked for, and the log says that it was
on. A query is one line with up to two keys, `{class NAME} {name NAME}`; an empty line asks for everything. The answer
is one line for each object that matches, and `{End}`:

    {Name medium_gear_1} {Class medium_gear} {Time 2.500000} {Location 0.4,-0.2,-0.9} {Rotation 0.0,0.0,-1.5}

Metres and radians in USARSim's frame: x as in the cell, y and z the other way round, so that z points down; roll, pitch
and yaw turn about its fixed axes x, y, z in this order. The protocol is that of the server in USARSim
(USARTruthConnection.uc, github.com/hrnr/robocup-usarsim), whose `RightHand` setting turns z down.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterator
from typing import NamedTuple, Self

from cellwright.core.listener import Listener
from cellwright.core.pose import Pose
from cellwright.lab.lab import Lab

__all__ = ["USARTRUTH_PORT", "UsarTruthInterface"]

USARTRUTH_PORT = 3989
MAX_CLIENTS = 16
MAX_LINE_BYTES = 1024
MAX_QUERIES_PER_S = 500  # of one client, in real time: one that asks more costs the simulation its time
SEND_BUFFER_BYTES = 16 * 1024
END = "{End}"

_BLOCK = re.compile(r"\s*\{\s*([^\s{}]+)\s*([^{}]*?)\s*\}\s*")


class PosedObject(NamedTuple):
    """An object that queries find.

    Attributes:
        name: Its name in the cell.
        model: Its most specific class: the model.
        kinds: The classes above it.
        pose_in_world: Its true pose.
    """

    name: str
    model: str
    kinds: tuple[str, ...]
    pose_in_world: Pose


class UsarTruthInterface:
    """A server of the truth in USARSim's protocol.

    Attributes:
        queries: Queries answered.
        lines_refused: Lines that are no query: text outside braces, unknown keys; their answer is `{End}` alone.
        clients_refused: Connections that were closed at once, because there were as many as there may be.
        clients_dropped: Clients that were disconnected: a line that is too long, or too many queries in a second.

    Args:
        lab: The laboratory; its event loop must be the one that runs.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.queries = self.lines_refused = self.clients_refused = self.clients_dropped = 0
        self._listener = Listener("USARTruth")
        self._clients: set[_TruthClient] = set()
        self._lines: tuple[int, list[tuple[PosedObject, str]]] = (-1, [])

    async def start(self, host: str = "127.0.0.1", port: int = USARTRUTH_PORT) -> Self:
        """Listens; port 0 is any free one."""
        await self._listener.open(lambda: _TruthClient(self), host, port)
        self._tell_log()
        return self

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return "{}:{}".format(*self._listener.address)

    @property
    def note(self) -> str:
        """The line for reports and logs: that the truth was served, and how often it was asked for."""
        return f"truth was served by USARTruth: {self.queries} {'query' if self.queries == 1 else 'queries'}"

    async def close(self) -> None:
        """Ends all connections; the log gets the counts."""
        self._listener.close()
        for client in list(self._clients):
            client.end()
        await asyncio.sleep(0)
        self._tell_log()

    def _tell_log(self) -> None:
        counts = ("queries", "lines_refused", "clients_refused", "clients_dropped")
        self._lab.note("usartruth", {"truth": "served", **{name: str(getattr(self, name)) for name in counts}})

    def answer(self, line: str) -> list[str]:
        """Returns the lines that answer a query, without their ends."""
        keys: dict[str, str] = {}
        position = 0
        while block := _BLOCK.match(line, position):
            key, value = block[1], block[2]
            if not value:  # the first USARSim asked so: {Actor}, {WCObject}
                key, value = "class", key
            keys.setdefault(key.lower(), value)
            position = block.end()
        if line[position:].strip() or keys.keys() - {"class", "name"}:
            self.lines_refused += 1
            return [END]
        self.queries += 1
        wanted = keys.get("class", "").rpartition(".")[2].lower()  # classes come with their package: USARPhysObj.PartC
        name = keys.get("name", "")
        return [
            *(
                text
                for item, text in self._said()
                if name in ("", item.name) and (not wanted or wanted in (item.model.lower(), *item.kinds))
            ),
            END,
        ]

    def _said(self) -> list[tuple[PosedObject, str]]:
        """Returns everything with its line, made once for every tick of the clock."""
        tick = self._lab.world.clock.tick
        if self._lines[0] != tick:
            time_s = self._lab.world.clock.time_s
            self._lines = tick, [(item, _line(item, time_s)) for item in self._objects()]
        return self._lines[1]

    def _objects(self) -> Iterator[PosedObject]:
        """Yields loose objects, tools, robots."""
        lab, world = self._lab, self._lab.world
        for name, item in world.objects.items():
            kinds = ("actor", "wcobject", "tray" if item.is_tray else "part")
            yield PosedObject(name, world.placement(name).model, kinds, world.pose_of(name))
        for name in world.loose_tools:
            at = world.loose_tools[name].qpos
            pose = Pose(world.data.qpos[at : at + 3], world.data.qpos[at + 3 : at + 7])
            yield PosedObject(name, lab.cell.tools[name].model, ("actor", "wcobject", "tool"), pose)
        for name, mobile in world.mobiles.items():
            yield PosedObject(name, mobile.figures.name, ("actor", "pawn", "robot"), world.pose_of(name))
        for name, robot in world.robots.items():
            model = lab.cell.robots[name].model
            yield PosedObject(name, model, ("actor", "pawn", "robot"), world.layout.bases[name])
            tool = robot.hand.figures.name if robot.hand else "flange"
            yield PosedObject(f"{name}/tool", tool, ("actor", "tool_centre_point"), world.tcp_pose(name))


def _line(item: PosedObject, time_s: float) -> str:
    """Returns the line of an object, to a micrometre: USARSim's own two decimals are too few for parts."""
    x, y, z = item.pose_in_world.position
    roll, pitch, yaw = item.pose_in_world.rpy
    location, rotation = (
        ",".join(f"{round(value, 6) + 0.0:.6f}" for value in row) for row in ((x, -y, -z), (roll, -pitch, -yaw))
    )
    return (
        f"{{Name {item.name}}} {{Class {item.model}}} {{Time {time_s:.6f}}} "
        f"{{Location {location}}} {{Rotation {rotation}}}"
    )


class _TruthClient(asyncio.Protocol):
    """A client behind a socket; its queries wait while it does not read their answers."""

    _transport: asyncio.Transport

    def __init__(self, server: UsarTruthInterface) -> None:
        self._server = server
        self._heard = bytearray()
        self._is_full = self._is_over = False
        self._second_began_s, self._asked = time.monotonic(), 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._server._clients) >= MAX_CLIENTS:
            self._server.clients_refused += 1
            transport.abort()
            return
        self._server._clients.add(self)
        transport.set_write_buffer_limits(high=0)  # one answer at most is in the transport's hands
        handle = transport.get_extra_info("socket")
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        self._go_on()

    def eof_received(self) -> bool:
        self._is_over = True
        if self._heard:
            self._heard += b"\n"  # a last line without its end is a query, too
        self._go_on()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._clients.discard(self)

    def pause_writing(self) -> None:
        self._is_full = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_full = False
        if not self._transport.is_closing():
            self._transport.resume_reading()
        self._go_on()

    def end(self) -> None:
        """Closes the connection."""
        if self._is_full:
            self._transport.abort()
        else:
            self._transport.close()

    def _go_on(self) -> None:
        """Answers the queries that have come, as long as the client reads."""
        while not self._is_full and not self._transport.is_closing():
            line, newline, rest = self._heard.partition(b"\n")
            if len(line) > MAX_LINE_BYTES:
                self._drop()
            elif newline:
                self._heard = rest
                if self._is_flooding():
                    self._drop()
                    return
                answer = self._server.answer(line.decode(errors="replace"))
                self._transport.write("".join(f"{text}\r\n" for text in answer).encode())
            else:
                if self._is_over:
                    self._transport.close()
                return

    def _is_flooding(self) -> bool:
        now_s = time.monotonic()
        if now_s - self._second_began_s > 1.0:
            self._second_began_s, self._asked = now_s, 0
        self._asked += 1
        return self._asked > MAX_QUERIES_PER_S

    def _drop(self) -> None:
        self._server.clients_dropped += 1
        self._transport.abort()

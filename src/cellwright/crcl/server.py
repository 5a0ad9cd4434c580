"""A CRCL server for one robot: any number of connections over TCP, and in memory."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Literal, Self

from cellwright.core.errors import OutOfRange, UnknownName
from cellwright.core.listener import Listener
from cellwright.core.pose import Pose
from cellwright.crcl.executor import CommandExecutor
from cellwright.crcl.framing import MAX_MESSAGE_BYTES
from cellwright.crcl.memory import MemoryConnection
from cellwright.crcl.robot import CrclRobot
from cellwright.crcl.session import Service, Session, TextHook
from cellwright.crcl.status import StatusWriter
from cellwright.crcl.units import unit_profile

__all__ = ["DEFAULT_PORT", "CrclServer"]

DEFAULT_PORT = 64444
READ_BYTES = 4 * 1024  # at once: bounds how long one client that sends a lot keeps the others waiting
BACKLOG_BYTES = 1024 * 1024
UNREAD_BYTES = 16 * 1024 * 1024  # that may wait for all clients together
LITTLE_BYTES = 64 * 1024  # that may always wait for a client
MAX_CONNECTIONS = 256
STOP_CONNECTIONS = 16  # beyond those: for clients that want to stop the robot
IDLE_S = 60.0  # of silence after which a connection gives way to a new one when there is no room
UNFINISHED_S = 30.0  # of silence in the middle of a message, after which it is given up
UNFINISHED_BYTES = 8 * 1024 * 1024  # of all clients together
SOONEST_S = 0.01  # from one look for such messages to the next


class CrclServer:
    """Serves a robot.

    It answers GetStatus and sends nothing else, unless `push_period_s` is given or a connection has set the robot
    parameter `status_when_done`: NIST's client takes a status that it did not ask for as the answer to its next
    question.

    Args:
        robot: The robot; the server runs in the event loop that starts it.
        profile: The units after InitCanon, `spec` or `aprs-lab`.
        frame: In which clients give and get poses: the robot's `base`, or the `world`.
        push_period_s: The period of statuses that are sent to all clients unasked, by the robot's clock.
        max_message_bytes: Longer messages end a connection.
        backlog_bytes: What may wait for a client that does not read; it is dropped when more would.
        max_connections: A further one takes the place of one that has been silent for a minute; if there is none, it
            may only ask and stop the robot, and gives way to the next that comes when there are many of those.
        bad_stream_is_error: Whether a message that cannot be read puts the robot into the error state.
        epoch_s: The Unix time at which the robot's clock began.
        on_command: Gets the text of every message that arrives.
        on_status: Gets the text of every status that is sent.
    """

    def __init__(
        self,
        robot: CrclRobot,
        *,
        profile: str = "spec",
        frame: Literal["base", "world"] = "base",
        push_period_s: float | None = None,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        backlog_bytes: int = BACKLOG_BYTES,
        max_connections: int = MAX_CONNECTIONS,
        bad_stream_is_error: bool = True,
        epoch_s: float = 0.0,
        on_command: TextHook | None = None,
        on_status: TextHook | None = None,
    ) -> None:
        if frame not in ("base", "world"):
            raise UnknownName("frame", frame, ["base", "world"])
        if push_period_s is not None and not 0.001 <= push_period_s <= 3600.0:
            raise OutOfRange("push period", push_period_s, 0.001, 3600.0, "s")
        self.executor = CommandExecutor(
            robot, robot.pose_base_in_world if frame == "world" else Pose.identity(), epoch_s
        )
        self.executor.on_end = self._tell_end
        self._service = Service(
            executor=self.executor,
            writer=StatusWriter(self.executor),
            units=unit_profile(profile),
            max_message_bytes=max_message_bytes,
            bad_stream_is_error=bad_stream_is_error,
            on_command=on_command,
            on_status=on_status,
        )
        self._backlog_bytes = backlog_bytes
        self._max_connections = max_connections
        self._push_period_s = push_period_s
        self._pushing: asyncio.Task[None] | None = None
        self._listener = Listener("the server")
        self._clients: dict[_TcpClient | _MemoryClient, None] = {}  # in the order of their coming

        self._looking: asyncio.TimerHandle | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port on which it listens.

        Raises:
            BadInput: It does not.
        """
        return self._listener.address

    @property
    def connections(self) -> int:
        """The number of connected clients."""
        return len(self._clients)

    @property
    def unread(self) -> int:
        """Bytes that wait for clients that do not read."""
        return sum(client.unread for client in self._sockets())

    async def start(self, host: str = "127.0.0.1", port: int = DEFAULT_PORT) -> Self:
        """Listens on a port; 0 picks a free one, see `address`."""
        await self._listener.open(lambda: _TcpClient(self), host, port, backlog=self._max_connections)
        self._begin_pushing()
        return self

    async def connect(self) -> MemoryConnection:
        """Returns a connection without sockets, for a client in the same event loop."""
        client = _MemoryClient(self)
        self._begin_pushing()
        return client.connection

    def open_session(self, send: Callable[[bytes], None], hang_up: Callable[[], None]) -> Session:
        """Returns a connection for a client that calls `receive` itself; its answers reach a function at once.

        Args:
            send: Takes answers.
            hang_up: Called when the connection ends because a message could not be read.
        """
        return Session(self._service, send, hang_up)

    async def close(self) -> None:
        """Ends all connections; a motion that is under way is stopped."""
        if self._pushing is not None:
            self._pushing.cancel()
            self._pushing = None
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._listener.close()
        for client in list(self._clients):
            client.session.end()
            client.drop()
        await self.executor.close()
        await asyncio.sleep(0)  # lets transports close their sockets

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _admit(self, client: _TcpClient) -> None:
        """Finds room for a client, at the cost of another one if need be: a client that stops the robot must get in."""
        guests = [other for other in self._sockets() if other.session.only_stops]
        if len(self._clients) - len(guests) >= self._max_connections:
            quiet = min((other for other in self._sockets() if not other.session.only_stops), key=_heard, default=None)
            if quiet is not None and time.monotonic() - quiet.heard_s >= IDLE_S:
                self._clients.pop(quiet)
                quiet.drop()
            else:
                client.session.only_stops = True
                if len(guests) >= STOP_CONNECTIONS:
                    self._clients.pop(guests[0])
                    guests[0].drop()
        self._clients[client] = None

    def _leave(self, client: _TcpClient | _MemoryClient) -> None:
        """Gives a client's place to the first client that had none."""
        self._clients.pop(client, None)
        guests = [other for other in self._sockets() if other.session.only_stops]
        if guests and len(self._clients) - len(guests) < self._max_connections:
            guests[0].session.only_stops = False

    def _sockets(self) -> Iterator[_TcpClient]:
        return (client for client in self._clients if isinstance(client, _TcpClient))

    def _look_at_unfinished(self) -> None:
        """Gives up the longest of the unfinished messages while all of them together are too long."""
        unfinished = sorted((c for c in self._sockets() if c.session.pending), key=lambda c: c.session.pending)
        total = sum(client.session.pending for client in unfinished)
        while total > UNFINISHED_BYTES:
            total -= unfinished[-1].session.pending
            unfinished.pop().drop()
        if unfinished and self._looking is None:
            due_s = min(client.heard_s for client in unfinished) + UNFINISHED_S - time.monotonic()
            loop = asyncio.get_running_loop()
            self._looking = loop.call_later(max(SOONEST_S, due_s), self._give_up_unfinished)

    def _give_up_unfinished(self) -> None:
        self._looking = None
        now_s = time.monotonic()
        for client in [c for c in self._sockets() if c.session.pending and now_s - c.heard_s >= UNFINISHED_S]:
            client.drop()
        self._look_at_unfinished()

    def _tell_end(self) -> None:
        """Sends a status to those who want one when a command has ended."""
        for client in [client for client in self._clients if client.session.reports.when_done]:
            client.session.push()

    def _begin_pushing(self) -> None:
        if self._push_period_s is not None and self._pushing is None:
            self._pushing = asyncio.get_running_loop().create_task(self._push(self._push_period_s))

    async def _push(self, period_s: float) -> None:
        while True:
            await self.executor.robot.clock.sleep(period_s)
            for client in list(self._clients):
                client.session.push()


class _TcpClient(asyncio.BufferedProtocol):
    """A client behind a socket."""

    _transport: asyncio.Transport

    def __init__(self, server: CrclServer) -> None:
        self._server = server
        self._buffer = bytearray(0)
        self.heard_s = time.monotonic()
        self.session = Session(server._service, self._send, self._hang_up, self._hold)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=self._server._backlog_bytes)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # finds dead hosts
        self._server._admit(self)

    def get_buffer(self, sizehint: int) -> bytearray:
        if not self._buffer:
            self._buffer = bytearray(READ_BYTES)  # only clients that send need one
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.heard_s = time.monotonic()
        self.session.receive(bytes(memoryview(self._buffer)[:nbytes]))
        if self.session.pending > READ_BYTES or (self.session.pending and self._server._looking is None):
            self._server._look_at_unfinished()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._leave(self)

    @property
    def unread(self) -> int:
        return self._transport.get_write_buffer_size()

    def drop(self) -> None:
        self._transport.abort()

    def _hold(self, more: bool) -> None:
        if more and self._transport.is_reading():
            self._transport.pause_reading()
        elif not more and not self._transport.is_reading() and not self._transport.is_closing():
            self._transport.resume_reading()

    def _send(self, data: bytes) -> None:
        waiting = self._transport.get_write_buffer_size() + len(data)
        if waiting > self._server._backlog_bytes or (waiting > LITTLE_BYTES and self._server.unread > UNREAD_BYTES):
            self.drop()
        elif not self._transport.is_closing():
            self._transport.write(data)

    def _hang_up(self) -> None:
        self._transport.close()


def _heard(client: _TcpClient) -> float:
    return client.heard_s


class _MemoryClient:
    """A client in the same event loop."""

    def __init__(self, server: CrclServer) -> None:
        self._server = server
        self.session = Session(server._service, self._send, self.drop)
        self.connection = MemoryConnection(self.session.receive, self.drop)
        if len(server._clients) < server._max_connections:
            server._clients[self] = None
        else:
            self.drop()

    def drop(self) -> None:
        self._server._leave(self)
        self.connection.end()

    def _send(self, data: bytes) -> None:
        if self.connection.pending + len(data) > self._server._backlog_bytes:
            self.drop()
        elif self in self._server._clients:
            self.connection.feed(data)

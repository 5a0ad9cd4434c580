"""The server of the vision socket: pushes a line per frame to all clients, and waits for none.

Frames are handed over in the middle of a simulation step, so nothing here waits: what a client's socket does not take
at once is kept for it within a limit, and then its oldest lines are dropped. Of what a client sends only the first line
counts: it asks for a protocol, `protocol detections/1`. A client that sends nothing, as the laboratory's, gets the
laboratory's lines; one whose first line is anything else is told what is allowed, and disconnected.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from cellwright.core.errors import OutOfRange, UnknownName
from cellwright.core.listener import Listener
from cellwright.core.messages import Detections
from cellwright.interfaces.vision_frames import DETECTIONS_PROTOCOL, LAB_PROTOCOL, PROTOCOLS, encode_frame

__all__ = ["DEFAULT_PORT", "LineEncoder", "VisionServer"]

DEFAULT_PORT = 5001
BACKLOG_BYTES = 64 * 1024
SEND_BUFFER_BYTES = 16 * 1024  # the system's own, megabytes long, would hold minutes of old frames for a slow client
MAX_LINE_BYTES = 1024 * 1024
MAX_CLIENTS = 64
MAX_MISSED_FRAMES = 600
HEARD_BYTES = 64 * 1024  # what a client may send before its socket is left full
REQUEST = "protocol"
REQUEST_BYTES = 128  # a first line that is longer is refused
SHOWN = 40  # letters of a first line that its refusal repeats

_SCRAP = bytearray(4096)  # where everything that clients send ends


class LineEncoder(Protocol):
    """Encodes detections as text."""

    def encode(self, detections: Detections) -> str:
        """Returns the line of a frame, without its newline."""


class VisionServer:
    """Serves the frames that are given to `send`.

    Attributes:
        lines_sent: Lines handed to sockets.
        lines_dropped: Lines that clients missed because they read too slowly.
        clients_dropped: Clients that were disconnected because they did not read at all.
        clients_refused: Clients whose first line asked for nothing that there is; they are told so, and disconnected.
        frames_too_long: Frames that were not sent because their line passed the limit.
        on_clients: Is called when a client has come or gone.

    Args:
        encoder: Makes the lines of clients that ask for no other protocol.
        backlog_bytes: What may wait for a client that is slow; beyond it, its oldest lines are dropped.
        max_missed_frames: A client that takes nothing while it misses so many frames is disconnected.
        max_clients: A further one takes the place of one that reads nothing; if there is none, it is closed at once.
        max_line_bytes: Longer lines are not sent.
    """

    def __init__(
        self,
        encoder: LineEncoder,
        *,
        backlog_bytes: int = BACKLOG_BYTES,
        max_missed_frames: int = MAX_MISSED_FRAMES,
        max_clients: int = MAX_CLIENTS,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        limits = {
            "backlog": backlog_bytes,
            "missed frames": max_missed_frames,
            "clients": max_clients,
            "line": max_line_bytes,
        }
        for what, limit in limits.items():
            if not 1 <= limit <= 2**30:
                raise OutOfRange(f"limit of {what}", limit, 1, 2**30)
        self.lines_sent = self.lines_dropped = self.clients_dropped = self.clients_refused = self.frames_too_long = 0
        self._encoder = encoder
        self._backlog_bytes = backlog_bytes
        self._max_missed_frames = max_missed_frames
        self._max_clients = max_clients
        self._max_line_bytes = max_line_bytes
        self.on_clients: Callable[[], None] = lambda: None
        self._listener = Listener("the vision server")
        self._clients: dict[_Client, None] = {}  # in the order of their coming

    @property
    def address(self) -> tuple[str, int]:
        """Host and port on which it listens.

        Raises:
            BadInput: It does not.
        """
        return self._listener.address

    @property
    def clients(self) -> int:
        """The number of connected clients; one that has gone is noticed when the next frames are sent."""
        return len(self._clients)

    async def start(self, host: str = "127.0.0.1", port: int = DEFAULT_PORT) -> Self:
        """Listens on a port; 0 picks a free one, see `address`."""
        await self._listener.open(lambda: _Client(self), host, port, backlog=self._max_clients)
        return self

    def send(self, detections: Detections) -> None:
        """Pushes a frame to every client; returns at once. To be called in the thread of the event loop.

        Raises:
            FrameMismatch, BadInput: As the encoder.
        """
        if not self._clients:
            return
        lines: dict[str, bytes] = {}
        for protocol in {client.protocol for client in self._clients}:
            text = encode_frame(detections) if protocol == DETECTIONS_PROTOCOL else self._encoder.encode(detections)
            lines[protocol] = text.encode() + b"\n"
        self.frames_too_long += any(len(line) > self._max_line_bytes for line in lines.values())
        for client in self._clients:
            if len(line := lines[client.protocol]) <= self._max_line_bytes:
                client.send(line)

    async def close(self) -> None:
        """Ends all connections; lines that a client has not taken by now are lost."""
        self._listener.close()
        for client in self._clients:
            client.end()
        await asyncio.sleep(0)  # lets transports close their sockets

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Client(asyncio.BufferedProtocol):
    """A client behind a socket, with the lines that wait for it."""

    _transport: asyncio.Transport

    def __init__(self, server: VisionServer) -> None:
        self._server = server
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = self._heard_bytes = self._missed = 0
        self._is_full = self._lines_lost = False
        self._request: bytearray | None = bytearray()  # its first line; None once that is read, or too long
        self.protocol = LAB_PROTOCOL
        self.has_hung_up = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        clients = self._server._clients
        if len(clients) >= self._server._max_clients:
            gone = next((client for client in clients if client.has_hung_up or client.reads_nothing), None)
            if gone is None:
                transport.abort()
                return
            clients.pop(gone)
            gone.end()
        transport.set_write_buffer_limits(high=0)  # one line at most is in the transport's hands, the rest in ours
        handle = transport.get_extra_info("socket")
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # finds dead hosts
        clients[self] = None
        self._server.on_clients()

    @property
    def reads_nothing(self) -> bool:
        """Whether its socket has been full for so long that lines for it were dropped."""
        return self._lines_lost

    def get_buffer(self, sizehint: int) -> bytearray:
        return _SCRAP

    def buffer_updated(self, nbytes: int) -> None:
        self._heard_bytes += nbytes
        if self._request is not None:
            self._request += _SCRAP[: min(nbytes, REQUEST_BYTES)]
            line, newline, _ = self._request.partition(b"\n")
            if newline or len(self._request) >= REQUEST_BYTES:
                self._request = None
                self._answer(line.decode(errors="replace"), is_whole=bool(newline))
        if self._heard_bytes > HEARD_BYTES:
            self._transport.pause_reading()  # a client that goes on sending fills a socket, and costs no more time

    def _answer(self, line: str, *, is_whole: bool) -> None:
        """Speaks the protocol that a first line asks for from now on, and says so; any other line is refused.

        An empty line asks for nothing, like silence.
        """
        said = "".join(filter(str.isprintable, line)).strip()
        word, _, protocol = said.partition(" ")
        if is_whole and not line.strip():
            return
        if is_whole and word == REQUEST and protocol.strip() in PROTOCOLS:
            self.protocol = protocol.strip()
            self.send(f"protocol {self.protocol}\n".encode())
            return
        allowed = " or ".join(f"'{REQUEST} {name}'" for name in PROTOCOLS)
        shown = said if len(said) <= SHOWN else f"{said[:SHOWN]}..."
        problem = f"the first line '{shown}' is no request; send {allowed}, or nothing for the lines of the laboratory"
        if not is_whole:
            problem = f"the first line has {REQUEST_BYTES} bytes or more; send {allowed}, or nothing"
        elif word == REQUEST and protocol:
            problem = str(UnknownName("protocol", protocol.strip(), PROTOCOLS))
        self._server.clients_refused += 1
        self._server._clients.pop(self, None)
        self.send(f"error: {problem}\n".encode())
        self.end()

    def eof_received(self) -> bool:
        self.has_hung_up = True  # perhaps only its sending side: it may listen on
        if self._request:
            line, self._request = self._request.decode(errors="replace"), None
            self._answer(line, is_whole=True)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._clients.pop(self, None)
        self._server.on_clients()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = self._lines_lost = False
        self._missed = 0
        while self._waiting and not self._is_full:
            line = self._waiting.popleft()
            self._waiting_bytes -= len(line)
            self._write(line)

    def send(self, line: bytes) -> None:
        """Hands a line over, or keeps it until the socket takes more."""
        if not self._is_full:
            self._write(line)
            return
        self._missed += 1
        if self._missed > self._server._max_missed_frames and not self._transport.is_closing():
            self._server.clients_dropped += 1
            self._transport.abort()
            return
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        while self._waiting_bytes > self._server._backlog_bytes and len(self._waiting) > 1:
            self._waiting_bytes -= len(self._waiting.popleft())
            self._lines_lost = True
            self._server.lines_dropped += 1

    def end(self) -> None:
        """Closes the connection after the lines that its socket takes."""
        if self._is_full:
            self._transport.abort()
        else:
            self._transport.close()

    def _write(self, line: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(line)
            self._server.lines_sent += 1

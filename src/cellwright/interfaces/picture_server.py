"""The server of the picture socket: pictures with intrinsics and time stamps to every program that asks for them.

A frame is the length of a header (four bytes, little endian), the header (JSON), and as many bytes as its key `bytes`
says. A client sends lines of JSON: `{"subscribe": [TOPIC, ...]}`, `{"capture": SENSOR}` or `{"switch": {PROJECTOR:
true}}`. Frames are handed over in
the middle of a simulation step, so nothing here waits: a client that is slow misses pictures, and one that sends what
cannot be read is told so and disconnected; others do not notice.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from cellwright.core.errors import BadInput, CellwrightError
from cellwright.core.listener import Listener

__all__ = ["PICTURE_PORT", "PictureServer", "pack_frame"]

PICTURE_PORT = 5010
MAX_CLIENTS = 32
MAX_LINE_BYTES = 4096
MAX_WAITING = 2  # pictures that wait for a slow client; older ones are dropped
MAX_MISSED = 600
REQUESTS = ("subscribe", "capture", "switch")


def pack_frame(header: dict[str, Any], data: bytes = b"") -> bytes:
    """Returns the bytes of a frame."""
    text = json.dumps({**header, "bytes": len(data)}, separators=(",", ":")).encode()
    return struct.pack("<I", len(text)) + text + data


class PictureServer:
    """Serves the pictures that are given to `send`.

    Attributes:
        frames_sent: Frames handed to sockets.
        frames_dropped: Frames that clients missed because they read too slowly.

    Args:
        hello: The header of the first frame of every connection.
        topics: The topics that clients may subscribe to.
        ask: Does what a client's request says; raises BadInput where it cannot.
        watch: Is told the topics that clients want, whenever they change.
    """

    def __init__(
        self,
        hello: dict[str, Any],
        topics: frozenset[str],
        ask: Callable[[dict[str, Any]], None],
        watch: Callable[[frozenset[str]], None],
    ) -> None:
        self.frames_sent = self.frames_dropped = 0
        self._hello = hello
        self._topics = topics
        self._ask = ask
        self._watch = watch
        self._listener = Listener("the picture server")
        self._clients: set[_PictureClient] = set()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port on which it listens."""
        return self._listener.address

    @property
    def clients(self) -> int:
        """The number of connected clients."""
        return len(self._clients)

    async def start(self, host: str = "127.0.0.1", port: int = PICTURE_PORT) -> Self:
        """Listens on a port; 0 picks a free one."""
        await self._listener.open(lambda: _PictureClient(self), host, port, backlog=MAX_CLIENTS)
        return self

    def send(self, topic: str, frame: bytes) -> None:
        """Hands a frame to every client of a topic; returns at once."""
        for client in list(self._clients):
            if topic in client.topics:
                client.send(frame)

    async def close(self) -> None:
        """Ends all connections."""
        self._listener.close()
        for client in list(self._clients):
            client.end()
        await asyncio.sleep(0)

    def wanted(self) -> frozenset[str]:
        """Returns the topics that clients want."""
        return frozenset().union(*(client.topics for client in self._clients))

    def requested(self, client: _PictureClient, line: bytes) -> None:
        """Does what a line of a client says.

        Raises:
            BadInput: It says nothing that can be done.
        """
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            raise BadInput("a request is a line of JSON") from None
        if not isinstance(request, dict) or len(request) != 1 or next(iter(request)) not in REQUESTS:
            form = '{"subscribe": [TOPIC, ...]}, {"capture": SENSOR} or {"switch": {PROJECTOR: true}}'
            raise BadInput(f"a request is {form}")
        if "subscribe" not in request:
            self._ask(request)
            return
        topics = request["subscribe"]
        if not isinstance(topics, list) or not all(
            isinstance(topic, str) and topic in self._topics for topic in topics
        ):
            raise BadInput(f"subscribe takes a list of topics: {', '.join(sorted(self._topics))}")
        client.topics = frozenset(topics)
        self._watch(self.wanted())


class _PictureClient(asyncio.Protocol):
    """A client behind a socket, with the frames that wait for it."""

    _transport: asyncio.Transport

    def __init__(self, server: PictureServer) -> None:
        self._server = server
        self._line = bytearray()
        self._waiting: deque[bytes] = deque()
        self._is_full = False
        self._missed = 0
        self.topics: frozenset[str] = frozenset()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._server._clients) >= MAX_CLIENTS:
            transport.write(pack_frame({"error": f"there are {MAX_CLIENTS} clients already"}))
            transport.close()
            return
        transport.set_write_buffer_limits(high=0)  # one frame at most is in the transport's hands, the rest in ours
        self._server._clients.add(self)
        self.send(pack_frame(self._server._hello))

    def data_received(self, data: bytes) -> None:
        self._line += data
        try:
            while b"\n" in self._line:
                line, _, self._line = self._line.partition(b"\n")
                if len(line) > MAX_LINE_BYTES:
                    raise BadInput(f"a request is longer than {MAX_LINE_BYTES} bytes")
                self._server.requested(self, bytes(line))
            if len(self._line) > MAX_LINE_BYTES:
                raise BadInput(f"a request is longer than {MAX_LINE_BYTES} bytes")
        except CellwrightError as error:
            self._line.clear()
            if not self._transport.is_closing():
                self._transport.write(pack_frame({"error": str(error)}))
                self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._clients.discard(self)
        self._server._watch(self._server.wanted())

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full, self._missed = False, 0
        while self._waiting and not self._is_full:
            self._write(self._waiting.popleft())

    def send(self, frame: bytes) -> None:
        """Hands a frame over, or keeps it until the socket takes more."""
        if not self._is_full:
            self._write(frame)
            return
        self._waiting.append(frame)
        if len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self._missed += 1
            self._server.frames_dropped += 1
            if self._missed > MAX_MISSED:
                self._transport.abort()

    def end(self) -> None:
        """Closes the connection after what its socket takes."""
        if self._is_full:
            self._transport.abort()
        else:
            self._transport.close()

    def _write(self, frame: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(frame)
            self._server.frames_sent += 1

"""The process of the live page: HTTP and WebSocket for browsers, fed by the process that simulates.

It never makes that process wait, and ends with it, however that ends: the channel between them ends then.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import pickle
import signal
import socket
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from cellwright.core.errors import BadInput
from cellwright.core.side_process import until_orphaned
from cellwright.viewing.live_channel import HEADER, PacketKind
from cellwright.viewing.live_command import MAX_COMMAND_BYTES, ViewCommand
from cellwright.viewing.live_gate import TOKEN_VARIABLE, Gate
from cellwright.viewing.live_page import WatchingPage
from cellwright.viewing.live_rows import RowsSoFar
from cellwright.viewing.packet import pack, unpack
from cellwright.viewing.page import viewer_page

if TYPE_CHECKING:
    from cellwright.viewing.document import RunDocument

__all__ = ["LiveServer", "main"]

MAX_PAGES = 32
MAX_UNREAD_BYTES = 2**16  # of commands that the simulation has not read; more are left out
BUFFER_BYTES = 2**18  # of a connection, in the kernel: what a page does not read is to be noticed
FAREWELL_S, ORPHAN_S = 3.0, 0.3  # that pages have to read the rest; once the simulation was killed
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'self' blob:; style-src 'unsafe-inline'; worker-src blob:;"
    " img-src data: blob: 'self'; connect-src 'self' data: blob:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
SAFE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class LiveServer:
    """Gives every page that may come in the scene, all rows so far and then what is new.

    Args:
        gate: Who may come in.
        page: The page's text.
        channel: To the process that simulates.
    """

    def __init__(self, gate: Gate, page: str, channel: asyncio.StreamWriter) -> None:
        self._gate = gate
        self._page = page.encode()
        self._channel = channel
        self._pages: set[WatchingPage] = set()
        self._kept: dict[PacketKind, bytes] = {}
        self._rows = RowsSoFar()
        self._document: RunDocument
        self.refused: Counter[str] = Counter()

    async def open(self, host: str, port: int) -> int:
        """Listens; returns the port."""
        self._server = await serve(
            self._watch,
            host,
            port,
            process_request=self._answer,
            max_size=MAX_COMMAND_BYTES,
            max_queue=4,
            compression=None,
            server_header=None,
        )
        for listening in self._server.sockets:
            with suppress(OSError):
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        return int(next(iter(self._server.sockets)).getsockname()[1])

    def take(self, kind: PacketKind, packet: bytes) -> None:
        """Takes a packet from the simulation."""
        if kind is PacketKind.DOCUMENT:
            from cellwright.viewing.document import RunDocument  # here: a port that is taken is to be known at once

            cell, profile = pickle.loads(packet)
            self._document = RunDocument(cell, profile=profile)
            self._add_rows({"robots": self._document.robots})
        elif kind is PacketKind.MESSAGES:
            for topic, time_s, message in pickle.loads(packet):
                try:
                    self._document.take(topic, time_s, message)
                except Exception as error:  # what one message holds must not end the page
                    self._count(f"a message on {topic} is in no row: {type(error).__name__}: {error}")
            if rows := self._document.take_new():
                self._add_rows(rows)
        elif kind is PacketKind.ROWS:
            self._add_rows(unpack(packet)[0])
        else:
            self._kept[kind] = packet
            self._tell(kind, packet)
            if kind is PacketKind.SCENE:
                self._tell(PacketKind.ROWS, self._rows.packet())  # with a scene, a page begins anew

    def _add_rows(self, rows: dict[str, Any]) -> None:
        rows.pop("kind", None)
        self._rows.add(rows)
        if PacketKind.SCENE in self._kept:
            self._tell(PacketKind.ROWS, pack("rows", rows))

    def _tell(self, kind: PacketKind, packet: bytes) -> None:
        for page in self._pages:
            page.offer(kind, packet)

    async def close(self, timeout_s: float = FAREWELL_S) -> None:
        """Lets the pages have the rest, as far as they read it in time, and says goodbye to them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                for page in list(self._pages):
                    await page.until_sent()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(timeout_s, 1.0)):
                await asyncio.gather(*(page.connection.close(1001, "the run has ended") for page in self._pages))
        self._server.close(close_connections=False)

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answers a request: with the page, with a refusal, or, for the live socket, with nothing yet."""
        headers = request.headers
        why = self._gate.refusal(request.path, headers.get_all("Host"), headers.get_all("Origin"))
        if why is not None:
            return self._refusal(403, why)
        path = urlsplit(request.path).path
        if path == "/live":
            if len(self._pages) < MAX_PAGES:
                return None
            return self._refusal(503, f"{MAX_PAGES} pages watch already; close one")
        if path not in ("/", "/index.html"):
            return self._response(404, "Not Found", b"there is nothing here but the live page, at /\n", "text/plain")
        return self._response(200, "OK", self._page, "text/html")

    def _refusal(self, status: int, why: str) -> Response:
        self._count(why)
        return self._response(status, "Refused", f"{why}\n".encode(), "text/plain")

    def _response(self, status: int, phrase: str, body: bytes, kind: str) -> Response:
        own = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
        return Response(status, phrase, Headers(**SAFE_HEADERS, **own), body)

    async def _watch(self, connection: ServerConnection) -> None:
        """Serves a page until it goes."""
        page = WatchingPage(connection)
        if PacketKind.SCENE in self._kept:
            page.offer(PacketKind.SCENE, self._kept[PacketKind.SCENE])
            page.offer(PacketKind.ROWS, self._rows.packet())
            for kind in (PacketKind.POSES, PacketKind.STATE):
                if kind in self._kept:
                    page.offer(kind, self._kept[kind])
        self._pages.add(page)
        sending = asyncio.ensure_future(page.send())
        try:
            async for message in connection:
                try:
                    command = ViewCommand.of(message)
                    if not page.may_command():
                        raise BadInput("too many commands in a second")
                except BadInput as error:
                    self._count(str(error))
                    await connection.close(1008, str(error))
                    break
                if self._channel.transport.get_write_buffer_size() < MAX_UNREAD_BYTES:
                    self._channel.write(command.as_line())
        except ConnectionClosed as closed:
            if closed.sent is not None and closed.sent.code == 1009:
                self._count(f"a command has at most {MAX_COMMAND_BYTES} bytes")
        finally:
            self._pages.discard(page)
            sending.cancel()

    def _count(self, why: str) -> None:
        """Counts a refusal; the process that simulates is told of every power of two of them."""
        self.refused[why] += 1
        count = self.refused[why]
        if count & (count - 1) == 0 and self._channel.transport.get_write_buffer_size() < MAX_UNREAD_BYTES:
            self._channel.write(json.dumps({"refused": why, "count": count}).encode() + b"\n")


async def _run(end: socket.socket, host: str, port: int, parent: int) -> None:
    reader, writer = await asyncio.open_connection(sock=end)
    said: dict[str, Any] = {}
    try:
        server = LiveServer(Gate(host, os.environ.get(TOKEN_VARIABLE) or None), _page(), writer)
        said["port"] = await server.open(host, port)
    except OSError as error:
        reason = "the port is taken; name another one, or take a free one with --view 0"
        if error.errno != errno.EADDRINUSE:
            reason = error.strerror or str(error)
        said["error"] = f"cannot show the run at {host}:{port}: {reason}"
    writer.write(json.dumps(said).encode() + b"\n")
    if "error" in said:
        await writer.drain()
        return
    watching = asyncio.ensure_future(until_orphaned(parent))
    feeding = asyncio.ensure_future(_feed(server, reader))
    await asyncio.wait({watching, feeding}, return_when=asyncio.FIRST_COMPLETED)
    closing = asyncio.ensure_future(server.close())
    await asyncio.wait({watching, closing}, return_when=asyncio.FIRST_COMPLETED)
    if not closing.done():  # whoever killed the simulation wants this gone, too
        closing.cancel()
        await server.close(ORPHAN_S)


def _page() -> str:
    try:
        return viewer_page()
    except BadInput as error:  # a program that reads the live socket does not need it
        return f"<!doctype html><title>Cellwright</title><p>{error}</p>\n"


async def _feed(server: LiveServer, reader: asyncio.StreamReader) -> None:
    """Takes packets until the channel ends, as it does when the process that simulates ends."""
    with suppress(asyncio.IncompleteReadError, OSError):
        while True:
            kind, length = HEADER.unpack(await reader.readexactly(HEADER.size))
            server.take(PacketKind(kind), await reader.readexactly(length))


def main(handle: str, host: str, port: str, parent: str) -> None:
    """Serves until the process that simulates ends.

    Args:
        handle: The file descriptor of the channel's end.
        host: The address to listen on.
        port: Its port.
        parent: The number of the process that simulates.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the simulation, with which it ends
    logging.disable(logging.CRITICAL)  # a page's mistakes are counted, and not told on the user's terminal
    asyncio.run(_run(socket.socket(fileno=int(handle)), host, int(port), int(parent)))

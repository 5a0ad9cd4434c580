"""The control interface of a trial: orders and submissions as lines of JSON over a socket. Its use is optional."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any, Self

from cellwright.core.errors import BadInput
from cellwright.core.listener import Listener

__all__ = ["ControlInterface"]

MAX_LINE_BYTES = 16 * 1024
BACKLOG_BYTES = 256 * 1024  # what may wait for a client that does not read; it is dropped when more would
MAX_CLIENTS = 32
IDLE_S = 60.0  # of silence after which a client gives way to a new one when there is no room
MAX_LINES = 10_000  # of one client: one that sends more floods

_Heard = tuple[bool, float]
"""Whether a client ever sent anything, and when it did last, or connected."""
Answer = Callable[[dict[str, Any]], dict[str, Any]]


class ControlInterface:
    """A server for clients that want to hear of orders.

    Attributes:
        flooded: Clients that were disconnected because they sent too much or did not read.

    Args:
        answer: Gives the answer to a line; a BadInput becomes `{"error": ...}`.
        greeting: Gives the lines that a client gets when it connects.
    """

    def __init__(self, answer: Answer, greeting: Callable[[], list[dict[str, Any]]] = list) -> None:
        self.flooded = 0
        self._answer = answer
        self._greeting = greeting
        self._listener = Listener("the control interface")
        self._writers: dict[asyncio.StreamWriter, _Heard] = {}

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return "{}:{}".format(*self._listener.address)

    @property
    def clients(self) -> int:
        """The number of connected clients."""
        return len(self._writers)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Self:
        """Listens; port 0 is any free one."""
        await self._listener.open(self._connection, host, port)
        return self

    def push(self, line: dict[str, Any]) -> None:
        """Sends a line to all clients; waits for none."""
        for writer in list(self._writers):
            self._send(writer, line)

    async def close(self) -> None:
        """Ends all connections, after the lines that were sent to them."""
        self._listener.close()
        for writer in list(self._writers):
            writer.close()
        await asyncio.sleep(0)

    def _connection(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(limit=MAX_LINE_BYTES), self._serve)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._writers) >= MAX_CLIENTS and not self._make_room():
            writer.transport.abort()
            return
        self._writers[writer] = False, time.monotonic()
        try:
            for line in self._greeting():
                self._send(writer, line)
            for _ in range(MAX_LINES):
                text = await reader.readline()
                if not text or writer.is_closing():
                    return
                self._writers[writer] = True, time.monotonic()
                if text.strip():
                    self._send(writer, self._answered(text))
                await asyncio.sleep(0)  # a client that sends a lot must not keep the others waiting
            self._drop(writer)
        except ValueError:  # a line that is too long
            self._send(writer, {"error": f"a line has at most {MAX_LINE_BYTES} bytes"})
        except ConnectionError:
            pass
        finally:
            self._writers.pop(writer, None)
            writer.close()

    def _make_room(self) -> bool:
        """Drops the client that has been silent for longest, first of those that never sent a line, if there is one."""
        since_s = time.monotonic() - IDLE_S
        idle = [writer for writer, (_, heard_s) in self._writers.items() if heard_s <= since_s]
        if not idle:
            return False
        quiet = min(idle, key=lambda writer: self._writers[writer])
        self._writers.pop(quiet)
        quiet.transport.abort()
        return True

    def _answered(self, text: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(text)
            if not isinstance(asked, dict):
                raise BadInput('a line is a JSON object, such as {"submit": "kit_m2l1"}')
            return self._answer(asked)
        except BadInput as error:
            return {"error": str(error)}
        except (ValueError, RecursionError):
            return {"error": 'not JSON; say for example {"submit": "kit_m2l1"}'}

    def _send(self, writer: asyncio.StreamWriter, line: dict[str, Any]) -> None:
        if writer.transport.get_write_buffer_size() > BACKLOG_BYTES:
            self._drop(writer)
        elif not writer.is_closing():
            writer.write(json.dumps(line).encode() + b"\n")

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        self.flooded += 1
        self._writers.pop(writer, None)
        writer.transport.abort()

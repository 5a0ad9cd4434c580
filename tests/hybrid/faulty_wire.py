"""A wire between a laboratory and an external robot or detector that is late, loses messages, stalls, or lies."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable

from cellwright.crcl import MessageStream

STATUS = b"<CRCLStatus"
Lie = Callable[[bytes], bytes]


class FaultyWire:
    """A proxy for one address; messages keep their order, as over TCP. Use it as `async with FaultyWire(at) as wire`.

    Attributes:
        at: Its own address.
        latency_s: By how much each message is late, each way: least and most.
        loss: The share of messages that never arrive.
        is_stalled: Whether nothing goes through, and nothing is lost.
        lie: Makes each status into the one that arrives; nothing by default.
        passed: Counts messages.
        lost: Counts those that were lost.

    Args:
        at: The address behind it.
        by_lines: Whether its messages are lines, and not CRCL documents.
    """

    def __init__(self, at, *, latency_s=(0.0, 0.0), loss=0.0, by_lines=False, seed=1):
        self._host, self._port = at.rsplit(":", 1)
        self.latency_s, self.loss, self._by_lines = latency_s, loss, by_lines
        self._random = random.Random(seed)
        self.at, self.is_stalled, self.lie = "", False, None
        self.passed = self.lost = 0
        self._tasks, self._writers = set(), set()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.at = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_exception):
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self):
        """Ends all connections; new ones are possible."""
        for writer in list(self._writers):
            writer.transport.abort()

    def refuse(self):
        """Ends all connections for good."""
        self._server.close()
        self.cut()

    async def _serve(self, reader, writer):
        try:
            beyond_reader, beyond_writer = await asyncio.open_connection(self._host, int(self._port))
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, beyond_writer}
        ways = [self._carry(reader, beyond_writer), self._carry(beyond_reader, writer)]
        tasks = [asyncio.ensure_future(way) for way in ways]
        self._tasks |= {*tasks}
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for end in (writer, beyond_writer):
            end.transport.abort()
            self._writers.discard(end)

    async def _carry(self, reader, writer):
        """Carries messages in order; each arrives no earlier than its own latency after it was sent."""
        stream, loop, rest = MessageStream(), asyncio.get_running_loop(), b""
        queue: asyncio.Queue = asyncio.Queue()
        sending = asyncio.ensure_future(self._send(queue, writer))
        self._tasks.add(sending)
        try:
            while data := await reader.read(65536):
                if self._by_lines:
                    *messages, rest = (rest + data).split(b"\n")
                    messages = [message + b"\n" for message in messages]
                else:
                    messages = stream.feed(data)
                for message in messages:
                    if self._random.random() < self.loss:
                        self.lost += 1
                    else:
                        queue.put_nowait((loop.time() + self._random.uniform(*self.latency_s), message))
        except OSError:
            pass
        finally:
            sending.cancel()

    async def _send(self, queue, writer):
        while True:
            due_s, message = await queue.get()
            while self.is_stalled or asyncio.get_running_loop().time() < due_s:
                await asyncio.sleep(0.002)
            if self.lie is not None and (self._by_lines or STATUS in message):
                message = self.lie(message)
            self.passed += 1
            writer.write(message)


def with_joints(change):
    """A lie about joints: each position, as text, becomes what `change` makes of its number and value."""

    def lie(text: bytes) -> bytes:
        numbers = iter(range(1, 100))

        def one(found: re.Match[bytes]) -> bytes:
            return b"<JointPosition>%s</JointPosition>" % change(next(numbers), float(found[1])).encode()

        return re.sub(rb"<JointPosition>([^<]*)</JointPosition>", one, text)

    return lie


def far_away(text: bytes) -> bytes:
    """Tells that the tool is 1 km away."""
    return re.sub(rb"(<Point>.*?<X>)[^<]*(</X>)", rb"\g<1>1000.0\2", text, flags=re.DOTALL)


def no_crcl(_text: bytes) -> bytes:
    """Tells something else."""
    return b"HELLO 220 robot ready\r\n"


def other_schema(text: bytes) -> bytes:
    """Tells it in words of another schema."""
    return text.replace(b"CRCLStatus", b"RobotStatus")

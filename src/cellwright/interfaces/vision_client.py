"""Clients of the vision socket: connect, read on whatever happens, and give frames to waiting calls.

Frames of the laboratory's protocol carry no time. A client that reads only now and then would get old ones out of the
sockets' buffers, so a task reads all the time, and `next_frame` gives one that arrives after it was asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from typing import Generic, Self, TypeVar

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.messages import Detections
from cellwright.interfaces.vision_frames import DETECTIONS_PROTOCOL, decode_frame
from cellwright.interfaces.vision_text import AngleUnit, VisionGroup, decode_line

__all__ = ["DetectionsClient", "Frame", "FrameClient", "NoFrame", "VisionClient"]

Frame = list[VisionGroup]
"""What was seen at one moment."""

KEPT_FRAMES = 256
MAX_LINE_BYTES = 1024 * 1024
MOST_BEFORE_ANSWER = 64  # lines of frames that may be under way before a server answers a request
F = TypeVar("F")


class NoFrame(JobFailed):
    """No frame came in time, or there is no server."""


class FrameClient(ABC, Generic[F]):
    """The frames of the server at HOST:PORT: `await client.next_frame()`, or `async for frame in client`.

    A lost connection is made again, for as long as it takes.

    Attributes:
        latest: The last frame that came.
        arrived: How many came.
        reconnections: How often the connection was made again.

    Args:
        address: Where the server is.
        connect_s: How long `open` tries to reach it.
        retry_s: How long to wait between two attempts.
        kept_frames: How far an `async for` may fall behind; then it misses the oldest frames.
        max_line_bytes: A server that sends a longer line is left and tried again.

    Raises:
        BadInput: The address makes no sense.
    """

    def __init__(
        self,
        address: str,
        *,
        connect_s: float = 5.0,
        retry_s: float = 0.2,
        kept_frames: int = KEPT_FRAMES,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self.latest: F | None = None
        self.arrived = self.reconnections = 0
        self._address = address
        self._host_and_port = _host_and_port(address)
        self._connect_s = connect_s
        self._retry_s = retry_s
        self._max_line_bytes = max_line_bytes
        self._kept: deque[F] = deque(maxlen=kept_frames)
        self._news = asyncio.Event()
        self._problem = "it is not open"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    @abstractmethod
    def _decode(self, line: bytes) -> F:
        """Returns the frame of a line; raises BadInput when it is none."""

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Agrees on the protocol of a new connection; raises BadInput when the server does not speak it."""

    async def open(self) -> Self:
        """Connects; raises NoFrame when no server can be reached in time."""
        if self._reading is not None:
            raise BadInput(f"the vision client of {self._address} is open already")
        problem = ""
        try:
            async with asyncio.timeout(self._connect_s):
                while not await self._connect():
                    problem = self._problem
                    await asyncio.sleep(self._retry_s)
        except TimeoutError:  # of an attempt that has not ended, less is known than of the one before
            problem = problem or self._problem
            raise NoFrame(f"no vision server at {self._address} within {self._connect_s:g} s: {problem}") from None
        self._reading = asyncio.get_running_loop().create_task(self._read())
        return self

    async def close(self) -> None:
        """Disconnects; calls that wait for a frame raise NoFrame. Harmless when it is closed."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
        await self._hang_up("it was closed")
        self._tell()

    @property
    def problem(self) -> str:
        """The reason for which it is not connected; nothing while it is."""
        return self._problem

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def next_frame(self, timeout_s: float | None = 5.0) -> F:
        """Returns the first frame that arrives from now on; raises NoFrame when none does."""
        before = self.arrived
        try:
            async with asyncio.timeout(timeout_s):
                while self.arrived == before and self._reading is not None:
                    await self._news.wait()
        except TimeoutError:
            why = f": {self._problem}" if self._problem else ""
            raise NoFrame(f"{self._address} sent no frame within {timeout_s:g} s{why}") from None
        if self.arrived == before or self.latest is None:
            raise NoFrame(f"the vision client of {self._address} has no frame: {self._problem}")
        return self.latest

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> F:
        while not self._kept:
            if self._reading is None:
                raise StopAsyncIteration
            await self._news.wait()
        return self._kept.popleft()

    async def _read(self) -> None:
        while True:
            try:
                while self._reader is not None:
                    self._take(await self._reader.readuntil(b"\n"))
            except (OSError, BadInput, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
                await self._hang_up(self._reason(error))  # what came of its last line is of no use
            await asyncio.sleep(self._retry_s)
            if await self._connect():
                self.reconnections += 1

    def _take(self, line: bytes) -> None:
        self.latest = self._decode(line)
        self.arrived += 1
        self._kept.append(self.latest)
        self._tell()

    def _tell(self) -> None:
        self._news.set()  # waiting calls go on, later ones wait for the next
        self._news = asyncio.Event()

    async def _connect(self) -> bool:
        try:
            async with asyncio.timeout(self._connect_s):
                streams = await asyncio.open_connection(*self._host_and_port, limit=self._max_line_bytes)
                self._writer = streams[1]
                await self._greet(*streams)
        except (OSError, UnicodeError, BadInput, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            await self._hang_up(self._reason(error))  # a TimeoutError is an OSError
            return False
        self._reader = streams[0]
        self._problem = ""
        return True

    async def _hang_up(self, why: str) -> None:
        self._problem = why
        self._reader = None
        writer, self._writer = self._writer, None  # at once: who waits for its end may be cancelled, another not
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                async with asyncio.timeout(1.0):
                    await writer.wait_closed()

    def _reason(self, error: Exception) -> str:
        if isinstance(error, asyncio.IncompleteReadError):
            return "the server closed the connection"
        if isinstance(error, asyncio.LimitOverrunError):
            return f"the server sent a line of more than {self._max_line_bytes} bytes"
        if isinstance(error, ConnectionRefusedError):
            return "connection refused, no server listens there"
        return getattr(error, "strerror", None) or str(error) or type(error).__name__


class VisionClient(FrameClient[Frame]):
    """The frames of the server at HOST:PORT, also of a real one, in the laboratory's protocol.

    Use it as `async with VisionClient("127.0.0.1:5001") as vision`, then `await vision.next_frame()`, or
    `async for frame in vision` for every frame in order.

    Attributes:
        rotation_unit: What the server's angles are in; set it before frames come from a server that sends degrees.
    """

    rotation_unit: AngleUnit = "radian"

    def _decode(self, line: bytes) -> Frame:
        return decode_line(line.decode(errors="replace"), rotation_unit=self.rotation_unit)


class DetectionsClient(FrameClient[Detections]):
    """The frames of the server at HOST:PORT with all that its detector tells: time, poses, variances.

    Raises:
        NoFrame: When opened, also: the server does not speak the extended protocol.
    """

    def _decode(self, line: bytes) -> Detections:
        return decode_frame(line)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = f"protocol {DETECTIONS_PROTOCOL}"
        self._problem = f"a server is there, and does not answer '{request}'"
        writer.write(f"{request}\n".encode())
        for _ in range(MOST_BEFORE_ANSWER):  # frames in the laboratory's protocol may be under way
            line = (await reader.readuntil(b"\n")).decode(errors="replace").strip()
            if line == request:
                return
            if line.startswith("error: "):
                raise BadInput(f"the server refuses {DETECTIONS_PROTOCOL}: {line.removeprefix('error: ')}")
        raise BadInput(f"the server does not speak {DETECTIONS_PROTOCOL}: it sends something else")


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.strip().rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
        raise BadInput(f"'{address}' is no address (allowed: HOST:PORT with a port from 1 to 65535)")
    return host.removeprefix("[").removesuffix("]"), int(port)

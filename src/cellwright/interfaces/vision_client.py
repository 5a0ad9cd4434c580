"""A client of the vision socket: connects, reads on whatever happens, and gives frames to waiting calls.

Frames carry no time. A client that reads only now and then would get old ones out of the sockets' buffers, so a task
reads all the time, and `next_frame` gives one that arrives after it was asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Self

from cellwright.core.errors import BadInput, JobFailed
from cellwright.interfaces.vision_text import AngleUnit, VisionGroup, decode_line

__all__ = ["Frame", "NoFrame", "VisionClient"]

Frame = list[VisionGroup]
"""What was seen at one moment."""

KEPT_FRAMES = 256
MAX_LINE_BYTES = 1024 * 1024


class NoFrame(JobFailed):
    """No frame came in time, or there is no server."""


class VisionClient:
    """The frames of the server at HOST:PORT, also of a real one.

    Use it as `async with VisionClient("127.0.0.1:5001") as vision`, then `await vision.next_frame()`, or
    `async for frame in vision` for every frame in order. A lost connection is made again, for as long as it takes.

    Attributes:
        latest: The last frame that came.
        arrived: How many came.
        reconnections: How often the connection was made again.

    Args:
        address: Where the server is.
        rotation_unit: What the server's angles are in.
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
        rotation_unit: AngleUnit = "radian",
        connect_s: float = 5.0,
        retry_s: float = 0.2,
        kept_frames: int = KEPT_FRAMES,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self.latest: Frame | None = None
        self.arrived = self.reconnections = 0
        self._address = address
        self._host_and_port = _host_and_port(address)
        self._rotation_unit: AngleUnit = rotation_unit
        self._connect_s = connect_s
        self._retry_s = retry_s
        self._max_line_bytes = max_line_bytes
        self._kept: deque[Frame] = deque(maxlen=kept_frames)
        self._news = asyncio.Event()
        self._problem = "it is not open"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> Self:
        """Connects; raises NoFrame when no server can be reached in time."""
        if self._reading is not None:
            raise BadInput(f"the vision client of {self._address} is open already")
        try:
            async with asyncio.timeout(self._connect_s):
                while not await self._connect():
                    await asyncio.sleep(self._retry_s)
        except TimeoutError:
            raise NoFrame(
                f"no vision server at {self._address} within {self._connect_s:g} s: {self._problem}"
            ) from None
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

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def next_frame(self, timeout_s: float | None = 5.0) -> Frame:
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

    async def __anext__(self) -> Frame:
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
            except asyncio.IncompleteReadError:  # what came of its last line is of no use
                await self._hang_up("the server closed the connection")
            except asyncio.LimitOverrunError:
                await self._hang_up(f"the server sent a line of more than {self._max_line_bytes} bytes")
            except OSError as error:
                await self._hang_up(_reason(error))
            await asyncio.sleep(self._retry_s)
            if await self._connect():
                self.reconnections += 1

    def _take(self, line: bytes) -> None:
        self.latest = decode_line(line.decode(errors="replace"), rotation_unit=self._rotation_unit)
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
        except (OSError, UnicodeError) as error:  # a TimeoutError is an OSError
            self._problem = _reason(error)
            return False
        self._reader, self._writer = streams
        self._problem = ""
        return True

    async def _hang_up(self, why: str) -> None:
        self._problem = why
        self._reader = None
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                async with asyncio.timeout(1.0):
                    await self._writer.wait_closed()
            self._writer = None


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.strip().rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
        raise BadInput(f"'{address}' is no address (allowed: HOST:PORT with a port from 1 to 65535)")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused, no server listens there"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

"""The vision client for code that does not wait with `await`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, Self, TypeVar

from cellwright.bridges.vision_client import Frame, VisionClient
from cellwright.bridges.vision_text import AngleUnit

__all__ = ["BlockingVisionClient"]

T = TypeVar("T")


class BlockingVisionClient:
    """The frames of the server at HOST:PORT; a thread of its own reads them, also while nobody asks.

    Use it as `with BlockingVisionClient("127.0.0.1:5001") as vision`, then `vision.next_frame()`, or
    `for frame in vision` for every frame in order.

    Raises:
        BadInput: The address makes no sense. When entered, NoFrame: nobody can be reached.
    """

    def __init__(self, address: str, *, rotation_unit: AngleUnit = "radian", connect_s: float = 5.0) -> None:
        self._client = VisionClient(address, rotation_unit=rotation_unit, connect_s=connect_s)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def latest(self) -> Frame | None:
        """The last frame that came; None before the first."""
        return self._client.latest

    def open(self) -> Self:
        """Connects."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="vision client", daemon=True)
        self._thread.start()
        try:
            self._wait(self._client.open())
        except BaseException:
            self._end_thread()
            raise
        return self

    def close(self) -> None:
        """Disconnects. Harmless when it is closed."""
        if self._loop is not None:
            self._wait(self._client.close())
            self._end_thread()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def next_frame(self, timeout_s: float | None = 5.0) -> Frame:
        """The first frame that arrives from now on; raises NoFrame when none does."""
        return self._wait(self._client.next_frame(timeout_s))

    def __iter__(self) -> Iterator[Frame]:
        while True:
            try:
                yield self._wait(self._client.__anext__())
            except StopAsyncIteration:
                return

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise RuntimeError("the client is not open")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _end_thread(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        self._loop = self._thread = None

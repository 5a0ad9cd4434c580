"""Asynchronous clients for code that does not wait with `await`: an event loop on a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, wait
from typing import Any, Protocol, Self, TypeVar

__all__ = ["BlockingSession"]

T = TypeVar("T")

LOOK_S = 0.1  # how often a waiting thread looks for an interrupt: where waits cannot be broken, it would come too late
STOP_S = 10.0  # what may be done after an interrupt takes no longer


class _Client(Protocol):
    async def open(self) -> Any: ...
    async def close(self) -> None: ...


class BlockingSession:
    """Base of such clients: opens and closes one, and waits for its calls.

    Args:
        client: The asynchronous client, which lives on the thread.
        name: The thread's name.
    """

    def __init__(self, client: _Client, name: str) -> None:
        self._session = client
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> Self:
        """Connects."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
        self._thread.start()
        try:
            self._wait(self._session.open())
        except BaseException:
            self._end_thread()
            raise
        atexit.register(self.close)  # before the interpreter ends threads, and complains about what they did
        return self

    def close(self) -> None:
        """Disconnects; does nothing when it is closed."""
        if self._loop is not None:
            self._wait(self._session.close())
            self._end_thread()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _wait(
        self, work: Coroutine[Any, Any, T], on_interrupt: Callable[[], Coroutine[Any, Any, object]] | None = None
    ) -> T:
        """Returns the result of the work; an interrupt (Ctrl-C) cancels it and then runs the given clean-up."""
        if self._loop is None:
            work.close()
            raise RuntimeError("the client is not open")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not wait([future], timeout=LOOK_S).done:
                pass
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            if on_interrupt is not None:
                with contextlib.suppress(CancelledError):
                    asyncio.run_coroutine_threadsafe(on_interrupt(), self._loop).result(timeout=STOP_S)
            raise

    def _end_thread(self) -> None:
        atexit.unregister(self.close)
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        self._loop = self._thread = None

"""Simulated time that stands still until a client connects."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

__all__ = ["ClockPause"]

POLL_S = 0.01


class ClockPause:
    """Stops the simulation clock of the running loop while sockets go on being served.

    So the time that a controller takes to start is not part of its trial, and a fault at 5 s comes 5 s after it began.
    """

    def __init__(self) -> None:
        self._released = threading.Event()

    def release(self) -> None:
        """Lets time go on; may be called from any thread, and more than once."""
        self._released.set()

    async def until(self, wanted: Callable[[], bool], within_s: float | None = None) -> bool:
        """Waits until something is so, or `release` is called; False when it is not so within that real time.

        Args:
            wanted: Asked from another thread, again and again; must only look.
            within_s: Real time; for ever when None.
        """
        self._released.clear()

        def watch() -> bool:
            end_s = None if within_s is None else time.monotonic() + within_s
            while not wanted():
                if self._released.wait(POLL_S):
                    return True
                if end_s is not None and time.monotonic() > end_s:
                    return False
            return True

        try:
            return await asyncio.get_running_loop().run_in_executor(None, watch)
        finally:
            self.release()  # a cancelled wait leaves no thread behind

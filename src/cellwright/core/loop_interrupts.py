"""Ctrl-C between two turns of an event loop: within one, asyncio would lose a wake-up for good."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["ENDING_SIGNALS", "LoopInterrupts", "ended_by"]

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, an end that is asked for, and a terminal that is closed."""


class LoopInterrupts:
    """Notes Ctrl-C for the loop, which raises it between its turns.

    Args:
        wake: Wakes a loop that waits for sockets.

    Attributes:
        came: Whether there was one.
    """

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self.came = False

    @contextmanager
    def between_turns(self) -> Iterator[None]:
        """Notes Ctrl-C instead of raising it; a second one ends code that never comes back to the loop.

        A handler of the caller's own stays.
        """
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._take)
        try:
            yield
            if self.came:  # in the turn that was the last
                raise KeyboardInterrupt
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.came = False

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        self._wake()


@contextmanager
def ended_by(number: int, end: Callable[[], object]) -> Iterator[None]:
    """Has a signal end something in an orderly way, in the main thread; a second one does what it did before.

    Args:
        number: The signal.
        end: Called from its handler, at any moment.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def take(_number: int, _frame: FrameType | None) -> None:
        signal.signal(number, before)
        end()

    before = signal.signal(number, take)
    try:
        yield
    finally:
        signal.signal(number, before)

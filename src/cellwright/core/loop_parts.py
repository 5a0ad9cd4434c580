"""The pieces of a simulation's event loop: what it drives, where it waits, and tasks in an order of their own."""

from __future__ import annotations

import asyncio
import gc
import selectors
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ["NumberedTask", "Stepping", "SteppingSelector", "frozen_garbage_collection"]


class Stepping(Protocol):
    """The simulation that the loop drives: it owns the clock's tick."""

    def advance(self, until_tick: int, enough_tick: int | None = None) -> None:
        """Runs to that tick; less far when `interrupt` was called in between, or where it stops once it has enough."""

    def interrupt(self) -> None:
        """Asks a running `advance` to come back after the current tick; may be called from another thread."""


class SteppingSelector(selectors.DefaultSelector):  # type: ignore[misc, valid-type, unused-ignore]
    """The selector, in which an event loop waits; this one runs the simulation instead."""

    def __init__(self, *, poll_first: bool) -> None:
        super().__init__()
        self.wait: Callable[[float | None], float | None] = lambda timeout: timeout
        self._poll_first = poll_first

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Runs the simulation for as long as asyncio would wait; returns the sockets that are ready."""
        if self._poll_first:
            alone = len(self.get_map()) == 1  # there is no socket but the loop's own
            if timeout == 0 and alone:
                self.wait(0)
                return []  # tasks go on first: what its own socket holds, it learns before the next tick
            # At full speed, what a socket already holds comes before the next tick.
            if timeout != 0 and not alone and (ready := super().select(0)):
                self.wait(0)
                return ready
        return super().select(self.wait(timeout))


class NumberedTask(asyncio.Task[Any]):
    """A task that hashes by its number: asyncio keeps tasks in sets, whose order must not depend on addresses."""

    def __init__(self, number: int, *args: Any, **kwargs: Any) -> None:
        self.number = number
        super().__init__(*args, **kwargs)

    def __hash__(self) -> int:
        return self.number


@contextmanager
def frozen_garbage_collection() -> Iterator[None]:
    """Freezes the objects made so far, a quarter of a million, so that garbage collection does not visit them."""
    is_ours = gc.get_freeze_count() == 0  # objects that the caller froze stay frozen
    if is_ours:
        gc.freeze()
    try:
        yield
    finally:
        if is_ours:
            gc.unfreeze()

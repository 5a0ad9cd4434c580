"""Long work in slices, so that other tasks of the event loop need not wait for all of it.

Work in slices is a generator that yields after every so many steps. Steps are counted, never timed, so that what comes
out, and when in simulation time, is the same on every machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from itertools import count
from typing import Protocol, TypeAlias, TypeVar

__all__ = ["FREE_SLICES", "SLICE_S", "Slices", "at_once", "in_turns", "spans"]

T = TypeVar("T")
Slices: TypeAlias = Generator[None, None, T]
"""Work that yields between its slices and returns its result."""

FREE_SLICES = 16
"""So many slices take no simulation time: what is ordinary begins at once."""
SLICE_S = 0.002
"""The simulated duration of every further slice: one tick, and about its computing time (one to three ms)."""


class SliceClock(Protocol):
    """A clock with an asynchronous sleep."""

    async def sleep(self, duration_s: float) -> None:
        """Waits for at least the duration, and at least one tick."""


def at_once(work: Slices[T]) -> T:
    """Does all slices without a pause; returns the result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


async def in_turns(work: Slices[T], clock: SliceClock) -> T:
    """Does one slice at a time and lets other tasks run in between; returns the result.

    A task that is cancelled meanwhile leaves the rest undone.
    """
    try:
        for number in count(1):
            try:
                next(work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if number <= FREE_SLICES:
                await asyncio.sleep(0)
            else:
                await clock.sleep(SLICE_S)
    finally:
        work.close()
    raise AssertionError


def spans(length: int, most: int) -> Iterator[slice]:
    """Yields the slices of a sequence of that length, each with at most so many items."""
    return (slice(begin, min(begin + most, length)) for begin in range(0, length, most))

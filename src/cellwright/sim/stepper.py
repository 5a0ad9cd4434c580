"""The schedule of everything with a fixed rate, between which physics runs in long stretches."""

from __future__ import annotations

import ctypes
import heapq
import itertools
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

from cellwright.core.clock import Clock
from cellwright.core.errors import SimulationError

__all__ = ["Engine", "ScheduledCall", "Stepper", "TickOrder"]

COMPILED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class TickOrder(IntEnum):
    """The order of calls that are due at one tick: world, sensors, controllers, then recorders."""

    WORLD = 0
    SENSOR = 10
    CONTROL = 20
    JUDGE = 30
    RECORD = 40


class Engine(Protocol):
    """An engine that moves the world: contact physics, or plain kinematics."""

    def step(self, count: int) -> None:
        """Takes so many physics steps."""

    def addresses(self) -> tuple[int, int]:
        """Returns the memory addresses of MuJoCo's model and data, for compiled ticks."""


class ScheduledCall:
    """A place in the schedule; `cancel` ends it, `period_ticks` may be changed and counts from the next turn."""

    __slots__ = ("active", "call", "name", "order", "period_ticks")

    def __init__(self, name: str, period_ticks: int, order: int, call: Callable[[], object]) -> None:
        self.name = name
        self.period_ticks = period_ticks
        self.order = order
        self.call = call
        self.active = True

    def cancel(self) -> None:
        """Removes it from the schedule."""
        self.active = False


class Stepper:
    """Runs the engine to the next tick at which something is due, calls it, and goes on.

    Ties are broken by `TickOrder`, then by the order of adding, so a run has one order whatever the machine does.
    """

    def __init__(self, clock: Clock, engine: Engine) -> None:
        self.clock = clock
        self.engine = engine
        self._heap: list[tuple[int, int, int, ScheduledCall]] = []
        self._count = itertools.count()
        self._interrupted = False

    def every(
        self, period_ticks: int, call: Callable[[], object], *, order: int, name: str, first_tick: int | None = None
    ) -> ScheduledCall:
        """Calls a Python function every so many ticks, first after one period unless told otherwise."""
        if period_ticks < 1:
            raise SimulationError(f"'{name}' wants to run every {period_ticks} ticks; at least 1 is needed")
        scheduled = ScheduledCall(name, period_ticks, order, call)
        first = self.clock.tick + period_ticks if first_tick is None else max(first_tick, self.clock.tick + 1)
        heapq.heappush(self._heap, (first, order, next(self._count), scheduled))
        return scheduled

    def every_compiled(
        self, period_ticks: int, address: int, *, order: int, name: str, user: int | None = None
    ) -> ScheduledCall:
        """Calls machine code every so many ticks: ``void f(const mjModel*, mjData*, void* user)``.

        The address may come from numba's `cfunc`, a C library or MuJoCo itself; no Python runs inside it.
        """
        function = COMPILED(address)
        engine = self.engine

        def call() -> None:
            model, data = engine.addresses()
            function(model, data, user)

        return self.every(period_ticks, call, order=order, name=name)

    def save(self) -> tuple[tuple[int, int, int, ScheduledCall], ...]:
        """Returns the schedule: a snapshot of a laboratory needs it besides the world's."""
        return tuple(self._heap)

    def load(self, schedule: tuple[tuple[int, int, int, ScheduledCall], ...]) -> None:
        """Restores a schedule; calls that were added since are dropped."""
        self._heap[:] = schedule

    def interrupt(self) -> None:
        """Makes `advance` return after the present tick, so that a task can react to it."""
        self._interrupted = True

    def advance(self, until_tick: int, enough_tick: int | None = None) -> None:
        """Runs to that tick, or to an interrupt.

        Args:
            until_tick: The tick.
            enough_tick: The first tick from which it may return where the engine stops anyway, because something was
                due: a cut anywhere else would change the engine's steps, and so the last bit of what it does.
        """
        enough = until_tick if enough_tick is None else enough_tick
        heap, clock, step = self._heap, self.clock, self.engine.step
        replace = heapq.heapreplace
        self._interrupted = False
        while clock.tick < until_tick:
            target = heap[0][0] if heap else until_tick
            if target > until_tick:
                target = until_tick
            step(target - clock.tick)
            clock.tick = target
            while heap and heap[0][0] <= target:
                _, order, number, scheduled = heap[0]
                if not scheduled.active:
                    heapq.heappop(heap)
                    continue
                # The next turn is entered before the call: an exception must not take it out of the schedule.
                replace(heap, (target + scheduled.period_ticks, order, number, scheduled))
                scheduled.call()
            if self._interrupted or target >= enough:
                return

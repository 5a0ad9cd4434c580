"""An asyncio event loop whose time is simulation time.

Code that waits is ordinary `async` code; when every task is waiting, the loop lets the simulation run to the
moment at which the first of them is due. Nothing happens per physics step: a coroutine switch costs as
much as a step. The same code runs as fast as the machine allows, or paced to the wall clock with real sockets. A
person may watch it, slow it down and pause it: a run at full speed does the same all the while, to the last bit.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from cellwright.core.clock import LONGEST_S, Clock
from cellwright.core.errors import OutOfRange, SimulationError
from cellwright.core.loop_interrupts import LoopInterrupts
from cellwright.core.loop_parts import NumberedTask, Stepping, SteppingSelector, frozen_garbage_collection
from cellwright.core.pacing import FASTEST, LAG_S, SLOWEST, Pacing

__all__ = ["SimulationLoop", "Stepping", "WaitClock"]

T = TypeVar("T")

SPIN_LIMIT = 100_000  # turns of the loop without a tick of simulation time: a task never really waits
STRETCH_S = 1.0  # simulated time after which a run at full speed looks at sockets, threads and signals
WATCHED_S = 0.02  # the same where somebody watches, and the longest wait: pictures of it are to be fluent
BUSY_TURNS = 20  # of the loop in which a task was ready: more than a process that was merely not served has
CANCEL_ROUNDS = 10  # how often a task that waits again while it is cancelled is cancelled again


class WaitClock:
    """The clock for tasks: `await clock.sleep(0.05)`.

    Sleepers of one tick wake in the order in which they went to sleep; `asyncio.sleep` gives no such order.
    """

    def __init__(self, clock: Clock, loop: SimulationLoop) -> None:
        self._clock = clock
        self._loop = loop

    @property
    def time_s(self) -> float:
        """Simulation time."""
        return self._clock.time_s

    async def sleep(self, duration_s: float) -> None:
        """Waits for at least the duration and at least one tick."""
        await self._loop.sleep_until(self._clock.tick + max(1, self._clock.ticks(duration_s)))

    async def until_tick(self, tick: int) -> None:
        """Waits until the clock shows that tick; returns at once when it is past."""
        if tick > self._clock.tick:
            await self._loop.sleep_until(tick)


class SimulationLoop(asyncio.SelectorEventLoop):
    """The event loop of one laboratory.

    Args:
        clock: The simulation clock.
        stepper: Runs physics and everything with a fixed rate.
        pace: Simulated seconds per wall second; None runs as fast as possible.
        horizon_s: Simulation time after which a run that has not ended is an error.

    Attributes:
        pacing: Speed, pauses and who watches, which may be set at any time. They change nothing that happens in a run
            at full speed; one that was made with a pace has sockets, whose clients see how time passes.
    """

    def __init__(
        self, clock: Clock, stepper: Stepping, *, pace: float | None = None, horizon_s: float = 86_400.0
    ) -> None:
        selector = SteppingSelector(poll_first=pace is None)
        super().__init__(selector)
        selector.wait = self._wait
        self._clock_resolution = 1e-9  # asyncio would round timers to the wall clock's, 15 ms on some systems
        numbers = itertools.count()
        self.set_task_factory(lambda loop, *args, **kwargs: NumberedTask(next(numbers), *args, loop=loop, **kwargs))
        self._sim_clock = clock
        self._stepper = stepper
        self._is_paced = pace is not None
        self._horizon_s = horizon_s
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._stepping = self._main_running = self._draining = self._nudged = False
        self._threads = self._spins = self._busy_turns = self._horizon_tick = 0
        self._stretch_ticks, self._watched_ticks = clock.ticks(STRETCH_S), clock.ticks(WATCHED_S)
        self._stretch_end_tick: int | None = None
        self._idle_s = 0.0
        self._interrupts = LoopInterrupts(lambda: self.call_soon_threadsafe(lambda: None))
        self.clock = WaitClock(clock, self)
        for what, value, low, high in (
            ("pace", pace, SLOWEST, FASTEST),
            ("horizon", horizon_s, clock.tick_s, float("inf")),
        ):
            if value is not None and not low <= value <= high:
                self.close()
                raise OutOfRange(what, value, low, high)
        self.pacing = Pacing(clock, pace)

    def time(self) -> float:
        """Returns simulation time: every timer and timeout of asyncio counts simulated seconds."""
        return self._sim_clock.time_s

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine to its end; leftover tasks are cancelled, and the simulation stays usable.

        No time passes once the coroutine has ended: a leftover task that waits while it is cancelled is cancelled
        again.
        """
        if self.is_closed() or self.is_running() or asyncio._get_running_loop() is not None:
            main.close()
            why = "it is closed" if self.is_closed() else "an event loop runs already (in a notebook: use a thread)"
            raise SimulationError(f"the simulation cannot be run: {why}")
        task = self.create_task(main)
        self._main_running = True
        self._spins = 0
        self._horizon_tick = self._sim_clock.tick + self._sim_clock.ticks(min(self._horizon_s, LONGEST_S))
        self._idle_s = time.monotonic()
        self._stretch_end_tick = None
        self.pacing.restart()
        try:
            with frozen_garbage_collection(), self._interrupts.between_turns():
                return self.run_until_complete(task)
        finally:
            self._main_running = False
            self._cancel_leftover()

    def close(self) -> None:
        """Frees the loop's resources; does nothing when it is closed."""
        if not (self.is_closed() or self.is_running() or asyncio._get_running_loop() is not None):
            self.run_until_complete(self.shutdown_asyncgens())
        super().close()

    def sleep_until(self, tick: int) -> asyncio.Future[None]:
        """Returns a future that is done when the clock shows that tick."""
        future: asyncio.Future[None] = self.create_future()
        heapq.heappush(self._sleepers, (tick, next(self._order), future))
        if self._stepping:
            self._interrupt()
        return future

    def call_soon(self, *args: Any, **kwargs: Any) -> asyncio.Handle:  # type: ignore[override]
        """Works as in asyncio; also ends a stretch of simulation in progress, because a task became ready."""
        handle = super().call_soon(*args, **kwargs)
        if self._stepping:
            self._interrupt()
        return handle

    def call_soon_threadsafe(self, *args: Any, **kwargs: Any) -> asyncio.Handle:  # type: ignore[override]
        """Works as in asyncio; also ends a stretch of simulation in progress, because a task became ready."""
        handle = super().call_soon_threadsafe(*args, **kwargs)
        if self._stepping:
            self._interrupt()
        return handle

    def call_at(self, *args: Any, **kwargs: Any) -> asyncio.TimerHandle:  # type: ignore[override]
        """Works as in asyncio; also ends a stretch of simulation in progress, which might lead past the new timer."""
        handle = super().call_at(*args, **kwargs)
        if self._stepping:
            self._interrupt()
        return handle

    def run_in_executor(self, *args: Any, **kwargs: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Works as in asyncio; simulation time stops until the thread is done: results do not depend on its speed."""
        future: asyncio.Future[Any] = super().run_in_executor(*args, **kwargs)
        self._threads += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _future: asyncio.Future[Any]) -> None:
        self._threads -= 1

    def _interrupt(self) -> None:
        self._nudged = True
        self._stepper.interrupt()

    def _wait(self, timeout_s: float | None) -> float | None:
        """Runs the simulation before the loop looks at its sockets; returns how long to wait for them."""
        if self._draining:
            self._spins += 1
            if timeout_s != 0 or self._spins > SPIN_LIMIT:
                self.stop()
            return 0.0
        if self._interrupts.came:
            raise KeyboardInterrupt
        if not self._main_running:
            return timeout_s
        self.pacing.look()
        if self._threads:
            return self._shortened(timeout_s)
        before = self._sim_clock.tick
        wake_tick = before if timeout_s == 0 else self._next_wake_tick(timeout_s)
        if timeout_s != 0 or self._is_paced:  # at full speed time stands still while a task is ready
            allowed_tick = self.pacing.allowed_tick()
            if self._is_paced:
                self._step(self._reachable(wake_tick, allowed_tick))
            elif allowed_tick is None or allowed_tick > before:
                self._stretch(wake_tick, allowed_tick)
            else:
                return self._shortened(self.pacing.until_next_tick_s())
        self._wake()
        self._busy_turns += 1
        if self._is_paced and (timeout_s != 0 or self._sim_clock.tick > before):
            self._idle_s = time.monotonic()
            self._busy_turns = 0
        ready = self._nudged or self._sim_clock.tick >= wake_tick
        if not self._is_paced:
            self._spins = self._spins + 1 if self._sim_clock.tick == before else 0
            if self._spins > SPIN_LIMIT:
                raise SimulationError(
                    f"simulation time stands still at {self.time():.3f} s: a task awaits nothing in a loop"
                )
        return 0.0 if ready or not self._is_paced else self._shortened(self.pacing.until_next_tick_s())

    def _next_wake_tick(self, timeout_s: float | None) -> int:
        """Returns the tick at which the first task is due; the horizon when none is."""
        if self._sim_clock.tick >= self._horizon_tick:
            raise SimulationError(f"nothing ended the run within its horizon, {self._horizon_s:g} s of simulation")
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        candidates = [self._horizon_tick]
        if self._sleepers:
            candidates.append(self._sleepers[0][0])
        if timeout_s is not None:
            candidates.append(self._sim_clock.tick + max(1, self._sim_clock.ticks(timeout_s)))
        return min(candidates)

    def _reachable(self, wake_tick: int, allowed_tick: int | None) -> int:
        """Returns the tick up to which a paced simulation may run now on its way to that one."""
        now = self._sim_clock.tick
        if wake_tick <= now and self._busy_turns > BUSY_TURNS and time.monotonic() - self._idle_s > LAG_S:
            wake_tick = self._horizon_tick  # tasks that are always ready must not stop a paced clock
        if allowed_tick is None or self.pacing.is_watched:
            wake_tick = min(wake_tick, now + self._watched_ticks)
        return wake_tick if allowed_tick is None else min(wake_tick, allowed_tick)

    def _stretch(self, wake_tick: int, allowed_tick: int | None) -> None:
        """Runs a stretch at full speed.

        Somebody who watches cuts it only where the engine stops anyway, and it goes on to the end that it had: the
        engine then takes the very same steps, whoever watches and however slowly.
        """
        now = self._sim_clock.tick
        end = self._stretch_end_tick or now + self._stretch_ticks
        until_tick = enough_tick = min(wake_tick, end)
        if self.pacing.is_watched:
            enough_tick = min(enough_tick, now + self._watched_ticks)
        if allowed_tick is not None:
            enough_tick = min(enough_tick, allowed_tick)
        self._step(until_tick, enough_tick)
        self._stretch_end_tick = None if self._nudged or self._sim_clock.tick >= until_tick else end

    def _shortened(self, wait_s: float | None) -> float | None:
        """Returns how long to wait for sockets at most: somebody who watches may want something."""
        if not self.pacing.is_watched:
            return wait_s
        return WATCHED_S if wait_s is None else min(wait_s, WATCHED_S)

    def _step(self, until_tick: int, enough_tick: int | None = None) -> None:
        self._nudged = False
        if until_tick <= self._sim_clock.tick:
            return
        self._stepping = True
        try:
            self._stepper.advance(until_tick, enough_tick)
        finally:
            self._stepping = False

    def _wake(self) -> None:
        while self._sleepers and (self._sleepers[0][0] <= self._sim_clock.tick or self._sleepers[0][2].done()):
            future = heapq.heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)

    def _cancel_leftover(self) -> None:
        """Cancels the tasks that still wait, in the order of their making, until all have ended."""
        self._draining = True
        self._spins = 0
        try:
            for _ in range(CANCEL_ROUNDS):
                for pending in sorted(asyncio.all_tasks(self), key=hash):
                    pending.cancel()
                self.run_forever()  # until no task is ready: see _wait
                if not asyncio.all_tasks(self):
                    return
            for stubborn in sorted(asyncio.all_tasks(self), key=hash):
                self.call_exception_handler({"message": "a task refuses to be cancelled", "task": stubborn})
        finally:
            self._draining = False

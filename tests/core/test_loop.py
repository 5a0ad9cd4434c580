"""The event loop in simulated time: order, timeouts, failures, threads, sockets, pace, determinism.

The stepper here is a real one that only counts: it advances the clock and calls what was scheduled for a tick.
Run as a program, this file prints the event log of a random program (see `test_the_same_log_in_every_process`).
"""

import asyncio
import contextlib
import gc
import json
import logging
import os
import random
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import cellwright
from cellwright.core import Clock, SimulationLoop
from cellwright.core.errors import OutOfRange, SimulationError


class CountingStepper:
    """Advances the clock tick by tick and calls what is due."""

    def __init__(self, clock, *, wall_s_per_tick=0.0):
        self.clock, self.wall_s_per_tick = clock, wall_s_per_tick
        self.calls = {}
        self.interrupted = False
        self.advances = 0

    def at(self, tick, call):
        self.calls.setdefault(tick, []).append(call)

    def interrupt(self):
        self.interrupted = True

    def advance(self, until_tick):
        self.interrupted = False
        self.advances += 1
        while self.clock.tick < until_tick and not self.interrupted:
            self.clock.tick += 1
            if self.wall_s_per_tick:
                time.sleep(self.wall_s_per_tick)
            for call in self.calls.pop(self.clock.tick, ()):
                call()


class Bench:
    """A clock, a stepper and a loop."""

    def __init__(self, **options):
        wall_s_per_tick = options.pop("wall_s_per_tick", 0.0)
        self.ticks = Clock(0.002)
        self.stepper = CountingStepper(self.ticks, wall_s_per_tick=wall_s_per_tick)
        self.loop = SimulationLoop(self.ticks, self.stepper, **options)
        self.clock = self.loop.clock
        self.run = self.loop.run

    @property
    def tick(self):
        return self.ticks.tick


@pytest.fixture
def make():
    benches = []

    def make(**options):
        benches.append(Bench(**options))
        return benches[-1]

    yield make
    for bench in benches:
        bench.loop.close()


@pytest.fixture
def bench(make):
    return make()


@pytest.fixture
def short_patience(monkeypatch):
    """The same limit of turns without time, reached in less of it."""
    monkeypatch.setattr("cellwright.core.loop.SPIN_LIMIT", 3000)


async def instantly():
    return "done"


# Sleeping


def test_sleeping_takes_simulated_time_and_no_other(bench):
    async def main():
        await bench.clock.sleep(3600)
        return bench.loop.time(), bench.clock.time_s

    start_s = time.process_time()
    assert bench.run(main()) == (3600.0, 3600.0)
    assert time.process_time() - start_s < 60
    assert bench.tick == 1_800_000


def test_sleepers_of_one_tick_wake_in_the_order_in_which_they_went_to_sleep(bench):
    woken = []

    async def sleeper(name, duration_s):
        await bench.clock.sleep(duration_s)
        woken.append((name, bench.tick))

    async def main():
        async with asyncio.TaskGroup() as group:
            for name in range(40):
                group.create_task(sleeper(name, 0.05))
            await bench.clock.sleep(0.02)
            for name in range(40, 60):
                group.create_task(sleeper(name, 0.03))

    bench.run(main())
    assert woken == [(name, 25) for name in range(60)]


@pytest.mark.parametrize(
    ("duration_s", "ticks"), [(0, 1), (-3, 1), (1e-9, 1), (0.002, 1), (0.003, 2), (0.05, 25), (0.1 + 0.2, 150)]
)
def test_a_sleep_covers_its_duration_and_at_least_a_tick(bench, duration_s, ticks):
    bench.run(bench.clock.sleep(duration_s))
    assert bench.tick == ticks


@pytest.mark.parametrize("duration_s", [float("nan"), float("inf")])
def test_a_sleep_is_finite(bench, duration_s):
    with pytest.raises(OutOfRange, match="duration"):
        bench.run(bench.clock.sleep(duration_s))


def test_until_tick_returns_at_once_when_it_is_past(bench):
    async def main():
        await bench.clock.until_tick(7)
        first = bench.tick
        await bench.clock.until_tick(7)
        await bench.clock.until_tick(3)
        await bench.loop.sleep_until(2)
        return first, bench.tick

    assert bench.run(main()) == (7, 7)


def test_asyncio_sleeps_and_timers_count_simulated_seconds(bench):
    fired = []

    async def main():
        await asyncio.sleep(0.1)
        await asyncio.sleep(0.2)
        bench.loop.call_later(0.5, lambda: fired.append(bench.tick))
        bench.loop.call_at(bench.loop.time() + 0.25, lambda: fired.append(bench.tick))
        await asyncio.sleep(1)
        return bench.tick

    assert bench.run(main()) == 650
    assert fired == [275, 400]


def test_nobody_is_late_by_a_tick_after_many_decimal_fractions(bench):
    async def main():
        for n in range(1, 2000):
            await asyncio.sleep(0.01)
            assert bench.tick == 5 * n

    bench.run(main())


# Ends: timeouts, failures, cancellation


def test_timeouts_are_simulated_seconds(bench):
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.5)
        assert bench.tick == 250
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await bench.clock.sleep(5)
        assert bench.tick == 750
        return await asyncio.wait_for(bench.clock.sleep(0.1), 0.2)

    assert bench.run(main()) is None
    assert bench.tick == 800


def test_a_failing_task_group_cancels_its_members_at_that_tick(bench):
    cancelled = []

    async def member(name):
        try:
            await bench.clock.sleep(10)
        except asyncio.CancelledError:
            cancelled.append((name, bench.tick))
            raise

    async def fail():
        await bench.clock.sleep(0.3)
        raise LookupError("no gear")

    async def main():
        async with asyncio.TaskGroup() as group:
            for name in range(5):
                group.create_task(member(name))
            group.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        bench.run(main())
    assert [type(error) for error in caught.value.exceptions] == [LookupError]
    assert sorted(cancelled) == [(name, 150) for name in range(5)]
    assert bench.tick == 150


def test_cancelling_a_sleeper_leaves_the_others_alone(bench):
    async def main():
        first = asyncio.create_task(bench.clock.sleep(0.1))
        second = asyncio.create_task(bench.clock.sleep(0.2))
        await bench.clock.sleep(0.05)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert bench.tick == 25
        await second
        return bench.tick

    assert bench.run(main()) == 100


def test_an_exception_of_the_coroutine_comes_out(bench):
    async def main():
        await bench.clock.sleep(0.1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        bench.run(main())
    assert bench.run(instantly()) == "done"


def test_an_exception_in_the_stepper_comes_out_and_the_loop_goes_on(bench):
    ended = []

    async def background():
        try:
            await bench.clock.sleep(100)
        finally:
            ended.append(bench.tick)

    async def main():
        task = asyncio.create_task(background())
        await task

    bench.stepper.at(10, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bench.run(main())
    assert bench.tick == 10
    assert ended == [10]
    assert not asyncio.all_tasks(bench.loop)
    bench.run(bench.clock.sleep(0.02))
    assert bench.tick == 20


def test_an_interrupt_from_the_keyboard_during_a_stretch(bench):
    def interrupt():
        raise KeyboardInterrupt

    bench.stepper.at(10, interrupt)
    with pytest.raises(KeyboardInterrupt):
        bench.run(bench.clock.sleep(1))
    assert not asyncio.all_tasks(bench.loop)
    bench.run(bench.clock.sleep(0.02))
    assert bench.tick == 20


def test_an_interrupt_from_the_keyboard_inside_a_task_is_not_reported_twice(bench, caplog):
    async def main():
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        bench.run(main())
    gc.collect()
    assert not caplog.records
    assert bench.run(instantly()) == "done"


def test_leftover_tasks_are_cancelled_in_the_order_of_their_making_and_no_time_passes(bench):
    ended = []

    async def background(name):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append((name, bench.tick))

    async def main():
        bench.tasks = [asyncio.create_task(background(name), name=f"z{99 - name}") for name in range(50)]
        await bench.clock.sleep(0.1)

    bench.run(main())
    assert ended == [(name, 50) for name in range(50)]
    assert bench.tick == 50


def test_a_leftover_task_that_waits_while_it_is_cancelled_is_cancelled_again(bench):
    seen = []

    async def polite():
        try:
            await bench.clock.sleep(100)
        finally:
            try:
                await asyncio.sleep(5)
            finally:
                seen.append("asyncio")
                try:
                    await bench.clock.sleep(5)
                finally:
                    seen.append("clock")

    async def main():
        bench.task = asyncio.create_task(polite())
        await bench.clock.sleep(0.1)

    bench.run(main())
    assert seen == ["asyncio", "clock"]
    assert bench.tick == 50
    assert bench.task.cancelled()


@pytest.mark.parametrize("busy", [False, True])
def test_a_task_that_refuses_to_end_is_reported_and_not_waited_for(bench, caplog, busy, short_patience):
    async def stubborn():
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await (asyncio.sleep(0) if busy else bench.clock.sleep(1))

    async def main():
        bench.task = asyncio.create_task(stubborn())
        await bench.clock.sleep(0.1) if not busy else None

    with caplog.at_level(logging.ERROR, "asyncio"):
        bench.run(main())
    assert "refuses to be cancelled" in caplog.text
    bench.task._log_destroy_pending = False


def test_a_failure_after_a_failure_of_the_stepper_is_logged(bench, caplog):
    async def main():
        try:
            await bench.clock.sleep(1)
        finally:
            raise ValueError("spilt")

    bench.stepper.at(10, lambda: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        bench.run(main())
    gc.collect()
    assert "spilt" in caplog.text


def test_a_failure_while_a_leftover_task_cleans_up_is_logged(bench, caplog):
    async def clumsy():
        try:
            await bench.clock.sleep(100)
        finally:
            raise ValueError("spilt")

    async def main():
        bench.task = asyncio.create_task(clumsy())
        await bench.clock.sleep(0.1)

    bench.run(main())
    del bench.task
    gc.collect()
    assert "spilt" in caplog.text


# Running


def test_running_twice_goes_on_where_time_stood(bench):
    bench.run(bench.clock.sleep(0.1))
    bench.run(bench.clock.sleep(0.1))
    assert bench.tick == 100


def test_no_time_passes_outside_a_run(bench):
    assert bench.run(instantly()) == "done"
    bench.loop.run_until_complete(instantly())
    bench.run(asyncio.to_thread(sum, []))
    bench.loop.run_until_complete(bench.loop.shutdown_asyncgens())
    bench.loop.run_until_complete(bench.loop.shutdown_default_executor())  # waits for a thread
    bench.loop.close()
    assert (bench.tick, bench.stepper.advances) == (0, 0)


def test_running_inside_a_run_is_refused_and_harms_nothing(bench):
    async def main():
        with pytest.raises(SimulationError, match="an event loop runs already"):
            bench.run(bench.clock.sleep(1))
        await bench.clock.sleep(0.1)
        return bench.tick

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bench.run(main()) == 50


def test_running_inside_another_loop_is_refused_but_a_thread_will_do(bench):
    async def notebook():
        with pytest.raises(SimulationError, match="in a notebook: use a thread"):
            bench.run(bench.clock.sleep(1))
        await asyncio.to_thread(bench.run, bench.clock.sleep(0.1))

    asyncio.run(notebook())
    assert bench.tick == 50


def test_a_closed_loop_says_so(bench):
    bench.loop.close()
    bench.loop.close()
    with pytest.raises(SimulationError, match="it is closed"):
        bench.run(bench.clock.sleep(1))


def test_closing_leaves_nothing_open():
    def use():
        bench, closed = Bench(), []

        async def numbers():
            try:
                while True:
                    yield 1
            finally:
                closed.append(True)

        async def main():
            bench.numbers = numbers()
            await anext(bench.numbers)
            await bench.loop.run_in_executor(None, lambda: None)

        bench.run(main())
        bench.loop.close()
        return closed

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert use() == [True]
        gc.collect()
    assert [str(w.message) for w in caught if issubclass(w.category, ResourceWarning)] == []


@pytest.mark.parametrize("pace", [0, -1, float("nan"), 1e6])
def test_a_senseless_pace_is_refused_without_litter(pace):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(OutOfRange, match="pace"):
            Bench(pace=pace)
        gc.collect()
    assert caught == []


def test_a_generator_that_was_left_half_way_is_closed(bench):
    closed = []

    async def numbers():
        try:
            while True:
                yield 1
        finally:
            closed.append(bench.tick)

    async def main():
        async for _ in numbers():
            break
        gc.collect()

    bench.run(main())
    assert closed == [0]


# Limits


@pytest.mark.parametrize("how", ["asyncio", "past"])
def test_a_task_that_awaits_nothing_for_ever_is_an_error(bench, how, short_patience):
    async def main():
        while True:
            await (asyncio.sleep(0) if how == "asyncio" else bench.loop.sleep_until(bench.tick))

    with pytest.raises(SimulationError, match=r"stands still at 0\.000 s"):
        bench.run(main())
    assert bench.run(instantly()) == "done"  # and once more, with the count begun anew
    bench.run(bench.clock.sleep(0.1))
    assert bench.tick == 50


def test_many_turns_that_end_are_no_error(bench, short_patience):
    async def main():
        for _ in range(3):
            for _ in range(2000):
                await asyncio.sleep(0)
            await bench.clock.sleep(0.002)

    bench.run(main())
    assert bench.tick == 3


def test_a_run_that_nobody_ends_stops_at_its_horizon(make):
    bench = make(horizon_s=10.0)
    with pytest.raises(SimulationError, match="nothing ended the run within its horizon, 10 s"):
        bench.run(asyncio.Event().wait())
    assert bench.tick == 5000
    bench.run(bench.clock.sleep(10))  # exactly at the horizon of a run of its own
    assert bench.tick == 10_000
    with pytest.raises(SimulationError, match="horizon"):
        bench.run(bench.clock.sleep(10.002))


def test_a_horizon_may_be_infinite(make):
    bench = make(horizon_s=float("inf"))
    bench.run(bench.clock.sleep(1))
    with pytest.raises(OutOfRange, match="horizon"):
        Bench(horizon_s=0)


# Waking by the stepper


def test_what_the_stepper_sets_wakes_the_waiting_task_at_that_tick(bench):
    async def main():
        future, event, woken = bench.loop.create_future(), asyncio.Event(), []
        bench.stepper.at(123, lambda: future.set_result("contact"))
        bench.stepper.at(321, event.set)
        background = asyncio.create_task(bench.clock.sleep(50))
        woken.append((await future, bench.tick))
        await event.wait()
        woken.append(bench.tick)
        await background
        return woken

    assert bench.run(main()) == [("contact", 123), 321]
    assert bench.tick == 25_000


def test_what_the_stepper_schedules_is_in_time(bench):
    fired = []

    def schedule():
        bench.loop.call_later(0.01, lambda: fired.append(("timer", bench.tick)))
        bench.loop.sleep_until(bench.tick + 7).add_done_callback(lambda _: fired.append(("sleeper", bench.tick)))
        bench.loop.call_soon(lambda: fired.append(("soon", bench.tick)))

    async def task():
        await bench.clock.sleep(0.02)
        fired.append(("task", bench.tick))

    bench.stepper.at(100, schedule)
    bench.stepper.at(200, lambda: setattr(bench, "task", bench.loop.create_task(task())))
    bench.run(bench.clock.sleep(10))
    assert fired == [("soon", 100), ("timer", 105), ("sleeper", 107), ("task", 210)]


def test_a_timer_alone_is_in_time_too(bench):
    fired = []
    bench.stepper.at(100, lambda: bench.loop.call_later(0.01, lambda: fired.append(bench.tick)))
    bench.stepper.at(300, lambda: bench.loop.sleep_until(307).add_done_callback(lambda _: fired.append(bench.tick)))
    bench.run(bench.clock.sleep(10))
    assert fired == [105, 307]


def test_nothing_happens_per_tick(bench):
    bench.run(bench.clock.sleep(10))
    assert bench.stepper.advances <= 12  # one for each simulated second


# Threads


def test_time_stands_still_while_a_thread_works(bench):
    async def main():
        background = asyncio.create_task(bench.clock.sleep(1))
        await bench.clock.sleep(0.1)
        results = [await bench.loop.run_in_executor(None, time.sleep, 0.05), await asyncio.to_thread(sum, [1, 2])]
        assert bench.tick == 50
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        assert bench.tick == 50
        both = asyncio.gather(asyncio.to_thread(time.sleep, 0.02), asyncio.to_thread(time.sleep, 0.03))
        await asyncio.wait_for(both, 0.002)  # simulated: cannot run out
        assert bench.tick == 50
        await background
        return results

    assert bench.run(main()) == [None, 3]
    assert bench.tick == 500


def test_a_cancelled_thread_does_not_hold_time_for_ever(bench):
    release = threading.Event()

    async def main():
        work = asyncio.create_task(asyncio.to_thread(release.wait, 10))
        await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await bench.clock.sleep(0.1)
        release.set()
        return bench.tick

    assert bench.run(main()) == 50


@pytest.mark.parametrize("pace", [None, 1.0])
def test_a_thread_wakes_a_task(make, pace):
    bench = make(pace=pace, horizon_s=1e8)
    caller = []

    async def main():
        future = bench.loop.create_future()

        def later():
            caller.append(threading.get_ident())
            bench.loop.call_soon_threadsafe(future.set_result, "from a thread")

        thread = threading.Timer(0.1, later)
        thread.start()
        result = await future
        thread.join()
        return result

    assert bench.run(main()) == "from a thread"
    assert caller != [threading.get_ident()]


def test_a_thread_ends_a_stretch_of_simulation(make):
    bench = make(wall_s_per_tick=0.002)  # a stretch to the next look at the sockets would take a second

    async def main():
        future = bench.loop.create_future()
        thread = threading.Timer(0.05, bench.loop.call_soon_threadsafe, (future.set_result, None))
        thread.start()
        await future
        thread.join()
        return bench.tick

    assert bench.run(main()) < 450


# Sockets


async def echo(reader, writer):
    with contextlib.closing(writer):
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()


def test_a_local_socket_at_full_speed_takes_no_simulated_time(bench):
    async def main():
        background = asyncio.create_task(bench.clock.sleep(100))
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            ticks = []
            for n in range(20):
                writer.write(b"gear %d\n" % n)
                assert await reader.readline() == b"GEAR %d\n" % n
                ticks.append(bench.tick)
                await bench.clock.sleep(0.01)
            writer.close()
            await writer.wait_closed()
        background.cancel()
        return ticks

    first = bench.run(main())
    assert first == [first[0] + 5 * n for n in range(20)]


def test_an_external_peer_is_heard_at_full_speed(bench):
    async def main():
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            peer = threading.Timer(0.05, theirs.sendall, [b"x"])
            peer.start()
            data = await bench.loop.sock_recv(ours, 10)
            peer.join()
        return data

    assert bench.run(main()) == b"x"
    assert bench.tick < 43_000_000  # long before the horizon


def test_peers_that_talk_for_ever_without_time_are_an_error(bench, short_patience):
    async def main():
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for end in (ours, theirs):
                bench.loop.add_reader(end, lambda end=end: end.send(end.recv(10)))
            ours.send(b"ping")
            try:
                await asyncio.Event().wait()
            finally:
                bench.loop.remove_reader(ours)
                bench.loop.remove_reader(theirs)

    with pytest.raises(SimulationError, match="stands still"):
        bench.run(main())


CLIENT = """
import socket, sys, time
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    file = connection.makefile("rwb")
    for n in range(int(sys.argv[2])):
        start = time.monotonic()
        file.write(b"gear %d\\n" % n)
        file.flush()
        assert file.readline() == b"GEAR %d\\n" % n
        time.sleep(float(sys.argv[3]))
print("all answered")
"""


@pytest.mark.parametrize("pace", [1.0, 5.0])
def test_paced_with_a_client_in_another_process(make, pace):
    bench = make(pace=pace)

    async def main():
        done = asyncio.Event()

        async def serve(reader, writer):
            await echo(reader, writer)
            done.set()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            command = [sys.executable, "-c", CLIENT, str(port), "20", "0.01"]
            client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            ticking = asyncio.create_task(bench.clock.sleep(1e6))
            try:
                start_tick, start_s = bench.tick, time.monotonic()
                await asyncio.wait_for(done.wait(), 60 * pace)
                elapsed_s, simulated_s = time.monotonic() - start_s, (bench.tick - start_tick) * 0.002
            finally:
                output = client.communicate(timeout=30)[0]
            ticking.cancel()
        return output, elapsed_s, simulated_s

    output, elapsed_s, simulated_s = bench.run(main())
    assert output == "all answered\n"
    # Time never runs ahead of the wall, and what it lacks has been counted as slipped (or is still within the lag).
    assert simulated_s <= elapsed_s * pace + 0.05 * pace
    assert simulated_s >= (elapsed_s - bench.loop.slipped_s - 0.15) * pace


def test_paced_time_follows_the_wall(make):
    bench = make(pace=10.0)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(2.0))
    assert time.monotonic() - start_s >= 0.19  # never ahead; a busy machine may be behind
    assert bench.tick == 1000


def test_time_slips_when_the_stepper_is_too_slow(make):
    bench = make(pace=1.0, wall_s_per_tick=0.006)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(0.4))
    elapsed_s = time.monotonic() - start_s
    assert bench.tick == 200  # every tick was taken
    assert bench.loop.slipped_s > 0.3
    assert 0.4 + bench.loop.slipped_s <= elapsed_s + 0.01  # what slipped is wall time that was not simulated


def test_a_fast_stepper_does_not_slip_for_itself(make):
    bench = make(pace=1.0)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(0.3))
    late_s = time.monotonic() - start_s - 0.3
    assert bench.loop.slipped_s <= max(0.0, late_s)


def test_a_paced_clock_goes_on_under_tasks_that_are_always_ready(make):
    bench = make(pace=10.0)

    async def busy():
        while True:
            await asyncio.sleep(0)

    async def main():
        bench.busy = asyncio.create_task(busy())
        await bench.clock.sleep(2)

    bench.run(main())
    assert bench.tick >= 1000


def test_an_interrupt_wakes_at_its_tick_in_slow_motion_too(make):
    bench = make(pace=0.02)  # a tick takes 0.1 s of wall time

    async def main():
        future = bench.loop.create_future()
        bench.stepper.at(2, lambda: future.set_result(time.monotonic()))
        set_s = await future
        return bench.tick, time.monotonic() - set_s

    tick, delay_s = bench.run(main())
    assert tick == 2
    assert delay_s < 0.08  # at once, not when the next tick is due


def test_a_paced_run_has_a_horizon(make):
    bench = make(pace=100.0, horizon_s=1.0)
    with pytest.raises(SimulationError, match="horizon"):
        bench.run(asyncio.Event().wait())
    assert bench.tick == 500


# Determinism


def random_program(seed):
    """Tasks that sleep, wait, time out, cancel and fail as dice tell them; returns the log of what happened when."""
    bench, dice, log = Bench(), random.Random(seed), []
    litter = [object() for _ in range(hash("somewhere else in memory") % 5000)]
    event = asyncio.Event()

    def toggle():
        (event.clear if event.is_set() else event.set)()
        log.append((bench.tick, "event", event.is_set()))

    async def worker(name, depth):
        try:
            for _ in range(dice.randrange(1, 6)):
                what, delay_s = dice.randrange(6), dice.randrange(1, 40) * 0.005
                if what == 0:
                    await bench.clock.sleep(delay_s)
                elif what == 1:
                    await asyncio.sleep(delay_s)
                elif what == 2:
                    await asyncio.wait_for(event.wait(), delay_s)
                elif what == 3 and depth < 3:
                    async with asyncio.TaskGroup() as group:
                        for child in range(dice.randrange(1, 9)):
                            group.create_task(worker(f"{name}.{child}", depth + 1))
                elif what == 4 and depth:
                    raise RuntimeError(name)
                else:
                    members = [asyncio.create_task(bench.clock.sleep(delay_s * n)) for n in range(4)]
                    done, _ = await asyncio.wait(members, timeout=delay_s, return_when=asyncio.FIRST_COMPLETED)
                    for member in members:
                        member.cancel()
                    log.append((bench.tick, name, len(done)))
                log.append((bench.tick, name, what))
        except (TimeoutError, ExceptionGroup) as error:
            log.append((bench.tick, name, type(error).__name__))
        except asyncio.CancelledError:
            log.append((bench.tick, name, "cancelled"))
            raise

    async def main():
        for tick in range(50, 5000, 50):
            bench.stepper.at(tick, toggle)
        bench.workers = [asyncio.create_task(worker(str(n), 0)) for n in range(30)]
        await bench.clock.sleep(1.0)

    bench.run(main())
    bench.loop.close()
    del litter
    return [*log, (bench.tick, "end", 0)]


def test_the_same_log_twice():
    for seed in range(3):
        log = random_program(seed)
        assert len(log) > 150
        assert any(what == "cancelled" for _, _, what in log)
        assert random_program(seed) == log
    assert random_program(1) != random_program(2)


def test_the_same_log_in_every_process():
    package_root = str(Path(cellwright.__file__).parents[1])
    outputs = []
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": package_root}
        command = [sys.executable, __file__, "5"]
        outputs.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1] == outputs[2]
    assert json.loads(outputs[0]) == [list(entry) for entry in random_program(5)]


if __name__ == "__main__":
    print(json.dumps(random_program(int(sys.argv[1]))))

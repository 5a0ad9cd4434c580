"""The event loop in simulated time: order, timeouts, failures, limits, waking by the stepper."""

import asyncio
import contextlib
import gc
import logging
import signal
import threading
import time
import warnings

import pytest

from cellwright.core.errors import OutOfRange, SimulationError


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


def test_ctrl_c_while_a_sleeper_is_woken_loses_no_task(bench, caplog):
    """The signal comes after the sleeper's future is done and before its task is called: asyncio's own race."""
    call_soon = bench.loop.call_soon

    def interrupted_call_soon(*args, **kwargs):
        if bench.tick == 10:
            bench.loop.call_soon = call_soon
            signal.raise_signal(signal.SIGINT)
        return call_soon(*args, **kwargs)

    bench.loop.call_soon = interrupted_call_soon
    with pytest.raises(KeyboardInterrupt):
        bench.run(bench.clock.sleep(0.02))
    assert not asyncio.all_tasks(bench.loop)
    assert not caplog.records
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    bench.run(bench.clock.sleep(0.02))
    assert bench.tick == 20


def test_ctrl_c_wakes_a_paced_loop_that_waits_and_ends_a_stretch(make):
    bench = make(pace=0.01)
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        bench.run(bench.clock.sleep(1000))
    assert bench.tick < 100
    bench = make()
    bench.stepper.at(10, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        bench.run(bench.clock.sleep(1000))
    assert bench.tick == 10


def test_a_second_ctrl_c_ends_code_that_never_awaits(bench):
    async def main():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the second one ends it at once")

    with pytest.raises(KeyboardInterrupt):
        bench.run(main())
    assert bench.run(instantly()) == "done"


def test_ctrl_c_in_the_last_turn_is_not_lost(bench):
    async def main():
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        bench.run(main())


def test_a_handler_of_the_callers_own_stays(bench):
    numbers = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: numbers.append(number))
    try:
        bench.stepper.at(10, lambda: signal.raise_signal(signal.SIGINT))
        bench.run(bench.clock.sleep(0.1))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (numbers, bench.tick) == ([signal.SIGINT], 50)


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


def test_closing_leaves_nothing_open(bench):
    make_another = type(bench)

    def use():
        bench, closed = make_another(), []

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
def test_a_senseless_pace_is_refused_without_litter(make, pace):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(OutOfRange, match="pace"):
            make(pace=pace)
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
        make(horizon_s=0)


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


def test_while_it_runs_garbage_is_looked_for_only_among_what_is_new(bench):
    async def main():
        return gc.get_freeze_count()

    before = gc.get_freeze_count()
    gc.unfreeze()
    try:
        assert bench.run(main()) > 0
        assert gc.get_freeze_count() == 0
        gc.freeze()
        bench.run(main())
        assert gc.get_freeze_count() > 0  # what somebody else has set aside stays so
    finally:
        if before == 0:
            gc.unfreeze()

"""Pauses, speeds and onlookers of the event loop: they change when things happen on the wall, and nothing else."""

import asyncio
import os
import signal
import threading
import time
from itertools import pairwise

import pytest

from cellwright.core.clock import Clock
from cellwright.core.errors import OutOfRange
from cellwright.core.loop import SimulationLoop
from cellwright.core.pacing import PaceLoss, Pacing
from cellwright.sim.stepper import Stepper

HOLD_S = 0.15


class CountingEngine:
    """An engine whose last bit would depend on how its steps are cut, as that of kinematic fidelity does."""

    def __init__(self):
        self.counts = []

    def step(self, count):
        self.counts.append(count)


@pytest.fixture
def real():
    """A loop over a real schedule, in which something is due every 7 ticks."""
    clock, engine = Clock(0.002), CountingEngine()
    stepper = Stepper(clock, engine)
    stepper.every(7, lambda: None, order=0, name="often")
    loop = SimulationLoop(clock, stepper)
    loop.engine = engine
    yield loop
    loop.close()


async def some_work(loop):
    seen = []
    for duration_s in (0.05, 3.3, 0.001, 1.7):
        await loop.clock.sleep(duration_s)
        seen.append(loop.clock.time_s)
    await asyncio.sleep(0.5)
    return [*seen, loop.clock.time_s]


class Onlooker:
    """Pauses, slows down and hurries a loop while it runs."""

    def __init__(self, pacing, hold_s=HOLD_S):
        self.pacing, self.hold_s = pacing, hold_s
        self.times, self.until_s = [], None

    def __call__(self):
        now_s = time.monotonic()
        self.times.append(self.pacing._clock.tick)
        if self.until_s is None:
            self.pacing.pause()
            self.until_s = now_s + self.hold_s
        elif self.pacing.is_paused and now_s >= self.until_s:
            self.pacing.speed = (20.0, 100.0, None)[len(self.times) % 3]
            self.pacing.resume()


def test_a_run_takes_the_same_steps_whoever_watches(real):
    alone = real.run(some_work(real)), real.engine.counts
    clock, engine = Clock(0.002), CountingEngine()
    stepper = Stepper(clock, engine)
    stepper.every(7, lambda: None, order=0, name="often")
    loop = SimulationLoop(clock, stepper)
    looker = Onlooker(loop.pacing)
    loop.pacing.speed = 30.0
    loop.pacing.watch(looker, 0.005)
    try:
        assert (loop.run(some_work(loop)), engine.counts) == alone
    finally:
        loop.close()
    assert len(looker.times) > 2  # it was held at least once, and went on


@pytest.mark.parametrize("pace", [None, 1.0])
def test_while_it_is_paused_no_time_passes_and_sockets_live(make, pace):
    bench = make(pace=pace)
    answered, ticks = [], []

    async def echo(reader, writer):
        writer.write(await reader.readline())
        await writer.drain()
        ticks.append(bench.tick)
        writer.close()

    def ask(port):
        import socket

        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(b"still there?\n")
            answered.append(client.recv(100))
        bench.loop.call_soon_threadsafe(bench.loop.pacing.resume)

    async def main():
        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            await bench.clock.sleep(0.01)
            bench.loop.pacing.pause()
            paused = bench.tick
            client = threading.Thread(target=ask, args=(server.sockets[0].getsockname()[1],))
            client.start()
            await bench.clock.sleep(0.01)
            client.join()
            return paused

    paused = bench.run(main())
    assert answered == [b"still there?\n"]
    assert ticks == [paused]
    assert bench.tick >= paused + 5


@pytest.mark.parametrize("pace", [None, 100.0])
def test_a_pause_is_not_caught_up(make, pace):
    bench = make(pace=pace)
    bench.loop.pacing.watch(Onlooker(bench.loop.pacing, hold_s=0.3), 0.01)
    bench.loop.pacing.speed = 2.0
    seen = []

    async def main():
        while not seen or (not bench.loop.pacing.is_paused and len(seen) < 30):
            await bench.clock.sleep(0.002)
            seen.append((time.monotonic(), bench.tick))

    bench.run(main())
    steps = [later - before for (_, before), (_, later) in pairwise(seen)]
    assert max(steps) <= 100  # within the lag of 0.1 s at speed 2; what 0.3 s of pause would be is 300


def test_a_run_at_full_speed_keeps_to_a_speed_that_it_is_given(make):
    bench = make()
    bench.loop.pacing.speed = 4.0
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(1.2))
    assert time.monotonic() - start_s >= 0.29
    assert bench.tick == 600


def test_a_paced_run_changes_its_speed_at_once(make):
    bench = make(pace=0.01)

    def hurry():
        bench.loop.pacing.speed = None

    bench.loop.pacing.watch(hurry, 0.01)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(20))
    assert time.monotonic() - start_s < 20
    assert bench.tick == 10_000


@pytest.mark.parametrize("speed", [0, -1, 1e-4, 1e4, float("nan"), float("inf")])
def test_other_speeds_are_refused(make, speed):
    bench = make()
    with pytest.raises(OutOfRange, match="pace"):
        bench.loop.pacing.speed = speed
    assert bench.loop.pacing.speed is None


@pytest.mark.parametrize("pace", [None, 1.0])
def test_an_onlooker_is_called_while_time_stands_still(make, pace):
    bench = make(pace=pace)
    calls = []

    def look():
        calls.append(bench.tick)
        if len(calls) == 5:
            bench.loop.pacing.resume()

    bench.loop.pacing.watch(look, 0.01)
    bench.loop.pacing.pause()
    bench.run(bench.clock.sleep(0.004))
    assert calls[:5] == [0] * 5
    assert bench.tick == 2


@pytest.mark.parametrize("pace", [None, 1.0])
def test_ctrl_c_ends_a_paused_run(make, pace):
    bench = make(pace=pace)
    bench.loop.pacing.watch(lambda: os.kill(os.getpid(), signal.SIGINT))
    bench.loop.pacing.pause()
    with pytest.raises(KeyboardInterrupt):
        bench.run(bench.clock.sleep(1))
    assert bench.tick == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nobody_watches_any_more(make):
    bench = make()
    calls = []
    bench.loop.pacing.watch(look := lambda: calls.append(1), 0.0)
    bench.run(bench.clock.sleep(0.1))
    bench.loop.pacing.unwatch(look)
    before = len(calls)
    bench.run(bench.clock.sleep(0.1))
    assert before == len(calls) > 0


class WallClock:
    """The wall clock of `pacing`, which goes on when it is told to."""

    def __init__(self, monkeypatch):
        self.now_s = 100.0
        monkeypatch.setattr("cellwright.core.pacing.time", self)

    def monotonic(self):
        return self.now_s


@pytest.fixture
def watched_pace(monkeypatch):
    """Returns a function that lets wall time pass at a pace, and the lines that were told."""
    wall, clock, lines = WallClock(monkeypatch), Clock(0.002), []
    pacing = Pacing(clock, 1.0)
    loss = PaceLoss(pacing, clock, lines.append)

    def passes(wall_s, pace):
        for _ in range(round(wall_s / 0.5)):
            wall.now_s += 0.5
            clock.tick += round(0.5 * pace / clock.tick_s)
            if (allowed := pacing.allowed_tick()) is not None:
                clock.tick = min(clock.tick, allowed)
            loss.look()

    def hangs(wall_s):
        wall.now_s += wall_s
        loss.look()

    passes.pacing, passes.lines, passes.hangs = pacing, lines, hangs
    return passes


def test_a_machine_that_is_too_slow_says_so_ever_more_rarely(watched_pace):
    watched_pace(20, 1.0)
    assert watched_pace.lines == []
    watched_pace(61, 0.4)
    first, *others = watched_pace.lines
    assert first.startswith("this machine does not keep pace: 0.4 simulated seconds per second in the last 4 s")
    assert first.endswith("instead of 1")
    assert [line.split(" s instead")[0].rpartition(" ")[2] for line in others] == ["8", "16", "32"]


def test_time_that_slipped_before_is_not_told_as_a_pace_that_was_kept(watched_pace):
    """What hangs at the end of a period slips when time goes on, which is in the next one."""
    watched_pace.hangs(4.0)
    told = len(watched_pace.lines)
    watched_pace(8, 1.0)
    assert watched_pace.lines[told:] == []


def test_a_pause_and_full_speed_are_no_loss_of_pace(watched_pace):
    watched_pace.pacing.pause()
    watched_pace(30, 1.0)
    watched_pace.pacing.resume()
    watched_pace.pacing.speed = None
    watched_pace(30, 0.1)
    assert watched_pace.lines == []

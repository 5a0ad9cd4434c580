"""Property tests without a stopwatch (the machine may be busy), and a bench for the event loop.

The bench's stepper is a real one that only counts: it advances the clock and calls what was scheduled for a tick.
"""

import time

import pytest
from hypothesis import settings

from cellwright.core import Clock, SimulationLoop

settings.register_profile("cellwright", deadline=None, derandomize=True, max_examples=60, database=None)
settings.load_profile("cellwright")


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

    def advance(self, until_tick, enough_tick=None):
        self.interrupted = False
        self.advances += 1
        while self.clock.tick < until_tick and not self.interrupted:
            self.clock.tick += 1
            if self.wall_s_per_tick:
                time.sleep(self.wall_s_per_tick)
            for call in self.calls.pop(self.clock.tick, ()):
                call()
            if enough_tick is not None and self.clock.tick >= enough_tick:
                return


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

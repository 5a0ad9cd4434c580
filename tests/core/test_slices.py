"""Work in slices: what comes out does not depend on how it is done, and when depends on the number of slices alone."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from cellwright.core.clock import Clock
from cellwright.core.loop import SimulationLoop
from cellwright.core.slices import FREE_SLICES, SLICE_S, at_once, in_turns, spans


class _Stepper:
    def __init__(self, clock):
        self._clock = clock

    def advance(self, until_tick, enough_tick=None):
        self._clock.tick = until_tick

    def interrupt(self):
        pass


def simulated(work, pace=None):
    clock = Clock(0.002)
    loop = SimulationLoop(clock, _Stepper(clock), pace=pace)
    try:
        return loop.run(work(loop.clock))
    finally:
        loop.close()


def counted(slices, done):
    for number in range(slices):
        done.append(number)
        yield
    return "result"


def test_all_at_once():
    done = []
    assert at_once(counted(5, done)) == "result"
    assert done == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("pace", [None, 20.0])
@pytest.mark.parametrize("slices", [0, FREE_SLICES, FREE_SLICES + 10])
def test_the_first_slices_take_no_simulation_time_and_every_further_one_the_same(slices, pace):
    async def work(clock):
        await clock.sleep(0.0)
        begin_s = clock.time_s
        result = await in_turns(counted(slices, []), clock)
        return result, clock.time_s - begin_s

    result, took_s = simulated(work, pace)
    assert result == "result"
    assert took_s == pytest.approx(max(0, slices - FREE_SLICES) * SLICE_S)


def test_others_have_their_turn_between_any_two_slices():
    async def work(clock):
        done, turns = [], []

        async def other():
            while True:
                turns.append(len(done))
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(other())
        await in_turns(counted(FREE_SLICES, done), clock)
        beside.cancel()
        return turns

    turns = simulated(work)
    assert turns[:FREE_SLICES] == list(range(1, FREE_SLICES + 1))


def test_who_is_cancelled_leaves_the_rest_undone():
    async def work(clock):
        done, closed = [], []

        def long():
            try:
                yield from counted(1000, done)
            finally:
                closed.append(True)

        task = asyncio.ensure_future(in_turns(long(), clock))
        await clock.sleep(10 * SLICE_S)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        before = len(done)
        await clock.sleep(1.0)
        return before, len(done), closed

    before, after, closed = simulated(work)
    assert FREE_SLICES < before == after < FREE_SLICES + 20
    assert closed == [True]


def test_spans_cover_everything_once():
    assert [list(range(10))[span] for span in spans(10, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert list(spans(0, 4)) == []

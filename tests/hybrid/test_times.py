"""Time stamps of another clock, whatever that clock does and however late its messages come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.hybrid import TimeMap

PERIOD_S = 0.1
JITTER = st.floats(0.0, 0.15)
SEEDS = st.integers(0, 2**32 - 1)


def sent(count, clock, jitter_s, seed, latency_s=0.02, start_s=100.0):
    """Times at which messages were sent, their stamps by another clock, and their arrivals, in order."""
    rng = np.random.default_rng(seed)
    times_s = start_s + PERIOD_S * np.arange(count)
    arrivals_s = np.maximum.accumulate(times_s + latency_s + rng.uniform(0.0, jitter_s, count))
    return times_s, np.array([clock(time_s) for time_s in times_s]), arrivals_s


def mapped(times, stamps_s, arrivals_s):
    told_s = np.array(
        [times.take(float(stamp), float(arrival)) for stamp, arrival in zip(stamps_s, arrivals_s, strict=True)]
    )
    assert (told_s <= arrivals_s).all()  # never from the future
    assert (np.diff(told_s) >= 0.0).all()
    return told_s


@given(offset_s=st.floats(-1e6, 1e6), jitter_s=JITTER, seed=SEEDS)
def test_of_a_clock_that_is_off_only_the_jitter_is_left(offset_s, jitter_s, seed):
    times = TimeMap(least_s=0.02)
    times_s, stamps_s, arrivals_s = sent(200, lambda time_s: time_s - offset_s, jitter_s, seed)
    wrong_s = mapped(times, stamps_s, arrivals_s)[60:] - times_s[60:]
    assert np.abs(wrong_s).max() <= 0.5 * jitter_s + 1e-6
    assert times.restarts == 0
    assert times.jitter_s <= jitter_s / 2 + 1e-6  # that of anything within such bounds
    assert times.latency_s <= jitter_s + 1e-6


@given(drift=st.floats(-0.01, 0.01), jitter_s=JITTER, seed=SEEDS)
def test_a_clock_that_is_a_percent_fast_or_slow_is_followed(drift, jitter_s, seed):
    times_s, stamps_s, arrivals_s = sent(250, lambda time_s: 7.0 + (1.0 + drift) * time_s, jitter_s, seed)
    times = TimeMap(least_s=0.02)
    wrong_s = mapped(times, stamps_s, arrivals_s)[60:] - times_s[60:]
    assert np.abs(wrong_s).max() <= 0.005 + 0.5 * jitter_s  # the clock itself goes wrong by 0.25 s
    assert times.restarts == 0


@given(pace=st.sampled_from([0.25, 0.5, 2.0, 4.0]), seed=SEEDS)
def test_a_cell_that_runs_at_another_pace_is_followed(pace, seed):
    times_s, stamps_s, arrivals_s = sent(200, lambda time_s: pace * time_s, 0.02, seed)
    wrong_s = mapped(TimeMap(least_s=0.02), stamps_s, arrivals_s)[100:] - times_s[100:]
    assert np.abs(wrong_s).max() <= 0.02


@given(jump_s=st.floats(0.5, 1e5) | st.floats(-1e5, -0.5), jitter_s=JITTER, seed=SEEDS)
def test_a_clock_that_jumps_is_right_again_soon(jump_s, jitter_s, seed):
    times_s, stamps_s, arrivals_s = sent(
        250, lambda time_s: time_s + (jump_s if time_s > 115.0 else 0.0), jitter_s, seed
    )
    times = TimeMap(least_s=0.02)
    wrong_s = mapped(times, stamps_s, arrivals_s) - times_s
    assert np.abs(wrong_s[200:]).max() <= 0.5 * jitter_s + 1e-6
    assert times.restarts == 1


@given(seed=SEEDS)
def test_a_cell_that_begins_anew_is_right_again_soon(seed):
    times_s, stamps_s, arrivals_s = sent(200, lambda time_s: time_s % 110.0, 0.02, seed)
    times = TimeMap(least_s=0.02)
    wrong_s = mapped(times, stamps_s, arrivals_s) - times_s
    assert np.abs(wrong_s[130:]).max() <= 0.015
    assert times.restarts == 1


@pytest.mark.parametrize("pause_s", [0.6, 5.0, 30.0])
def test_a_cell_that_was_paused_is_right_again_soon(pause_s):
    """Its stamps go on as if nothing had been, its messages come later."""
    times_s, stamps_s, arrivals_s = sent(100, lambda time_s: time_s, 0.01, 3)
    times = TimeMap(least_s=0.02)
    mapped(times, stamps_s, arrivals_s)
    wrong_s = mapped(times, stamps_s + 10.0, arrivals_s + 10.0 + pause_s) - (times_s + 10.0 + pause_s)
    assert np.abs(wrong_s[20:]).max() <= 0.01
    assert times.restarts == (pause_s < 10.0)  # all that was known before is forgotten by then


@given(stamps=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60), seed=SEEDS)
def test_whatever_stamps_say_no_message_is_from_the_future(stamps, seed):
    rng = np.random.default_rng(seed)
    mapped(TimeMap(), np.array(stamps), np.cumsum(rng.exponential(0.1, len(stamps))))


def test_messages_that_were_held_up_do_not_move_the_clock():
    times_s, stamps_s, arrivals_s = sent(100, lambda time_s: time_s, 0.0, 3)
    arrivals_s[50:58] = arrivals_s[58]  # as after a stall of a network
    times = TimeMap(least_s=0.02)
    assert np.abs(mapped(times, stamps_s, arrivals_s) - times_s).max() <= 1e-6
    assert times.restarts == 0
    assert 0.01 < times.latency_s < 0.1
    assert times.jitter_s > 0.1


def test_what_few_messages_tell_is_called_uncertain():
    _, stamps_s, arrivals_s = sent(60, lambda time_s: time_s, 0.02, 3)
    times = TimeMap()
    mapped(times, stamps_s[:3], arrivals_s[:3])
    assert times.uncertainty_s > 0.1
    mapped(times, stamps_s[3:], arrivals_s[3:])
    assert 0.0 < times.uncertainty_s < 0.02

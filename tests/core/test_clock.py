"""Simulation time in whole ticks."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core import Clock
from cellwright.core.errors import OutOfRange


@pytest.mark.parametrize(
    ("duration_s", "ticks"),
    [
        (0.05, 25),
        (0.1 + 0.2, 150),  # 0.30000000000000004: not 151
        (0.1 * 3, 150),
        (0.7 - 0.4, 150),  # 0.29999999999999993
        (0.002, 1),
        (0.0021, 2),
        (0.001, 1),
        (1e-9, 1),
        (1e-10, 0),
        (0, 0),
        (-0.01, -5),
        (3600, 1_800_000),
        (86_400 * 365, 15_768_000_000),
    ],
)
def test_ticks_of_two_milliseconds(duration_s, ticks):
    assert Clock(0.002).ticks(duration_s) == ticks


@given(st.integers(0, 10**12), st.sampled_from([0.0005, 0.001, 0.002, 0.005, 0.01, 1 / 240]))
def test_whole_ticks_stay_whole(count, tick_s):
    clock = Clock(tick_s)
    duration = float(Fraction(count * clock.tick_ns, 10**9))
    if duration < 1e5:  # beyond it a float no longer tells nanoseconds apart
        assert clock.ticks(duration) == count


@given(st.floats(0, 1e5))
def test_ticks_cover_the_duration_and_no_more(duration_s):
    clock = Clock(0.002)
    ticks = clock.ticks(duration_s)
    assert ticks * 0.002 >= duration_s - 1e-9
    assert (ticks - 1) * 0.002 < duration_s


@pytest.mark.parametrize("duration_s", [math.nan, math.inf, -math.inf])
def test_durations_are_finite(duration_s):
    with pytest.raises(OutOfRange, match="duration is"):
        Clock().ticks(duration_s)


def test_time_is_counted_in_integers():
    clock = Clock(0.002)
    clock.tick = 500 * 3600 * 24 * 365
    assert clock.time_ns == 31_536_000 * 10**9
    assert clock.time_s == 31_536_000.0
    clock.tick = 150
    assert clock.time_s == 0.3


def test_a_step_that_is_no_whole_number_of_nanoseconds_is_rounded_to_one():
    clock = Clock(1 / 240)
    assert (clock.tick_ns, clock.tick_s) == (4_166_667, 0.004166667)


@pytest.mark.parametrize(
    ("rate_hz", "ticks"), [(500, 1), (250, 2), (60, 8), (30, 17), (1, 500), (0.1, 5000), (10_000, 1)]
)
def test_periods(rate_hz, ticks):
    assert Clock(0.002).period_ticks(rate_hz) == ticks


@pytest.mark.parametrize("rate_hz", [0, -1, math.nan, math.inf, 1e-300])
def test_rates_are_positive_numbers(rate_hz):
    with pytest.raises(OutOfRange, match=r"rate is .* Hz"):
        Clock().period_ticks(rate_hz)


@pytest.mark.parametrize("tick_s", [0, -0.002, 1e-6, 0.2, math.nan])
def test_steps_are_of_a_sensible_length(tick_s):
    with pytest.raises(OutOfRange, match="physics time step"):
        Clock(tick_s)

"""Each error of a reading, against its formula; tolerances are four standard errors of the estimate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.config import Normal, validate
from cellwright.core.errors import ConfigError
from cellwright.sensors import Noise, NoiseCfg
from cellwright.sensors.noise import ReadingStream

SIZE = 4000


def noise(period_s: float = 0.01, size: int = SIZE, seed: int = 1, **cfg) -> Noise:
    return Noise(NoiseCfg(**cfg), size, period_s, np.random.default_rng(seed))


def close_sd(values: np.ndarray, sd: float) -> bool:
    return abs(values.std() / sd - 1) < 4 / np.sqrt(2 * values.size)


def close_mean(values: np.ndarray, mean: float, sd: float) -> bool:
    return abs(values.mean() - mean) < 4 * sd / np.sqrt(values.size)


def test_without_errors_a_reading_is_the_truth_in_a_new_array():
    truth = np.linspace(-1, 1, 7)
    reading = noise(size=7).apply(truth)
    assert np.array_equal(reading, truth)
    assert not np.shares_memory(reading, truth)


def test_bias_is_the_same_in_every_reading():
    biased = noise(bias=0.25)
    assert np.array_equal(biased.apply(np.zeros(SIZE)), np.full(SIZE, 0.25))
    assert np.array_equal(biased.apply(np.ones(SIZE)), np.full(SIZE, 1.25))


def test_bias_from_a_distribution_is_drawn_once_per_axis():
    biased = noise(bias=Normal(mean=2.0, sd=0.5))
    first, second = biased.apply(np.zeros(SIZE)), biased.apply(np.zeros(SIZE))
    assert np.array_equal(first, second)
    assert close_sd(first, 0.5)
    assert close_mean(first, 2.0, 0.5)


def test_sd_is_that_of_each_sample_and_samples_are_independent():
    noisy = noise(sd=0.3)
    first, second = noisy.apply(np.zeros(SIZE)), noisy.apply(np.zeros(SIZE))
    for reading in (first, second):
        assert close_sd(reading, 0.3)
        assert close_mean(reading, 0.0, 0.3)
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(SIZE)


@pytest.mark.parametrize("period_s", [0.01, 0.04])
def test_random_walk_grows_with_the_root_of_time_at_any_rate(period_s):
    walking = noise(period_s, random_walk=0.2)
    readings = [walking.apply(np.zeros(SIZE)) for _ in range(round(4 / period_s))]
    for time_s in (0.25, 1.0, 4.0):
        assert close_sd(readings[round(time_s / period_s) - 1], 0.2 * np.sqrt(time_s))
    steps = readings[-1] - readings[-2]
    assert close_sd(steps, 0.2 * np.sqrt(period_s))


def test_readings_are_multiples_of_the_resolution():
    reading = noise(sd=1.0, resolution=0.3).apply(np.zeros(SIZE))
    steps = reading / 0.3
    assert np.abs(steps - np.round(steps)).max() < 1e-9
    assert close_sd(reading, np.sqrt(1.0 + 0.3**2 / 12))  # rounding adds its own variance
    assert np.array_equal(noise(size=3, resolution=0.5).apply(np.array([0.7, 0.8, -0.2])), [0.5, 1.0, -0.0])


def test_range_comes_last():
    """A reading at the end of the range is the end itself, even where that is no multiple of the resolution."""
    reading = noise(sd=5.0, resolution=0.3, low=-1.0, high=1.0).apply(np.zeros(SIZE))
    assert reading.min() == -1.0
    assert reading.max() == 1.0
    assert np.array_equal(noise(size=2, low=0.5).apply(np.array([0.0, 9.0])), [0.5, 9.0])
    assert np.array_equal(noise(size=2, high=0.5).apply(np.array([0.0, 9.0])), [0.0, 0.5])


def test_bias_and_drift_are_seen_through_resolution():
    reading = noise(size=2, bias=0.26, resolution=0.5).apply(np.array([0.0, 1.0]))
    assert np.array_equal(reading, [0.5, 1.5])


@given(
    st.floats(-2, 2), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0, 0.125, 0.5]), st.integers(0, 2**32 - 1)
)  # fmt: skip
def test_any_errors_leave_the_truth_alone_and_stay_in_range(bias, walk, sd, resolution, seed):
    truth = np.linspace(-3, 3, 5)
    before = truth.copy()
    chain = noise(size=5, seed=seed, bias=bias, random_walk=walk, sd=sd, resolution=resolution, low=-2, high=2)
    for _ in range(3):
        reading = chain.apply(truth)
        assert np.array_equal(truth, before)
        assert not np.shares_memory(reading, truth)
        assert (np.abs(reading) <= 2).all()


def test_one_stream_gives_one_sequence():
    twins = [noise(seed=9, size=3, bias=Normal(sd=1), random_walk=1, sd=1) for _ in range(2)]
    for _ in range(3):
        first, second = (twin.apply(np.zeros(3)) for twin in twins)
        assert np.array_equal(first, second)


@pytest.mark.parametrize("cfg", [{"sd": -1}, {"random_walk": -0.1}, {"resolution": -1}, {"sd": "much"}, {"sdd": 1}])
def test_errors_that_make_no_sense_are_refused(cfg):
    with pytest.raises(ConfigError, match=r"test\.yaml"):
        validate(cfg, NoiseCfg, "test.yaml")


LIMITS = {"low": 0.005, "high": 0.05}


@given(st.floats(0.0, 0.06), st.floats(0.0, 1.0), st.floats(-0.01, 0.01), st.floats(0.0, 1.0))
def test_the_papers_noise_never_leaves_the_limits(value, probability, mean, sd):
    apply = noise(size=40, probability=probability, mean=mean, sd=sd, inward=True, **LIMITS).apply
    reading = apply(np.full(40, value))
    assert (reading >= 0.005).all()
    assert (reading <= 0.05).all()
    if probability == 0:
        assert (reading == np.clip(value, 0.005, 0.05)).all()


def test_the_papers_noise_leads_inward_at_the_limits_and_both_ways_between():
    def errors(value):
        return noise(probability=0.5, mean=0.004, sd=0.0005, inward=True, **LIMITS).apply(np.full(SIZE, value)) - value

    for value, sign in ((0.05, -1.0), (0.005, 1.0)):
        wrong = errors(value)
        wrong = wrong[wrong != 0]
        assert len(wrong) / SIZE == pytest.approx(0.5, abs=4 * 0.5 / SIZE**0.5)
        assert (np.sign(wrong) == sign).all()
        assert abs(wrong).mean() == pytest.approx(0.004, abs=0.0001)
    between = errors(0.03)
    assert (between > 0).sum() / (between != 0).sum() == pytest.approx(0.5, abs=4 * 0.5 / (SIZE / 2) ** 0.5)
    assert abs(between[between != 0]).mean() == pytest.approx(0.004, abs=0.0001)


def test_a_share_of_readings_has_noise_and_a_mean():
    errors = noise(probability=0.16, mean=1.0, sd=0.1).apply(np.zeros(SIZE))
    assert (errors != 0).mean() == pytest.approx(0.16, abs=4 * (0.16 * 0.84 / SIZE) ** 0.5)
    assert errors[errors != 0].mean() == pytest.approx(1.0, abs=0.02)


def test_a_reading_stream_depends_on_the_number_alone():
    first, second = (ReadingStream(np.random.default_rng(3)) for _ in range(2))
    drawn = {number: first.of(number).standard_normal(3).tolist() for number in (0, 1, 7, 2**40)}
    for number in (7, 2**40, 0, 1):
        rng = second.of(number)
        assert rng.standard_normal(3).tolist() == drawn[number]
        rng.random(5), rng.integers(9)  # what is left of it does not matter
    assert len({tuple(values) for values in drawn.values()}) == 4
    many = np.array([first.of(number).standard_normal() for number in range(SIZE)])
    assert abs(many.mean()) < 4 / SIZE**0.5
    assert abs(np.corrcoef(many[1:], many[:-1])[0, 1]) < 4 / SIZE**0.5

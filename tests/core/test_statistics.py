"""Intervals: they hold what they promise on drawn samples, and agree with printed tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cellwright.core.statistics import mean_of, quantile_of, rate_of, sd_of


def test_a_rate_has_the_wilson_interval():
    rate = rate_of("success", 9, 10)
    assert rate["success"] == 0.9
    assert (rate["success_low"], rate["success_high"]) == pytest.approx((0.5958, 0.9821), abs=1e-4)  # Newcombe 1998
    assert rate["success_n"] == 10
    assert rate_of("x", 0, 7)["x_low"] == 0


@pytest.mark.parametrize(("count", "point"), [(3, 4.3027), (4, 3.1824), (11, 2.2281), (31, 2.0423)])
def test_a_mean_has_students_interval(count, point):
    values = np.arange(count).tolist()
    mean = mean_of("m", values)
    half = point * np.std(values, ddof=1) / math.sqrt(count)
    assert mean["m_high"] - mean["m"] == pytest.approx(half, rel=0.01)


@pytest.mark.parametrize("kind", ["mean", "sd", "median", "p90"])
def test_95_of_100_intervals_hold_the_truth(kind):
    drawn = np.random.default_rng(5).normal(3.0, 2.0, (800, 60))
    of, truth = {
        "mean": (mean_of, 3.0),
        "sd": (sd_of, 2.0),
        "median": (quantile_of, 3.0),
        "p90": (lambda name, values: quantile_of(name, values, 0.9), 3.0 + 2.0 * 1.2816),
    }[kind]
    made = [of("x", row.tolist()) for row in drawn]
    share = np.mean([one["x_low"] <= truth <= one["x_high"] for one in made])
    assert 0.93 <= share <= 0.985


def test_what_too_few_values_do_not_tell_is_not_told():
    few = quantile_of("x", [1.0, 2.0, 3.0], 0.95)
    assert few["x"] == pytest.approx(2.9)
    assert math.isnan(few["x_high"])
    assert math.isnan(mean_of("x", [1.0])["x_low"])
    assert math.isnan(quantile_of("x", [float("nan")])["x"])

"""The e-puck paper's figures 4 and 5: shapes that follow from geometry and from the noise model, in quick runs."""

import numpy as np
import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments import run_experiment
from cellwright.experiments.epuck_proximity import back_away, readings_of_nothing


def test_a_robot_that_backs_away_is_told_the_distance_of_the_cone_and_then_nothing():
    run = back_away("vrep_exact", 3)
    assert run.away_m[0, 0] == pytest.approx(0.005 / np.cos(np.radians(10)), abs=0.0015)
    assert run.away_m[-1, 0] > 0.06  # beyond the range, as in the paper
    known = (run.nearest_m > 0.002) & (run.nearest_m < 0.049)
    assert known.sum() > 40
    assert np.abs(run.ranges_m - run.nearest_m)[known].max() < 0.0003
    assert (run.ranges_m[run.nearest_m > 0.0505] == 0.05).all()


def test_noise_before_nothing_is_as_frequent_for_every_robot_but_not_the_same():
    first, second = (readings_of_nothing("epuck1-vrep", seed, 200) for seed in (1, 2))
    assert first.shape == (200, 8)
    assert (first != second).any()
    assert (first < 0.05).mean() == pytest.approx(0.157, abs=0.04)  # 1600 readings, four deviations
    assert (first <= 0.05).all()


@pytest.mark.slow
def test_the_experiment_meets_its_targets():
    result = run_experiment("epuck-proximity", MeasurementConditions(seed=4, quick=True)).result
    assert result.failed == []
    metrics = result.metrics
    assert metrics["driver.bias_mm"] > 1.0 > abs(metrics["ros2.bias_mm"])  # the conversion's error, and none
    assert metrics["vrep.rms_mm"] > metrics["vrep_exact.rms_mm"]
    assert metrics["conversion.at_5mm_mm"] == pytest.approx(10.8, abs=0.05)
    assert metrics["conversion.at_50mm_mm"] == pytest.approx(45.6, abs=0.05)
    assert metrics["noise.share_low"] < 61 / 380 < metrics["noise.share_high"]

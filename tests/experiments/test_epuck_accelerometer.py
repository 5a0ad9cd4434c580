import numpy as np
import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments.epuck_accelerometer import GOALS, feel_floor
from cellwright.experiments.experiment import EXPERIMENTS


def test_on_an_even_floor_nothing_but_ripple_is_felt():
    driving, even, standing = (feel_floor(way, 5, 4.0).sd_mps2 for way in ("driving", "even", "standing"))
    assert (driving > 1.8 * even).all()
    assert even[1:] == pytest.approx(standing[1:], rel=0.25)
    assert even[0] > 1.1 * standing[0]


def test_a_run_is_that_of_its_seed():
    first, again, other = (feel_floor("driving", seed, 1.0).readings_mps2 for seed in (5, 5, 6))
    assert (first == again).all()
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_deviations_are_those_of_the_real_robot_within_a_third():
    found = EXPERIMENTS.get("epuck-accelerometer").run(MeasurementConditions(seed=2, quick=True))
    for axis, (low, high) in GOALS.items():
        assert low < found.metrics[f"driving.{axis}_sd"] < high
        assert found.targets[f"driving.{axis}_sd"] == {"min": low, "max": high}
        assert found.metrics[f"standing.{axis}_sd"] < found.metrics[f"slow.{axis}_sd"]
    assert found.paper["driving.y_sd"] == pytest.approx(0.031, abs=0.001)
    assert len(found.tables["floors"].rows) == 10

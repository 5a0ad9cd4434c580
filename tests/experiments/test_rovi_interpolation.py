"""The published durations."""

import pytest

from cellwright.core.errors import BadInput
from cellwright.core.results import MeasurementConditions
from cellwright.experiments import run_experiment
from cellwright.experiments.rovi_interpolation import PICK_X_M, pick_waypoints
from cellwright.motion.interpolation import blended


def test_the_papers_durations_with_the_codes_limits():
    result = run_experiment("rovi-interpolation", MeasurementConditions()).result
    assert result.failed == []
    same = [name for name in result.paper if not name.startswith("text_limits.")]
    assert len(same) == 10
    for name in same:
        assert result.metrics[name] == pytest.approx(result.paper[name], rel=0.0005), name


def test_the_texts_limits_do_not_give_the_table():
    metrics = run_experiment("rovi-interpolation", MeasurementConditions()).result.metrics
    assert metrics["text_limits.linear.p1_s"] == pytest.approx(26.92, abs=0.01)
    assert metrics["text_limits.linear.p2_s"] == pytest.approx(25.31, abs=0.01)


@pytest.mark.parametrize("pick", PICK_X_M)
def test_the_texts_blend_does_not_fit(pick):
    with pytest.raises(BadInput, match="does not fit"):
        blended(pick_waypoints(PICK_X_M[pick]), 0.2, 0.05, 0.2)

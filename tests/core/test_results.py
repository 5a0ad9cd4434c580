"""Results survive being saved."""

import json

import pytest

from cellwright.core.results import Measurement, MeasurementConditions, Result


def test_what_was_not_measured_has_neither_target_nor_published_figure():
    measured = Measurement({"a": 1.0}, {"a": {"min": 2}, "b": {"min": 1}})
    result = Result.of("probe", measured, MeasurementConditions(3, quick=True), {"python": "3"}, {"a": 5.0, "c": 6.0})
    assert (result.failed, dict(result.targets), dict(result.paper)) == (["a"], {"a": {"min": 2}}, {"a": 5.0})
    assert result.target_text("a") == ">= 2"
    assert result.target_text("c") == ""


def test_a_result_is_the_same_after_json():
    result = Result(
        name="probe",
        seed=3,
        versions={"python": "3"},
        metrics={"a": 1.5},
        targets={"a": {"min": 0, "max": 2}},
        paper={"a": 1.4},
        quick=True,
    )
    assert Result.from_dict(json.loads(json.dumps(result.as_dict()))) == result


def test_several_runs_give_the_median_and_the_range_of_each_metric():
    runs = [
        Result(
            name="probe",
            seed=3,
            versions={},
            metrics={"a": a, "b": 1.0} | extra,
            targets={"a": {"max": 2}, "c": {"min": 0}},
        )
        for a, extra in ((9.0, {"c": 1.0}), (1.0, {"c": 2.0}), (2.0, {}))
    ]
    result = Result.median_of(runs)
    assert dict(result.metrics) == {"a": 2.0, "b": 1.0}, "what one run lacks is left out"
    assert dict(result.ranges) == {"a": (1.0, 9.0), "b": (1.0, 1.0)}
    assert (result.runs, result.failed, dict(result.targets)) == (3, [], {"a": {"max": 2}})
    assert Result.from_dict(json.loads(json.dumps(result.as_dict()))) == result
    assert Result.median_of(runs[:1]) == runs[0]


@pytest.mark.parametrize("data", [{}, {"name": "x", "seed": 1, "versions": {}, "metrics": {"a": "b"}, "targets": {}}])
def test_other_json_is_no_result(data):
    with pytest.raises((KeyError, ValueError)):
        Result.from_dict(data)

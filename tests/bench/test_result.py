"""The form of results, which other programs read."""

import json
import math

import pytest

from cellwright.bench import BENCHES, Measurement, MeasurementConditions, Result, run_bench
from cellwright.core.errors import UnknownName
from cellwright.core.statistics import wilson_low


def make_result(metrics, targets):
    return Result(name="probe", seed=3, versions={"python": "3"}, metrics=metrics, targets=targets)


@pytest.mark.parametrize(
    ("value", "target", "met"),
    [
        (0.7, {"min": 0.7}, True),
        (0.69, {"min": 0.7}, False),
        (0.02, {"max": 0.02}, True),
        (0.03, {"max": 0.02}, False),
        (5.0, {"min": 4, "max": 6}, True),
        (math.nan, {"min": 0.0}, False),
        (math.nan, {"max": 0.0}, False),
    ],
)
def test_a_target_is_met_or_failed(value, target, met):
    result = make_result({"a.b": value}, {"a.b": target})
    assert result.meets_target("a.b") is met
    assert result.failed == ([] if met else ["a.b"])


def test_a_metric_without_target_never_fails():
    assert make_result({"a": math.inf}, {}).failed == []


def test_as_dict_has_the_published_keys_and_survives_json():
    result = make_result({"a": 1, "b": 2.5}, {"b": {"max": 2}})
    assert json.loads(json.dumps(result.as_dict())) == {
        "name": "probe",
        "seed": 3,
        "versions": {"python": "3"},
        "metrics": {"a": 1, "b": 2.5},
        "targets": {"b": {"max": 2}},
        "failed": ["b"],
    }


def test_run_bench_fills_in_what_the_numbers_depend_on(monkeypatch):
    said = []

    def probe(conditions):
        conditions.say("measuring")
        return Measurement({"a": conditions.seed}, {"a": {"min": 5}, "not measured": {"min": 1}})

    monkeypatch.setitem(BENCHES._entries, "probe", probe)
    result = run_bench("probe", MeasurementConditions(seed=4, say=said.append))
    assert (result.name, result.seed, result.failed, said) == ("probe", 4, ["a"], ["measuring"])
    assert {"cellwright", "python", "mujoco-core", "numpy"} <= set(result.versions)
    assert list(result.targets) == ["a"]


def test_an_unknown_bench_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="physics"):
        run_bench("fysics", MeasurementConditions())


@pytest.mark.parametrize(
    ("successes", "trials", "low"), [(30, 30, 0.8865), (0, 10, 0.0), (45, 50, 0.7864), (0, 0, 0.0)]
)
def test_wilson_low(successes, trials, low):
    assert wilson_low(successes, trials) == pytest.approx(low, abs=1e-4)

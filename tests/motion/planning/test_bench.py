"""The measurement of planning times, in small."""

import pytest

from cellwright.bench.motion_planning import measure

for package in ("numba", "ompl"):
    pytest.importorskip(package, reason="not installed: pip install 'cellwright[motion]'")


@pytest.mark.slow
def test_it_gives_all_its_figures():
    said = []
    metrics = measure(problems=8, hardest=2, seed=3, say=said.append)
    assert metrics["plan.n"] == 8
    assert metrics["plan.success"] == 1
    assert metrics["check.false_free"] == 0
    assert 0 < metrics["plan.median_ms"] <= metrics["plan.p95_ms"] < 1000
    assert metrics["plan.to_ompl"] == pytest.approx(metrics["plan.hard_ompl_ms"] / metrics["plan.hard_ms"])
    assert said


@pytest.mark.long
def test_it_meets_its_targets():
    metrics = measure()
    assert metrics["plan.median_ms"] <= 5
    assert metrics["plan.p95_ms"] <= 40
    assert metrics["plan.to_ompl"] >= 2
    assert metrics["plan.success"] == 1

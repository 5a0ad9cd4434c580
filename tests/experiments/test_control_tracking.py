"""Three controllers on one move."""

import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments import control_tracking, draw, run_experiment

pytestmark = pytest.mark.slow

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")


def test_the_model_helps_and_knowing_the_tool_helps_more(monkeypatch):
    monkeypatch.setattr(control_tracking, "ARMS", {"fanuc": "aprs"})
    outcome = run_experiment("control-tracking", MeasurementConditions())
    metrics = outcome.result.metrics
    assert outcome.result.failed == []
    worst = {name: metrics[f"fanuc.{name}.max_mrad"] for name in control_tracking.COMPARED_CONTROLLERS}
    assert worst["computed_torque"] < worst["computed_torque_paper"] < worst["pid"]
    assert metrics["fanuc.pid.end_mrad"] < 0.01
    for name in control_tracking.COMPARED_CONTROLLERS:
        assert 0 < metrics[f"fanuc.{name}.rms_mrad"] < worst[name]
        assert 0.01 < metrics[f"fanuc.{name}.peak_share"] < 1
    table = outcome.findings.tables["tracking_fanuc"]
    assert {len(row) for row in table.rows} == {len(table.columns)} == {14}


def test_its_curves_can_be_drawn(monkeypatch):
    pytest.importorskip("matplotlib", reason="not installed: pip install 'cellwright[plots]'")
    monkeypatch.setattr(control_tracking, "ARMS", {"ur5": "rovi"})
    outcome = run_experiment("control-tracking", MeasurementConditions())
    assert len(outcome.findings.plots) == 2
    assert draw(outcome.findings.plots[0], "png").startswith(b"\x89PNG")

import numpy as np
import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments.epuck_drift import DriftJob, _cell, drive_square, epuck_drift


@pytest.mark.slow
def test_a_square_ends_near_its_start_and_the_error_is_the_distance_in_truth():
    run = drive_square(DriftJob("proportional", 3))
    assert run.error_m == pytest.approx(np.hypot(*run.path_m[-1]), abs=2e-3)
    assert 0.38 < run.path_m[:, 0].max() < 0.45  # it did drive the square
    assert 0.3 < run.path_m[:, 1].max() < 0.45
    assert run.error_m == drive_square(DriftJob("proportional", 3)).error_m


@pytest.mark.slow
def test_control_on_odometry_is_off_by_what_odometry_does_not_know(monkeypatch):
    """Proportional control ends where odometry says that it began, so its error is odometry's own."""
    run = drive_square(DriftJob("proportional", 5))
    assert run.error_m == pytest.approx(run.odometry_error_m, abs=4e-3)
    exact = _cell().changed({"actual": {"wheel_radius_m": 0.0, "wheel_base_m": 0.0}, "floor_roughness": []})
    monkeypatch.setattr("cellwright.experiments.epuck_drift._cell", lambda: exact)
    assert drive_square(DriftJob("proportional", 5)).error_m < 0.01


@pytest.mark.slow
def test_figures_have_intervals_and_a_table_of_all_runs():
    found = epuck_drift(MeasurementConditions(seed=1, quick=True), workers=1)
    for name in ("open.error_mm", "proportional.error_mm"):
        assert found.metrics[f"{name}_low"] < found.metrics[name] < found.metrics[f"{name}_high"]
        assert found.metrics[f"{name}_n"] == 3
    assert len(found.tables["squares"].rows) == 6

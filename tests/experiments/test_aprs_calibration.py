"""The calibration experiment: the paper's table to the last digit, and the laboratory's files where they are."""

import numpy as np
import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments import aprs_calibration as experiment
from cellwright.experiments.aprs_calibration import DATA, PAPER, aprs_calibration, lab_files, run_metrics
from cellwright.experiments.calibration_runs import CalibrationRow, run_calibration, table_of
from cellwright.perception.calibration import LabPairs, write_lab_csv

PLACES = np.array([[0.3, 0.2, 0.0], [0.6, 0.2, 0.0], [0.3, -0.2, 0.0], [0.6, -0.2, 0.0]])


@pytest.fixture(autouse=True)
def no_realities(monkeypatch):
    """Whole runs take a minute each: here their rows are made up."""
    rows = [CalibrationRow(seed=1, uncalibrated="failed", calibration="done", calibrated="done", calibrated_mm=(1.0,))]
    monkeypatch.setattr(experiment, "run_jobs", lambda *_arguments: rows)


def measured():
    return aprs_calibration(MeasurementConditions(seed=1, quick=True))


def test_the_papers_table_is_exact_and_its_inverse_too(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA, str(tmp_path))
    found = measured()
    assert found.metrics["eqn1.node_error_mm"] == 0.0
    assert found.metrics["inverse.round_trip_mm"] < 1e-9
    assert 0.3 < found.metrics["inverse.one_step_mm"] < 1.0  # so iteration is needed
    assert found.metrics["map.max_mm"] == pytest.approx(PAPER["map.max_mm"], abs=0.01)
    assert found.metrics["robots.noise_mm_low"] < 0.49 < found.metrics["robots.noise_mm_high"] + 0.03
    assert not any(name.startswith("real_files") for name in found.metrics)
    assert any("was skipped" in note for note in found.notes)


def test_files_of_the_laboratory_are_fitted(monkeypatch, tmp_path):
    folder = tmp_path / "calibration"
    folder.mkdir()
    wrong = PLACES + [0.003, 0.0, 0.0]
    wrong[1, 0] += 0.05
    write_lab_csv(LabPairs("vision", tuple("abcd"), PLACES, wrong), folder / "one.csv")
    monkeypatch.setenv(DATA, str(tmp_path))
    assert [file.name for file in lab_files()] == ["one.csv"]
    found = measured()
    assert found.metrics["real_files.outliers"] == 1
    assert found.metrics["real_files.residual_mm"] < 1e-3
    assert [row[1] for row in found.tables["real_files"].rows if row[3]] == ["b"]


def test_the_real_files_leave_two_millimetres(monkeypatch):
    monkeypatch.delenv(DATA, raising=False)
    if not lab_files():
        pytest.skip("needs the laboratory's calibration files (shared/aprs/calibration)")
    found = measured()
    assert found.metrics["real_files.n"] == 12
    assert found.metrics["real_files.residual_mm"] == pytest.approx(1.68, abs=0.01)
    assert found.metrics["real_files.outliers"] == 0


def test_realities_are_counted_with_intervals():
    rows = [
        CalibrationRow(
            seed=seed,
            uncalibrated="done" if seed == 0 else "failed",
            calibration="done",
            calibrated="done",
            uncalibrated_mm=(10.0, 12.0),
            calibrated_mm=(1.0 + 0.1 * seed,),
            transform_mm=(0.5,),
            calibrate_sim_s=600.0,
            calibrate_cpu_s=30.0,
        )
        for seed in range(9)
    ] + [CalibrationRow(seed=9, uncalibrated="failed", calibration="mark_2 was not felt")]
    found = run_metrics(rows)
    assert found["uncalibrated.success"] == pytest.approx(0.1)
    assert found["calibrated.success"] == pytest.approx(0.9)
    assert found["calibrated.n"] == 10
    assert found["calibrated.success_low"] < 0.9 < found["calibrated.success_high"] < 1.0
    assert found["calibrated.position_mm_p95"] == pytest.approx(np.percentile(1.0 + 0.1 * np.arange(9), 95))
    assert found["calibrated.position_mm_p95_low"] <= 1.76 <= found["calibrated.position_mm_p95_high"]
    assert found["calibrate.done"] == 0.9
    assert found["robots.transform_mm"] == 0.5
    assert table_of(rows).rows[0][1] == "done"
    assert all(np.isnan(found) for name, found in run_metrics(rows[9:]).items() if "_mm" in name)


@pytest.mark.long
@pytest.mark.slow
def test_a_cell_as_it_was_built_works_once_it_is_calibrated():
    row = run_calibration(0)
    assert row.calibration == "done"
    assert row.calibrated == "done"
    assert np.median(row.calibrated_mm) < 2.0 < np.median(row.uncalibrated_mm)

"""The whole bench once, in its quick form, as a user calls it."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

METRICS = {
    "aprs.raw_steps_per_s",
    "aprs.lab_to_raw",
    "aprs.lab_to_raw_recording",
    "aprs.python_ms_per_sim_s",
    "aprs.real_time_factor",
    "aprs.awake_real_time_factor",
    "rovi.raw_steps_per_s",
    "rovi.lab_to_raw",
    "rovi.python_ms_per_sim_s",
    "rovi.real_time_factor",
    "rovi.idle_real_time_factor",
    "rovi.awake_real_time_factor",
    "epucks.rtf_1",
    "epucks.rtf_10",
    "epucks.rtf_50",
    "epucks.lab_to_raw_1",
    "epucks.lab_to_raw_10",
    "epucks.lab_to_raw_50",
    "epucks.yaw_error",
    "epucks.distance_error_mm",
    "creep_mm",
    "sight.cost",
    "coulomb.error",
    "coulomb.drop_error",
    "hold.creep_um_per_s",
    "grasp.success",
    "grasp.success_low",
    "grasp.n",
    "determinism.identical_runs",
    "env.mb",
}
pytestmark = pytest.mark.long

PEER_METRICS = {"aprs.to_pybullet", "aprs.to_pybullet_awake"}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    saved = tmp_path_factory.mktemp("bench") / "deep" / "physics.json"
    command = [sys.executable, "-m", "cellwright", "bench", "physics", "--quick", "--json", "--out", str(saved)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, timeout=280)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), json.loads(saved.read_text()), done.stderr  # nothing but JSON on stdout


def test_all_metrics_are_there_and_are_numbers(quick):
    result, saved, _ = quick
    assert result == saved
    assert set(result) == {"name", "seed", "versions", "metrics", "targets", "failed", "quick"}
    assert result["quick"] is True
    assert (result["name"], result["seed"]) == ("physics", 0)
    assert set(result["metrics"]) == METRICS | (PEER_METRICS if find_spec("pybullet") else set())
    assert all(isinstance(value, int | float) and value >= 0 for value in result["metrics"].values())


def test_targets_and_failures_agree_with_the_metrics(quick):
    metrics, targets, failed = (quick[0][key] for key in ("metrics", "targets", "failed"))
    assert set(targets) <= set(metrics)
    for name, target in targets.items():
        missed = any(metrics[name] < x if bound == "min" else metrics[name] > x for bound, x in target.items())
        assert missed == (name in failed)


def test_what_does_not_depend_on_the_machine_is_met(quick):
    metrics = quick[0]["metrics"]
    assert metrics["creep_mm"] <= 0.1
    assert metrics["coulomb.error"] <= 0.02
    assert metrics["epucks.yaw_error"] <= 0.002
    assert metrics["epucks.distance_error_mm"] <= 1.5
    assert metrics["grasp.success"] == 1.0
    assert metrics["determinism.identical_runs"] == 2
    assert metrics["env.mb"] <= 600


def test_progress_goes_to_stderr(quick):
    assert "raw physics" in quick[2]

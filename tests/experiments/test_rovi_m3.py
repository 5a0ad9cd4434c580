"""The experiment with sparse stereo: its counting, and one scene of each kind."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cv2")
pytest.importorskip("numba")

from cellwright.core.results import MeasurementConditions
from cellwright.experiments import EXPERIMENTS
from cellwright.experiments import rovi_m3 as rovi_m3_module
from cellwright.experiments.rovi_m3 import _errors, _jobs
from cellwright.experiments.rovi_m3_runs import (
    TABLE_7,
    PaperJob,
    RandomJob,
    SparseTrial,
    TableJob,
    combined_places,
    do_job,
)
from cellwright.experiments.sparse_scenes import draw_scene, pick_plate


def trial(status="found", off_m=0.001, yaw_off_deg=1.0):
    return SparseTrial("m3", 9.0, "red", 0.1, 1.0, 0.1, status, off_m, yaw_off_deg, 0.8, 1.0)


def test_a_trial_fails_by_distance_by_turn_and_without_a_pose_that_may_be_used():
    rows = [trial(), trial(off_m=0.0111), trial(yaw_off_deg=10.1), trial("poor"), trial("not seen", np.nan, np.nan)]
    figures = _errors(rows)
    assert (figures["l2_error"], figures["yaw_error"], figures["total_error"]) == pytest.approx((0.6, 0.6, 0.8))
    assert (figures["no_estimate"], figures["n"]) == (0.4, 5)
    assert 0.8 < figures["total_error_high"] < 1
    assert figures["median_mm"] == pytest.approx(1.0)


def test_the_full_experiment_has_the_papers_trials_and_every_seed_once():
    jobs = _jobs(MeasurementConditions(seed=0, quick=False))
    table = jobs["the table's poses"]
    assert sum(dict(job.trials)[9.0] for job in table) == 6 * 20
    assert {job.place for job in table} == set(TABLE_7)
    assert {job.colour for job in table} == {"white", "red", "wood", "grey"}
    assert len(combined_places()) == len(set(combined_places())) == 36
    seeds = [job.seed for some in jobs.values() for job in some]
    assert len(set(seeds)) == len(seeds)
    assert "rovi-m3" in EXPERIMENTS


def test_the_plate_is_that_of_the_drawings():
    task = pick_plate()
    assert np.allclose([*task.min_xy_m, *task.max_xy_m, task.plate_z_m], [0, 0.9018, 0.8, 1.2, 0.75])


def test_the_held_out_generator_draws_lights_of_its_own():
    tuned, other = (draw_scene(np.random.default_rng(3), held_out=held) for held in (False, True))
    assert (tuned.key_light, tuned.light_factor) == (None, 1.0)
    assert other.key_light is not None
    assert other.light_factor != 1.0
    assert tuned.joints_rad != tuned.reference_rad


def test_findings_have_the_issues_metrics_goals_and_the_papers_figures(monkeypatch):
    def made_up(what, work, jobs, workers, progress):
        groups = ("m3", "paper.m3", "m3.random", "m3.held_out")
        return [[replace(trial(), group=group, sigma=sigma) for group in groups] for sigma in (0.0, 9.0, 60.0)]

    monkeypatch.setattr(rovi_m3_module, "run_jobs", made_up)
    findings = rovi_m3_module.rovi_m3(MeasurementConditions(seed=0, quick=True))
    assert findings.metrics["m3.s9.l2_error"] == findings.metrics["m3.s9.yaw_error"] == 0
    assert findings.paper["m3.s9.total_error"] == findings.paper["paper.m3.s9.total_error"] == 0.38
    assert findings.targets["m3.s9.total_error"] == {"max": 0.0}
    assert findings.targets["m3.held_out.total_error"] == {"max": 0.02}
    assert "m3.s60.total_error" not in findings.targets
    assert findings.metrics["m3.random.n"] == 3
    assert len(findings.tables["trials"].rows) == 12
    assert [plot.name for plot in findings.plots] == ["errors", "distances"]


@pytest.mark.slow
@pytest.mark.parametrize("place", [TABLE_7[0], TABLE_7[4]])
def test_a_grey_cube_in_the_cell_is_measured_where_its_own_and_the_arms_shadow_fall(place):
    rows = do_job(TableJob("grey", place, 5, ((0.0, 1), (30.0, 2))))
    assert [row.status for row in rows] == ["found"] * 3
    assert max(row.off_m for row in rows) < 0.011
    assert max(row.yaw_off_deg for row in rows) < 10


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [False, True])
def test_a_random_scene_is_measured_after_the_arm_moved(held_out):
    """In other light and with much noise it may be off, but then it says so."""
    clean, noisy = do_job(RandomJob(11, (0.0, 30.0), held_out))
    assert (clean.status, clean.off_m < 0.002) == ("found", True)
    assert noisy.off_m < 0.011 or noisy.status == "poor"


@pytest.mark.slow
def test_the_papers_method_fails_at_the_first_pose_and_not_at_the_fourth():
    first, fourth = (do_job(PaperJob(TABLE_7[number], 3, ((0.0, 1),)))[0] for number in (0, 3))
    assert _errors([first])["total_error"] == 1
    assert _errors([fourth])["total_error"] == 0

"""Kits from pixels as an experiment: its figures are those of its rows."""

import numpy as np
import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments import EXPERIMENTS, kitting_camera
from cellwright.experiments.kitting_runs import KittingJob, KittingRow


def row_of(job: KittingJob) -> KittingRow:
    """One kit from pixels in each order of two layouts is claimed wrongly; everything else is done."""
    is_false = job.source == "camera" and job.order == "kit_s2l2"
    return KittingRow(
        order=job.order,
        seed=job.seed,
        recovery=job.recovery,
        robots=" ".join(job.robots or ()),
        fault="",
        status="false_done" if is_false else "done",
        sim_s=24.0 if job.source == "camera" else 18.0,
        placed_mm=(0.1, 0.2, 0.3),
        source=job.source,
        reason="a slot is empty" if is_false else "",
    )


def test_it_tells_success_and_false_claims_beside_the_detectors_of_state(monkeypatch):
    pytest.importorskip("cv2")
    assert "kitting-camera" in EXPERIMENTS
    monkeypatch.setattr(kitting_camera, "run_jobs", lambda _what, _work, jobs, *_: [row_of(job) for job in jobs])
    found = kitting_camera.kitting_camera(MeasurementConditions(quick=True))
    metrics = found.metrics
    assert (metrics["n"], metrics["success"], metrics["false_done"]) == (4, 0.5, 2)
    assert metrics["s_per_part"] == pytest.approx(8.0)
    assert (metrics["state.success"], metrics["state.s_per_part"]) == (1.0, pytest.approx(6.0))
    assert 0 < metrics["success_low"] < 0.5 < metrics["state.success"]
    assert found.targets == {"success": {"min": 0.95}, "false_done": {"max": 0.0}}
    assert any("a slot is empty" in note for note in found.notes)
    assert np.isfinite(metrics["placed_mm_p95"])


def test_layouts_are_the_same_for_both_sources_and_twenty_at_full_length(monkeypatch):
    pytest.importorskip("cv2")
    asked = []
    monkeypatch.setattr(
        kitting_camera, "run_jobs", lambda _what, _work, jobs, *_: asked.extend(jobs) or [row_of(job) for job in jobs]
    )
    kitting_camera.kitting_camera(MeasurementConditions())
    seeds = {source: {job.seed for job in asked if job.source == source} for source in ("camera", "state")}
    assert seeds["camera"] == seeds["state"]
    assert len(seeds["camera"]) == 20
    assert len(asked) == 80

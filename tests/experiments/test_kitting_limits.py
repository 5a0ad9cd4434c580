"""Where the cell breaks: what is disturbed, how ladders are climbed, and what is counted."""

from __future__ import annotations

import math

import pytest
import yaml

from cellwright.cells import load_cell
from cellwright.core.results import MeasurementConditions
from cellwright.experiments import kitting_limits as limits
from cellwright.experiments.limit_runs import (
    LimitJob,
    LimitRow,
    controllers,
    disturbed_cell,
    disturbed_faults,
    run_limit,
)
from cellwright.judge import parse_fault
from cellwright.sensors import SENSORS


def row(job: LimitJob, status: str) -> LimitRow:
    return LimitRow(**vars(job), status=status, sim_s=30.0, cpu_s=1.0, reason="")


@pytest.mark.parametrize("what", limits.LADDERS)
def test_every_step_of_every_ladder_is_a_cell_and_faults_that_exist(what, tmp_path):
    first, *_, last = limits.LADDERS[what]
    path = tmp_path / "limits.yaml"
    path.write_text(yaml.safe_dump(disturbed_cell(what, last)))
    for line in load_cell(path).sensors:
        SENSORS.get(line["type"]).Cfg.model_validate(line)
    for level in (first, last):
        faults = [parse_fault(fault) for fault in disturbed_faults(what, level)]
        is_another = disturbed_cell(what, level) != disturbed_cell("none", 0.0)
        assert is_another is not bool(faults), "either its detectors are disturbed, or something else is"


def test_a_ladder_is_climbed_until_fewer_than_half_are_done(monkeypatch):
    """Kits are done below 4 of anything; friction breaks at its first step."""
    tried = []

    def outcome(job: LimitJob) -> LimitRow:
        tried.append((job.controller, job.disturbance, job.level))
        holds = job.disturbance == "none" or (job.disturbance != "friction" and job.level < 4)
        return row(job, "done" if holds else "false_done" if job.disturbance == "miss" else "partial")

    monkeypatch.setattr(limits, "run_limit", outcome)
    monkeypatch.setattr(limits, "controllers", lambda: {"ours": None})
    found = limits.kitting_limits(MeasurementConditions(seed=0, quick=False, say=lambda _: None), workers=1)
    metrics = found.metrics
    assert (metrics["ours.noise_mm.held"], metrics["ours.noise_mm.breaks_at"]) == (2, 4)
    assert (metrics["ours.miss.held"], math.isnan(metrics["ours.miss.breaks_at"])) == (0.95, True)
    assert (math.isnan(metrics["ours.friction.held"]), metrics["ours.friction.breaks_at"]) == (True, 0.3)
    assert {level for _, what, level in tried if what == "noise_mm"} == {1, 2, 4}, "beyond the limit nothing is tried"
    assert metrics["ours.none.success"] == 1.0
    assert metrics["all.false_done"] == 0
    assert len(found.tables["summary"].rows) == len({*tried})
    assert [plot.name for plot in found.plots] == list(limits.LADDERS)
    x, y = found.plots[0].curves["ours"]
    assert (x.tolist(), y.tolist()) == ([0, 1, 2, 4], [1, 1, 1, 0]), "it begins undisturbed, and ends where it breaks"
    assert found.plots[-2].curves["ours"][0].tolist() == [1, 0.3]


def test_a_lie_is_counted_and_named(monkeypatch):
    monkeypatch.setattr(
        limits, "run_limit", lambda job: row(job, "done" if job.disturbance == "none" else "false_done")
    )
    monkeypatch.setattr(limits, "controllers", lambda: {"ours": None})
    found = limits.kitting_limits(MeasurementConditions(seed=0, quick=True, say=lambda _: None), workers=1)
    assert found.metrics["all.false_done"] == len(limits.LADDERS)
    assert any(note.startswith("False done: ours, noise_mm 4, seed") for note in found.notes)


def test_the_examples_are_tried_too():
    assert list(controllers()) == ["ours", "by_sockets", "from_drawings"]


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["ours", "by_sockets", "from_drawings"])
def test_an_undisturbed_kit_is_done_by_every_controller(controller):
    found = run_limit(LimitJob(controller, "none", 0.0, 3))
    assert found.done, found.reason


@pytest.mark.slow
def test_parts_that_are_far_too_heavy_are_not_brought():
    found = run_limit(LimitJob("ours", "mass", 1000, 3))
    assert not found.done
    assert found.status != "false_done"

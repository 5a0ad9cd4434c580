"""The kitting experiments: what a run is made into, and what is counted."""

from __future__ import annotations

import math

import pytest

from cellwright.experiments.kitting_clean import _calibrated_metrics, _jobs, _metrics
from cellwright.experiments.kitting_faults import FAULT_SPECS, RECOVERIES, _figures
from cellwright.experiments.kitting_faults import _metrics as fault_metrics
from cellwright.experiments.kitting_runs import KittingJob, KittingRow, random_cell, run_kitting, table_of
from cellwright.judge import parse_fault


def row(status: str = "done", **more) -> KittingRow:
    said = {"order": "kit_m2l1", "seed": 1, "recovery": "full", "robots": "fanuc", "fault": "drop"}
    return KittingRow(**{**said, "status": status, "sim_s": 30.0, **more})


def test_all_faults_and_recoveries_are_there():
    assert {parse_fault(spec).kind for spec in FAULT_SPECS.values()} == set(FAULT_SPECS)
    assert list(FAULT_SPECS) == ["drop", "push", "remove", "swap", "weak_gripper", "blackout", "offset"]
    assert RECOVERIES == ("none", "retry", "full")


def test_only_what_could_be_recovered_counts():
    rows = [
        row(applied=True, recoverable=True, detect_s=2.0),
        row("partial", applied=True, recoverable=True, detect_s=4.0),
        row("partial", applied=True, recoverable=False),
        row("false_done", applied=True, recoverable=True),
        row(),  # the fault's moment never came
    ]
    figures = _figures(rows)
    assert (figures["n"], figures["applied"], figures["false_done"]) == (3, 4, 1)
    assert figures["recovered"] == pytest.approx(1 / 3)
    assert figures["detect_s_median"] == 3.0
    assert math.isnan(_figures([])["recovered"])


def test_metrics_are_named_by_fault_and_those_of_less_recovery_by_both():
    full, none = row(applied=True, recoverable=True, detect_s=2.0), row("false_done", applied=True)
    metrics = fault_metrics([full, none], {("drop", "full"): _figures([full]), ("drop", "none"): _figures([none])})
    assert list(metrics)[:2] == ["all.false_done", "all.n"]
    assert (metrics["all.false_done"], metrics["all.n"]) == (1, 2)
    assert (metrics["drop.recovered"], metrics["drop.false_done"], metrics["drop.detect_s_median"]) == (1.0, 0, 2.0)
    assert metrics["none.drop.false_done"] == 1


def test_clean_metrics():
    metrics = _metrics([row(placed_mm=(0.1, 0.3)), row("partial", placed_mm=(0.2,))])
    assert (metrics["success"], metrics["n"], metrics["false_done"]) == (0.5, 2, 0)
    assert 0 < metrics["success_low"] < 0.5
    assert metrics["placed_mm_p95"] == pytest.approx(0.29)


def test_calibrated_cells_are_measured_in_the_same_layouts_and_on_their_own():
    jobs = _jobs([3, 4, 5, 6, 7], "calibrated")
    assert {job.size for job in jobs} == {"calibrated"}
    assert [(job.seed, job.robots) for job in jobs if job.robots == ("motoman",)] == [
        (3, ("motoman",)),
        (7, ("motoman",)),
    ]
    metrics = _calibrated_metrics([row(placed_mm=(0.1,), size="calibrated"), row("false_done", size="calibrated")])
    assert (metrics["calibrated.success"], metrics["calibrated.n"], metrics["calibrated.false_done"]) == (0.5, 2, 1)
    assert 0 < metrics["calibrated.success_low"] < 0.5
    errors = random_cell("calibrated").actual
    assert errors.size == "calibrated"
    assert errors.table.z_m != 0.0


def test_seconds_per_part_are_those_of_kits_that_were_done_by_one_robot():
    rows = [
        row(placed_mm=(0.1, 0.3, 0.1), sim_s=24.0),
        row(placed_mm=(0.1,) * 4, sim_s=32.0),
        row("partial", placed_mm=(0.2,), sim_s=90.0),
        row(placed_mm=(0.1, 0.3), sim_s=22.0, robots="motoman"),
    ]
    metrics = _metrics(rows)
    assert (metrics["s_per_part"], metrics["motoman.s_per_part"]) == (8.0, 11.0)
    assert math.isnan(_metrics(rows[:2])["motoman.s_per_part"])


def test_table_has_the_worst_placement():
    table = table_of([row(placed_mm=(0.1, 0.3)), row()])
    assert table.rows[0][list(table.columns).index("placed_mm")] == 0.3
    assert math.isnan(table.rows[1][list(table.columns).index("placed_mm")])


def test_layouts_differ_by_seed_and_hold_enough():
    cell = random_cell()
    assert all(population.shuffle for population in cell.populations)
    assert sum(population.count for population in cell.populations) == 15


@pytest.mark.long
def test_a_run_becomes_a_row():
    found = run_kitting(KittingJob("kit_m2l1", 104, "full", "drop", FAULT_SPECS["drop"]))
    assert (found.status, found.applied, found.recoverable) == ("done", True, True)
    assert len(found.placed_mm) == 3
    assert found.detect_s > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "seed"),
    [
        ("remove", 425969984),  # the next part is carried past the empty place of the one that is gone
        ("remove", 2106044163),  # a robot waits out of sight with a part in its hand
        ("push", 1368694831),  # the part is in the air when the hand comes
        ("swap", 1958143022),  # the only large gear is in a tray for medium ones
    ],
)
def test_what_went_wrong_once_is_recovered_from(fault, seed):
    found = run_kitting(KittingJob("kit_m2l1", seed, "full", fault, FAULT_SPECS[fault]))
    assert (found.status, found.applied, found.recoverable) == ("done", True, True), found.reason
    assert found.plans <= 3

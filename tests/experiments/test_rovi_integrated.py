"""The ROVI project's integrated experiment: its scenes, and what becomes of its runs."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import drawn_layout
from cellwright.drawings.prior import Drawings
from cellwright.experiments.rovi_integrated import COUNTS, findings, jobs_of
from cellwright.experiments.rovi_integrated_runs import (
    GAP_M,
    LOCATIONS_M,
    OBJECT,
    IntegratedJob,
    IntegratedRun,
    integrated_cell,
    run_integrated,
)
from cellwright.orders.pick_order import PICK_ORDERS
from cellwright.trials.pick_run import is_drawn_there

RADII_M = {"bottle": 0.0400, "coffee_can": 0.0732, "mug": 0.0705, "milk_carton": 0.0355 * np.sqrt(2)}


def job(seed: int = 1, **more) -> IntegratedJob:
    return IntegratedJob(
        **{"group": "random", "order": "pick_bottle", "seed": seed, "sigma": 15.0, "distractors": 2} | more
    )


def run(group: str, *, planned=True, executed=True, **more) -> IntegratedRun:
    usual = {
        "order": "pick_bottle", "seed": 1, "sigma": 6.0, "x_m": 0.4, "y_m": 1.05, "false_done": False, "error_m": 0.001,
        "sd_m": 0.001, "looks": 1, "grasp": "from the side, inclined by 0 deg, 90 deg about its axis",
        "place_error_m": 0.001, "hits": 0, "pushed_m": 0.0, "time_s": 30.0, "reason": "",
    }  # fmt: skip
    return IntegratedRun(group=group, planned=planned, executed=executed, **usual | more)


@pytest.mark.parametrize("seed", range(8))
def test_objects_stand_on_the_pick_area_and_leave_room_for_a_finger(seed):
    cell, _ = integrated_cell(job(seed, distractors=3))
    things = {name: part for name, part in cell.parts.items() if name == OBJECT or name.startswith("distractor")}
    assert len(things) == 4
    places = {name: np.array(part.pose.xyz_m[:2]) for name, part in things.items()}
    for name, part in things.items():
        radius_m = RADII_M[part.model]
        x, y = places[name]
        assert radius_m <= x <= 0.8 - radius_m
        assert 0.9018 + radius_m <= y <= 1.2 - radius_m
        if name != OBJECT:
            apart_m = float(np.hypot(*(places[name] - places[OBJECT])))
            assert apart_m >= RADII_M["bottle"] + radius_m + GAP_M - 1e-3


def test_the_drawings_have_the_obstacles_and_not_where_the_object_is():
    cell, drawn = integrated_cell(job())
    assert {"can", "mug", "crate", "distractor_1", "distractor_2"} == {part.name for part in drawn_layout(drawn).parts}
    assert OBJECT in cell.parts
    assert is_drawn_there(Drawings.of(drawn), PICK_ORDERS.get("pick_bottle")), "it is somewhere"


def test_the_same_seed_gives_the_same_scene_and_another_one_another():
    cells = [integrated_cell(job(seed))[0].parts for seed in (1, 1, 2)]
    assert cells[0] == cells[1] != cells[2]


def test_noise_is_told_in_grey_levels_and_a_location_is_the_projects():
    cell, _ = integrated_cell(job(sigma=6.0, location="p3", distractors=0))
    noise = next(line["noise"] for line in cell.sensors if line["type"] == "stereo_camera")
    assert noise == [{"model": "gaussian", "sd": pytest.approx(6 / 255)}]
    assert cell.parts[OBJECT].pose.xyz_m == pytest.approx((*LOCATIONS_M["p3"], 0.75))


def test_the_experiment_has_the_projects_twenty_at_each_location_and_a_hundred_at_random():
    jobs = jobs_of(0, quick=False)
    counts = {group: sum(one.group == group for one in jobs) for group in COUNTS}
    assert counts == {"p1": 20, "p2": 20, "p3": 20, "random": 100, "held_out": 30, "can": 6, "milk": 6, "mug": 6}
    assert {one.sigma for one in jobs if one.location} == {6.0}
    assert {one.sigma for one in jobs if not one.location} == {15.0}
    quick = jobs_of(0, quick=True)
    assert set(quick) <= set(jobs), "the quick tier is a part of it"
    assert not {one.seed for one in jobs if one.group == "random"} & {
        one.seed for one in jobs if one.group == "held_out"
    }


def test_the_papers_text_and_its_log_stand_beside_ours():
    rows = [
        run("p2"),
        run("p2", executed=False, reason="it fell"),
        run("random"),
        run("p2", planned=False, executed=False),
    ]
    found = findings(rows)
    assert found.metrics["p2.planned"] == pytest.approx(2 / 3)
    assert found.metrics["p2.executed"] == pytest.approx(1 / 3)
    assert (found.paper["p2.planned"], found.paper["p2.planned_vs_log"]) == (0.75, 0.25)
    assert found.metrics["random.executed"] == 1.0
    assert found.targets["p2.executed"] == {"min": 1.0}
    assert found.targets["random.executed"] == {"min": 0.97}
    assert any("it fell" in note for note in found.notes), "what failed is told"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pick_can", "pick_milk", "pick_mug"])
def test_other_objects_are_found_taken_and_set_down(name, monkeypatch):
    for module, extra in (("numba", "motion"), ("toppra", "motion"), ("cv2", "vision")):
        pytest.importorskip(module, reason=f"not installed: pip install 'cellwright[{extra}]'")
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "soft")
    row = run_integrated(IntegratedJob("others", name, 3, 6.0))
    assert row.executed, row.reason
    assert row.error_m < 0.005

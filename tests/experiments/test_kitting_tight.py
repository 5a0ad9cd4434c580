"""Inserts by force as an experiment: what it counts, and whole kits of plugs."""

import math

import pytest

from cellwright.experiments import EXPERIMENTS
from cellwright.experiments.kitting_tight import CELLS, GOALS, Insert, TightJob, _metrics, insert_all


def made(clearance, guided, seated, time_s=6.0):
    said = {"seed": 1, "robot": "fanuc", "part": "medium_plug_gear_1", "reason": ""}
    return Insert(clearance=clearance, guided=guided, seated=seated, time_s=time_s, **said)


def test_shares_are_of_the_inserts_that_were_made_and_times_of_those_that_succeeded():
    rows = [made("c02", True, True, 6.0), made("c02", True, True, 8.0), made("c02", True, False, 40.0)]
    rows += [made("c02", False, False)]
    metrics = _metrics(rows)
    assert metrics["c02.success"] == pytest.approx(2 / 3)
    assert metrics["c02.n"] == 3
    assert metrics["c02.time_s"] == 7.0
    assert metrics["c02.success_low"] < 2 / 3
    assert metrics["c02.plain.success"] == 0.0
    assert math.isnan(metrics["c02.plain.time_s"])
    assert math.isnan(metrics["c10.success"])


def test_the_experiment_is_registered_with_a_goal_for_every_clearance():
    assert "kitting-tight" in EXPERIMENTS
    assert GOALS.keys() == CELLS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("clearance", "robot"), [("c05", "fanuc"), ("c02", "motoman")])
def test_a_whole_kit_of_plugs_is_inserted_by_force_at_the_first_try(clearance, robot):
    inserts = insert_all(TightJob(clearance, True, 3, robot))
    assert [insert.seated for insert in inserts] == [True] * 3
    assert all("inserted (" in insert.reason for insert in inserts)


@pytest.mark.slow
def test_without_guidance_a_step_says_so():
    inserts = insert_all(TightJob("c10", False, 3, "fanuc"))
    assert "not inserted by the forces" in inserts[0].reason

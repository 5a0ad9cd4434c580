"""Counting postures: against the geometry, the published figures, and itself in several processes."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.core.results import MeasurementConditions
from cellwright.experiments import run_experiment
from cellwright.experiments.reach_scene import ReachScene
from cellwright.experiments.reachability import BaseGrid, default_grid, map_reach, reach_task
from cellwright.experiments.rovi_reachability import HEIGHTS_M, OBJECT_M, TABLE
from cellwright.motion.grasps import GraspKind

pytestmark = pytest.mark.slow

TOP, SIDE = GraspKind.TOP, GraspKind.SIDE


@pytest.fixture(scope="module")
def task():
    made = reach_task(load_cell("rovi"), fixtures=["table"], turns=181, weighted=True)
    return replace(made, pose_part_in_world=Pose.from_xyz_rpy(OBJECT_M["code"]), heights_m=HEIGHTS_M)


def test_the_papers_grid():
    places = list(TABLE)
    assert len(places) == 108
    assert places[0] == (0.0, 0.0)
    assert places[-1] == (0.8, 1.1)
    assert default_grid(load_cell("rovi").robots["ur5"].base.pose) == TABLE


def test_the_papers_plateau_from_the_side(task):
    """At most two postures for each of 181 angles: 362, as in the project's log."""
    top, side = ReachScene(task).count(0.4, 0.5)
    assert (side.kind, side.free, side.solutions) == (SIDE, 362, 8 * 181)
    assert top.kind is TOP
    assert top.free % 181 == 0
    assert side.manipulability > 0
    assert 0 < side.nearness < side.free


def test_mirrored_places_give_the_same_from_above(task):
    scene = ReachScene(replace(task, turns=19))
    assert scene.count(0.3, 0.4)[0].free == scene.count(0.7, 0.4)[0].free > 0


@pytest.mark.parametrize("place", [(0.4, 0.95), (0.5, 1.0), (0.7, 0.1)])
def test_a_base_inside_a_raised_area_or_the_bottle_counts_nothing(task, place):
    assert [row.free for row in ReachScene(replace(task, turns=4)).count(*place)] == [0, 0]


def test_an_arm_through_the_table_is_not_free(task):
    scene = ReachScene(task)
    scene.count(0.4, 0.2)
    assert scene.is_free(np.radians([90, -90, 90, 90, 90, 0]))
    assert not scene.is_free(np.radians([90, 40, 0, 0, 0, 0]))


def test_processes_count_what_one_counts(task):
    small = replace(task, turns=5)
    grid = BaseGrid((0.3, 0.5), (0.4, 0.6))
    told = []
    alone = map_reach(small, grid, 1)
    together = map_reach(small, grid, 2, lambda done, total: told.append((done, total)))
    assert alone.rows == together.rows
    assert told[-1] == (9, 9)
    assert alone.values(SIDE).shape == (3, 3)
    assert alone.values(SIDE)[0, 2] == next(r.free for r in alone.of(SIDE) if (r.x_m, r.y_m) == (0.5, 0.4))
    assert alone.total(SIDE) == alone.values(SIDE).sum() >= alone.best(SIDE).free > 0
    assert len(alone.table().rows) == 18


def test_any_cell_and_robot():
    made = reach_task(load_cell("aprs"), "motoman", turns=2)
    rows = ReachScene(made).count(*made.pose_base_in_world.position[:2])
    assert (made.robot, {row.kind for row in rows}) == ("sia20f", {TOP, SIDE})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"robot": "ur"}, "did you mean 'ur5'"),
        ({"part": "botle"}, "did you mean 'bottle'"),
        ({"fixtures": ["tabel"]}, "did you mean 'table'"),
    ],
)
def test_unknown_names(arguments, words):
    with pytest.raises(UnknownName, match=words):
        reach_task(load_cell("rovi"), **arguments)


def test_bad_numbers():
    with pytest.raises(OutOfRange, match="turns"):
        reach_task(load_cell("rovi"), turns=0)
    with pytest.raises(OutOfRange, match="grid step"):
        BaseGrid((0, 1), (0, 1), float("nan"))
    with pytest.raises(BadInput, match="places"):
        BaseGrid((0, 100), (0, 100), 0.01)


@pytest.mark.long
def test_the_papers_totals():
    """Two to three minutes; the published totals within a tenth, their best places exactly."""
    result = run_experiment("rovi-reachability", MeasurementConditions()).result
    assert result.failed == []
    assert (result.metrics["top.best_x"], result.metrics["top.best_y"]) == (0.3, 0.4)
    assert result.metrics["side.best"] == 362

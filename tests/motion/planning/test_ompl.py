"""OMPL's planners behind the same interface."""

import numpy as np
import pytest

from cellwright.motion.planning import ExactChecker, MotionPlanRequest, MotionPlanStatus
from cellwright.motion.planning.checker import between

for package in ("numba", "ompl"):
    pytest.importorskip(package, reason="not installed: pip install 'cellwright[motion]'")

QUICK = ["ompl:RRT", "ompl:RRTConnect", "ompl:KPIECE1", "ompl:BKPIECE1", "ompl:LBKPIECE1"]
OPTIMAL = ["ompl:RRTstar", "ompl:InformedRRTstar", "ompl:AORRTC", "ompl:BITstar"]


@pytest.mark.parametrize("planner", [*QUICK, *OPTIMAL])
def test_it_finds_a_verified_path_twice_the_same(post, post_ends, planner):
    start, goal = post_ends(0.2)
    assert not post.exact.is_motion_free(start, goal, 0.02)
    budget = 1000 if planner in OPTIMAL else 20_000  # what is optimal goes on until the budget is spent
    request = MotionPlanRequest(start, [goal], planner=planner, seed=3, iterations=budget)
    first, second = post.plan(request), post.plan(request)
    assert first.is_success, first.reason
    assert np.array_equal(first.path_rad, second.path_rad)
    assert first.iterations == second.iterations <= budget
    fresh = ExactChecker(post.scene)
    assert all(fresh.is_free(joints) for joints in between(first.path_rad, 0.01))
    assert first.path_rad[-1] == pytest.approx(goal)


def test_seeds_differ(wall, sides):
    paths = [
        wall.plan(MotionPlanRequest(sides[0], [sides[1]], planner="ompl:RRTConnect", seed=seed)) for seed in (0, 1)
    ]
    assert not np.array_equal(paths[0].path_rad, paths[1].path_rad)


def test_it_works_with_the_exact_checker(wall, sides):
    request = MotionPlanRequest(sides[0], [sides[1]], planner="ompl:RRTConnect", checker="exact")
    result = wall.plan(request)
    assert result.is_success, result.reason
    assert result.checks > 100


def test_several_goals_are_a_goal_set(wall, sides):
    near = sides[0] + [0.2, 0, 0, 0, 0, 0]
    result = wall.plan(MotionPlanRequest(sides[0], [sides[1], near], planner="ompl:RRTConnect"))
    assert result.is_success
    ends = [np.allclose(result.path_rad[-1], goal) for goal in (sides[1], near)]
    assert sum(ends) == 1


def test_the_budget_is_counted_in_iterations(wall, sides):
    result = wall.plan(MotionPlanRequest(sides[0], [sides[1]], planner="ompl:RRT", iterations=3))
    assert result.status is MotionPlanStatus.BUDGET_SPENT
    assert result.iterations == 3

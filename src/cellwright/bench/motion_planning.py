"""Times of collision-free path planning: a UR5 among six boxes, with OMPL's RRT-Connect beside it in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ROBOTS
from cellwright.core.pose import Pose
from cellwright.motion.planning import (
    MOTION_PLANNERS,
    Box,
    JointBounds,
    MotionPlanner,
    MotionPlanRequest,
    Obstacle,
    Scene,
    SceneRobot,
    SearchProblem,
)

__all__ = ["boxes_scene", "measure"]

Array = npt.NDArray[np.float64]

BOXES = 6
STEP_RAD = 0.05
REPEATS = 3  # of which the fastest counts: what others take from the machine is not the planner's
RANKING_SEEDS = (1001, 1002, 1003)
TIMING_SEEDS = (1, 2, 3, 4, 5)
STATES = 4000
OWN, PEER = "rrt_connect", "ompl:RRTConnect"


def boxes_scene(seed: int) -> Scene:
    """Returns a UR5 among boxes of 0.1 to 0.4 m within its reach, none of them over its base."""
    random = np.random.default_rng([seed, 0])
    boxes = []
    for number in range(BOXES):
        around, radius_m, height_m = random.uniform(0, 2 * np.pi), random.uniform(0.45, 0.75), random.uniform(0, 0.8)
        place = (radius_m * np.cos(around), radius_m * np.sin(around), height_m)
        x, y, z = (float(length) for length in random.uniform(0.1, 0.4, 3))
        pose = Pose.from_xyz_rpy(place, (0.0, 0.0, random.uniform(0, np.pi)))
        boxes.append(Obstacle(f"box_{number + 1}", Box((x, y, z)), pose))
    return Scene(SceneRobot(ROBOTS.get("ur5")), tuple(boxes))


def measure(
    problems: int = 400, hardest: int = 20, seed: int = 0, say: Callable[[str], None] = lambda _text: None
) -> dict[str, float]:
    """Measures planning times in milliseconds of processor time, and the speedup over OMPL.

    Problems are pairs of free configurations within half a turn of each joint between which the straight line is
    blocked. A plan is everything: search, shortening, verification. The hardest are those that take both planners
    the most checks, with other seeds than those that are timed, so that bad luck is not counted as hardness;
    there the bare searches are compared, same checker, same step.

    Args:
        problems: Number of problems.
        hardest: Number of those that are compared with OMPL.
        seed: Of scene and problems.
        say: Told what is going on.
    """
    planner = MotionPlanner(boxes_scene(seed))
    requests = _requests(planner, problems, seed)
    say(f"{problems} problems among {BOXES} boxes")
    planner.plan(requests[0])
    times, successes = [], 0
    for request in requests:
        result, seconds = _fastest(lambda request=request: planner.plan(request))  # type: ignore[misc]
        times.append(seconds)
        successes += result.is_success
    say(f"the {hardest} hardest beside OMPL")
    searches = [_problem(planner, request) for request in requests]
    (own_s, own_checks), (peer_s, peer_checks) = _beside_ompl(planner, searches, hardest)
    return {
        "plan.n": problems,
        "plan.success": successes / problems,
        "plan.median_ms": 1e3 * float(np.median(times)),
        "plan.p95_ms": 1e3 * float(np.percentile(times, 95)),
        "plan.hard_ms": 1e3 * own_s,
        "plan.hard_ompl_ms": 1e3 * peer_s,
        "plan.to_ompl": peer_s / own_s,
        "plan.hard_checks": own_checks,
        "plan.hard_ompl_checks": peer_checks,
        "plan.checks_to_ompl": peer_checks / own_checks,
        **_checker(planner, seed),
    }


def _requests(planner: MotionPlanner, count: int, seed: int) -> list[MotionPlanRequest]:
    random = np.random.default_rng([seed, 1])
    upper = np.minimum(planner.kinematics.upper_rad, np.pi)
    limits = JointBounds(tuple(-upper), tuple(upper))
    found: list[MotionPlanRequest] = []
    while len(found) < count:
        start, goal = random.uniform(-upper, upper, (2, len(upper)))
        if (
            planner.compiled.is_free(start)
            and planner.compiled.is_free(goal)
            and not planner.exact.is_motion_free(start, goal, STEP_RAD)
        ):
            found.append(MotionPlanRequest(start, [goal], limits=limits, seed=len(found)))
    return found


def _problem(planner: MotionPlanner, request: MotionPlanRequest) -> SearchProblem:
    assert request.limits is not None
    lower, upper = np.array(request.limits.lower_rad), np.array(request.limits.upper_rad)
    start, goals = np.asarray(request.start_rad, float), np.array(request.goals_rad, float)
    return SearchProblem.unlimited(
        planner.compiled, start, goals, lower, upper, STEP_RAD, request.iterations, request.seed
    )


def _beside_ompl(planner: MotionPlanner, problems: list[SearchProblem], hardest: int) -> list[tuple[float, float]]:
    """Returns median search times and numbers of checks on the hardest problems, ours and OMPL's, taken in turns.

    The times of OMPL contain the calls between its C++ and Python for every check and sample, which are no part of
    its algorithm; the number of checks does not depend on the language.
    """
    searches = [MOTION_PLANNERS.get(name) for name in (OWN, PEER)]
    work = np.zeros((len(problems), 2))
    for row, problem in enumerate(problems):
        for column, search in enumerate(searches):
            for seed in RANKING_SEEDS:
                before = planner.compiled.checks
                search(replace(problem, seed=seed))
                work[row, column] += planner.compiled.checks - before
    order = np.argsort((work / work.mean(axis=0)).sum(axis=1))
    times, checks = np.zeros((2, hardest, len(TIMING_SEEDS))), np.zeros((2, hardest, len(TIMING_SEEDS)))
    for row, number in enumerate(order[-hardest:]):
        for column, seed in enumerate(TIMING_SEEDS):
            problem = replace(problems[number], seed=seed)
            for which, search in enumerate(searches):
                before = planner.compiled.checks
                times[which, row, column] = _fastest(lambda s=search, p=problem: s(p))[1]  # type: ignore[misc]
                checks[which, row, column] = (planner.compiled.checks - before) / REPEATS
    return [(float(np.median(times[which])), float(np.median(checks[which]))) for which in (0, 1)]


def _checker(planner: MotionPlanner, seed: int) -> dict[str, float]:
    """Compares the compiled checker with the exact one on random configurations."""
    random = np.random.default_rng([seed, 2])
    upper = np.minimum(planner.kinematics.upper_rad, np.pi)
    states = random.uniform(-upper, upper, (STATES, len(upper)))
    exact = np.array([planner.exact.is_free(joints) for joints in states])
    fast = np.array([planner.compiled.is_free(joints) for joints in states])
    return {
        "check.n": STATES,
        "check.false_free": int((fast & ~exact).sum()),
        "check.conservative": float((exact & ~fast).mean()),
    }


def _fastest(work: Callable[[], Any]) -> tuple[Any, float]:
    """Returns the result, and the least processor time of a few repetitions."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return result, best

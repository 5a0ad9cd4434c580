"""Planning for the ROVI bottle, timed: to where it is taken, and with it upright to where it is set down."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution import GraspPath
from cellwright.experiments.rovi_rrt_scene import PICKS, PLACE, home_rad, pick_place_planner
from cellwright.motion.grasps import GraspKind, tcp_in_part
from cellwright.motion.planning import (
    MotionPlanner,
    MotionPlanRequest,
    MotionPlanResult,
    goals_from_poses,
    grasps_about,
)
from cellwright.motion.planning.checker import between

__all__ = [
    "COMPARED_PLANNERS",
    "FIXED_DEG",
    "HEADINGS_DEG",
    "TASKS",
    "GraspHeading",
    "PlanJob",
    "PlanRow",
    "make_plan",
    "try_heading",
]

Planned = tuple[MotionPlanner, MotionPlanRequest]

COMPARED_PLANNERS = {
    "rrt": "ompl:RRT",
    "rrtconnect": "rrt_connect",
    "rrtstar": "ompl:RRTstar",
    "ompl_rrtconnect": "ompl:RRTConnect",
}
ITERATIONS = 10_000  # the project's
STAR_ITERATIONS = 3_000  # RRT* spends them all, to make its path shorter
HEADINGS_DEG = tuple(range(0, 360, 10))
FIXED_DEG = 90  # the project's: the tool along +y, always
HEIGHT_M = 0.1  # of the tool's centre point above the bottle's foot
PATH_STEP_RAD = 0.05


@dataclass(frozen=True)
class PlanJob:
    """One plan to make: a key of `TASKS`, the location, the seed."""

    task: str
    pick: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """The outcome of one plan.

    Attributes:
        success: Whether there is a path that the exact checker confirmed.
        ms: Processor time: search, shortening and verification, not making the scene.
        path_m: Length of the way of the tool's centre point.
        tilt_deg: The most that the tool's own upright leans on the way.
        reason: Why there is none.
    """

    task: str
    pick: str
    seed: int
    success: bool
    ms: float
    path_m: float
    tilt_deg: float
    reason: str


@dataclass(frozen=True)
class GraspHeading:
    """The feasibility of one heading of the grasp.

    Attributes:
        postures: Of the arm that take it.
        free: Those that touch nothing.
        touches: Collisions of the others, most frequent first.
    """

    pick: str
    heading_deg: float
    postures: int
    free: int
    touches: str


def make_plan(job: PlanJob) -> PlanRow:
    """Plans once, after a plan of the same kind that is not timed; scene and goals are made before the clock starts."""
    planner, request = TASKS[job.task](job.pick, job.seed)
    if (job.task, job.pick) not in _warm:
        planner.plan(request)
        _warm.add((job.task, job.pick))
    start_s = time.process_time()
    result = planner.plan(request)
    ms = 1e3 * (time.process_time() - start_s)
    path_m, tilt_deg = _path_m(result), _tilt_deg(result)
    return PlanRow(
        task=job.task,
        pick=job.pick,
        seed=job.seed,
        success=result.is_success,
        ms=ms,
        path_m=path_m,
        tilt_deg=tilt_deg,
        reason=result.reason,
    )


def try_heading(job: tuple[str, float]) -> GraspHeading:
    """Returns whether the bottle can be taken from one side, and the obstacles."""
    pick, heading_deg = job
    planner, pose = _planner_at_pick(pick), PICKS[pick]
    found = goals_from_poses(planner.kinematics, planner.ring, [pose @ _grasp(heading_deg)], planner.exact, home_rad())
    touched = Counter(f"{touch.first} touches {touch.second}" for touch in found.touches)
    words = ", ".join(f"{what} ({count})" for what, count in touched.most_common())
    return GraspHeading(pick, heading_deg, len(found.reachable_rad), len(found.free_rad), words)


def _grasp(heading_deg: float) -> Pose:
    return tcp_in_part(GraspKind.SIDE, float(np.radians(heading_deg)), (0.0, 0.0, HEIGHT_M))


def _approach(name: str) -> Callable[[str, int], Planned]:
    """Returns requests to a point before the bottle, on any side with a straight path to it and up with it."""

    def planned(pick: str, seed: int) -> Planned:
        request = MotionPlanRequest(
            home_rad(),
            [way.before_rad for way in _picks(pick)],
            planner=COMPARED_PLANNERS[name],
            seed=seed,
            iterations=STAR_ITERATIONS if name == "rrtstar" else ITERATIONS,
            margin_m=pick_place_planner().settings.margin_m,
        )
        return _planner_at_pick(pick), request

    return planned


def _direct(name: str, headings: int) -> Callable[[str, int], Planned]:
    """Returns requests from home into the grasp in one go, as the project has it; the plan finds the postures."""

    def planned(pick: str, seed: int) -> Planned:
        poses = grasps_about(PICKS[pick], _grasp(FIXED_DEG), headings)
        request = MotionPlanRequest(
            home_rad(), goal_poses=poses, planner=COMPARED_PLANNERS[name], seed=seed, iterations=ITERATIONS
        )
        return _planner_at_pick(pick), request

    return planned


def _carry(upright: bool) -> Callable[[str, int], Planned]:
    """Returns requests from one of the straight paths up with the bottle, chosen by the seed, to above its place."""

    def planned(pick: str, seed: int) -> Planned:
        number = seed % len(_picks(pick))
        planner = pick_place_planner()
        request = planner.carry_request(_picks(pick)[number], _places(pick, number), seed)
        return planner.carrying, request if upright else replace(request, tilt=None)

    return planned


TASKS: dict[str, Callable[[str, int], Planned]] = {
    **{name: _approach(name) for name in COMPARED_PLANNERS},
    **{f"direct.{name}": _direct(name, len(HEADINGS_DEG)) for name in ("rrt", "rrtconnect")},
    "fixed": _direct("rrtconnect", 1),
    "constrained": _carry(True),
    "unconstrained": _carry(False),
}
_warm: set[tuple[str, str]] = set()


@cache
def _planner_at_pick(pick: str) -> MotionPlanner:
    return pick_place_planner().open_planner(PICKS[pick])


@cache
def _picks(pick: str) -> list[GraspPath]:
    return pick_place_planner().picks(_planner_at_pick(pick), PICKS[pick], home_rad())


@cache
def _planner_at_place() -> MotionPlanner:
    return pick_place_planner().open_planner(PLACE)


@cache
def _places(pick: str, number: int) -> list[GraspPath]:
    return pick_place_planner().places(_planner_at_place(), PLACE, _picks(pick)[number].after_rad)


def _tools(result: MotionPlanResult) -> list[Pose]:
    planner = pick_place_planner().carrying
    states = between(result.path_rad, PATH_STEP_RAD) if result.is_success else ()
    return [planner.ring.tool_in_world(planner.kinematics.forward(joints)) for joints in states]


def _path_m(result: MotionPlanResult) -> float:
    points = np.array([pose.position for pose in _tools(result)]).reshape(-1, 3)
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) if len(points) else float("nan")


def _tilt_deg(result: MotionPlanResult) -> float:
    """Returns the largest tilt of the held object: -y of the tool points up, when it is taken from the side."""
    ups = [-pose.rotation_matrix[2, 1] for pose in _tools(result)]
    return float(np.degrees(np.arccos(np.clip(min(ups), -1.0, 1.0)))) if ups else float("nan")

"""The motion planner: searches, shortens, and returns no path that the exact checker has not confirmed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, MissingExtra
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.planning import ompl_search as _registers_its_planners  # noqa: F401
from cellwright.motion.planning.checker import CollisionChecker, between
from cellwright.motion.planning.collision_bodies import CollisionBodies
from cellwright.motion.planning.compiled import BULGE_M, CompiledChecker
from cellwright.motion.planning.exact import ExactChecker
from cellwright.motion.planning.prepare import Refusal, SearchTask, prepare, tilt_numbers
from cellwright.motion.planning.request import MotionPlanRequest, MotionPlanResult, MotionPlanStatus
from cellwright.motion.planning.retreat import retreat_path
from cellwright.motion.planning.scene import Scene
from cellwright.motion.planning.search import MOTION_PLANNERS, SearchProblem, random_state

__all__ = ["MotionPlanner"]

Array = npt.NDArray[np.float64]

VERIFY_STEP_RAD = 0.02  # of the joint that turns most; the extra margin of a search covers what lies between
FINE_STEP_RAD = 0.01  # the same after a search with the exact checker, which has none
MOST_RETREATS = 32  # goals in tight places for which a retreat is planned
SLACK_RAD = 0.002  # of a tilt limit, for what lies between the states that a search looks at
ANY_REACH_RAD = 1e6


@dataclass(frozen=True)
class SearchMargin:
    """The safety margin of a search: by how much obstacles grow, and the steps in which motions are checked."""

    extra_m: float
    step_rad: float


SEARCH_MARGINS = (  # the next one when the exact checker does not confirm a path
    SearchMargin(0.003, 0.05),
    SearchMargin(0.006, 0.025),
    SearchMargin(0.015, 0.0125),
)


class MotionPlanner:
    """Plans for one scene; another scene needs another planner.

    Attributes:
        scene: The believed scene.
        exact: The exact checker.
        compiled: The fast one.
        kinematics: Of the arm.
        ring: Base and tool.

    Raises:
        MissingExtra: without the optional packages.
    """

    def __init__(self, scene: Scene, bulge_m: float = BULGE_M) -> None:
        self._bodies = CollisionBodies(scene)
        self.scene = scene
        self.compiled = CompiledChecker(self._bodies, bulge_m=bulge_m)
        self.exact = ExactChecker(self._bodies)
        self._strict = self.exact  # the same with the margin of the request
        self.kinematics = ArmKinematics(scene.robot.arm)
        self.ring = self._bodies.ring

    def plan(self, request: MotionPlanRequest) -> MotionPlanResult:
        """Returns a verified path, or the reason why there is none."""
        flange = self._bodies.pose_flange_in_link
        try:
            limit = tilt_numbers(request.tilt, (flange @ self.ring.pose_tool_in_flange).rotation_matrix)
            task = prepare(request, self.exact, self.kinematics, self.ring, limit)
            return self._plan(request, task)
        except MissingExtra:
            raise
        except BadInput as error:
            return MotionPlanResult(MotionPlanStatus.INVALID_REQUEST, str(error))
        except Refusal as refusal:
            return MotionPlanResult(refusal.status, str(refusal))
        finally:
            self.compiled.set_margin(0.0)

    def _plan(self, request: MotionPlanRequest, task: SearchTask) -> MotionPlanResult:
        self._strict = self._with_margin(request.margin_m, task)
        self.compiled.count[0] = 0
        spent, checks, complaint = 0, 0, ""
        for margin in SEARCH_MARGINS:
            self.compiled.set_margin(request.margin_m, margin.extra_m, self._strict.relaxed)
            try:
                problem, way, ways = self._problem(request, task, margin, request.iterations - spent)
            except Refusal:
                if complaint:  # the larger margin leaves no way
                    break
                raise
            before = self._strict.checks
            found = MOTION_PLANNERS.get(request.planner)(problem)
            spent, checks = spent + found.iterations, checks + self._strict.checks - before
            if not len(found.path_rad):
                break
            main = self._shortened(found.path_rad, problem, request.shortcuts)
            last = ways[int(np.linalg.norm(problem.goals_rad - main[-1], axis=1).argmin())]
            path = _without_repeats(np.concatenate([way[:-1], main, last[-2::-1]]))
            verified, complaint = self._verify(path, main, problem, task)
            if not complaint:
                return MotionPlanResult(
                    MotionPlanStatus.SUCCESS, "", path, spent, checks + self.compiled.checks, verified
                )
            if spent >= request.iterations:
                break
        checks += self.compiled.checks
        reason = f"no path within {spent} iterations and {checks} checks"
        if complaint:
            reason += f" that the exact checker confirms: {complaint}"
        return MotionPlanResult(MotionPlanStatus.BUDGET_SPENT, reason, iterations=spent, checks=checks)

    def _problem(
        self, request: MotionPlanRequest, task: SearchTask, margin: SearchMargin, iterations: int
    ) -> tuple[SearchProblem, Array, list[Array]]:
        """Returns the search, the way to its start, and for each of its goals the way from the request's goal to it."""
        checker: CollisionChecker = self.compiled if request.checker == "compiled" else self._strict
        random = np.random.default_rng([request.seed, 1])
        limit = self._limit_with_slack(task)

        def is_clear(joints: Array) -> bool:
            if (joints < task.lower_rad).any() or (joints > task.upper_rad).any() or not checker.is_free(joints):
                return False
            return bool(limit[0] >= np.pi or checker.tilt_rad(limit, joints) <= limit[0])

        def retreat(joints: Array) -> Array | None:
            return retreat_path(joints, is_clear, self.exact, self.kinematics, self.ring, random)

        start = retreat(task.start_rad)
        if start is None:
            reason = f"no way out of the start was found, where {self._near_pairs(task.start_rad)}"
            raise Refusal(MotionPlanStatus.BUDGET_SPENT, reason)
        ways = [goal[None] for goal in task.goals_rad if is_clear(goal)]
        if not ways or limit[0] < np.pi:  # an upright arm keeps its branch, so any goal may be the one
            tries = [retreat(goal) for goal in task.goals_rad[:MOST_RETREATS]]
            ways = [found for found in tries if found is not None]
        if not ways:
            reason = f"no way into the goal was found, where {self._near_pairs(task.goals_rad[0])}"
            raise Refusal(MotionPlanStatus.BUDGET_SPENT, reason)
        goals = np.array([found[-1] for found in ways])
        lower, upper = task.lower_rad, task.upper_rad
        problem = SearchProblem(
            checker=checker,
            start_rad=start[-1],
            goals_rad=goals,
            lower_rad=lower,
            upper_rad=upper,
            limit=limit,
            step_rad=margin.step_rad,
            iterations=iterations,
            seed=request.seed,
        )
        return problem, start, ways

    def _with_margin(self, margin_m: float, task: SearchTask) -> ExactChecker:
        """Returns an exact checker with the margin, except for pairs that are nearer at the start, or at every goal.

        Among them are the shoulder and the table that the robot stands on.
        """
        if not margin_m:
            return self.exact
        strict = ExactChecker(self._bodies, margin_m)
        near = [
            {frozenset((t.first, t.second)) for t in strict.touches(joints)}
            for joints in (task.start_rad, *task.goals_rad)
        ]
        return ExactChecker(self._bodies, margin_m, frozenset(near[0] | set.intersection(*near[1:])))

    def _near_pairs(self, joints_rad: Array) -> str:
        """Returns the pairs that are too near for the search, as text."""
        touches = self._strict.touches(joints_rad)
        return ", ".join(map(str, touches)) if touches else f"by spheres {self.compiled.touch(joints_rad)}"

    def _limit_with_slack(self, task: SearchTask) -> Array:
        """Returns the tilt limit for the search: a little narrower, unless start or goals need all of it."""
        if task.limit[0] >= np.pi:
            return task.limit
        narrower = task.limit - [SLACK_RAD, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        ends = (task.start_rad, *task.goals_rad)
        fits = all(self.exact.tilt_rad(task.limit, joints) <= narrower[0] for joints in ends)
        return narrower if fits else task.limit

    def _shortened(self, path_rad: Array, problem: SearchProblem, tries: int) -> Array:
        from cellwright.motion.planning.kernel_shorten import shorten

        shorter = shorten(
            self.compiled.arrays,
            problem.limit,
            path_rad,
            problem.lower_rad,
            problem.upper_rad,
            problem.reach_rad if problem.is_tilt_limited else ANY_REACH_RAD,
            problem.step_rad,
            self.compiled.margins,
            tries,
            random_state(problem.seed, 2),
            self.compiled.count,
        )
        return np.asarray(shorter)

    def _verify(self, path_rad: Array, main_rad: Array, problem: SearchProblem, task: SearchTask) -> tuple[int, str]:
        """Returns the number of states that the exact checker confirmed, and its objection.

        The whole path must be free and within its limits; what the search found must also keep the margin.
        """
        limit = task.limit
        if (path_rad < task.lower_rad).any() or (path_rad > task.upper_rad).any():
            return 0, "it leaves the joint limits"
        step_rad = VERIFY_STEP_RAD if problem.checker is self.compiled else FINE_STEP_RAD
        states = between(path_rad, step_rad)
        blocked = self.exact.first_blocked(states)
        if blocked is not None:
            return 0, str(self.exact.touch(blocked))
        if self._strict is not self.exact:
            blocked = self._strict.first_blocked(between(main_rad, step_rad))
            if blocked is not None:
                return 0, str(self._strict.touch(blocked))
        if limit[0] < np.pi:
            worst = max(self.exact.tilt_rad(limit, joints) for joints in states)
            if worst > limit[0]:
                return 0, f"the tool leans by {np.degrees(worst):.2f} deg"
        return len(states), ""


def _without_repeats(path_rad: Array) -> Array:
    """Returns the path without corners that are where the corner before is; its ends stay."""
    moved = np.abs(np.diff(path_rad, axis=0)).max(axis=1) > 1e-9
    kept = np.concatenate([[True], moved])
    kept[-1] = True
    return np.asarray(path_rad[kept])

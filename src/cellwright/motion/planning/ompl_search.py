"""OMPL's planners behind the same interface, with the same checkers, counted iterations and a seed.

Planners that look for their solution in a second thread (the PRM family) are left out: they wait for the interpreter
while the interpreter waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cellwright.motion.planning.compiled import CompiledChecker
from cellwright.motion.planning.jit import load
from cellwright.motion.planning.search import MOTION_PLANNERS, RawPath, Search, SearchProblem

__all__ = ["OMPL_PLANNERS"]

OMPL_PLANNERS = (
    "RRT",
    "RRTConnect",
    "RRTstar",
    "InformedRRTstar",
    "AORRTC",
    "BITstar",
    "KPIECE1",
    "BKPIECE1",
    "LBKPIECE1",
)
WANTS_LAST_VALID = ("KPIECE1", "BKPIECE1")  # how far a motion is free, which Python cannot tell them
LARGEST_SEED = 2**32 - 1


def ompl_search(name: str) -> Search:
    """Returns the search of that planner of OMPL."""

    def search(problem: SearchProblem) -> RawPath:
        return _Run(problem).solve(name)

    return search


for _name in OMPL_PLANNERS:
    MOTION_PLANNERS.add(f"ompl:{_name}", ompl_search(_name))


class _Run:
    """One search. OMPL has one seed for the whole process; everything random is made after it is set."""

    def __init__(self, problem: SearchProblem) -> None:
        base, util = load("ompl.base"), load("ompl.util")
        util.setLogLevel(util.LogLevel.LOG_NONE)  # it reports a repeated seed as an error
        util.RNG.setSeed(problem.seed % LARGEST_SEED + 1)
        self.problem = problem
        self.joints = len(problem.start_rad)
        self.iterations = 0
        space = base.RealVectorStateSpace(self.joints)
        bounds = base.RealVectorBounds(self.joints)
        bounds.low, bounds.high = problem.lower_rad.tolist(), problem.upper_rad.tolist()
        space.setBounds(bounds)
        self.space = space
        self.information = base.SpaceInformation(space)
        self.information.setStateValidityChecker(self._validity())
        self.information.setStateValidityCheckingResolution(problem.step_rad / space.getMaximumExtent())

    def solve(self, name: str) -> RawPath:
        """Runs the planner until it has an exact solution or the budget is spent."""
        base, geometric = load("ompl.base"), load("ompl.geometric")
        validator = None
        if isinstance(self.problem.checker, CompiledChecker) and name not in WANTS_LAST_VALID:
            validator = self._motion_validator()
            self.information.setMotionValidator(validator)
        self.information.setup()
        definition = base.ProblemDefinition(self.information)
        definition.addStartState(self._state(self.problem.start_rad))
        goals = base.GoalStates(self.information)
        for goal in filter(self._is_valid, self.problem.goals_rad):
            goals.addState(self._state(goal))
        if not goals.hasStates() or not self._is_valid(self.problem.start_rad):
            return RawPath(np.empty((0, self.joints)), 0)  # it would wait for better ones, asleep
        definition.setGoal(goals)
        planner = getattr(geometric, name)(self.information)
        if hasattr(planner, "setRange"):
            planner.setRange(self.problem.reach_rad)
        planner.setProblemDefinition(definition)
        planner.setup()
        planner.solve(base.PlannerTerminationCondition(self._is_spent))
        rows: list[list[float]] = []
        if definition.hasExactSolution():
            rows = [state[0 : self.joints] for state in definition.getSolutionPath().getStates()]
        return RawPath(np.array(rows, float).reshape(-1, self.joints), min(self.iterations, self.problem.iterations))

    def _is_spent(self) -> bool:
        """Returns whether the budget is spent; called once in every iteration of a planner."""
        self.iterations += 1
        return self.iterations > self.problem.iterations

    def _state(self, joints: Any) -> Any:
        state = self.space.allocState()
        state[0 : self.joints] = joints.tolist()
        return state

    def _is_valid(self, joints: Any) -> bool:
        checker, limit = self.problem.checker, self.problem.limit
        if not checker.is_free(joints):
            return False
        return not self.problem.is_tilt_limited or checker.tilt_rad(limit, joints) <= limit[0]

    def _validity(self) -> Callable[[Any], bool]:
        joints, count = np.empty(self.joints), self.joints

        def is_valid(state: Any) -> bool:
            joints[:] = state[0:count]
            return self._is_valid(joints)

        return is_valid

    def _motion_validator(self) -> Any:
        """Returns a validator that checks a whole motion in one compiled call, instead of one call per state."""
        from cellwright.motion.planning.kernel_motion import motion_is_free

        base = load("ompl.base")
        problem, count = self.problem, self.joints
        checker = problem.checker
        assert isinstance(checker, CompiledChecker)
        scene, space, checks = checker.arrays, checker.space, checker.count
        limit, step, margins = problem.limit, problem.step_rad, checker.margins
        a, b = np.empty(count), np.empty(count)

        parent: Any = base.MotionValidator

        class MotionValidator(parent):  # type: ignore[misc]
            def checkMotion(self, first: Any, second: Any) -> bool:  # noqa: N802
                a[:], b[:] = first[0:count], second[0:count]
                return bool(motion_is_free(scene, limit, a, b, step, margins, space, checks))

        return MotionValidator(self.information)

"""The search for a raw path behind one interface: problem, result, and the compiled planner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.registry import Registry
from cellwright.motion.planning.checker import CollisionChecker
from cellwright.motion.planning.compiled import NO_LIMIT, CompiledChecker

__all__ = ["DEFAULT_PLANNER", "MOTION_PLANNERS", "RawPath", "Search", "SearchProblem", "random_state", "rrt_connect"]

Array = npt.NDArray[np.float64]

DEFAULT_PLANNER = "rrt_connect"
REACH_RAD = 1.5  # the longest branch of a tree; found by trial among 0.3 to 3.5
UPRIGHT_REACH_RAD = 0.15  # under a tilt limit: straight motions of all joints soon leave the limit


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchProblem:
    """A search between free configurations.

    Attributes:
        checker: The collision checker, the margin included.
        start_rad: (joints,)
        goals_rad: (goals, joints), any of them will do.
        lower_rad: Least joint angles.
        upper_rad: Greatest joint angles.
        limit: The tilt limit as in `kernel_motion`.
        step_rad: Distance between the checked states of a motion, over all joints.
        iterations: Budget; the same for every machine.
        seed: Of the random numbers.
    """

    checker: CollisionChecker
    start_rad: Array
    goals_rad: Array
    lower_rad: Array
    upper_rad: Array
    limit: Array
    step_rad: float
    iterations: int
    seed: int

    @classmethod
    def unlimited(
        cls,
        checker: CollisionChecker,
        start_rad: Array,
        goals_rad: Array,
        lower_rad: Array,
        upper_rad: Array,
        step_rad: float,
        iterations: int,
        seed: int,
    ) -> SearchProblem:
        """Makes a problem without a tilt limit."""
        return cls(
            checker=checker,
            start_rad=start_rad,
            goals_rad=goals_rad,
            lower_rad=lower_rad,
            upper_rad=upper_rad,
            limit=NO_LIMIT,
            step_rad=step_rad,
            iterations=iterations,
            seed=seed,
        )

    @property
    def is_tilt_limited(self) -> bool:
        """Whether the tool must be kept upright."""
        return bool(self.limit[0] < np.pi)

    @property
    def reach_rad(self) -> float:
        """The longest straight motion between two nodes of a tree."""
        return UPRIGHT_REACH_RAD if self.is_tilt_limited else REACH_RAD


@dataclass(frozen=True, eq=False)
class RawPath:
    """A raw path (n, joints), without rows when the budget was spent, and the iterations of its search."""

    path_rad: Array
    iterations: int


Search = Callable[[SearchProblem], RawPath]

MOTION_PLANNERS: Registry[Search] = Registry("motion planner", "cellwright.motion_planners")


def random_state(seed: int, purpose: int) -> npt.NDArray[np.uint64]:
    """Returns the state of the compiled random numbers for one purpose."""
    return np.random.SeedSequence([seed, purpose]).generate_state(1, np.uint64).astype(np.uint64)


@MOTION_PLANNERS.register(DEFAULT_PLANNER)
def rrt_connect(problem: SearchProblem) -> RawPath:
    """Searches by compiled RRT-Connect; gives the same path for the same seed."""
    from cellwright.motion.planning.kernel_search import search

    checker = problem.checker
    if not isinstance(checker, CompiledChecker):
        raise BadInput(f"planner '{DEFAULT_PLANNER}' works with the compiled checker only")
    path, iterations = search(
        checker.arrays,
        problem.limit,
        problem.start_rad,
        problem.goals_rad,
        problem.lower_rad,
        problem.upper_rad,
        problem.reach_rad,
        problem.step_rad,
        checker.margins,
        problem.iterations,
        random_state(problem.seed, 0),
        checker.count,
    )
    return RawPath(path, int(iterations))

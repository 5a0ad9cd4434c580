"""From a request to a search: everything that can be refused before anything is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.ring import KinematicRing
from cellwright.motion.kinematics import ArmKinematics, Unreachable, checked_angles
from cellwright.motion.planning.checker import CollisionPair
from cellwright.motion.planning.compiled import NO_LIMIT
from cellwright.motion.planning.exact import ExactChecker
from cellwright.motion.planning.goals import goals_from_poses
from cellwright.motion.planning.request import MotionPlanRequest, MotionPlanStatus, TiltLimit
from cellwright.motion.planning.search import MOTION_PLANNERS

__all__ = ["CHECKERS", "Refusal", "SearchTask", "prepare"]

Array = npt.NDArray[np.float64]

CHECKERS = ("compiled", "exact")
LEAST_TILT_RAD = np.radians(0.5)
WIDEST_MARGIN_M = 0.5
MOST_ITERATIONS = 100_000_000
ROUNDING_RAD = 1e-6


class Refusal(Exception):
    """Raised to end a request before the search."""

    def __init__(self, status: MotionPlanStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, eq=False)
class SearchTask:
    """A request that can be searched: a free start, free goals (n, joints), limits, the tilt limit as numbers."""

    start_rad: Array
    goals_rad: Array
    lower_rad: Array
    upper_rad: Array
    limit: Array


def prepare(
    request: MotionPlanRequest, exact: ExactChecker, kinematics: ArmKinematics, ring: KinematicRing, limit: Array
) -> SearchTask:
    """Checks start and goals, with the exact checker.

    Args:
        request: The request.
        exact: Without margin.
        kinematics: Of the arm.
        ring: Base and tool.
        limit: The tilt limit as numbers.

    Raises:
        BadInput: when the request makes no sense.
        Refusal: with status and reason, when there is nothing to search.
    """
    start, goals, lower, upper = _read(request, kinematics)

    def fault(joints: Array) -> str:
        return _outside(joints, lower, upper, kinematics) or _tilted(joints, limit, exact)

    if fault(start):
        raise Refusal(MotionPlanStatus.INVALID_REQUEST, f"the start is not allowed: {fault(start)}")
    touch = exact.touch(start)
    if touch:
        raise Refusal(MotionPlanStatus.START_IN_COLLISION, f"at the start {touch}")
    allowed = goals[[not fault(goal) for goal in goals]]
    touches = [exact.touch(goal) for goal in allowed]
    free = allowed[[touch is None for touch in touches]]
    reached = goals_from_poses(
        kinematics, ring, request.goal_poses, exact, start, accept=lambda joints: not fault(joints)
    )
    free = np.concatenate([free, reached.free_rad])
    if not len(free):
        candidates = np.concatenate([goals, reached.reachable_rad])
        raise _no_goal(request, candidates, fault, [*filter(None, touches), *reached.touches], kinematics, ring)
    # A joint that may turn several times round needs no more than half a turn beyond start and goals, which must be
    # inside whatever their rounding.
    least, most = np.minimum(start, free.min(axis=0)), np.maximum(start, free.max(axis=0))
    lower = np.minimum(np.maximum(lower, least - np.pi), least)
    upper = np.maximum(np.minimum(upper, most + np.pi), most)
    return SearchTask(start, free, lower, upper, limit)


def _no_goal(
    request: MotionPlanRequest,
    candidates: Array,
    fault: Callable[[Array], str],
    touches: Sequence[CollisionPair],
    kinematics: ArmKinematics,
    ring: KinematicRing,
) -> Refusal:
    """Returns the reason why no goal is possible: out of reach, not allowed, or in collision."""
    if touches:
        return Refusal(MotionPlanStatus.GOAL_IN_COLLISION, f"at the goal {touches[0]}{_others(len(candidates))}")
    if len(candidates):
        reason = f"the goal is not allowed: {fault(candidates[0])}{_others(len(candidates))}"
        return Refusal(MotionPlanStatus.INVALID_REQUEST, reason)
    try:
        kinematics.nearest(ring.flange_for_tool(request.goal_poses[0]), request.start_rad)
    except Unreachable as error:
        return Refusal(MotionPlanStatus.NO_IK, f"{error}{_others(len(request.goal_poses))}")
    return Refusal(MotionPlanStatus.NO_IK, "no configuration takes the goal")


def _others(count: int) -> str:
    """Returns the text about the other goals, which are no better."""
    return f", nor will any of the other {count - 1} do" if count > 1 else ""


def tilt_numbers(tilt: TiltLimit | None, tool_turn: Array) -> Array:
    """Returns a tilt limit as the numbers of compiled code.

    Args:
        tilt: The limit.
        tool_turn: (3, 3) the tool's rotation in the last link.
    """
    if tilt is None:
        return NO_LIMIT
    axis, direction = np.asarray(tilt.axis_in_tool, float), np.asarray(tilt.direction_in_world, float)
    lengths = np.linalg.norm(axis), np.linalg.norm(direction)
    if not min(lengths) > 0 or not np.isfinite(lengths).all():
        raise BadInput(f"axis and direction of a tilt limit must not be zero, got {tilt}")
    if not LEAST_TILT_RAD <= tilt.angle_rad <= np.pi:
        raise OutOfRange("tilt limit", np.degrees(tilt.angle_rad), np.degrees(LEAST_TILT_RAD), 180.0, "deg")
    return np.array([tilt.angle_rad, *(tool_turn @ axis / lengths[0]), *(direction / lengths[1])])


def _read(request: MotionPlanRequest, kinematics: ArmKinematics) -> tuple[Array, Array, Array, Array]:
    """Returns start, goals and limits as arrays."""
    if request.planner not in MOTION_PLANNERS:
        raise UnknownName("motion planner", request.planner, MOTION_PLANNERS.names())
    if request.checker not in CHECKERS:
        raise UnknownName("checker", request.checker, CHECKERS)
    for what, value, low, high in (
        ("iterations", request.iterations, 1, MOST_ITERATIONS),
        ("shortcuts", request.shortcuts, 0, MOST_ITERATIONS),
        ("seed", request.seed, 0, 2**63 - 1),
        ("margin", request.margin_m, 0.0, WIDEST_MARGIN_M),
    ):
        if not low <= value <= high:
            raise OutOfRange(what, value, low, high)
    if not len(request.goals_rad) and not request.goal_poses:
        raise BadInput("a request needs goals, as configurations or as poses of the tool")
    start = checked_angles(kinematics.arm, request.start_rad)
    goals = np.array([checked_angles(kinematics.arm, goal) for goal in request.goals_rad]).reshape(-1, len(start))
    lower, upper = kinematics.lower_rad, kinematics.upper_rad
    if request.limits:
        lower = np.maximum(lower, checked_angles(kinematics.arm, request.limits.lower_rad))
        upper = np.minimum(upper, checked_angles(kinematics.arm, request.limits.upper_rad))
        if (lower > upper).any():
            name = kinematics.arm.joints[int((lower > upper).argmax())].name
            raise BadInput(f"the limits leave no angle for {name}")
    return start, goals, lower, upper


def _outside(joints: Array, lower: Array, upper: Array, kinematics: ArmKinematics) -> str:
    beyond = np.maximum(lower - joints, joints - upper)
    worst = int(beyond.argmax())
    if beyond[worst] <= ROUNDING_RAD:
        return ""
    name = kinematics.arm.joints[worst].name
    angle, low, high = np.degrees([joints[worst], lower[worst], upper[worst]])
    return f"{name} is at {angle:.2f} deg, allowed {low:.2f} to {high:.2f} deg"


def _tilted(joints: Array, limit: Array, exact: ExactChecker) -> str:
    tilt_rad = exact.tilt_rad(limit, joints) if limit[0] < np.pi else 0.0
    if tilt_rad <= limit[0]:
        return ""
    return f"the tool leans by {np.degrees(tilt_rad):.1f} deg, allowed {np.degrees(limit[0]):.1f} deg"

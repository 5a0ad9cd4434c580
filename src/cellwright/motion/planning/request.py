"""Requests to a motion planner and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.motion.planning.scene import AttachedObject
from cellwright.motion.planning.search import DEFAULT_PLANNER

__all__ = ["JointBounds", "MotionPlanRequest", "MotionPlanResult", "MotionPlanStatus", "TiltLimit"]

Array = npt.NDArray[np.float64]
Vector3 = tuple[float, float, float]
UP: Vector3 = (0.0, 0.0, 1.0)


class MotionPlanStatus(StrEnum):
    """The outcome of a request."""

    SUCCESS = "success"
    START_IN_COLLISION = "start in collision"
    GOAL_IN_COLLISION = "goal in collision"
    NO_IK = "no inverse kinematics"
    BUDGET_SPENT = "budget spent"
    INVALID_REQUEST = "invalid request"


@dataclass(frozen=True)
class TiltLimit:
    """The largest tilt of an axis of the tool from a direction of the world, everywhere on the way.

    Attributes:
        angle_rad: The largest angle between them.
        axis_in_tool: In the frame of the tool's centre point.
        direction_in_world: By default upwards.
    """

    angle_rad: float
    axis_in_tool: Vector3 = UP
    direction_in_world: Vector3 = UP

    @classmethod
    def upright(cls, held: AttachedObject, angle_rad: float) -> TiltLimit:
        """Makes a limit that keeps the z axis of a held object upwards, so that a bottle does not spill."""
        x, y, z = held.pose_in_tool.rotation_matrix[:, 2]
        return cls(angle_rad, (float(x), float(y), float(z)))


@dataclass(frozen=True)
class JointBounds:
    """Narrower limits than the arm's own, joint by joint."""

    lower_rad: tuple[float, ...]
    upper_rad: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class MotionPlanRequest:
    """A request for a path from the start to any of the goals.

    Attributes:
        start_rad: The present configuration.
        goals_rad: Configurations, any of which will do.
        goal_poses: Poses of the tool's centre point in the world, any of which will do.
        planner: A name of `MOTION_PLANNERS`.
        checker: `compiled`, or `exact` for planners that can use it: slower, but it fits through narrower gaps.
        seed: Of all random numbers.
        iterations: Budget of the search.
        margin_m: The distance to keep from obstacles; a pair that is nearer at the start or at every goal must only
            not touch.
        limits: Joint limits for this request.
        tilt: The tilt limit of the tool.
        shortcuts: The number of cuts that are tried to shorten the path.
    """

    start_rad: npt.ArrayLike
    goals_rad: Sequence[npt.ArrayLike] = ()
    goal_poses: Sequence[Pose] = ()
    planner: str = DEFAULT_PLANNER
    checker: str = "compiled"
    seed: int = 0
    iterations: int = 20_000
    margin_m: float = 0.0
    limits: JointBounds | None = None
    tilt: TiltLimit | None = None
    shortcuts: int = 50


@dataclass(frozen=True, eq=False)
class MotionPlanResult:
    """The result of a request.

    Attributes:
        status: Its outcome.
        reason: The reason of a failure, as text; empty on success.
        path_rad: Corners (n, joints) of the path, from the start to one of the goals; without rows on failure.
        iterations: Of the search.
        checks: Configurations that the planner checked.
        verified: Configurations that the exact checker confirmed afterwards; 0 unless all of them are free.
    """

    status: MotionPlanStatus
    reason: str = ""
    path_rad: Array = field(default_factory=lambda: np.empty((0, 0)))
    iterations: int = 0
    checks: int = 0
    verified: int = 0

    @property
    def is_success(self) -> bool:
        """Whether there is a verified path."""
        return self.status is MotionPlanStatus.SUCCESS

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data, for records and the command line."""
        return {
            "status": self.status.value,
            "reason": self.reason,
            "path_rad": self.path_rad.tolist(),
            "iterations": self.iterations,
            "checks": self.checks,
            "verified": self.verified,
        }

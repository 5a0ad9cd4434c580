"""The states of a robot, and the errors of its motions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from cellwright.core.errors import JobFailed
from cellwright.motion import StopCategory

__all__ = ["Collision", "CollisionLimits", "FollowingError", "MotionStopped", "NotReady", "RobotState", "StopCategory"]


class RobotState(StrEnum):
    """The state of a robot.

    A commanded stop ends in STOPPED, from which the next motion may begin at once; a safety stop ends there, too,
    but locked. A locked robot and one in FAULT need a reset.
    """

    IDLE = "idle"
    MOVING = "moving"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAULT = "fault"


class NotReady(JobFailed):
    """A motion that was refused because of the state that the robot is in."""

    def __init__(self, robot: str, state: RobotState, why: str) -> None:
        super().__init__(f"{robot} {why}")
        self.robot = robot
        self.state = state


class MotionStopped(JobFailed):
    """A motion that was stopped on its way."""

    def __init__(self, robot: str, category: StopCategory, reason: str) -> None:
        super().__init__(f"{robot} was stopped ({category.value}): {reason}")
        self.robot = robot
        self.category = category
        self.reason = reason


class FollowingError(JobFailed):
    """A joint that could not follow: something is in its way, or it was asked for too much."""


class Collision(JobFailed):
    """More force than the motion needs: the arm touched something."""


@dataclass(frozen=True)
class CollisionLimits:
    """The limits beyond which a motion counts as a collision; infinite ones are never passed.

    Attributes:
        force_n: At the wrist, beyond what was there when the motion began.
        torque_nm: The same.
        effort_share: Of a joint's largest torque.
    """

    force_n: float = np.inf
    torque_nm: float = np.inf
    effort_share: float = np.inf

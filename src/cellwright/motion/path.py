"""Where a motion leads, without time: straight in joint space, or with the flange on a straight line."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.spline import Spline

__all__ = ["JointPath", "LinePath", "Path"]

Array = npt.NDArray[np.float64]

LINE_STEP_M = 0.004
LINE_STEP_RAD = 0.02
LINE_TOLERANCE_M = 2e-5
LINE_TOLERANCE_RAD = 2e-4
LINE_REFINEMENTS = 4  # doublings: points down to 0.5 mm apart


class Path(Protocol):
    """Joint angles over a parameter that runs from 0 to 1."""

    def at(self, fraction: float) -> tuple[Any, Any, Any]:
        """Joint angles and their first and second derivative by the parameter."""

    def steepness(self) -> tuple[Array, Array, Array]:
        """Magnitudes of the first three derivatives (points, joints), nowhere exceeded."""


class JointPath:
    """All joints in proportion from one configuration to another."""

    def __init__(self, start_rad: Array, goal_rad: Array) -> None:
        self._start, self._way = start_rad, goal_rad - start_rad
        self._straight = np.zeros_like(start_rad)

    def at(self, fraction: float) -> tuple[Any, Any, Any]:
        """Joint angles and their first and second derivative by the parameter."""
        return self._start + fraction * self._way, self._way, self._straight

    def steepness(self) -> tuple[Array, Array, Array]:
        """Magnitudes of the first three derivatives."""
        none = self._straight[None]
        return np.abs(self._way)[None], none, none


class LinePath:
    """The flange straight from one pose to another, by inverse kinematics along the way.

    The path is solved at points a few millimetres apart, each taking the configuration nearest to the one before;
    between them runs a spline, and the points are doubled until the flange is on the line there, too.

    Attributes:
        length_m: From the start to the goal.
        turn_rad: Of the flange on the way.

    Raises:
        Unreachable: when a point of the line is.
        JobFailed: when the line passes so near a singular configuration that no joint could keep up.
    """

    def __init__(self, kinematics: ArmKinematics, start_rad: Array, pose_goal_in_base: Pose) -> None:
        self._kinematics, self._start = kinematics, start_rad
        self._pose_start, self._pose_goal = kinematics.forward(start_rad), pose_goal_in_base
        self.length_m = self._pose_start.distance_m(pose_goal_in_base)
        self.turn_rad = self._pose_start.angle_rad(pose_goal_in_base)
        pieces = max(1, int(np.ceil(max(self.length_m / LINE_STEP_M, self.turn_rad / LINE_STEP_RAD))))
        for _ in range(LINE_REFINEMENTS):
            self._spline = self._solved(pieces)
            if self._on_line():
                break
            pieces *= 2
        else:
            raise JobFailed(f"{kinematics.arm.name} cannot follow the line: {self.hardest()}")
        self.at, self.steepness = self._spline.at, self._spline.steepness

    def hardest(self) -> str:
        """Where on the line which joint has the farthest to go."""
        steps = np.abs(np.diff(self._spline.rows, axis=0))
        piece, joint = np.unravel_index(int(steps.argmax()), steps.shape)
        return (
            f"after {100 * piece / len(steps):.0f} % of it {self._kinematics.arm.joints[joint].name} would have to "
            f"swing by {np.degrees(steps[piece, joint]):.0f} deg at once, near a singular configuration"
        )

    def _solved(self, pieces: int) -> Spline:
        joints = [self._start]
        for number in range(1, pieces + 1):
            joints.append(self._kinematics.nearest(self._wanted(number / pieces), joints[-1]))
        return Spline(np.array(joints))

    def _wanted(self, fraction: float) -> Pose:
        return self._pose_start.interpolate(self._pose_goal, fraction)

    def _on_line(self) -> bool:
        """Whether the flange is where it should be in the middle of every piece."""
        middles = self._spline.middles()
        for number, joints in enumerate(middles):
            wanted = self._wanted((number + 0.5) / len(middles))
            reached = self._kinematics.forward(joints)
            if not reached.is_close(wanted, tolerance_m=LINE_TOLERANCE_M, tolerance_rad=LINE_TOLERANCE_RAD):
                return False
        return True

"""A Cartesian trajectory as a motion of an arm, with the trajectory's own profile of speed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.motion.cartesian_pieces import PathPiece
from cellwright.motion.interpolation import CartesianTrajectory, along
from cellwright.motion.kinematics import ArmKinematics, checked_angles
from cellwright.motion.limits import JointLimits
from cellwright.motion.path import PosePath

__all__ = ["CartesianMotion"]

Array = npt.NDArray[np.float64]

CHECKS = 500
ALLOWANCE = 1.001


class CartesianMotion:
    """The flange along a trajectory of `linear` or `blended`, in the time that the trajectory has; jerk is not limited.

    For motions with a jerk limit, and slowed down where joints need it, there are `LineMove` and `ThroughMove`.

    Attributes:
        duration_s: Of the trajectory.

    Args:
        kinematics: Of the arm.
        start_rad: The start configuration, at rest.
        trajectory: Of the flange in the base frame.

    Raises:
        BadInput: when the trajectory begins elsewhere.
        Unreachable: when a point of it is.
        JobFailed: when it passes too near a singular configuration, or is too fast for a joint; names it.
    """

    def __init__(self, kinematics: ArmKinematics, start_rad: npt.ArrayLike, trajectory: CartesianTrajectory) -> None:
        self._trajectory = trajectory
        self.duration_s = trajectory.duration_s
        self.arm = kinematics.arm
        self._paths: list[PosePath] = []
        joints = checked_angles(kinematics.arm, start_rad)
        for pieces in trajectory.stretches:
            self._paths.append(_path(kinematics, joints, pieces))
            joints = np.asarray(self._paths[-1].at(1.0)[0])
        self._refuse_too_fast()

    def at(self, time_s: float) -> tuple[Any, Any]:
        """Returns joint positions (rad) and velocities (rad/s) at a time since the start; the end holds."""
        (position, slope, _), rate, _ = self._run(time_s)
        return position, slope * rate

    def acceleration(self, time_s: float) -> Any:
        """Returns joint accelerations at a time."""
        (_, slope, bend), rate, change = self._run(time_s)
        return bend * rate**2 + slope * change

    def _run(self, time_s: float) -> tuple[tuple[Any, Any, Any], float, float]:
        number, way_m, speed_mps, acceleration_mps2 = self._trajectory.way_at(time_s)
        path = self._paths[number]
        length_m = path.length_m or 1.0
        return path.at(min(way_m / length_m, 1.0)), speed_mps / length_m, acceleration_mps2 / length_m

    def _refuse_too_fast(self) -> None:
        limits = JointLimits.of(self.arm)
        for time_s in np.linspace(0.0, self.duration_s, CHECKS):
            for what, values, most, unit in (
                ("turn at", self.at(time_s)[1], limits.velocity_radps, "rad/s"),
                ("speed up by", self.acceleration(time_s), limits.acceleration_radps2, "rad/s^2"),
            ):
                joint = int((np.abs(values) / most).argmax())
                if abs(values[joint]) > most[joint] * ALLOWANCE:
                    raise JobFailed(
                        f"{self.arm.name} cannot follow the trajectory: at {time_s:.3g} s "
                        f"{self.arm.joints[joint].name} would have to {what} {abs(values[joint]):.3g} {unit}, "
                        f"allowed {most[joint]:.3g} {unit}"
                    )


def _path(kinematics: ArmKinematics, start_rad: Array, pieces: list[PathPiece]) -> PosePath:
    length_m = sum(piece.length_m for piece in pieces)

    def pose_at(fraction: float) -> Pose:
        return along(pieces, fraction * length_m)[0]

    turn_rad = sum(piece.at(0.0)[0].angle_rad(piece.at(piece.length_m)[0]) for piece in pieces)
    return PosePath(kinematics, start_rad, pose_at, length_m, turn_rad, "trajectory")

"""The supervision of a motion: following errors and collision forces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cellwright.control.drive import Drive
from cellwright.control.state import Collision, CollisionLimits, FollowingError
from cellwright.sim import World

__all__ = ["Supervision"]

Array = npt.NDArray[np.float64]

FOLLOWING_LIMIT_RAD = 0.1
FELT_N = 30.0  # at the wrist: less may be the tool's weight in another position
UNLIMITED = CollisionLimits()


class Supervision:
    """Supervises one arm while it moves.

    Attributes:
        limits: Those beyond which a motion counts as a collision.
    """

    def __init__(self, world: World, robot: str, drive: Drive) -> None:
        self._world = world
        self._robot = robot
        self._drive = drive
        self.limits = CollisionLimits()
        self._rest_wrench: Array = np.zeros(6)

    def begin(self) -> None:
        """Starts with a motion: the force at the wrist at this moment is no collision."""
        self._rest_wrench = self._wrench()

    def error(self, reference_rad: Array, path_share: Callable[[], float]) -> FollowingError | Collision | None:
        """Returns the error of joints that should follow the reference, if any, with the place on the path."""
        error = np.abs(self._drive.position_rad - reference_rad)
        worst = int(error.argmax())
        if error[worst] > FOLLOWING_LIMIT_RAD:
            return FollowingError(self._stopped(path_share, self._following_text(worst, float(error[worst]))))
        beyond = "" if self.limits == UNLIMITED else self._passed_limit()
        return Collision(self._stopped(path_share, beyond)) if beyond else None

    def _stopped(self, path_share: Callable[[], float], why: str) -> str:
        return f"{self._robot} stopped by contact after {100 * path_share():.0f} % of the path: {why}"

    def _following_text(self, worst: int, error_rad: float) -> str:
        joint = self._drive.figures.joints[worst].name
        felt = "something at the wrist holds it, "
        if np.linalg.norm(self._change()[:3]) < FELT_N:  # the arm itself is held, or its load is too heavy
            felt = f"{joint} pushes with {abs(self._drive.effort_nm[worst]):.0f} Nm, "
        off_deg, most_deg = np.degrees(error_rad), np.degrees(FOLLOWING_LIMIT_RAD)
        return f"{felt}{joint} is {off_deg:.1f} deg away from where it should be (limit {most_deg:.1f} deg)"

    def _passed_limit(self) -> str:
        """Returns the limit that is passed, as text; empty if none is.

        The text has no figure of the force: the wrist's sensor tells that, with its noise.
        """
        change = self._change()
        limits, joints = self.limits, self._drive.figures.joints
        if np.linalg.norm(change[:3]) > limits.force_n:
            return f"the force at the wrist is above its limit of {limits.force_n:.1f} N"
        if np.linalg.norm(change[3:]) > limits.torque_nm:
            return f"the torque at the wrist is above its limit of {limits.torque_nm:.1f} Nm"
        if np.isfinite(limits.effort_share):
            for joint, effort_nm in zip(joints, np.abs(self._drive.effort_nm), strict=True):
                if effort_nm > (most_nm := limits.effort_share * joint.effort_limit_nm):
                    return f"{joint.name} pushes with {effort_nm:.1f} Nm (limit {most_nm:.1f} Nm)"
        return ""

    def _change(self) -> Array:
        return self._wrench() - self._rest_wrench

    def _wrench(self) -> Array:
        index, readings = self._world.robot(self._robot), self._world.data.sensordata
        force, torque = index.force_sensor, index.torque_sensor
        return np.concatenate([readings[force : force + 3], readings[torque : torque + 3]])

"""Watching a motion: a joint that strays, a force that should not be there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.control.drive import Drive
from cellwright.control.state import Collision, CollisionLimits, FollowingError
from cellwright.sim import World

__all__ = ["Supervision"]

Array = npt.NDArray[np.float64]

FOLLOWING_LIMIT_RAD = 0.1
UNLIMITED = CollisionLimits()


class Supervision:
    """Looks at one arm while it moves.

    Attributes:
        limits: What counts as a collision.
    """

    def __init__(self, world: World, robot: str, drive: Drive) -> None:
        self._world, self._robot, self._drive = world, robot, drive
        self.limits = CollisionLimits()
        self._rest_wrench: Array = np.zeros(6)

    def begin(self) -> None:
        """A motion begins: the force at the wrist at this moment is no collision."""
        self._rest_wrench = self._wrench()

    def trouble(self, reference_rad: Array) -> FollowingError | Collision | None:
        """What is wrong with joints that should be there, if anything."""
        joints = self._drive.figures.joints
        error = np.abs(self._drive.position_rad - reference_rad)
        worst = int(error.argmax())
        if error[worst] > FOLLOWING_LIMIT_RAD:
            return FollowingError(self._robot, joints[worst].name, float(error[worst]), FOLLOWING_LIMIT_RAD)
        return None if self.limits == UNLIMITED else self._collision()

    def _collision(self) -> Collision | None:
        wrench = self._wrench() - self._rest_wrench
        for what, value, limit, unit in (
            ("the force at the wrist", float(np.linalg.norm(wrench[:3])), self.limits.force_n, "N"),
            ("the torque at the wrist", float(np.linalg.norm(wrench[3:])), self.limits.torque_nm, "Nm"),
        ):
            if value > limit:
                return Collision(self._robot, what, value, limit, unit)
        if np.isfinite(self.limits.effort_share):
            joints = self._drive.figures.joints
            for joint, effort in zip(joints, np.abs(self._drive.effort_nm), strict=True):
                if effort > self.limits.effort_share * joint.effort_limit_nm:
                    most = self.limits.effort_share * joint.effort_limit_nm
                    return Collision(self._robot, f"the effort of {joint.name}", float(effort), most, "Nm")
        return None

    def _wrench(self) -> Array:
        index, readings = self._world.robot(self._robot), self._world.data.sensordata
        force, torque = index.force_sensor, index.torque_sensor
        return np.concatenate([readings[force : force + 3], readings[torque : torque + 3]])

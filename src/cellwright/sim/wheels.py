"""The wheels of all mobile robots together: motor commands, step counters, and rolling without forces.

One array operation serves fifty robots as it serves one; a loop over robots would cost more than their physics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["Wheels"]

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


class Wheels:
    """Left and right wheel of every mobile robot, a row each.

    Attributes:
        rows: Robot -> its row.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.rows = {name: row for row, name in enumerate(world.mobiles)}
        placed = [world.layout.mobiles[name] for name in world.mobiles]
        self._steps_per_rad = np.array([[1 / robot.figures.step_rad] for robot in world.mobiles.values()])
        self._radii_m = np.array([robot.wheel_radii_m for robot in placed]).reshape(-1, 2)
        self._base_m = np.array([robot.wheel_base_m for robot in placed])
        world.bind(self._look_up)

    def _look_up(self) -> None:
        robots = self._world.mobiles.values()
        self._qpos = np.array([robot.wheel_qpos for robot in robots], np.intp).reshape(-1, 2)
        self._dof = np.array([robot.wheel_dof for robot in robots], np.intp).reshape(-1, 2)
        self._ctrl = np.array([robot.ctrl for robot in robots], np.intp).reshape(-1, 2)
        self._body = np.array([robot.qpos for robot in robots], np.intp)
        self._angles = self._world.data.qpos

    def counts(self) -> Counts:
        """Returns the whole steps that each wheel has turned since it was placed: (robots, 2)."""
        return np.asarray(np.rint(self._angles[self._qpos] * self._steps_per_rad).astype(np.int64))

    def command(self, row: int, left_radps: float, right_radps: float) -> None:
        """Commands the speeds of a robot's motors."""
        ctrl, (left, right) = self._world.data.ctrl, self._ctrl[row]
        ctrl[left], ctrl[right] = left_radps, right_radps

    def commanded(self, row: int) -> tuple[float, float]:
        """Returns the commanded speeds of a robot's motors."""
        left, right = self._world.data.ctrl[self._ctrl[row]]
        return float(left), float(right)

    def roll(self, duration_s: float) -> bool:
        """Moves all robots on exact arcs, as commanded and through obstacles; returns whether any moved."""
        if not self.rows:
            return False
        data = self._world.data
        speeds: Array = data.ctrl[self._ctrl]
        data.qvel[self._dof] = speeds
        if not speeds.any():
            return False
        turned = speeds * duration_s
        travel = turned * self._radii_m
        ahead, turn = travel.mean(axis=1), (travel[:, 1] - travel[:, 0]) / self._base_m
        data.qpos[self._qpos] += turned
        w, z = data.qpos[self._body + 3], data.qpos[self._body + 6]
        yaw = 2 * np.arctan2(z, w)
        chord, middle = ahead * np.sinc(turn / (2 * np.pi)), yaw + turn / 2
        data.qpos[self._body] += chord * np.cos(middle)
        data.qpos[self._body + 1] += chord * np.sin(middle)
        data.qpos[self._body + 3], data.qpos[self._body + 6] = np.cos((yaw + turn) / 2), np.sin((yaw + turn) / 2)
        return True

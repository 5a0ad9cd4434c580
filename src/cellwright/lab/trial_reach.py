"""Which points of the world a robot's tool gets to from above: what the judge's oracle asks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.lab.lab import Lab
from cellwright.lab.reach import APPROACH_M, ArmStretch
from cellwright.motion import ArmKinematics

__all__ = ["PointReach"]

TURNS = 3  # of the tool about the vertical; any of them will do


class PointReach:
    """Asks the inverse kinematics, by the drawings; answers are kept, to the millimetre."""

    def __init__(self, lab: Lab) -> None:
        self._arms = {}
        for name, robot in lab.world.robots.items():
            tcp = Pose.from_xyz_rpy(robot.tool.figures.tcp_xyz_m if robot.tool else (0.0, 0.0, 0.0))
            home_rad = np.radians(lab.cell.robots[name].home_deg)
            stretch, arm = ArmStretch(robot.figures), ArmKinematics(robot.figures)
            self._arms[name] = (arm, stretch, lab.nominal.bases[name].inverse(), tcp.inverse(), home_rad)
        self._known: dict[tuple[str, int, int, int], bool] = {}

    def __call__(self, robot: str, point_in_world_m: npt.NDArray[np.float64]) -> bool:
        """Whether the tool gets there, and to the approach above."""
        x, y, z = (round(float(value) * 1000) for value in point_in_world_m)
        key = (robot, x, y, z)
        if key not in self._known:
            self._known[key] = self._ask(robot, np.asarray(point_in_world_m))
        return self._known[key]

    def _ask(self, robot: str, point: npt.NDArray[np.float64]) -> bool:
        arm, stretch, world_in_base, flange_in_tcp, home_rad = self._arms[robot]
        for turn in range(TURNS):
            down = [np.pi, 0.0, turn * np.pi / TURNS]
            poses = [
                world_in_base @ Pose.from_xyz_rpy(point + [0.0, 0.0, height_m], down) @ flange_in_tcp
                for height_m in (0.0, APPROACH_M)
            ]
            if any(map(stretch.too_far, poses)):  # to search for what is plainly too far away takes longest
                return False
            if all(len(found) for found in arm.inverse_of_many(poses, home_rad)):
                return True
        return False

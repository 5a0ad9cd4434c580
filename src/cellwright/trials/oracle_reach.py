"""The points of the world that a robot's tool reaches from above, for the judge's oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS
from cellwright.core.pose import Pose
from cellwright.drawings.reach import APPROACH_M, WristRange
from cellwright.lab.lab import Lab
from cellwright.motion import ArmKinematics
from cellwright.sim import RobotIndex

__all__ = ["PointReach"]

TURNS = 3  # of the tool about the vertical; any of them will do


class PointReach:
    """Asks the inverse kinematics, by the drawings; answers are kept, to the millimetre."""

    def __init__(self, lab: Lab) -> None:
        self._arms = {}
        self._flange_in_tcp: dict[tuple[str, str], Pose] = {}
        for name, robot in lab.world.robots.items():
            home_rad = np.radians(lab.cell.robots[name].home_deg)
            stretch, arm = WristRange(robot.figures), ArmKinematics(robot.figures)
            self._arms[name] = (arm, stretch, lab.nominal.bases[name].inverse(), home_rad)
            for tool, tcp_m in _tips(lab, robot):
                self._flange_in_tcp[name, tool] = Pose.from_xyz_rpy(tcp_m).inverse()
        self._known: dict[tuple[str, str, int, int, int], bool] = {}

    def __call__(self, robot: str, point_in_world_m: npt.NDArray[np.float64], tool: str = "") -> bool:
        """Returns whether a robot gets there, and to the approach above.

        Args:
            robot: The robot.
            point_in_world_m: The point.
            tool: With which tool, of those that robots change; without a name, with its own one or its bare changer.
        """
        x, y, z = (round(float(value) * 1000) for value in point_in_world_m)
        key = (robot, tool, x, y, z)
        if key not in self._known:
            self._known[key] = self._ask(robot, tool, np.asarray(point_in_world_m))
        return self._known[key]

    def _ask(self, robot: str, tool: str, point: npt.NDArray[np.float64]) -> bool:
        arm, stretch, world_in_base, home_rad = self._arms[robot]
        if (flange_in_tcp := self._flange_in_tcp.get((robot, tool))) is None:
            return False
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


def _tips(lab: Lab, robot: RobotIndex) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Yields the tools of a robot with their tips in the flange: its own tool, or the changer and each tool for it."""
    if robot.changer is None:
        yield "", (0.0, 0.0, 0.0) if robot.hand is None else robot.hand.figures.tcp_xyz_m
        return
    yield "", robot.changer.figures.coupling_in_flange_m
    for name, tool in lab.cell.tools.items():
        yield name, robot.changer.figures.tcp_in_flange_m(TOOLS.get(tool.model).tcp_xyz_m)

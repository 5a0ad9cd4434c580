"""The points of the world that a robot's tool reaches, from above or in any pose, for the judge's oracle."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS
from cellwright.core.pose import Pose
from cellwright.drawings.reach import APPROACH_M, WristRange
from cellwright.lab.lab import Lab
from cellwright.motion import ArmKinematics
from cellwright.sim import RobotIndex, World

__all__ = ["PointReach"]

IntArray = npt.NDArray[np.intp]

TURNS = 3  # of the tool about the vertical; any of them will do
UPRIGHT = -0.94  # of a tool that points down within 20 degrees: the arm is above it
INSIDE_M = 0.002  # that links may be in furniture: their shapes are fatter than they are


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
        self._world, self._data = lab.world, copy(lab.world.data)
        self._solids = {name: _solids(lab.world, robot) for name, robot in lab.world.robots.items()}
        self._known: dict[tuple[str, str, int, int, int], bool] = {}

    def __call__(
        self,
        robot: str,
        point_in_world_m: npt.NDArray[np.float64],
        tool: str = "",
        *,
        pose_tool_in_world: Pose | None = None,
    ) -> bool:
        """Returns whether a robot gets there, and to the approach before.

        Args:
            robot: The robot.
            point_in_world_m: The point.
            tool: With which tool, of those that robots change; without a name, with its own one or its bare changer.
            pose_tool_in_world: The pose of the tool's centre point; without one it points down, at any turn.
        """
        if pose_tool_in_world is not None:
            return self._gets_to(robot, tool, pose_tool_in_world)
        x, y, z = (round(float(value) * 1000) for value in point_in_world_m)
        key = (robot, tool, x, y, z)
        if key not in self._known:
            down = [[np.pi, 0.0, turn * np.pi / TURNS] for turn in range(TURNS)]
            poses = (Pose.from_xyz_rpy(point_in_world_m, rpy) for rpy in down)
            self._known[key] = any(self._gets_to(robot, tool, pose) for pose in poses)
        return self._known[key]

    def _gets_to(self, robot: str, tool: str, pose_tcp: Pose) -> bool:
        arm, stretch, world_in_base, home_rad = self._arms[robot]
        if (flange_in_tcp := self._flange_in_tcp.get((robot, tool))) is None:
            return False
        if stretch.is_beyond(world_in_base.apply(pose_tcp.position), float(np.linalg.norm(flange_in_tcp.position))):
            return False
        poses = [
            world_in_base @ pose_tcp @ Pose.from_xyz_rpy([0.0, 0.0, -away_m]) @ flange_in_tcp
            for away_m in (0.0, APPROACH_M)
        ]
        if any(map(stretch.too_far, poses)):  # to search for what is plainly too far away takes longest
            return False
        postures = arm.inverse_of_many(poses, home_rad)
        if pose_tcp.rotation_matrix[2, 2] < UPRIGHT:
            return all(len(found) for found in postures)
        return all(any(self._is_clear(robot, joints_rad) for joints_rad in found) for found in postures)

    def _is_clear(self, robot: str, joints_rad: npt.NDArray[np.float64]) -> bool:
        """Returns whether an arm in a posture keeps out of the furniture; its tool is looked at elsewhere."""
        world, data = self._world, self._data
        model, index = world.model, world.robots[robot]
        data.qpos[index.qpos] = joints_rad + world.layout.joint_zeros_rad[robot]
        mujoco.mj_kinematics(model, data)
        links, fixed = self._solids[robot]
        apart_m = np.linalg.norm(data.geom_xpos[links][:, None] - data.geom_xpos[fixed], axis=2)
        radii_m = model.geom_rbound[links][:, None] + model.geom_rbound[fixed]
        near = (apart_m < radii_m) | (model.geom_rbound[fixed] == 0)
        return all(
            mujoco.mj_geomDistance(model, data, int(links[row]), int(fixed[column]), 0.0, None) > -INSIDE_M
            for row, column in np.argwhere(near)
        )


def _solids(world: World, robot: RobotIndex) -> tuple[IntArray, IntArray]:
    """Returns the geoms of an arm's moving links, without its tool, and those of all furniture."""
    model, hand = world.model, set(robot.fixed_bodies)
    is_arm = model.body_rootid[model.geom_bodyid] == model.body_rootid[robot.base_body]
    is_fixed = model.body_weldid[model.geom_bodyid] == 0
    is_hand = np.isin(model.geom_bodyid, list(hand))
    return np.flatnonzero(is_arm & ~is_fixed & ~is_hand), np.flatnonzero(is_fixed & ~is_arm)


def _tips(lab: Lab, robot: RobotIndex) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Yields the tools of a robot with their tips in the flange: its own tool, or the changer and each tool for it."""
    if robot.changer is None:
        yield "", (0.0, 0.0, 0.0) if robot.hand is None else robot.hand.figures.tcp_xyz_m
        return
    yield "", robot.changer.figures.coupling_in_flange_m
    for name, tool in lab.cell.tools.items():
        yield name, robot.changer.figures.tcp_in_flange_m(TOOLS.get(tool.model).tcp_xyz_m)

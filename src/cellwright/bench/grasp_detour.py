"""An arm that takes detours with what it carries: the random part of a trial's way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.bench.grasp_monitor import GraspMonitor
from cellwright.control import RobotController
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.motion import LineMove, LineSpeed

__all__ = ["DetourArm"]

MOST_VIAS = 3
VIA_SPREAD_M = (0.22, 0.18)  # about the middle between start and target
VIA_HEIGHT_M = (0.10, 0.25)  # above the target
VIA_YAW_RAD = np.radians(60)
VIA_DRAWS = 50
LINE_SPEED = LineSpeed(speed_mps=0.4)
JOINT_SPEED = 0.6


class DetourArm:
    """An arm that goes through random points, by joint moves and lines, whenever it carries something."""

    def __init__(self, arm: RobotController, watch: GraspMonitor, random: np.random.Generator) -> None:
        self._arm, self._watch, self._random = arm, watch, random
        self._carrying = False
        self.vias: list[Pose] = []

    async def move_tool(self, pose_tool_in_world: Pose, speed: float = 1.0) -> None:
        """Moves the tool to a pose; with something in the hand through some other poses first."""
        if self._carrying:
            for _ in range(self._random.integers(1, MOST_VIAS + 1)):
                await self._move_via(pose_tool_in_world)
        await self._arm.move_tool(pose_tool_in_world, speed)

    async def move_tool_straight(self, pose_tool_in_world: Pose, speed: LineSpeed) -> None:
        """Moves as the arm does."""
        await self._arm.move_tool_straight(pose_tool_in_world, speed)

    async def move_home(self, speed: float = 1.0) -> None:
        """Moves as the arm does."""
        await self._arm.move_home(speed)

    async def open_gripper(self) -> float:
        """Opens as the arm does; nothing is carried any more."""
        self._carrying = False
        self._watch.open()
        return await self._arm.open_gripper()

    async def close_gripper(self) -> float:
        """Closes as the arm does; what is between the fingers is carried from now on."""
        width_m = await self._arm.close_gripper()
        self._carrying = True
        self._watch.close()
        return width_m

    async def _move_via(self, goal: Pose) -> None:
        """Moves to one random pose within reach, half of the times along a line."""
        arm, random = self._arm, self._random
        straight = bool(random.integers(2))
        for _ in range(VIA_DRAWS):
            pose = self._draw(goal)
            flange = arm.ring.flange_for_tool(pose)
            try:
                arm.kinematics.nearest(flange, arm.joints_rad)
                if straight:
                    LineMove(arm.kinematics, arm.joints_rad, flange, LINE_SPEED)
            except JobFailed:
                continue
            self.vias.append(pose)
            if straight:
                await arm.move_tool_straight(pose, LINE_SPEED)
            else:
                await arm.move_tool(pose, JOINT_SPEED)
            return
        raise JobFailed(f"no via point was found in {VIA_DRAWS} draws")

    def _draw(self, goal: Pose) -> Pose:
        here: npt.NDArray[np.float64] = self._arm.tool_in_world.position
        middle = (here + goal.position) / 2
        x, y = self._random.uniform(-1, 1, 2) * VIA_SPREAD_M
        z = self._random.uniform(*VIA_HEIGHT_M)
        yaw_rad = self._random.uniform(-VIA_YAW_RAD, VIA_YAW_RAD)
        height_m = goal.position[2] + z
        return Pose.from_xyz_rpy([middle[0] + x, middle[1] + y, height_m], [np.pi, 0.0, yaw_rad])

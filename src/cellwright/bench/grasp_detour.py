"""An arm that takes detours with what it carries: the random part of a trial's way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.control import RobotController
from cellwright.core.errors import JobFailed
from cellwright.core.loop import WaitClock
from cellwright.core.pose import Pose
from cellwright.lab import DirectArm
from cellwright.motion import LineMove, LineSpeed

__all__ = ["DetourArm"]

MOST_VIAS = 3
VIA_SPREAD_M = (0.22, 0.18)  # about the middle between start and target
VIA_HEIGHT_M = (0.10, 0.25)  # above the target
VIA_YAW_RAD = np.radians(60)
VIA_DRAWS = 50
LINE_SPEED = LineSpeed(speed_mps=0.4)


class DetourArm(DirectArm):
    """An arm that goes through random points, by joint moves and lines, whenever it carries something.

    Attributes:
        is_carrying: Whether it does.
        vias: The points so far.
    """

    def __init__(self, robot: RobotController, clock: WaitClock, random: np.random.Generator) -> None:
        super().__init__(robot, clock, joint_speed=1.0)
        self.is_carrying = False
        self.vias = list[Pose]()
        self._random = random

    async def move(self, pose_tool_in_world: Pose, speed_mps: float, *, straight: bool = True) -> None:
        """Moves the tool to a pose; with something in the hand, by any path: through some other poses first."""
        if self.is_carrying and not straight:
            for _ in range(self._random.integers(1, MOST_VIAS + 1)):
                await self._move_via(pose_tool_in_world)
        await super().move(pose_tool_in_world, speed_mps, straight=straight)

    async def _move_via(self, goal: Pose) -> None:
        """Moves to one random pose within reach, half of the times along a line."""
        arm, random = self.robot, self._random
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
                await arm.move_tool(pose, self.joint_speed)
            return
        raise JobFailed(f"no via point was found in {VIA_DRAWS} draws")

    def _draw(self, goal: Pose) -> Pose:
        here: npt.NDArray[np.float64] = self.robot.tool_in_world.position
        middle = (here + goal.position) / 2
        x, y = self._random.uniform(-1, 1, 2) * VIA_SPREAD_M
        z = self._random.uniform(*VIA_HEIGHT_M)
        yaw_rad = self._random.uniform(-VIA_YAW_RAD, VIA_YAW_RAD)
        height_m = goal.position[2] + z
        return Pose.from_xyz_rpy([middle[0] + x, middle[1] + y, height_m], [np.pi, 0.0, yaw_rad])

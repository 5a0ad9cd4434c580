"""A robot in process for those who pick and place: its controller, with no CRCL between."""

from __future__ import annotations

import numpy as np

from cellwright.control import RobotController
from cellwright.core.loop import WaitClock
from cellwright.core.pose import Pose
from cellwright.execution import HandReading, Recipe
from cellwright.execution.arm import JOINT_SPEED_RADPS
from cellwright.motion import LineSpeed, Motion

__all__ = ["DirectArm"]


class DirectArm:
    """A robot controller as an arm of `execution`.

    Args:
        robot: The controller, as `lab.robot` gives it.
        clock: The laboratory's.
        recipe: Speeds and distances; the executor's when not given.
        joint_speed: Share of the joints' speed when the path is free.
        force_n: Of each finger; the catalogue's when not given.
    """

    waits_for_tool = True

    def __init__(
        self,
        robot: RobotController,
        clock: WaitClock,
        recipe: Recipe | None = None,
        *,
        joint_speed: float = 0.6,
        force_n: float | None = None,
    ) -> None:
        self.robot = robot
        self.recipe = recipe or Recipe()
        self.joint_speed = joint_speed
        self._clock = clock
        self._force_n = force_n

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.robot.name

    async def read(self) -> HandReading:
        """Returns the current state of the tool."""
        tool, pose = self.robot.tool, self.robot.tool_in_world
        width_m = self.robot.gripper.width_m if self.robot.has_gripper else 0.0
        return HandReading(pose, tool.name if tool else "", width_m, bool(tool and tool.holding))

    async def move(self, pose_tool_in_world: Pose, speed_mps: float, *, straight: bool = True) -> None:
        """Moves the tool to a pose, along a line or by joint motion."""
        if straight:
            speed = LineSpeed(speed_mps, self.recipe.acceleration_mps2)
            await self.robot.move_tool_straight(pose_tool_in_world, speed)
        else:
            await self.robot.move_tool(pose_tool_in_world, self.joint_speed)

    async def follow(self, motion: Motion) -> None:
        """Follows a motion from where the arm stands."""
        await self.robot.follow(motion)

    async def set_tool(self, setting: float) -> HandReading:
        """Opens fingers (1) or closes them (0); of cups, starts their pump (1) or stops it (0)."""
        if self.robot.has_gripper:
            self.robot.gripper.next_force_n = None if setting else self._force_n
        if self.robot.tool is not None:
            await self.robot.tool.set(setting)
        return await self.read()

    @property
    def rest_point(self) -> tuple[float, float, float]:
        """The position of its tool, in the world, in the configuration in which the cell starts."""
        x, y, z = self.robot.ring.tool_in_world(self.robot.kinematics.forward(self.robot.home_rad)).position.tolist()
        return x, y, z

    async def rest(self, aside_rad: float = 0.0, speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Moves to the configuration in which the cell starts, turned aside about the first, upright axis."""
        fastest = min(joint.velocity_limit_radps for joint in self.robot.kinematics.arm.joints)
        goal = self.robot.home_rad + aside_rad * np.eye(len(self.robot.home_rad))[0]
        await self.robot.move_joints(goal, min(1.0, speed_radps / fastest))

    async def change_tool(self, *, lock: bool) -> None:
        """Locks the tool that is under the flange, or lets go of the one that is on it."""
        await (self.robot.tool_changer.close() if lock else self.robot.tool_changer.open())

    async def dwell(self, duration_s: float) -> None:
        """Waits without moving."""
        await self._clock.sleep(duration_s)

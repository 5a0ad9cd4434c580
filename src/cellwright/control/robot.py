"""One robot's controller: joint moves, straight lines, the gripper."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.control.gripper import Gripper
from cellwright.control.servo import JointServo
from cellwright.core.errors import JobFailed
from cellwright.core.loop import WaitClock
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.motion import ArmKinematics, JointMove, LineMove, LineSpeed
from cellwright.sim import Stepper, World

__all__ = ["RobotController"]

Array = npt.NDArray[np.float64]


class RobotController:
    """What drives one arm and its gripper. It believes the nominal robot: the drawings' base, the catalogue's tool.

    Attributes:
        ring: The chain from the world to the tool, as the drawings have it.
        kinematics: The nominal arm.
    """

    def __init__(self, world: World, stepper: Stepper, clock: WaitClock, robot: str, pose_base_in_world: Pose) -> None:
        index = world.robot(robot)
        self.name = robot
        self.kinematics = ArmKinematics(index.figures)
        tool = index.tool
        pose_tcp = Pose.from_xyz_rpy(tool.figures.tcp_xyz_m) if tool else Pose.identity()
        self.ring = KinematicRing(pose_base_in_world, pose_tcp)
        self._servo = JointServo(world, stepper, robot)
        self._gripper = Gripper(world, robot, clock) if tool else None
        self._home_rad = np.radians(world.cell.robots[robot].home_deg)

    @property
    def joints_rad(self) -> Array:
        """What the encoders say."""
        return self._servo.position_rad

    @property
    def moving(self) -> bool:
        """Whether a motion is in progress."""
        return self._servo.moving

    @property
    def tool_in_world(self) -> Pose:
        """Where the controller believes its tool to be."""
        return self.ring.tool_in_world(self.kinematics.forward(self.joints_rad))

    async def move_joints(self, goal_rad: npt.ArrayLike, speed: float = 1.0) -> None:
        """All joints to a configuration, at a fraction of the arm's speed."""
        await self._servo.follow(JointMove(self.kinematics.arm, self._servo.set_point_rad, goal_rad, speed))

    async def move_home(self, speed: float = 1.0) -> None:
        """Back to the configuration in which the cell starts."""
        await self.move_joints(self._home_rad, speed)

    async def move_tool(self, pose_tool_in_world: Pose, speed: float = 1.0) -> None:
        """The tool to a pose by the shortest joint move; the path between is not straight."""
        await self.move_joints(self._solve(pose_tool_in_world), speed)

    async def move_tool_straight(self, pose_tool_in_world: Pose, speed: LineSpeed) -> None:
        """The tool to a pose along a straight line."""
        goal = self.ring.flange_for_tool(pose_tool_in_world)
        await self._servo.follow(LineMove(self.kinematics, self._servo.set_point_rad, goal, speed))

    async def open_gripper(self) -> float:
        """Opens the gripper; returns its width in metres."""
        return await self._require_gripper().open()

    async def close_gripper(self) -> float:
        """Closes the gripper; returns the width at which it stopped."""
        return await self._require_gripper().close()

    def _require_gripper(self) -> Gripper:
        if self._gripper is None:
            raise JobFailed(f"{self.name} has no gripper")
        return self._gripper

    def _solve(self, pose_tool_in_world: Pose) -> Array:
        return self.kinematics.nearest(self.ring.flange_for_tool(pose_tool_in_world), self._servo.set_point_rad)

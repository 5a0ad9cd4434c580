"""One robot's controller: joint moves, straight lines, direct commands, stops, inputs and outputs, the gripper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.control.control_block import Payload
from cellwright.control.drive import CommandMode
from cellwright.control.error_context import caller_error_context
from cellwright.control.gripper import GraspResult, Gripper
from cellwright.control.io import DigitalIo
from cellwright.control.servo import JointServo
from cellwright.control.state import CollisionLimits, RobotState
from cellwright.control.tool import ToolController
from cellwright.control.tool_changer import ToolChanger
from cellwright.control.vacuum import Vacuum
from cellwright.core.bus import Bus
from cellwright.core.errors import JobFailed
from cellwright.core.loop import WaitClock
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.motion import ArmKinematics, JointMove, LineMove, LineSpeed, Motion, StopCategory, ThroughMove
from cellwright.sim import Stepper, World

__all__ = ["RobotController"]

Array = npt.NDArray[np.float64]


class RobotController:
    """What drives one arm and its gripper. It believes the nominal robot: the drawings' base, the catalogue's tool.

    Attributes:
        ring: The chain from the world to the tool, as the drawings have it.
        kinematics: The nominal arm.
        io: Named digital inputs and outputs.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        clock: WaitClock,
        robot: str,
        pose_base_in_world: Pose,
        bus: Bus | None = None,
    ) -> None:
        index = world.robot(robot)
        self.name = robot
        self.kinematics = ArmKinematics(index.figures)
        self.ring = KinematicRing(pose_base_in_world, Pose.from_xyz_rpy(index.tcp_in_flange_m))
        self.io = DigitalIo(robot, world.clock, bus)
        world.add_component(f"{robot} io", self.io)
        self._servo = JointServo(world, stepper, robot, pose_base_in_world)
        self._world = world
        self._gripper = Gripper(world, robot, clock)
        self._vacuum = Vacuum(world, robot, clock)
        self._changer = ToolChanger(world, robot, clock) if index.changer else None
        world.bind(self._look_up_tool)
        self._home_rad = np.radians(world.cell.robots[robot].home_deg)

    @property
    def joints_rad(self) -> Array:
        """What the encoders say."""
        return self._servo.position_rad

    @property
    def set_point_rad(self) -> Array:
        """Where the arm is held: the start of the next motion."""
        return self._servo.set_point_rad

    @property
    def home_rad(self) -> Array:
        """The configuration in which the cell starts."""
        return self._home_rad.copy()

    @property
    def velocity_radps(self) -> Array:
        """How fast the joints turn."""
        return self._servo.drive.velocity_radps

    @property
    def effort_nm(self) -> Array:
        """The torque of each joint's drive."""
        return self._servo.drive.effort_nm

    @property
    def moving(self) -> bool:
        """Whether a motion is in progress."""
        return self._servo.moving

    @property
    def state(self) -> RobotState:
        """What the robot is doing."""
        return self._servo.state

    @property
    def reason(self) -> str:
        """Why it was stopped or is in fault; empty otherwise."""
        return self._servo.reason

    @property
    def mode(self) -> CommandMode:
        """What the drives take as their commands."""
        return self._servo.drive.mode

    @property
    def controller(self) -> str:
        """The name of the controller that follows motions."""
        return self._servo.commander.chosen[0]

    @property
    def collision_limits(self) -> CollisionLimits:
        """What counts as a collision; nothing, unless told."""
        return self._servo.supervision.limits

    @collision_limits.setter
    def collision_limits(self, limits: CollisionLimits) -> None:
        self._servo.supervision.limits = limits

    @property
    def override(self) -> float:
        """Share of the speed of all motions, 0 to 1, as an operator turns it: of the present one and those to come."""
        return self._servo.override

    @override.setter
    def override(self, share: float) -> None:
        self._servo.override = share

    @property
    def tool_in_world(self) -> Pose:
        """Where the controller believes its tool to be."""
        return self.ring.tool_in_world(self.kinematics.forward(self.joints_rad))

    def use_controller(self, name: str, **gains: Any) -> None:
        """Has another controller follow motions and hold the arm, by its registered name."""
        self._servo.use(name, **gains)

    def set_payload(self, payload: Payload) -> None:
        """Declares what the arm carries beyond its tool, to controllers that reckon with it."""
        self._servo.carry(payload)

    def set_mode(self, mode: CommandMode | str) -> None:
        """Has the drives take commands of one kind, without a jump; motions need mode position."""
        self._servo.take_commands(CommandMode(mode))

    def command(self, values: npt.ArrayLike) -> None:
        """Angles, speeds or torques for the drives, by the mode; they hold until the next ones."""
        self._servo.command(values)

    def limit_effort(self, caps_nm: Mapping[int, float | None]) -> None:
        """Has some joints, counted from 0, push no harder than so beyond the arm's weight; None takes that back."""
        self._servo.drive.cap_effort(caps_nm)

    def stop(self, category: StopCategory = StopCategory.FAST, reason: str = "commanded", *, lock: str = "") -> None:
        """Stops the arm; with a lock it cannot move before `reset(lock)`."""
        self._servo.stop(category, reason, lock=lock)

    def pause(self) -> None:
        """Slows the motion down on its path and waits there."""
        self._servo.pause()

    def resume(self) -> None:
        """Goes on with a paused motion."""
        self._servo.resume()

    def reset(self, lock: str = "") -> None:
        """Ends a fault or takes away a lock."""
        self._servo.reset(lock)

    def require_unlocked(self) -> None:
        """Whether a motion may begin.

        Raises:
            NotReady: otherwise; says why.
        """
        self._servo.require_unlocked()

    @property
    def path_share(self) -> float | None:
        """How much of the present motion lies behind, 0 to 1; None when there is none."""
        return self._servo.path_share

    async def follow(self, motion: Motion, stretch: tuple[float, float] = (0.0, 1.0)) -> None:
        """Any motion of the joints that begins where they are; `stretch` says which part of a longer path it is."""
        await self._servo.follow(motion, stretch)

    async def move_joints(self, goal_rad: npt.ArrayLike, speed: float = 1.0) -> None:
        """All joints to a configuration, at a fraction of the arm's speed."""
        await self._servo.follow(JointMove(self.kinematics.arm, self._servo.set_point_rad, goal_rad, speed))

    async def move_home(self, speed: float = 1.0) -> None:
        """Back to the configuration in which the cell starts."""
        await self.move_joints(self._home_rad, speed)

    async def move_tool(self, pose_tool_in_world: Pose, speed: float = 1.0) -> None:
        """The tool to a pose by the shortest joint move; the path between is not straight."""
        await self.move_joints(self.joints_for(pose_tool_in_world), speed)

    async def move_tool_straight(self, pose_tool_in_world: Pose, speed: LineSpeed) -> None:
        """The tool to a pose along a straight line."""
        goal, tool = self._in_base(pose_tool_in_world), self.ring.pose_tool_in_flange
        with self._error_context():
            motion = LineMove(self.kinematics, self.set_point_rad, goal, speed, tool=tool)
        await self._servo.follow(motion)

    async def move_through(self, poses_tool_in_world: Sequence[Pose], speed: LineSpeed, blend_m: float) -> None:
        """The tool straight from pose to pose to rest at the last, with no halt: others are passed within `blend_m`."""
        goals, tool = [self._in_base(pose) for pose in poses_tool_in_world], self.ring.pose_tool_in_flange
        with self._error_context():
            motion = ThroughMove(self.kinematics, self.set_point_rad, goals, speed, blend_m, tool=tool)
        await self._servo.follow(motion)

    async def open_gripper(self) -> float:
        """Opens the gripper; returns its width in metres."""
        return await self.gripper.open()

    async def close_gripper(self) -> float:
        """Closes the gripper; returns the width at which it stopped."""
        return await self.gripper.close()

    async def move_gripper(self, width_m: float, force_n: float | None = None) -> GraspResult:
        """Moves the fingers to a width with a force; says where they came to rest, and whether they hold."""
        return await self.gripper.move(width_m, force_n)

    @property
    def has_gripper(self) -> bool:
        """Whether one is mounted."""
        return self._world.robot(self.name).tool is not None

    @property
    def gripper(self) -> Gripper:
        """The mounted gripper.

        Raises:
            JobFailed: when there is none.
        """
        if not self.has_gripper:
            raise JobFailed(f"{self.name} has no gripper")
        return self._gripper

    @property
    def tool(self) -> ToolController | None:
        """The tool that is mounted now, whatever kind it is of."""
        index = self._world.robot(self.name)
        return self._gripper if index.tool else self._vacuum if index.vacuum else None

    @property
    def vacuum(self) -> Vacuum:
        """The mounted vacuum tool.

        Raises:
            JobFailed: when there is none.
        """
        if self._world.robot(self.name).vacuum is None:
            raise JobFailed(f"{self.name} has no vacuum tool")
        return self._vacuum

    @property
    def has_tool_changer(self) -> bool:
        """Whether it has one."""
        return self._changer is not None

    @property
    def tool_changer(self) -> ToolChanger:
        """The changer on its flange.

        Raises:
            JobFailed: when there is none.
        """
        if self._changer is None:
            raise JobFailed(f"{self.name} has no tool changer")
        return self._changer

    def _look_up_tool(self) -> None:
        """Another tool is another centre point."""
        tcp_m = self._world.robot(self.name).tcp_in_flange_m
        if tuple(self.ring.pose_tool_in_flange.position) != tcp_m:
            self.ring = self.ring.with_tool(Pose.from_xyz_rpy(tcp_m))

    def _in_base(self, pose_in_world: Pose) -> Pose:
        return self.ring.pose_base_in_world.inverse() @ pose_in_world

    def joints_for(self, pose_tool_in_world: Pose) -> Array:
        """Returns the configuration nearest to the present one that brings the tool there."""
        with self._error_context():
            return self.kinematics.nearest(self.ring.flange_for_tool(pose_tool_in_world), self._servo.set_point_rad)

    def _error_context(self) -> AbstractContextManager[None]:
        return caller_error_context(
            self.name, self.kinematics.arm.name, self.ring.tool_in_world, "its tool in the cell"
        )

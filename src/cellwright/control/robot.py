"""One robot's controller: joint moves, straight lines, direct commands, stops, inputs and outputs, the gripper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

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
from cellwright.core.rich_text import html_table
from cellwright.core.ring import KinematicRing
from cellwright.motion import ArmKinematics, JointMove, LineMove, LineSpeed, Motion, StopCategory, ThroughMove
from cellwright.motion.dynamics import Payload
from cellwright.sim import Stepper, World

__all__ = ["RobotController"]

Array = npt.NDArray[np.float64]
LINE_SPEED = LineSpeed()


class RobotController:
    """The controller of one arm and its tool. It knows the nominal robot: the drawings' base, the catalogue's tool.

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
        """Joint angles by the encoders."""
        return self._servo.position_rad

    @property
    def set_point_rad(self) -> Array:
        """The angles at which the arm is held: the start of the next motion."""
        return self._servo.set_point_rad

    @property
    def home_rad(self) -> Array:
        """The configuration in which the cell starts."""
        return self._home_rad.copy()

    @property
    def velocity_radps(self) -> Array:
        """Joint speeds."""
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
        """The state of the robot."""
        return self._servo.state

    @property
    def reason(self) -> str:
        """The reason why it was stopped or is in fault; empty otherwise."""
        return self._servo.reason

    @property
    def mode(self) -> CommandMode:
        """The kind of commands that the drives take."""
        return self._servo.drive.mode

    @property
    def controller(self) -> str:
        """The name of the controller that follows motions."""
        return self._servo.commander.chosen[0]

    @property
    def collision_limits(self) -> CollisionLimits:
        """The limits beyond which a motion counts as a collision; infinite by default."""
        return self._servo.supervision.limits

    @collision_limits.setter
    def collision_limits(self, limits: CollisionLimits) -> None:
        self._servo.supervision.limits = limits

    @property
    def override(self) -> float:
        """The speed override, 0 to 1: of the present motion and those to come."""
        return self._servo.override

    @override.setter
    def override(self, share: float) -> None:
        self._servo.override = share

    @property
    def tool_in_world(self) -> Pose:
        """The pose of the tool by the encoders and the nominal robot."""
        return self.ring.tool_in_world(self.kinematics.forward(self.joints_rad))

    def use_controller(self, name: str, **gains: Any) -> None:
        """Has another controller follow motions and hold the arm, by its registered name."""
        self._servo.use(name, **gains)

    def set_payload(self, payload: Payload) -> None:
        """Declares the load beyond the tool, for controllers that model it."""
        self._servo.set_payload(payload)

    def set_mode(self, mode: CommandMode | str) -> None:
        """Switches the drives to commands of one kind, without a jump; motions need mode position."""
        self._servo.take_commands(CommandMode(mode))

    def command(self, values: npt.ArrayLike, velocity_radps: npt.ArrayLike | None = None) -> None:
        """Commands angles, speeds or torques, by the mode; they hold until the next ones.

        Args:
            values: For every joint.
            velocity_radps: Beside angles: the speeds of a set point that moves on.
        """
        self._servo.command(values, velocity_radps)

    def limit_effort(self, caps_nm: Mapping[int, float | None]) -> None:
        """Caps the torque of some joints, counted from 0, beyond the arm's weight; None removes the cap."""
        self._servo.drive.cap_effort(caps_nm)

    def stop(self, category: StopCategory = StopCategory.FAST, reason: str = "commanded", *, lock: str = "") -> None:
        """Stops the arm; with a lock it cannot move before `reset(lock)`."""
        self._servo.stop(category, reason, lock=lock)

    def hold(self) -> None:
        """Has the servos hold the arm where it stands, whatever commanded it before."""
        self._servo.commander.halt()

    def pause(self) -> None:
        """Slows the motion down on its path and waits there."""
        self._servo.pause()

    def resume(self) -> None:
        """Goes on with a paused motion."""
        self._servo.resume()

    def reset(self, lock: str = "") -> None:
        """Ends a fault or removes a lock."""
        self._servo.reset(lock)

    def require_unlocked(self) -> None:
        """Checks that a motion may begin.

        Raises:
            NotReady: otherwise; says why.
        """
        self._servo.require_unlocked()

    @property
    def path_share(self) -> float | None:
        """The share of the present motion that is done, 0 to 1; None when there is none."""
        return self._servo.path_share

    async def follow(self, motion: Motion, stretch: tuple[float, float] = (0.0, 1.0)) -> None:
        """Follows any motion that begins at the present angles; `stretch` says which part of a longer path it is."""
        await self._servo.follow(motion, stretch)

    async def move_joints(self, goal_rad: npt.ArrayLike, speed: float = 1.0) -> None:
        """Moves all joints to a configuration, at a fraction of the arm's speed."""
        await self._servo.follow(JointMove(self.kinematics.arm, self._servo.set_point_rad, goal_rad, speed))

    async def move_home(self, speed: float = 1.0) -> None:
        """Moves back to the configuration in which the cell starts."""
        await self.move_joints(self._home_rad, speed)

    async def move_tool(self, pose_tool_in_world: Pose, speed: float = 1.0) -> None:
        """Moves the tool to a pose by the shortest joint move; the path between is not straight."""
        await self.move_joints(self.joints_for(pose_tool_in_world), speed)

    async def move_tool_straight(self, pose_tool_in_world: Pose, speed: LineSpeed = LINE_SPEED) -> None:
        """Moves the tool to a pose along a straight line."""
        goal, tool = self._in_base(pose_tool_in_world), self.ring.pose_tool_in_flange
        with self._error_context():
            motion = LineMove(self.kinematics, self.set_point_rad, goal, speed, tool=tool)
        await self._servo.follow(motion)

    async def move_through(self, poses_tool_in_world: Sequence[Pose], speed: LineSpeed, blend_m: float) -> None:
        """Moves the tool straight from pose to pose without a halt: all but the last are passed within `blend_m`."""
        goals, tool = [self._in_base(pose) for pose in poses_tool_in_world], self.ring.pose_tool_in_flange
        with self._error_context():
            motion = ThroughMove(self.kinematics, self.set_point_rad, goals, speed, blend_m, tool=tool)
        await self._servo.follow(motion)

    async def move_gripper(self, width_m: float, force_n: float | None = None) -> GraspResult:
        """Moves the fingers to a width with a force; returns where they came to rest, and whether they hold."""
        return await self.gripper.move(width_m, force_n)

    @property
    def has_gripper(self) -> bool:
        """Whether a gripper is mounted."""
        return self._world.robot(self.name).gripper is not None

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
        """The mounted tool, of any kind."""
        index = self._world.robot(self.name)
        return self._gripper if index.gripper else self._vacuum if index.vacuum else None

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
        """Whether it has a tool changer."""
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

    def __repr__(self) -> str:
        tool = f" with {self.tool.name}" if self.tool else ""
        angles = ", ".join(_text(angle, 1) for angle in np.degrees(self.joints_rad))
        return f"<robot {self.name}, {self.kinematics.arm.name}{tool}: {self.state.value}; joints {angles} deg>"

    def _repr_html_(self) -> str:
        tool = self.tool_in_world
        angles, place, turn = np.degrees(self.joints_rad), tool.position, np.degrees(tool.rpy)
        rows = [(f"joint {n}", _text(angle, 2), "deg") for n, angle in enumerate(angles, 1)]
        rows += [(f"tool {axis}", _text(value, 4), "m") for axis, value in zip("xyz", place, strict=True)]
        rows += [(f"tool {n}", _text(angle, 2), "deg") for n, angle in zip(("roll", "pitch", "yaw"), turn, strict=True)]
        holding = f", {self.tool.name} holds {'something' if self.tool.holding else 'nothing'}" if self.tool else ""
        head = f"{self.name}, {self.kinematics.arm.name}: {self.state.value}{holding}"
        return html_table(head, ["by its encoders", "value []", "unit"], rows)

    def _look_up_tool(self) -> None:
        """Updates the tool centre point after a change of tools."""
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


def _text(number: float, digits: int) -> str:
    """Returns a number for people: not -0.00."""
    return f"{round(float(number), digits) + 0.0:.{digits}f}"

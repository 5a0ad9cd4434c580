"""Arms for ROS programs: the topics by which joints, poses and tools are commanded, and the states of all joints."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np

from cellwright.control import JointStream
from cellwright.core.errors import BadInput, CellwrightError, UnknownName
from cellwright.core.messages import JointState, ToolStatus
from cellwright.core.pose import Pose
from cellwright.interfaces.ros.checked import finite, pose_of, refusing, require_inside
from cellwright.interfaces.ros.graph import OfferedService, RosGraph, SubscribedTopic
from cellwright.interfaces.ros.robot_description import BASE_LINK, FINGER_SHARE, finger_joints
from cellwright.interfaces.ros.timed_joints import TimedJoints
from cellwright.lab.lab import Lab

__all__ = ["JOINT_STATES", "ArmCommands", "CellJointStates", "add_arm"]

POSE_TWIST, GRIPPER_COMMAND = "ur5_controllers/msg/PoseTwist", "control_msgs/msg/GripperCommand"
DEFINITIONS = {
    POSE_TWIST: "geometry_msgs/Pose pose\ngeometry_msgs/Twist twist\n",
    GRIPPER_COMMAND: "float64 position\nfloat64 max_effort\n",
}
JOINT_STATES = "/joint_states"
MOST_POINTS = 10_000  # of a trajectory
_log = logging.getLogger(__name__)


class ArmCommands:
    """Takes what ROS programs tell an arm and its tool.

    What lasts goes on after the message was taken; if it fails, the reason is logged and `failed` has it.

    Attributes:
        failed: Why the last motion or movement of the tool failed; empty when it did not.

    Args:
        lab: The laboratory.
        robot: The arm.
    """

    def __init__(self, lab: Lab, robot: str) -> None:
        self._lab = lab
        self._robot = lab.robot(robot)
        self._names = [joint.name for joint in self._robot.kinematics.arm.joints]
        self._stream = JointStream(self._robot, lab.stepper, lab.world.clock)
        self._following: asyncio.Task[None] | None = None
        self._tool_task: asyncio.Task[None] | None = None
        self._next_tool: Callable[[], Coroutine[Any, Any, object]] | None = None
        self._last_effort: float | None = None
        self.failed = ""

    def take_joints(self, state: Any, _sender: str) -> None:
        """Goes to the positions of a JointState; joints that it does not name stay."""
        position = finite("position", state.position)
        names = list(state.name) or self._names
        for key, values in (("velocity", state.velocity), ("effort", state.effort)):
            finite(key, values)
        if not len(position):
            raise BadInput(f"{self._robot.name} takes positions, and there are none in this JointState")
        if len(names) != len(position):
            raise BadInput(f"{len(names)} names with {len(position)} positions")
        goal = self._stream.goal_rad
        for name, value in zip(self._known(names), position, strict=True):
            goal[self._names.index(name)] = value
        with refusing():
            self._require_idle()
            self._stream.aim(goal)

    def take_pose(self, stamped: Any, _sender: str) -> None:
        """Goes to a pose of the tool's centre point, by the nearest configuration: the way is not straight."""
        pose = pose_of(stamped.pose)
        frames = ["world", f"{self._robot.name}/{BASE_LINK}"]
        frame = stamped.header.frame_id or frames[1]
        if frame not in frames:
            raise UnknownName("frame of a pose", frame, frames)
        ring = self._robot.ring
        in_world = pose if frame == "world" else ring.pose_base_in_world @ pose
        self._go_flange(ring.flange_for_tool(in_world))

    def take_pose_twist(self, command: Any, _sender: str) -> None:
        """Goes to a pose of the flange in the frame of the base; the twist says nothing that is needed."""
        twist = command.twist
        for part in (twist.linear, twist.angular):
            finite("twist", [part.x, part.y, part.z])
        self._go_flange(pose_of(command.pose))

    def take_trajectory(self, trajectory: Any, _sender: str) -> None:
        """Follows positions with their times, in place of the trajectory before; one without points stops the arm."""
        robot = self._robot
        if not trajectory.points:
            with refusing():
                self._stop_following()
            return
        if len(trajectory.points) > MOST_POINTS:
            raise BadInput(f"a trajectory has at most {MOST_POINTS} points, not {len(trajectory.points)}")
        names = self._known(list(trajectory.joint_names))
        if len(names) != len(self._names):
            given = ", ".join(names) or "none"
            raise BadInput(f"a trajectory has all joints of {robot.name}, {', '.join(self._names)}, not {given}")
        order = [names.index(name) for name in self._names]
        times, rows, speeds = [], [], []
        for number, point in enumerate(trajectory.points, 1):
            position, velocity = finite("positions", point.positions), finite("velocities", point.velocities)
            if len(position) != len(order) or len(velocity) not in (0, len(order)):
                raise BadInput(f"point {number} has {len(position)} positions and {len(velocity)} velocities")
            times.append(point.time_from_start.sec + point.time_from_start.nanosec / 1e9)
            rows.append(position[order])
            speeds.append(velocity[order] if len(velocity) else None)
        with refusing():
            if self._following is None or self._following.done():
                robot.require_unlocked()
            motion = TimedJoints(times, rows, speeds)
            self._following = self._spawn(self._follow(self._stop_following(), motion))

    def take_gripper(self, command: Any, _sender: str) -> None:
        """Moves the fingers to a distance in metres; the largest effort is the force of each, 0 the gripper's own."""
        width_m, force_n = (float(value) for value in finite("command", [command.position, command.max_effort]))
        with refusing():
            gripper = self._robot.gripper
            require_inside("width", width_m, gripper.width_limits_m, "m")
            if force_n:
                require_inside("max_effort", force_n, gripper.force_limits_n, "N")
        self._move_tool(lambda: self._robot.move_gripper(width_m, force_n or None))

    def take_effort(self, effort: Any, _sender: str) -> None:
        """Closes the fingers with a negative force, opens them with a positive one; 0 and the same again do nothing."""
        (force_n,) = finite("effort", [effort.data])
        with refusing():
            gripper = self._robot.gripper
            if force_n:
                require_inside("effort", abs(force_n), gripper.force_limits_n, "N")
        if force_n and force_n != self._last_effort:
            closed_m, open_m = gripper.width_limits_m
            self._move_tool(lambda: self._robot.move_gripper(closed_m if force_n < 0 else open_m, abs(force_n)))
        self._last_effort = float(force_n)

    def take_tool(self, fraction: Any, _sender: str) -> None:
        """Moves fingers to a share of their width, or sets a pump to a share of its power."""
        (share,) = finite("share", [fraction.data])
        require_inside("share", share, (0.0, 1.0), "")
        tool = self._robot.tool
        if tool is None:
            raise BadInput(f"{self._robot.name} has no tool now")
        self._move_tool(lambda: tool.set(float(share)))

    async def stop(self, _request: dict[str, Any]) -> dict[str, Any]:
        """Stops the arm, whatever moves it; it can move again at once."""
        self._stream.cancel()
        self._robot.stop(reason="stopped by a ROS program")
        return {"success": True, "message": f"{self._robot.name} is {self._robot.state.value}"}

    async def reset(self, _request: dict[str, Any]) -> dict[str, Any]:
        """Ends a fault; a lock of the safety controller stays."""
        with refusing():
            self._robot.reset()
            self._robot.require_unlocked()
        return {"success": True, "message": f"{self._robot.name} is {self._robot.state.value}"}

    def _known(self, names: list[str]) -> list[str]:
        if len(names) > len(self._names):
            raise BadInput(
                f"{self._robot.name} has {len(self._names)} joints, {', '.join(self._names)}, not {len(names)}"
            )
        for name in names:
            if name not in self._names:
                raise UnknownName(f"joint of {self._robot.name}", name, self._names)
            if names.count(name) > 1:
                raise BadInput(f"joint {name} is named {names.count(name)} times")
        return names

    def _go_flange(self, pose_flange_in_base: Pose) -> None:
        with refusing():
            self._require_idle()
            self._stream.aim(self._robot.kinematics.nearest(pose_flange_in_base, self._stream.goal_rad))

    def _require_idle(self) -> None:
        if self._following is not None and not self._following.done():
            raise BadInput(f"{self._robot.name} follows a trajectory; one without points ends it")

    def _stop_following(self) -> asyncio.Task[None] | None:
        """Ends the stream, and the trajectory under way, which it returns."""
        self._stream.cancel()
        if (task := self._following) is not None and not task.done():
            task.cancel()
            return task
        return None

    async def _follow(self, before: asyncio.Task[None] | None, motion: TimedJoints) -> None:
        if before is not None:
            await asyncio.wait({before})
        self.failed = ""
        await self._robot.follow(motion.beginning_at(self._robot.set_point_rad))

    def _move_tool(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Moves the tool as soon as it is at rest; of several movements that wait the last one is made."""
        self._next_tool = work
        if self._tool_task is None or self._tool_task.done():
            self._tool_task = self._spawn(self._work_tool())

    async def _work_tool(self) -> None:
        while (work := self._next_tool) is not None:
            self._next_tool = None
            self.failed = ""
            try:
                await work()
            except CellwrightError as error:
                self._fail(error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        async def told() -> None:
            try:
                await work
            except CellwrightError as error:
                self._fail(error)

        return asyncio.get_running_loop().create_task(told())

    def _fail(self, error: CellwrightError) -> None:
        self.failed = str(error)
        _log.warning("%s", error)


class CellJointStates:
    """Publishes the states of all joints of an arm in one message, fingers included, on `/joint_states`.

    Joints are called as in `/robot_description`: in a cell with several arms with the arm's name before.

    Args:
        lab: The laboratory.
        robot: The arm.
    """

    def __init__(self, lab: Lab, robot: str) -> None:
        self._bus = lab.bus
        self._fingers = finger_joints(lab, robot)
        self._prefix = f"{robot}/" if len(lab.robots) > 1 else ""
        self._robot = robot
        self._tool: ToolStatus | None = None
        self._speed_mps = 0.0  # of the width
        self._sequence = 0
        for sensor in lab.sensors:
            if getattr(sensor.cfg, "robot", None) == robot and sensor.message_type in (JointState, ToolStatus):
                lab.bus.subscribe(sensor.topic, self._take, subscriber=f"{JOINT_STATES} of {robot}")
        lab.bus.declare(JOINT_STATES, JointState)

    def _take(self, _topic: str, message: JointState | ToolStatus) -> None:
        if isinstance(message, ToolStatus):
            if self._tool is not None and message.time_ns > self._tool.time_ns:
                self._speed_mps = (message.width_m - self._tool.width_m) * 1e9 / (message.time_ns - self._tool.time_ns)
            self._tool = message
        elif self._bus.is_waited_for(JOINT_STATES):
            fingers, tool = self._fingers, self._tool
            if tool is None:
                fingers = ()
            each = np.full(len(fingers), FINGER_SHARE)
            merged = JointState(
                message.time_ns,
                self._sequence,
                self._robot,
                names=tuple(self._prefix + name for name in (*message.names, *fingers)),
                position=np.concatenate([message.position, each * (tool.width_m if tool else 0.0)]),
                velocity=np.concatenate([message.velocity, each * self._speed_mps]),
                effort=np.concatenate([message.effort, 0.0 * each]),  # nothing measures them
            )
            self._sequence += 1
            self._bus.publish(JOINT_STATES, merged)


def add_arm(graph: RosGraph, lab: Lab, robot: str) -> None:
    """Adds what an arm takes, and its services."""
    taker = ArmCommands(lab, robot)
    graph.definitions.update(DEFINITIONS)
    graph.subscribe(
        SubscribedTopic(topic=f"/{robot}/joint_command", ros_type="sensor_msgs/msg/JointState", take=taker.take_joints),
        SubscribedTopic(
            topic=f"/{robot}/joint_trajectory",
            ros_type="trajectory_msgs/msg/JointTrajectory",
            take=taker.take_trajectory,
        ),
        SubscribedTopic(topic=f"/{robot}/pose_command", ros_type="geometry_msgs/msg/PoseStamped", take=taker.take_pose),
        SubscribedTopic(topic=f"/{robot}/pose_twist_command", ros_type=POSE_TWIST, take=taker.take_pose_twist),
    )
    cfg = lab.cell.robots[robot]
    if cfg.tool is not None or cfg.changer is not None:
        graph.subscribe(
            SubscribedTopic(topic=f"/{robot}/gripper_command", ros_type=GRIPPER_COMMAND, take=taker.take_gripper),
            SubscribedTopic(topic=f"/{robot}/gripper_effort", ros_type="std_msgs/msg/Float64", take=taker.take_effort),
            SubscribedTopic(topic=f"/{robot}/tool_command", ros_type="std_msgs/msg/Float64", take=taker.take_tool),
        )
    graph.offer(
        OfferedService(name=f"/{robot}/stop", service_type="std_srvs/srv/Trigger", call=taker.stop),
        OfferedService(name=f"/{robot}/reset", service_type="std_srvs/srv/Trigger", call=taker.reset),
    )
    CellJointStates(lab, robot)

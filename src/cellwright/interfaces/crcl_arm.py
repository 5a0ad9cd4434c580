"""A robot of a laboratory for a CRCL server: its controller, what its sensors measured, and nothing of the truth."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cellwright.control import FollowingError, RobotController, ToolChanger
from cellwright.control.error_context import caller_error_context, with_error_context
from cellwright.core.clock import Clock
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.loop import WaitClock
from cellwright.core.pose import Pose
from cellwright.core.slices import Slices, in_turns
from cellwright.crcl import (
    JointFacts,
    JointTarget,
    NotAvailable,
    Pace,
    RobotReading,
    Screw,
    SensorReading,
    Waypoint,
)
from cellwright.crcl.messages import StopConditionEnum
from cellwright.interfaces.crcl_frames import CrclArmFrame
from cellwright.interfaces.crcl_motions import ToolMotions
from cellwright.interfaces.crcl_sensing import ArmSensing
from cellwright.motion import Motion, StopCategory
from cellwright.sensors import Sensor

__all__ = ["CrclArm"]

Array = npt.NDArray[np.float64]
T = TypeVar("T")

MOST = Pace(2.0, 10.0, 2 * np.pi, 20 * np.pi)  # relative speeds are fractions of this; joints may allow less
USUAL = Pace(0.25, 1.0, np.pi / 4, np.pi)
POLL_S = 0.01
SHOWN_LETTERS = 500  # of a message to the operator
ONLY_OVERRIDE = "a whole number from 1 to 100"
_log = logging.getLogger(__name__)


class CrclArm:
    """The robot of a `crcl.CrclServer`: commands go to the arm's controller, readings come from its sensors.

    Args:
        controller: The controller of the arm.
        wait_clock: Simulation time, to wait by.
        clock: The same, to look at.
        sensors: The sensors of its cell.
        frame: Frame, controlled point and force sensors over CRCL.
    """

    def __init__(
        self,
        controller: RobotController,
        wait_clock: WaitClock,
        clock: Clock,
        sensors: Iterable[Sensor[Any]],
        frame: CrclArmFrame | None = None,
    ) -> None:
        frame = frame or CrclArmFrame()
        self.name = controller.name
        self.clock = wait_clock
        self.max_pace = MOST
        self.default_pace = USUAL
        self.cartesian_limits = None
        self.joints = tuple(
            JointFacts(j.name, *j.position_limits_rad, j.velocity_limit_radps, j.effort_limit_nm)
            for j in controller.kinematics.arm.joints
        )
        self.pose_base_in_world = controller.ring.pose_base_in_world @ frame.pose_frame_in_base
        self._controller = controller
        self._ticks = clock
        self._arm_frame = frame
        self._tool_in_ring: Pose | None = None
        self._look_at_tool()
        self._sensing = ArmSensing(controller, sensors, wait_clock, frame)
        self._activity = ""
        self._signals: dict[str, SensorReading] = {}
        self._reading: tuple[int, RobotReading] | None = None
        for name, value in zip(controller.io.state().names, controller.io.state().values, strict=True):
            self._signals[name] = SensorReading(value, 1, wait_clock.time_s)
        controller.io.on_change(self._switched)

    @property
    def parameters(self) -> Mapping[str, str]:
        """Speed override, and the controller of the joints."""
        return {
            "override_percent": str(round(100 * self._controller.override)),
            "controller": self._controller.controller,
        }

    def read(self) -> RobotReading:
        """Returns its state as it is known at this tick."""
        tick = self._ticks.tick
        if self._reading is None or self._reading[0] != tick:
            self._reading = tick, self._read()
        return self._reading[1]

    def tool_in_base(self, pose_in_frame: Pose) -> Pose:
        """Returns where the tool is in the base, for a pose of the controlled point in the frame of its commands."""
        point = self._arm_frame.pose_frame_in_base @ pose_in_frame
        return point @ self._controller.ring.pose_tool_in_flange if self._arm_frame.at_flange else point

    def in_frame(self, pose_tool_in_base: Pose) -> Pose:
        """Returns the pose of the controlled point in the frame of its commands, for one of the tool in the base."""
        tool = self._controller.ring.pose_tool_in_flange
        point = pose_tool_in_base @ tool.inverse() if self._arm_frame.at_flange else pose_tool_in_base
        return self._arm_frame.pose_frame_in_base.inverse() @ point

    async def prepare(self) -> None:
        """Ends a fault and takes the joints; a robot that is locked for safety stays so, and says why."""
        if not self._controller.moving:
            self._controller.reset()
        self._controller.require_unlocked()
        await self._sensing.first_reports()

    async def rest(self) -> None:
        """Does nothing: it stays where it is, held by its drives."""

    def error_context(self) -> AbstractContextManager[None]:
        """Returns a context in which errors of motions name this robot, and poses as they are commanded."""
        frame, from_frame = self._arm_frame, self._arm_frame.pose_frame_in_base.inverse()
        point = "flange" if frame.at_flange else "tool"
        return caller_error_context(
            self.name,
            self._controller.kinematics.arm.name,
            lambda pose_flange_in_base: frame.reported(from_frame @ pose_flange_in_base @ self._tool),
            f"its {point} in the frame of its commands",
        )

    def _look_at_tool(self) -> None:
        """Updates the controlled point: another tool is another one, unless it is the flange."""
        tool = self._controller.ring.pose_tool_in_flange
        if tool is not self._tool_in_ring:
            self._tool_in_ring = tool
            self._tool = Pose.identity() if self._arm_frame.at_flange else tool
            self._motions = ToolMotions(self._controller.kinematics, self._tool)

    async def move_joints(self, targets: Sequence[JointTarget]) -> None:
        """Moves joints to positions; one with a torque pushes no harder than that, and may be kept from its goal."""
        if any(target.effort_rate is not None for target in targets):
            raise NotAvailable(self.name, "torque that changes at a given rate (ChangeRate)")
        self._controller.limit_effort({target.number - 1: target.effort for target in targets})
        self._look_at_tool()
        motion = self._motions.joints(self._controller.set_point_rad, targets)
        try:
            await self._follow([motion])
        except FollowingError:
            if all(target.effort is None for target in targets):
                raise
            self._controller.reset()

    @with_error_context
    async def move_through(self, waypoints: Sequence[Waypoint], *, straight: bool) -> None:
        """Moves the controlled point past all waypoints, to rest at the last."""
        inside = (
            replace(point, pose_tool_in_base=self._arm_frame.commanded(point.pose_tool_in_base)) for point in waypoints
        )
        self._look_at_tool()
        # All before anything moves: a point that cannot be reached is reported at once.
        way = self._motions.through(self._controller.set_point_rad, inside, straight=straight)
        some = f"{len(waypoints)} waypoints" if len(waypoints) > 1 else "one waypoint"
        await self._follow(await self._planned(way, f"a path through {some}"))

    @with_error_context
    async def move_screw(self, screw: Screw, pace: Pace) -> None:
        """Moves the controlled point along a helix."""
        self._look_at_tool()
        frame = self._arm_frame
        x, y, z = frame.commanded(Pose.from_xyz_rpy(screw.axis_point_m)).position.tolist()
        inside = Screw(frame.commanded(screw.pose_start_in_base), (x, y, z), screw.distance_m, screw.turn_rad)
        helix = self._motions.screw(self._controller.set_point_rad, inside, pace)
        await self._follow([await self._planned(helix, "a screw")])

    async def stop(self, condition: StopConditionEnum) -> None:
        """Stops, and waits until the arm stands."""
        if self._controller.moving:
            self._controller.stop(StopCategory(condition.value), "StopMotion")
        while self._controller.moving:
            await self.clock.sleep(POLL_S)

    async def set_end_effector(self, fraction: float) -> None:
        """Moves fingers to a fraction of their full width, or sets a pump to a share of its power."""
        tool = self._controller.tool
        if tool is None:
            raise NotAvailable(self.name, "end effector" if self._controller.has_tool_changer else "gripper")
        await tool.set(fraction)
        await self._sensing.tool_report()

    async def set_end_effector_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets `force_n`, the force of each finger from the next closing on."""
        for name, value in parameters.items():
            if name != "force_n":
                raise UnknownName("end effector parameter", name, ["force_n"])
            low_n, high_n = self._controller.gripper.force_limits_n
            force_n = _number(name, value)
            if not low_n <= force_n <= high_n:
                raise OutOfRange(f"{self.name} gripper force", force_n, low_n, high_n, "N")
            self._controller.gripper.next_force_n = force_n

    async def set_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets `override_percent`, and `controller` by its registered name."""
        for name, value in parameters.items():
            if name == "override_percent":
                if not (value.isdecimal() and 1 <= int(value) <= 100):
                    raise BadInput(f"{name} is '{value}' (allowed: {ONLY_OVERRIDE})")
                self._controller.override = int(value) / 100
            elif name == "controller":
                self._controller.use_controller(value)
            else:
                raise UnknownName("robot parameter", name, self.parameters)

    async def open_tool_changer(self) -> None:
        """Lets the tool go; the controlled point is the flange's middle then."""
        await self._changer().open()
        await self._sensing.tool_report()

    async def close_tool_changer(self) -> None:
        """Takes the tool that is under the flange; the controlled point is that tool's then."""
        await self._changer().close()
        await self._sensing.tool_report()

    def _changer(self) -> ToolChanger:
        if not self._controller.has_tool_changer:
            raise NotAvailable(self.name, "tool changer")
        if self._controller.moving:
            raise BadInput(f"{self.name} moves: its tool changer works only at rest")
        return self._controller.tool_changer

    async def run_program(self, text: str) -> None:
        """Refuses: it has no language of its own."""
        raise NotAvailable(self.name, "language of its own: RunProgram cannot be executed")

    async def enable_sensor(self, sensor_id: str, options: Mapping[str, str]) -> None:
        """Does nothing: sensors are read all the time; options, such as the host of a real one, mean nothing here."""

    async def disable_sensor(self, sensor_id: str) -> None:
        """Does nothing: sensors are read all the time."""

    def show_message(self, text: str) -> None:
        """Writes a text to the program's log: there is no operator."""
        _log.info("%s: %s", self.name, text[:SHOWN_LETTERS])

    async def _planned(self, work: Slices[T], what: str) -> T:
        self._activity = f"planning {what}"
        try:
            return await in_turns(work, self.clock)
        finally:
            self._activity = ""

    async def _follow(self, motions: Sequence[Motion]) -> None:
        whole_s = sum(motion.duration_s for motion in motions) or 1.0
        done_s = 0.0
        for motion in motions:
            stretch = done_s / whole_s, (done_s + motion.duration_s) / whole_s
            await self._controller.follow(motion, stretch)
            done_s += motion.duration_s

    def _read(self) -> RobotReading:
        controller, sensing = self._controller, self._sensing
        self._look_at_tool()
        forces = sensing.forces
        force = next(iter(forces.values()), None)
        motion = sensing.motion(self._tool)
        return RobotReading(
            positions=motion.positions,
            velocities=motion.velocities,
            pose_tool_in_base=motion.pose_tool_in_base,
            efforts=motion.efforts,
            twist=motion.twist,
            wrench=force.value if force is not None and isinstance(force.value, tuple) else None,
            configuration=None,
            gripper=sensing.tool,
            sensors={**forces, **self._signals},
            override_percent=round(100 * controller.override),
            path_share=controller.path_share,
            activity=self._activity,
        )

    def _switched(self, signal: str, value: bool) -> None:
        known = self._signals.get(signal)
        self._signals[signal] = SensorReading(value, known.read_count + 1 if known else 1, self.clock.time_s)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{name} is '{text}' (allowed: a number)") from None

"""The twin of an external robot: the simulated arm is led after its joints, the simulated tool does what it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
import numpy.typing as npt

from cellwright.control import CommandMode, JointStream, RobotController
from cellwright.core.errors import CellwrightError
from cellwright.crcl import GripperKind
from cellwright.hybrid.robot_report import RobotReport
from cellwright.lab import Lab

__all__ = ["Twin"]

Array = npt.NDArray[np.float64]

TOOL_S = 2.0  # for which the twin's tool may take longer than that of the external robot
DIFFERS_S = 0.4  # for which two hands must tell different things until that counts
DROP_S = 0.5  # in which a thing falls out of open fingers
TELL_EVERY_S = 5.0  # that it does not follow
STILL_RAD = 2e-4  # by which reported joints of a robot at rest may differ
WIDER_M = 0.002  # by which an external hand must differ from a command until it has been moved by someone else


class Twin:
    """Leads a simulated robot after the reports of an external one.

    Joints are followed within the limits of the simulated arm, moving on between reports at the pace at which they
    come; a robot that does not report joints is followed by the pose of its tool. Fingers do what the external ones
    were told; what they hold is for physics to say. Where the external hand says that it holds nothing, the twin lets
    go.

    Attributes:
        problem: Why it does not follow; empty while it does.
        error_rad: The largest difference of a joint from what was reported last.

    Args:
        lab: The laboratory.
        robot: The robot.
        by_pose: Whether it is followed by the pose of its tool, because its joints are others.
        tell: Told of events: a change, as `TargetEvent` has them, and a reason.
    """

    def __init__(self, lab: Lab, robot: str, *, by_pose: bool, tell: Callable[[str, str], None]) -> None:
        self.problem, self.error_rad = "", 0.0
        self._lab, self._robot, self._by_pose, self._tell = lab, lab.robot(robot), by_pose, tell
        self._stream = JointStream(self._robot, lab.stepper, lab.world.clock)
        self._differs_since_s: float | None = None
        self._told_hands: tuple[bool, bool] | None = None
        self._tool_task: asyncio.Task[None] | None = None
        self._is_tool_busy = False
        self._told_s = -np.inf

    @property
    def controller(self) -> RobotController:
        """The simulated robot."""
        return self._robot

    @property
    def is_behind(self) -> bool:
        """Whether it is still on its way to what was reported last."""
        return self._stream.is_active

    def joints_of(self, report: RobotReport) -> Array | None:
        """Returns the joints at which the twin is where a report says; none when it does not say."""
        if report.joints_rad is not None and not self._by_pose:
            return report.joints_rad
        if report.pose_tool_in_base is None:
            return None
        tool = self._robot.ring.pose_tool_in_flange
        try:
            return self._robot.kinematics.nearest(report.pose_tool_in_base @ tool.inverse(), self._robot.set_point_rad)
        except CellwrightError:
            return None

    def follow(self, report: RobotReport) -> None:
        """Goes on to where a report says that the external robot is."""
        goal = self.joints_of(report)
        if goal is None:
            self._note("it does not tell where it is, or the simulated arm cannot be there")
            return
        self.error_rad = float(np.abs(goal - self._robot.joints_rad).max())
        try:
            if self._robot.mode is not CommandMode.POSITION:
                self._robot.set_mode(CommandMode.POSITION)
            low, high = np.array([joint.position_limits_rad for joint in self._robot.kinematics.arm.joints]).T
            goal = np.clip(goal, low, high)
            if np.abs(goal - self._stream.goal_rad).max() > STILL_RAD:  # an arm that stands still is left in peace
                self._stream.aim(goal)
        except CellwrightError as error:
            self._note(str(error))
            return
        self._note(self._stream.ended)
        self._compare_hands(report)

    def leave(self) -> None:
        """Follows no longer; the simulated arm is held where it is."""
        self._stream.cancel()
        if self._tool_task is not None:
            self._tool_task.cancel()

    def beside(self, work: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """Begins what the simulated tool does while the external one does the same; returns how to wait for it."""
        self._is_tool_busy = True

        async def do() -> None:
            try:
                await work()
            except CellwrightError as error:
                self._tell("hand", f"the twin's tool could not do the same: {error}")
            finally:
                self._is_tool_busy, self._differs_since_s = False, None

        task = self._tool_task = asyncio.get_running_loop().create_task(do())

        async def done() -> None:
            await asyncio.wait({task}, timeout=TOOL_S)

        return done

    def take_width(self, report: RobotReport) -> None:
        """Sets the simulated fingers to the width of the external ones, which nobody here has commanded."""
        hand = report.gripper
        if hand is None or hand.kind is not GripperKind.PARALLEL or not self._robot.has_gripper or self._is_tool_busy:
            return
        gripper = self._robot.gripper
        low_m, high_m = gripper.width_limits_m
        width_m = min(max(hand.separation_m, low_m), high_m)
        if abs(gripper.width_m - width_m) > WIDER_M and high_m > low_m:
            self.beside(lambda: gripper.set((width_m - low_m) / (high_m - low_m)))

    def _compare_hands(self, report: RobotReport) -> None:
        """Marks what only the external robot knows: whether something is in its hand."""
        hand, tool = report.gripper, self._robot.tool
        if hand is None or tool is None or self._is_tool_busy or hand.holding is tool.holding:
            self._differs_since_s = None
            if hand is not None and tool is not None and not self._is_tool_busy:
                self._told_hands = None
            return
        self._differs_since_s = report.arrival_s if self._differs_since_s is None else self._differs_since_s
        hands = hand.holding, tool.holding
        if report.arrival_s - self._differs_since_s < DIFFERS_S or self._told_hands == hands:
            return
        self._told_hands = hands
        if hand.holding:
            self._tell("hand", "it holds something by its own status, and the twin's hand holds nothing")
            return
        self._tell("hand", "it holds nothing by its own status, so the twin's hand lets go")
        self.beside(self._let_go)

    async def _let_go(self) -> None:
        tool = self._robot.tool
        if tool is None:
            return
        await tool.open()
        await self._lab.clock.sleep(DROP_S)
        if self._robot.has_gripper:
            await tool.close()

    def _note(self, problem: str) -> None:
        now_s = self._lab.clock.time_s
        if problem and problem != self.problem and now_s >= self._told_s + TELL_EVERY_S:
            self._told_s = now_s
            self._tell("late", f"its twin does not follow: {problem}")
        self.problem = problem

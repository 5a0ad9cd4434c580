"""Shadow mode: a simulated robot gets the same commands as the external one, and both are compared."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

import numpy as np

from cellwright.control import RobotController
from cellwright.core.errors import CellwrightError
from cellwright.core.messages import ShadowReport
from cellwright.hybrid.robot_report import RobotReport
from cellwright.lab import Lab
from cellwright.motion import StopCategory

__all__ = ["Shadow", "align"]

FACTOR, LEAST_S = 2.0, 5.0  # by which the simulated robot may take longer, until it is stopped
ALIGN_SPEED = 0.2
APART_RAD, APART_M = 0.02, 0.01  # after a command: the simulated robot is moved to the external one, if further apart
SETTLE_S = 0.3


class Shadow:
    """Has a simulated robot do what the external one does, and reports how they differ.

    Attributes:
        reports: Counts the commands that both have done.

    Args:
        lab: The laboratory.
        robot: The robot.
        topic: Where it reports.
        tell: Told of events.
    """

    def __init__(self, lab: Lab, robot: str, topic: str, tell: Callable[[str, str], None]) -> None:
        self.reports = 0
        self._lab, self._robot, self._topic, self._tell = lab, lab.robot(robot), topic, tell
        self._most_rad: float | None = None
        self._latest: RobotReport | None = None

    def take(self, report: RobotReport, latency_s: float) -> None:
        """Compares the joints of a report with those that the simulated robot had when its own command was as old."""
        self._latest = report
        if self._most_rad is None or report.joints_rad is None:
            return
        age_s = self._lab.clock.time_s - report.time_s + latency_s
        joints = self._robot.joints_rad - age_s * self._robot.velocity_radps
        self._most_rad = max(self._most_rad, float(np.abs(report.joints_rad - joints).max()))

    async def both(self, command: str, external: Awaitable[None], simulated: Awaitable[None]) -> None:
        """Has both robots do one command; what the external one raises is raised."""
        clock, loop = self._lab.clock, asyncio.get_running_loop()
        begin_s, self._most_rad = clock.time_s, 0.0
        ours = loop.create_task(self._outcome(simulated))
        try:
            theirs = await self._outcome(external)
            if not ours.done():
                left_s = max((FACTOR - 1.0) * theirs[1], LEAST_S)
                await asyncio.wait({ours}, timeout=left_s)
            if not ours.done():
                self._robot.stop(StopCategory.FAST, "the external robot was done long before")
                await asyncio.wait({ours}, timeout=LEAST_S)
            outcome, took_s, _ = ours.result() if ours.done() else ("timeout", clock.time_s - begin_s, None)
            await clock.sleep(SETTLE_S if outcome != theirs[0] else 0.0)
            await self._compare(command, theirs, (outcome, took_s))
        finally:
            ours.cancel()
            self._most_rad = None
        if theirs[2] is not None:
            raise theirs[2]

    async def _outcome(self, work: Awaitable[None]) -> tuple[str, float, CellwrightError | None]:
        """Returns how a command ended, how long it took, and what it raised."""
        begin_s = self._lab.clock.time_s
        try:
            await work
        except CellwrightError as error:
            return str(error), self._lab.clock.time_s - begin_s, error
        return "done", self._lab.clock.time_s - begin_s, None

    async def _compare(
        self, command: str, external: tuple[str, float, CellwrightError | None], simulated: tuple[str, float]
    ) -> None:
        report, robot = self._latest, self._robot
        end_m = end_rad = 0.0
        if report is not None and report.pose_tool_in_base is not None:
            here = robot.kinematics.forward(robot.joints_rad) @ robot.ring.pose_tool_in_flange
            end_m = here.distance_m(report.pose_tool_in_base)
            end_rad = here.angle_rad(report.pose_tool_in_base)
        number, self.reports = self.reports, self.reports + 1
        self._lab.bus.publish(
            self._topic,
            ShadowReport(
                round(self._lab.clock.time_s * 1e9),
                number,
                robot.name,
                target=robot.name,
                command=command,
                external_s=external[1],
                simulated_s=simulated[1],
                external=external[0],
                simulated=simulated[0],
                joint_rad=math.nan if report is None or report.joints_rad is None else self._most_rad or 0.0,
                end_m=end_m,
                end_rad=end_rad,
            ),
        )
        if simulated[0] == "done" and external[0] == "done":
            return
        if report is None:
            return
        if report.joints_rad is not None:
            apart_rad = float(np.abs(report.joints_rad - robot.joints_rad).max())
            is_apart, told = apart_rad > APART_RAD, f"{np.degrees(apart_rad):.1f} deg"
        else:
            is_apart, told = max(end_m / APART_M, end_rad / APART_RAD) > 1.0, f"{1000 * end_m:.1f} mm"
        if is_apart:
            try:
                await align(robot, report)
                self._tell("aligned", f"the shadow was {told} away after {command}")
            except CellwrightError as error:
                self._tell("late", f"the shadow cannot be moved to its robot: {error}")


async def align(robot: RobotController, report: RobotReport) -> None:
    """Moves a simulated robot to where an external one says that it is, never the other way round.

    Raises:
        CellwrightError: It cannot be there, or something is in its way.
    """
    if not robot.moving:
        robot.reset()
    goal = report.joints_rad
    if goal is None:
        assert report.pose_tool_in_base is not None
        pose_flange = report.pose_tool_in_base @ robot.ring.pose_tool_in_flange.inverse()
        goal = robot.kinematics.nearest(pose_flange, robot.set_point_rad)
    await robot.move_joints(goal, ALIGN_SPEED)

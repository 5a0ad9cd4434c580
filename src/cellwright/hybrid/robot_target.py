"""A robot of a running laboratory that is simulated or external, switched between two commands."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cellwright.cells import RobotTargetCfg
from cellwright.control import RobotState
from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.core.messages import TargetStatus
from cellwright.core.pose import Pose
from cellwright.crcl import (
    CrclRobot,
    JointFacts,
    JointTarget,
    Pace,
    RobotReading,
    Screw,
    SwitchRefused,
    Waypoint,
)
from cellwright.crcl.messages import StopConditionEnum
from cellwright.crcl.robot import RobotClock, Vector3
from cellwright.hybrid.agreement import disagreements
from cellwright.hybrid.external_arm import OVERRIDE, ExternalArm
from cellwright.hybrid.external_topics import ExternalTopics
from cellwright.hybrid.pace_gate import PaceGate
from cellwright.hybrid.robot_link import RobotLink, TargetLost
from cellwright.hybrid.robot_report import RobotReport
from cellwright.hybrid.shadow import Shadow, align
from cellwright.hybrid.twin import Twin
from cellwright.interfaces.crcl_arm import CrclArm
from cellwright.lab import Lab
from cellwright.motion import StopCategory

__all__ = ["RobotTarget"]

LOCK = "target"
SETTLE_S, LOOK_S = 3.0, 0.02  # for which the twin is waited for before a switch
BOUNDARY_S = 120.0  # for which a switch waits until an action has ended
Work = Callable[[CrclRobot | ExternalArm], Awaitable[None]]


class RobotTarget:
    """One robot, wherever it is, as the server of the laboratory commands it: a `crcl.CrclRobot`.

    While it is external its commands go to its address, its status is what it reports, and the simulated robot follows
    it, or does the same beside it in shadow mode. It is switched between two commands, and between two actions where
    actions are told.

    Attributes:
        name: The robot.
        cfg: Where it is.
        lost: Why it was given up; nothing as long as it is there.

    Args:
        lab: The laboratory.
        name: The robot.
        cfg: Where it is.
        arm: The simulated robot for the laboratory's server.
        gate: Holds it while the laboratory does not keep pace.
        tell: Told of events: a change, as `TargetEvent` has them, and a reason.
        on_stop: Told why the whole run must stop.
    """

    def __init__(
        self,
        lab: Lab,
        name: str,
        cfg: RobotTargetCfg,
        arm: CrclArm,
        gate: PaceGate,
        tell: Callable[[str, str], None],
        on_stop: Callable[[str], None],
    ) -> None:
        self.name, self.cfg, self.lost = name, cfg, ""
        self._lab, self._arm, self._gate, self._tell, self._on_stop = lab, arm, gate, tell, on_stop
        self._controller = lab.robot(name)
        self._link: RobotLink | None = None
        self._external: ExternalArm | None = None
        self._twin: Twin | None = None
        self._shadow: Shadow | None = None
        self._turn = asyncio.Lock()
        self._is_in_action = self._is_working = False
        self._boundary: asyncio.Future[None] | None = None  # a switch waits for the end of an action
        self._switching: asyncio.Future[None] | None = None  # a switch that commands wait for
        self._signals: dict[str, bool] = {}
        self._reading: tuple[RobotReport, RobotReading] | None = None
        self._statuses = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._topics = ExternalTopics(lab, name)

    # ------------------------------------------------------------ what a server asks for

    @property
    def clock(self) -> RobotClock:
        """Its time."""
        return self._arm.clock

    @property
    def joints(self) -> Sequence[JointFacts]:
        """Its joints."""
        return self._arm.joints

    @property
    def max_pace(self) -> Pace:
        """The most that its controlled point can do."""
        return self._arm.max_pace

    @property
    def default_pace(self) -> Pace:
        """The speeds and accelerations until a client sets others."""
        return self._arm.default_pace

    @property
    def cartesian_limits(self) -> tuple[Vector3, Vector3] | None:
        """None: those of a target are in the base, which is not the frame of its commands."""
        return self._arm.cartesian_limits

    @property
    def pose_base_in_world(self) -> Pose:
        """The pose of its base."""
        return self._arm.pose_base_in_world

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its parameters; of an external robot the override that it reports."""
        report = self._report
        return self._arm.parameters if report is None else {OVERRIDE: str(report.override_percent)}

    def read(self) -> RobotReading:
        """Returns its state: of an external robot what it has reported, and of its twin what it does not report."""
        simulated, report = self._arm.read(), self._report
        if report is None:
            return simulated
        if self._reading is None or self._reading[0] is not report:
            self._reading = report, self._read(report, simulated)
        return self._reading[1]

    async def prepare(self) -> None:
        """Gets ready to move; ends an error of an external robot. One whose twin is locked for safety stays so."""
        if self._external is not None and self._shadow is None:
            await self._arm.prepare()
        await self._do("InitCanon", lambda robot: robot.prepare())

    async def rest(self) -> None:
        """Ends a session."""
        await self._do("EndCanon", lambda robot: robot.rest())

    async def move_joints(self, targets: Sequence[JointTarget]) -> None:
        """Moves joints to positions."""
        await self._do("ActuateJoints", lambda robot: robot.move_joints(targets), moves=True)

    async def move_through(self, waypoints: Sequence[Waypoint], *, straight: bool) -> None:
        """Moves the controlled point past all waypoints, to rest at the last."""
        command = "MoveTo" if len(waypoints) == 1 else "MoveThroughTo"
        await self._do(command, lambda robot: robot.move_through(waypoints, straight=straight), moves=True)

    async def move_screw(self, screw: Screw, pace: Pace) -> None:
        """Moves the controlled point along a helix."""
        await self._do("MoveScrew", lambda robot: robot.move_screw(screw, pace), moves=True)

    async def stop(self, condition: StopConditionEnum) -> None:
        """Stops it, wherever it is; a command that it is at ends."""
        if self._external is not None and not self.lost:
            await self._external.stop(condition)
        if self._external is None or self._shadow is not None or self.lost:
            await self._arm.stop(condition)

    async def set_end_effector(self, fraction: float) -> None:
        """Opens, powers or drives the end effector."""
        await self._do("SetEndEffector", lambda robot: robot.set_end_effector(fraction), of_both=True)

    async def set_end_effector_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets parameters of the end effector."""
        await self._do(
            "SetEndEffectorParameters", lambda robot: robot.set_end_effector_parameters(parameters), of_both=True
        )

    async def set_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets parameters of the robot."""
        await self._do("SetRobotParameters", lambda robot: robot.set_parameters(parameters))

    async def open_tool_changer(self) -> None:
        """Lets the end effector go."""
        await self._do("OpenToolChanger", lambda robot: robot.open_tool_changer(), of_both=True)

    async def close_tool_changer(self) -> None:
        """Takes an end effector."""
        await self._do("CloseToolChanger", lambda robot: robot.close_tool_changer(), of_both=True)

    async def run_program(self, text: str) -> None:
        """Runs a program in the robot's own language."""
        await self._do("RunProgram", lambda robot: robot.run_program(text), moves=True)

    async def enable_sensor(self, sensor_id: str, options: Mapping[str, str]) -> None:
        """Begins to read a sensor; those of an external robot were enabled with its session."""

    async def disable_sensor(self, sensor_id: str) -> None:
        """Does nothing: sensors are read all the time."""

    def show_message(self, text: str) -> None:
        """Shows a text to the operator."""
        self._arm.show_message(text)

    # ------------------------------------------------------------ where it is

    @property
    def is_external(self) -> bool:
        """Whether it is at an address, and there."""
        return self._external is not None

    @property
    def _report(self) -> RobotReport | None:
        return self._link.latest if self._link is not None else None

    async def start(self) -> None:
        """Connects, where it is external; its twin is moved to where it stands.

        Raises:
            JobFailed: Nobody is there, or speaks another protocol, or something else than that robot.
        """
        if self.cfg.is_external:
            cfg, self.cfg = self.cfg, RobotTargetCfg()
            try:
                await self._switch(cfg, aligns=True)
            except (BadInput, JobFailed) as error:
                self.cfg = cfg
                raise JobFailed(f"{self.name}: {error}") from None

    async def switch(self, cfg: RobotTargetCfg, *, aligns: bool = False, wait_s: float = BOUNDARY_S) -> None:
        """Switches at the next boundary: nothing moves by it, but the simulated robot if it is to be aligned.

        Args:
            cfg: Where it is from then on.
            aligns: Whether the simulated robot is first moved to where the external one stands.
            wait_s: How long to wait for the end of the action that is under way.

        Raises:
            SwitchRefused: It stays where it is; says why.
        """
        if cfg == self.cfg and not self.lost:
            return
        if self._switching is not None or self._boundary is not None:
            raise self._refused(cfg, "another switch of it is under way")
        loop = asyncio.get_running_loop()
        try:
            if self._is_in_action:
                self._boundary = loop.create_future()
                async with asyncio.timeout(wait_s):
                    await self._boundary
            if self._switching is None:
                self._switching = loop.create_future()
            async with asyncio.timeout(wait_s), self._turn:
                await self._switch(cfg, aligns=aligns)
        except TimeoutError:
            raise self._refused(cfg, f"after {wait_s:g} s it is still at work") from None
        except (BadInput, JobFailed) as error:
            if isinstance(error, SwitchRefused):
                raise
            raise self._refused(cfg, str(error)) from None
        finally:
            self._boundary = None
            switching, self._switching = self._switching, None
            if switching is not None:
                switching.set_result(None)

    def note_action(self, is_under_way: bool) -> None:
        """Notes that an action of this robot has begun or ended; a switch that waits for the end begins at once."""
        self._is_in_action = is_under_way
        if not is_under_way and self._boundary is not None and not self._boundary.done():
            self._switching = asyncio.get_running_loop().create_future()  # the next command waits for it
            self._boundary.set_result(None)

    async def close(self) -> None:
        """Stops an external robot that moves, and ends its session; the simulated robot is held."""
        if self._is_working:
            await self._stop_external(StopConditionEnum.NORMAL)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._leave()

    def halt(self, reason: str, condition: StopConditionEnum = StopConditionEnum.FAST) -> None:
        """Stops it and locks the simulated robot until `release`; `close` waits until the external one has stopped."""
        self._controller.stop(StopCategory(condition.value), reason, lock=LOCK)
        self._begin(self._stop_external(condition))

    async def _stop_external(self, condition: StopConditionEnum) -> None:
        """Stops it; one that was lost may hear of it when it goes on. One in an emergency stands already."""
        link = self._link
        if link is not None and (link.latest is None or not link.latest.is_emergency):
            await self._stop_at(link, self.cfg.at, condition)

    async def _stop_at(self, link: RobotLink, at: str, condition: StopConditionEnum) -> None:
        if problem := await link.stop(condition):
            self._tell("lost", f"{self.name} at {at} WAS NOT STOPPED: {problem}")

    async def _stop_late(self, link: RobotLink, at: str) -> None:
        """Tries to stop a robot that was lost, and which the simulated one has replaced already."""
        try:
            await self._stop_at(link, at, StopConditionEnum.NORMAL)
        finally:
            await link.close()

    def release(self) -> None:
        """Ends the lock of `halt`."""
        self._controller.reset(LOCK)

    def status(self) -> TargetStatus | None:
        """Returns the times of its messages and how far its twin is behind; None while it is simulated."""
        link, clock = self._link, self._lab.clock
        if link is None:
            return None
        number, self._statuses = self._statuses, self._statuses + 1
        return TargetStatus(
            round(clock.time_s * 1e9),
            number,
            self.name,
            target=self.name,
            at=self.cfg.at,
            latency_s=link.latency_s,
            jitter_s=link.jitter_s,
            uncertainty_s=link.uncertainty_s,
            error_rad=self._twin.error_rad if self._twin is not None and self._shadow is None else 0.0,
            messages=link.messages,
        )

    # ------------------------------------------------------------ one command

    async def _do(self, command: str, work: Work, *, of_both: bool = False, moves: bool = False) -> None:
        """Has the robot do a command where it is.

        Args:
            command: Its name.
            work: What is asked of the robot, wherever it is.
            of_both: Whether its twin does the same meanwhile.
            moves: Whether its arm moves, which it must not while a guard of the virtual cell keeps its twin locked.
        """
        while self._switching is not None:
            await asyncio.shield(self._switching)
        async with self._turn:
            if self.lost and self.cfg.on_loss == "stop":
                raise JobFailed(self.lost)
            external = self._external
            if external is None:
                await work(self._arm)
                return
            await self._gate.wait(self._tell)
            if moves and self._shadow is None:
                self._controller.require_unlocked()
            self._is_working = True
            try:
                if self._shadow is not None:
                    await self._shadow.both(command, work(external), work(self._arm))
                    return
                assert self._twin is not None
                done = self._twin.beside(lambda: work(self._arm)) if of_both else None
                await work(external)
                if done is not None:
                    await done()
            except TargetLost as error:
                await self._give_up(str(error))
                if self.cfg.on_loss == "stop":
                    raise
                await work(self._arm)
            finally:
                self._is_working = False

    async def _give_up(self, why: str) -> None:
        """Notes that it was lost, stops the run or goes on with the simulated robot."""
        if self.lost or self._link is None:
            return
        at = self.cfg.at
        self.lost = f"{self.name} at {at} was lost: {why.removeprefix(f'{at}: ')}"
        self._tell("lost", why)
        if self.cfg.on_loss == "simulated":
            self._begin(self._stop_late(self._link, self.cfg.at))
            self._link = None
            await self._leave()
            self.lost = ""
            self.cfg = self.cfg.model_copy(update={"at": RobotTargetCfg().at})
            self._tell("simulated", f"the simulated {self.name} goes on, as it was told for this case")
            return
        if self._twin is not None:
            self._twin.leave()
        self._on_stop(self.lost)

    # ------------------------------------------------------------ a switch

    async def _switch(self, cfg: RobotTargetCfg, *, aligns: bool) -> None:
        if not cfg.is_external:
            await self._come_back(cfg)
            return
        link = RobotLink(
            self._controller,
            cfg,
            self._lab.clock,
            on_report=self._hear,
            on_text=lambda kind, text: self._topics.publish_text(kind, text, cfg.at),
            say=lambda line: self._tell("found" if line.startswith("connected") else "late", line),
            sensors=(*self._lab.cell.robots[self.name].crcl.force_sensors, *self._controller.io.state().names),
        )
        twin = Twin(self._lab, self.name, by_pose=cfg.joint_tolerance_deg is None, tell=self._tell)
        await link.open()
        try:
            await self._agree(link, twin, cfg, aligns=aligns)
        except BaseException:
            await asyncio.shield(link.leave())
            raise
        await self._leave()
        self.cfg, self.lost, self._link = cfg, "", link
        self._external, self._twin = ExternalArm(link, self._controller, self._arm), twin
        self._shadow = Shadow(self._lab, self.name, self._topics.topic("shadow"), self._tell) if cfg.shadow else None
        link.watch(self._hear_loss)
        shadowed = ", with the simulated one as its shadow" if cfg.shadow else ""
        self._tell("external", f"it is at {cfg.at}{shadowed}")

    async def _agree(self, link: RobotLink, twin: Twin, cfg: RobotTargetCfg, *, aligns: bool) -> None:
        """Checks that one may take over from the other; to be aligned, the simulated robot is moved there before."""
        report = link.latest
        assert report is not None
        if aligns:
            goal = twin.joints_of(report)
            if goal is None:
                raise JobFailed(f"the simulated {self.name} cannot be where {cfg.at} is: {_place(report)}")
            apart_rad = float(np.abs(goal - self._controller.joints_rad).max())
            tool, hand = self._controller.tool, report.gripper
            if tool is not None and hand is not None and tool.holding and not hand.holding:
                await tool.open()  # what the real hand does not hold, its twin lets go
            if disagreements(self._controller, report, cfg):
                await align(self._controller, replace(report, joints_rad=goal))
                twin.take_width(report)
                self._tell("aligned", f"the simulated robot was moved by up to {np.degrees(apart_rad):.1f} deg")
        end_s = self._lab.clock.time_s + SETTLE_S
        while (problems := disagreements(self._controller, report, cfg)) and self._lab.clock.time_s < end_s and aligns:
            await self._lab.clock.sleep(LOOK_S)
        if problems:
            hint = "" if aligns else "; `cellwright targets switch --align` moves the simulated robot to it"
            raise JobFailed(f"{'; '.join(problems)}{hint}")
        tool = self._controller.tool
        if report.gripper is None and tool is not None and tool.holding:
            raise JobFailed(f"the simulated {self.name} holds something, and {cfg.at} does not tell what it holds")

    async def _come_back(self, cfg: RobotTargetCfg) -> None:
        """Leaves an external robot, once its twin is where it is; one that was lost is left as it is."""
        link, report = self._link, self._report
        if link is not None and report is not None and not self.lost:
            end_s = self._lab.clock.time_s + SETTLE_S
            while True:
                report = link.latest or report
                problems = disagreements(self._controller, report, self.cfg)
                is_behind = self._twin is not None and self._shadow is None and self._twin.is_behind
                if not (problems or is_behind) or self._lab.clock.time_s >= end_s:
                    break
                await self._lab.clock.sleep(LOOK_S)
            if problems:
                raise JobFailed("; ".join(problems))
        await self._leave()
        self.cfg, self.lost = cfg, ""
        self.release()
        self._tell("simulated", "")

    async def _leave(self) -> None:
        link, twin, external = self._link, self._twin, self._external
        self._external = self._twin = self._shadow = self._link = None
        self._reading = None
        if twin is not None:
            twin.leave()
        if external is not None:
            await external.settled()
        if link is not None:
            await (link.close() if self.lost else link.leave())

    def _refused(self, cfg: RobotTargetCfg, why: str) -> SwitchRefused:
        where = self.cfg.at if self.cfg.is_external else "simulated"
        self._tell("refused", f"it was not switched to {cfg.at}: {why}")
        return SwitchRefused(f"{self.name} stays {where}, it was not switched to {cfg.at}: {why}")

    # ------------------------------------------------------------ what is heard

    def _hear(self, report: RobotReport) -> None:
        link = self._link
        if link is None or link.latest is not report:
            return  # of a robot that is being connected
        self._topics.publish(report, self.cfg.at)
        self._take_signals(report)
        if self._shadow is not None:
            self._shadow.take(report, link.latency_s)
        elif self._twin is not None and not self.lost:
            self._twin.follow(report)
        if report.is_emergency and not self.lost:
            self.lost = f"{self.name} at {self.cfg.at}: {report.description}"
            self._tell("stopped", self.lost)
            self._on_stop(self.lost)
        elif self._controller.state is RobotState.STOPPED and self._is_working and self._shadow is None:
            self._stop_with_twin()

    def _take_signals(self, report: RobotReport) -> None:
        """Sets inputs and outputs of the twin that have changed there; an emergency stop among them stops it, too."""
        io = self._controller.io
        for name, reading in report.signals.items():
            value, before = bool(reading.value), self._signals.get(name)
            self._signals[name] = value
            if before is None or before is value:
                continue
            with contextlib.suppress(UnknownName):
                io.set_input(name, value)
            with contextlib.suppress(UnknownName):
                io.write(name, value)

    def _stop_with_twin(self) -> None:
        """Stops the external robot when a guard of the virtual cell has stopped its twin."""
        try:
            self._controller.require_unlocked()
        except CellwrightError as error:
            if not self._tasks:
                self._tell("stopped", f"its twin was stopped: {error}")
                self._begin(self._stop_external(StopConditionEnum.FAST))

    def _hear_loss(self, why: str) -> None:
        if not self._is_working:  # a command finds out by itself
            self._begin(self._give_up(why))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _read(self, report: RobotReport, simulated: RobotReading) -> RobotReading:
        # What the simulated wrist feels is the twin being led: where the robot tells no force, none is known.
        known = {name: one for name, one in simulated.sensors.items() if not isinstance(one.value, tuple)}
        has_hand = report.gripper is not None or self.cfg.grip_tolerance_mm is not None
        joints, pose = report.joints_rad, report.pose_tool_in_base
        speeds = report.speeds_radps
        return replace(
            simulated,
            positions=simulated.positions if joints is None else tuple(joints.tolist()),
            velocities=simulated.velocities if speeds is None else tuple(speeds.tolist()),
            pose_tool_in_base=simulated.pose_tool_in_base if pose is None else self._arm.in_frame(pose),
            efforts=None,
            twist=None,
            gripper=report.gripper if has_hand else simulated.gripper,
            sensors={**known, **report.forces, **report.signals},
            override_percent=report.override_percent,
            path_share=None,
        )


def _place(report: RobotReport) -> str:
    pose = report.pose_tool_in_base
    if pose is None:
        return "it does not tell its pose"
    x, y, z = pose.position.tolist()
    return f"its tool is at x {x:.3f}, y {y:.3f}, z {z:.3f} m in the base of the drawings by `frame`, `point` and units"

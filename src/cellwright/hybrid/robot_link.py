"""The link to an external robot: one session over CRCL, its status again and again, its commands one by one."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cellwright.cells import RobotTargetCfg
from cellwright.control import RobotController
from cellwright.core.errors import CellwrightError, JobFailed
from cellwright.core.loop import WaitClock
from cellwright.crcl import ClientOptions, CrclClient, CrclUnits, Outcome, OutcomeState, tcp
from cellwright.crcl.connection import ConnectionFailed
from cellwright.crcl.link import LinkListeners
from cellwright.crcl.messages import (
    AngleUnitEnum,
    CRCLCommand,
    CRCLStatus,
    EnableSensor,
    EndCanon,
    InitCanon,
    LengthUnitEnum,
    SetAngleUnits,
    SetLengthUnits,
    StopConditionEnum,
)
from cellwright.crcl.units import from_si
from cellwright.hybrid.robot_report import RobotReport, read_report
from cellwright.hybrid.target_frame import TargetFrame
from cellwright.motion import JointLimits

__all__ = ["RobotLink", "TargetLost"]

Array = npt.NDArray[np.float64]

FIRST_S = 30.0  # until its session has begun, over a slow connection, too
LEAVE_S = 3.0  # for the stop and the last command of a robot that is left
AT_ONCE = 2  # questions that may be on their way: one of a command, one of its own
KEPT = 200  # questions and answers of which times are told
ODD_REPORTS = 5  # in a row that agree with each other, until a jump is believed
MARGIN_RAD, MARGIN_M = 0.05, 0.02  # by which joints, or a tool, may be further than their speeds allow
BEYOND_DEG = 5.0  # the limits of the drawings, from which on its joints must be others
DOUBT_EVERY_S = 5.0  # until another doubt is told
TAKE_UP_S = 2.0  # for which a robot may be at the command before, until the one that was sent counts as lost
RETRY_S = 0.2
STAND_S, STILL_RAD, STILL_M = 0.2, 0.002, 0.001  # in which a robot that stands moves by less


class TargetLost(JobFailed):
    """An external robot that does not answer any more."""


class RobotLink:
    """A session with an external robot.

    Attributes:
        cfg: Where it is, and what it speaks.
        latest: The last report that is believed.
        doubt: What it says that is not believed; empty when all is.
        messages: Counts its statuses.

    Args:
        controller: The simulated robot that it stands for.
        cfg: Where it is.
        clock: Time to wait by.
        on_report: Gets every report that is believed.
        on_text: Gets `command` or `status` and the text of every message.
        say: Gets a line for each lost and new connection.
        sensors: The force sensors, inputs and outputs that it may have.
    """

    def __init__(
        self,
        controller: RobotController,
        cfg: RobotTargetCfg,
        clock: WaitClock,
        *,
        on_report: Callable[[RobotReport], None] = lambda _report: None,
        on_text: Callable[[str, bytes], None] = lambda _kind, _text: None,
        say: Callable[[str], None] = lambda _text: None,
        sensors: tuple[str, ...] = (),
    ) -> None:
        self.cfg, self.doubt, self.messages = cfg, "", 0
        self.latest: RobotReport | None = None
        self._controller, self._clock, self._on_report, self._on_text = controller, clock, on_report, on_text
        self._frame = TargetFrame.of(cfg)
        self._units = CrclUnits(LengthUnitEnum(cfg.length_unit), AngleUnitEnum(cfg.angle_unit))
        self._sensors = list(sensors)
        arm = controller.kinematics.arm
        self._joints = len(arm.joints)
        self._speeds_radps = JointLimits.of(arm).velocity_radps
        self._asked_s: deque[float] = deque(maxlen=AT_ONCE)  # when questions were sent that were not answered yet
        self._delays_s: deque[float] = deque(maxlen=KEPT)
        self._odd: list[Array] = []
        self._believed: tuple[float, Array] | None = None  # when it was heard, and where it was
        self._say, self._doubted_s = say, -np.inf
        options = ClientOptions(
            poll_s=cfg.poll_s,
            reconnect_s=cfg.reconnect_s,
            status_s=cfg.stalled_s,
            take_up_s=max(TAKE_UP_S, 2 * cfg.poll_s),
        )
        listeners = LinkListeners(self._note_command, self._take)
        self._client = CrclClient(tcp(cfg.at), peer=cfg.at, options=options, say=say, listeners=listeners)
        self._polling: asyncio.Task[None] | None = None

    @property
    def frame(self) -> TargetFrame:
        """The frame of its poses."""
        return self._frame

    @property
    def latency_s(self) -> float:
        """Half the mean time from a question to its answer."""
        return float(np.mean(self._delays_s)) / 2 if self._delays_s else 0.0

    @property
    def jitter_s(self) -> float:
        """The standard deviation of that half."""
        return float(np.std(self._delays_s)) / 2 if self._delays_s else 0.0

    @property
    def uncertainty_s(self) -> float:
        """By which times of reports may be wrong: half the time of a question and its answer."""
        return max(self._delays_s, default=0.0) / 2

    async def open(self) -> None:
        """Connects, begins a session in its units, and waits for a report of where it is.

        Raises:
            JobFailed: Nobody is there, or speaks another language, refuses, has other units or joints.
        """
        try:
            async with asyncio.timeout(FIRST_S + self.cfg.stalled_s):
                await self._client.open()
                await self._client.status()
                await self.begin()
                self._check(await self._client.status())
        except TimeoutError:
            await self.close()
            raise JobFailed(f"{self.cfg.at} does not answer") from None
        except BaseException:
            await self.close()
            raise

    async def begin(self) -> None:
        """Begins a session, which ends an error: InitCanon, units, the sensors that it has.

        Raises:
            CommandFailed: It refuses.
        """
        (await self._client.execute(InitCanon(0))).check()
        (await self._client.execute(SetLengthUnits(0, self._units.length))).check()
        (await self._client.execute(SetAngleUnits(0, self._units.angle))).check()
        for name in list(self._sensors):
            if not (await self._client.execute(EnableSensor(0, name))).done:
                self._sensors.remove(name)
                await self.begin()  # a refusal is an error until InitCanon
                return

    def watch(self, on_lost: Callable[[str], None]) -> None:
        """Asks for the status from now on, until it is lost for good or the link is closed.

        Args:
            on_lost: Told why it was lost.
        """
        self._polling = asyncio.get_running_loop().create_task(self._poll(on_lost))

    async def execute(self, command: CRCLCommand, timeout_s: float | None = None) -> Outcome:
        """Executes a command in SI units; one that got lost on its way is sent once more.

        Raises:
            TargetLost: The robot does not answer any more.
        """
        told = from_si(command, self._units, (False,) * self._joints)
        for last in (False, True):
            outcome = await self._client.execute(told, timeout_s=timeout_s)
            is_lost_on_its_way = outcome.state is OutcomeState.TIMEOUT and outcome.reason.startswith("not taken up")
            if last or not is_lost_on_its_way:
                break
        if outcome.state is OutcomeState.LOST or is_lost_on_its_way:
            raise TargetLost(self._named(outcome.reason))
        return outcome

    def _named(self, reason: str) -> str:
        """Returns a reason with the address before it, once."""
        at = f"{self.cfg.at}: "
        return at + reason.removeprefix(at).replace(f"; {at}", "; ")

    async def stop(self, condition: StopConditionEnum) -> str:
        """Stops the robot; returns why it could not be stopped, or nothing."""
        outcome = await self._client.abort(condition, timeout_s=LEAVE_S)
        if outcome.done or (outcome.status is not None and await self._stands()):
            return ""
        return outcome.text

    async def _stands(self) -> bool:
        """Returns whether it is at rest: one that is in error says so to a stop, too, which it has obeyed."""
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._client.status()
                before = self.latest
                await self._clock.sleep(STAND_S)
                await self._client.status()
        except (CellwrightError, TimeoutError):
            return False
        if before is None or self.latest is None or self.latest is before:
            return False  # or what it has said since is not believed
        joints, later_joints = before.joints_rad, self.latest.joints_rad
        if joints is not None and later_joints is not None:
            return float(np.abs(later_joints - joints).max()) < STILL_RAD
        pose, later_pose = before.pose_tool_in_base, self.latest.pose_tool_in_base
        return pose is not None and later_pose is not None and later_pose.distance_m(pose) < STILL_M

    async def leave(self) -> None:
        """Ends the session and the link; the robot stands already."""
        if self._client.session_settings.initialised:
            with contextlib.suppress(CellwrightError):  # it is gone
                await self._client.execute(EndCanon(0), timeout_s=LEAVE_S)
        await self.close()

    async def close(self) -> None:
        """Ends the link; harmless when there is none."""
        polling, self._polling = self._polling, None
        if polling is not None and polling is not asyncio.current_task():
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)
        await self._client.close()

    async def _poll(self, on_lost: Callable[[str], None]) -> None:
        """Asks again and again; one that is silent is asked for as long as a lost connection is tried again."""
        silent_since_s: float | None = None
        while True:
            begin_s = self._clock.time_s
            if self._asked_s and begin_s - self._asked_s[0] < self.cfg.stalled_s / 2:
                await self._clock.sleep(self.cfg.poll_s / 4)  # a command's own question will be answered
                continue
            self._asked_s.clear()  # what is older was lost
            try:
                await self._client.status()
                silent_since_s = None
            except ConnectionFailed as error:  # which was tried for `reconnect_s`
                on_lost(self._named(str(error)))
                return
            except CellwrightError as error:
                silent_since_s = begin_s if silent_since_s is None else silent_since_s
                if self._clock.time_s - silent_since_s >= self.cfg.reconnect_s + self.cfg.stalled_s:
                    on_lost(self._named(str(error)))
                    return
                await self._clock.sleep(RETRY_S)
            await self._clock.sleep(max(self.cfg.poll_s - (self._clock.time_s - begin_s), 0.001))

    def _note_command(self, text: bytes) -> None:
        self._on_text("command", text)
        if b"GetStatus" in text:
            self._asked_s.append(self._clock.time_s)

    def _take(self, status: CRCLStatus, text: bytes) -> None:
        self._on_text("status", text)
        self.messages += 1
        now_s = self._clock.time_s
        asked_s = self._asked_s.popleft() if self._asked_s else now_s
        self._delays_s.append(now_s - asked_s)
        tool = self._controller.ring.pose_tool_in_flange
        report = read_report(status, self._units, self._frame, tool, self._joints, (asked_s, now_s))
        if self.latest is not None:  # InitCanon turns sensors off for a moment
            signals = {**self.latest.signals, **report.signals}
            report = replace(report, forces={**self.latest.forces, **report.forces}, signals=signals)
        if self.cfg.joint_tolerance_deg is None:
            report = replace(report, joints_rad=None, speeds_radps=None)  # those of another build tell nothing here
        place, fastest, margin = self._place(report)
        odd = self._odd_place(report.arrival_s, place, fastest, margin)
        self._doubt("; ".join((*report.doubts, *odd)))
        if odd:
            return
        self.latest = report
        self._believed = (report.arrival_s, place) if place is not None else self._believed
        self._on_report(report)

    def _doubt(self, why: str) -> None:
        """Notes why something is not believed, and tells it, though not again and again."""
        self.doubt = why
        if why and self._clock.time_s >= self._doubted_s + DOUBT_EVERY_S:
            self._doubted_s = self._clock.time_s
            self._say(f"{self.cfg.at}: not believed: {why}")

    def _place(self, report: RobotReport) -> tuple[Array | None, Array, float]:
        """Returns its joints, or its tool's position where they are others; how fast that may be, and a margin."""
        if self.cfg.joint_tolerance_deg is not None:
            return report.joints_rad, self._speeds_radps, MARGIN_RAD
        pose = report.pose_tool_in_base
        return None if pose is None else pose.position, np.full(3, self.cfg.speed_limit_mps), MARGIN_M

    def _odd_place(self, arrival_s: float, place: Array | None, fastest: Array, margin: float) -> tuple[str, ...]:
        """Returns why a place is not believed to which it has jumped; several reports that agree are believed."""
        if place is None or self._believed is None:
            return ()
        heard_s, before = self._believed
        far = np.abs(place - before) - fastest * (arrival_s - heard_s + self.uncertainty_s) - margin
        if far.max() <= 0.0:
            self._odd.clear()
            return ()
        self._odd = [other for other in self._odd if np.abs(other - place).max() <= margin]
        self._odd.append(place)
        if len(self._odd) >= ODD_REPORTS:
            self._odd.clear()
            return ()
        number = int(far.argmax())
        jump = place[number] - before[number]
        if self.cfg.joint_tolerance_deg is None:
            return (f"its tool has jumped by {1000 * jump:.0f} mm along {'xyz'[number]}",)
        return (f"its joint {number + 1} has jumped by {np.degrees(jump):.0f} deg",)

    def _check(self, status: CRCLStatus) -> None:
        """Checks that it speaks the units that it was told, and reports where it is."""
        told = status.settings_status
        for what, reported, wanted in (
            ("length", told and told.length_unit_name, self._units.length),
            ("angle", told and told.angle_unit_name, self._units.angle),
        ):
            if reported and reported != wanted:
                raise JobFailed(f"{self.cfg.at} reports {reported} as its unit of {what}, it was told {wanted}")
        report = self.latest
        if report is None or (report.joints_rad is None and report.pose_tool_in_base is None):
            why = f": {self.doubt}" if self.doubt else ""
            raise JobFailed(f"{self.cfg.at} does not report where it is{why}")
        others = status.joint_statuses.joint_status if status.joint_statuses else ()
        if self.cfg.joint_tolerance_deg is not None and others and len(others) != self._joints:
            raise JobFailed(
                f"{self.cfg.at} has {len(others)} joints, {self._controller.name} has {self._joints}"
                " (allowed: as many, or `joint_tolerance_deg: null`)"
            )
        if report.joints_rad is None:
            return
        for joint, angle in zip(self._controller.kinematics.arm.joints, np.degrees(report.joints_rad), strict=True):
            low, high = np.degrees(joint.position_limits_rad)
            if not low - BEYOND_DEG <= angle <= high + BEYOND_DEG:
                raise JobFailed(
                    f"{self.cfg.at} reports {joint.name} at {angle:.1f} deg, where the drawings allow {low:.0f} to "
                    f"{high:.0f} (allowed: joints of the drawings, or `joint_tolerance_deg: null`)"
                )

"""The probe that checks work with: connections, commands with fresh numbers, answers, small moves."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

from cellwright.core.errors import JobFailed
from cellwright.crcl.conform.answer import Answer, ConformOptions, Reaction
from cellwright.crcl.conform.check import ambiguous
from cellwright.crcl.conform.evidence import LoggedConnection, Transcript
from cellwright.crcl.connection import Connector
from cellwright.crcl.findings import DocumentFindings
from cellwright.crcl.link import CrclLink, LinkLost, NoAnswer
from cellwright.crcl.messages import (
    AngleUnitEnum,
    CommandStateEnum,
    ConfigureStatusReport,
    CRCLCommand,
    CRCLCommandInstance,
    CRCLStatus,
    GetStatus,
    InitCanon,
    LengthUnitEnum,
    MoveTo,
    Point,
    Pose,
    RotSpeedAbsolute,
    SetAngleUnits,
    SetLengthUnits,
    SetRotSpeed,
    SetTransSpeed,
    TransSpeedAbsolute,
)
from cellwright.crcl.writer import encode

__all__ = ["Probe", "ProbeConnection", "distance_m"]

ROT_SPEED_RADPS = 0.1
MAX_ID = 1 << 62
"""A server's number above it is not counted on from: there might be none left."""


class ProbeConnection:
    """One connection of the checks."""

    def __init__(self, connection: LoggedConnection, link: CrclLink) -> None:
        self._connection = connection
        self._link = link

    @property
    def is_open(self) -> bool:
        """Whether the server has not closed it."""
        return not self._link.lost

    @property
    def arrived(self) -> int:
        """The number of statuses that came."""
        return self._link.arrived

    @property
    def latest_text(self) -> bytes:
        """The last status as it was sent."""
        return self._link.latest_text

    async def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are; raises LinkLost."""
        try:
            await self._connection.send(data)
        except OSError as error:
            raise LinkLost(f"cannot send: {error}") from None

    async def next_status(self, timeout_s: float) -> CRCLStatus:
        """Returns the next status; raises LinkLost, NoAnswer."""
        return await self._link.next_status(timeout_s)

    async def close(self) -> None:
        """Ends it."""
        await self._link.close()


class Probe:
    """The client side of the checks.

    Attributes:
        main: The connection that most checks use.
        home: The pose of the robot when the checks began, in metres; None while that is not known.
        opened: The number of connections so far.
        findings: What was wrong with statuses that were read all the same.
        first: The first status with settings: what is put back in the end.
        first_answer_s: How long the first answer of all took.
        silences: The number of requests in a row that were not answered.
    """

    def __init__(self, connect: Connector, options: ConformOptions) -> None:
        self.options = options
        self.transcript = Transcript()
        self.main: ProbeConnection
        self.home: Pose | None = None
        self.opened = 0
        self.findings = DocumentFindings()
        self.first: CRCLStatus | None = None
        self.first_answer_s: float | None = None
        self.silences = 0
        self._reported_findings = 0
        self._init_s = options.init_s
        self._connect = connect
        self._connections: list[ProbeConnection] = []
        self._unread: list[LoggedConnection] = []
        self._last_id = 0

    async def open(self) -> ProbeConnection:
        """Returns one more connection, until the check ends."""
        connection = await self._connected()
        link = CrclLink(connection, f"connection {self.opened}", findings=self.findings)
        self._connections.append(ProbeConnection(connection, link))
        return self._connections[-1]

    async def open_unread(self) -> LoggedConnection:
        """Returns one more connection, from which nothing is read, until the check ends."""
        self._unread.append(await self._connected())
        return self._unread[-1]

    async def _connected(self) -> LoggedConnection:
        self.opened += 1
        return LoggedConnection(await self._connect(), self.opened, self.transcript)

    async def begin(self, *, prepared: bool, moves: bool) -> None:
        """Brings everything into the state in which a check begins; raises CheckEnded, LinkLost, ConnectionFailed."""
        self.main = await self.open()  # a new one: units and reports of the last check are gone with its connection
        await self.ask()
        if not prepared:
            return
        opened = await self.do(InitCanon(0))
        if not opened.done:
            ambiguous(f"cannot be tried: InitCanon is {opened.text}")
        await self.use_si()
        await self.report_all()
        self.note(await self.ask())
        if moves:
            await self.do(SetTransSpeed(0, TransSpeedAbsolute(self.options.speed_mps)))
            await self.do(SetRotSpeed(0, RotSpeedAbsolute(ROT_SPEED_RADPS)))

    async def end(self) -> None:
        """Closes all connections."""
        closing: list[ProbeConnection | LoggedConnection] = [*self._connections, *self._unread]
        for each in closing:
            await each.close()
        self._connections = []
        self._unread = []

    def note(self, status: CRCLStatus) -> None:
        """Keeps the first status that reports settings."""
        if self.first is None and status.settings_status is not None:
            self.first = status

    def fresh_findings(self) -> tuple[str, ...]:
        """Returns findings of kinds that were not found before the last call."""
        lines, reported = self.findings.lines, self._reported_findings
        self._reported_findings = len(lines)
        return tuple(lines[reported:])

    def next_id(self) -> int:
        """Returns a number that was not used yet."""
        self._last_id += 1
        return self._last_id

    async def ask(self, connection: ProbeConnection | None = None, *, command_id: int | None = None) -> CRCLStatus:
        """Asks for the status with the current number, as NIST's client does; raises LinkLost, NoAnswer."""
        connection = connection or self.main
        number = max(self._last_id, 1) if command_id is None else command_id
        await connection.send_bytes(encode(CRCLCommandInstance(GetStatus(number))))
        asked_s = self.now_s()
        try:
            # The first answer of all may take longer, and the first one after a silence; but not every one.
            is_cold = self.silences == (0 if self.first_answer_s is None else 1)
            status = await connection.next_status(self.options.cold_s if is_cold else self.options.answer_s)
        except NoAnswer:
            self.silences += 1
            raise
        self.silences = 0
        if self.first_answer_s is None:
            self.first_answer_s = self.now_s() - asked_s
        if command_id is None and status.command_status.command_id < MAX_ID:
            self._last_id = max(self._last_id, status.command_status.command_id)
        return status

    async def send(self, command: CRCLCommand, connection: ProbeConnection | None = None) -> int:
        """Sends a command with a fresh number, which it returns."""
        command = replace(command, command_id=self.next_id())
        await (connection or self.main).send_bytes(encode(CRCLCommandInstance(command)))
        return command.command_id

    async def do(
        self, command: CRCLCommand, connection: ProbeConnection | None = None, *, timeout_s: float | None = None
    ) -> Answer:
        """Sends a command and waits until it ended, was refused, or nothing came of it."""
        if timeout_s is None:
            timeout_s = self._init_s if isinstance(command, InitCanon) else self.options.done_s
        answer = await self.outcome(await self.send(command, connection), connection, timeout_s=timeout_s)
        if isinstance(command, InitCanon):  # a server that let the first wait time out is not waited for so long again
            self._init_s = self.options.init_s if answer.done else self.options.done_s
        return answer

    async def prove(self, command: CRCLCommand) -> Answer:
        """Ends the check as ambiguous unless a valid command is done: else an error to a bad one means nothing."""
        answer = await self.do(command, timeout_s=self.move_s)
        if not answer.done:
            ambiguous(f"cannot be tried: a valid {type(command).__name__} is {answer.text}")
        return answer

    async def outcome(
        self, number: int, connection: ProbeConnection | None = None, *, timeout_s: float | None = None
    ) -> Answer:
        """Returns the answer to a command that was sent."""
        start_s, foreign_error_s = self.now_s(), None
        timeout_s = self.options.done_s if timeout_s is None else timeout_s
        while True:
            status = await self.ask(connection)
            reported, now_s = status.command_status, self.now_s()
            reaction = None
            if reported.command_id == number:
                foreign_error_s = None
                if reported.command_state is CommandStateEnum.CRCL_DONE:
                    reaction = Reaction.DONE
                elif reported.command_state is CommandStateEnum.CRCL_ERROR:
                    reaction = Reaction.ERROR
                elif now_s - start_s >= timeout_s:
                    reaction = Reaction.WORKING
            elif reported.command_state is CommandStateEnum.CRCL_ERROR:
                foreign_error_s = now_s if foreign_error_s is None else foreign_error_s
                if now_s - foreign_error_s >= 10 * self.options.poll_s:
                    reaction = Reaction.REFUSED
            if reaction is None and reported.command_id != number and now_s - start_s >= timeout_s:
                reaction = Reaction.SILENT
            if reaction is not None:
                return Answer(reaction, number, status, now_s - start_s)
            await asyncio.sleep(self.options.poll_s)

    async def use_si(self, connection: ProbeConnection | None = None) -> None:
        """Sets metres and radians, whatever the server begins with."""
        for command in (SetLengthUnits(0, LengthUnitEnum.METER), SetAngleUnits(0, AngleUnitEnum.RADIAN)):
            answer = await self.do(command, connection)
            if not answer.done:
                ambiguous(f"cannot be tried: {type(command).__name__} is {answer.text}")

    async def report_all(self, connection: ProbeConnection | None = None) -> None:
        """Asks for all parts of the status that the server has."""
        await self.do(ConfigureStatusReport(0, True, True, True, True, True, True), connection)

    async def pose(self, connection: ProbeConnection | None = None) -> Pose:
        """Returns the pose of the controlled point, in the units of the connection."""
        status = await self.ask(connection)
        if status.pose_status is None:
            ambiguous("cannot be tried: the status holds no pose")
        point = status.pose_status.pose.point
        if not all(math.isfinite(value) for value in (point.x, point.y, point.z)):
            ambiguous(f"cannot be tried: the status tells the point {point.x:g}, {point.y:g}, {point.z:g}")
        return status.pose_status.pose

    async def target(self, fraction: float = 1.0) -> Pose:
        """Returns the pose above home by a fraction of the reach, in metres."""
        if self.home is None:
            ambiguous("cannot be tried: where the robot stands is not known")
        point = self.home.point
        return replace(self.home, point=Point(point.x, point.y, point.z + fraction * self.options.reach_m))

    async def move(self, pose: Pose) -> Answer:
        """Moves straight to a pose."""
        return await self.do(MoveTo(0, True, pose), timeout_s=self.move_s)

    @property
    def move_s(self) -> float:
        """The longest duration of a move over the whole reach."""
        return 15.0

    async def responds(self, connection: ProbeConnection) -> bool:
        """Returns whether a connection is open and answers."""
        try:
            await self.ask(connection)
        except JobFailed:
            return False
        return True

    async def closes(self, connection: ProbeConnection, within_s: float = 1.0) -> bool:
        """Returns whether the server closes a connection."""
        until_s = self.now_s() + within_s
        while connection.is_open and self.now_s() < until_s:
            try:
                await connection.next_status(max(until_s - self.now_s(), 0.01))
            except NoAnswer:
                break
            except LinkLost:
                return True
        return not connection.is_open

    @staticmethod
    async def sleep(duration_s: float) -> None:
        """Waits."""
        await asyncio.sleep(duration_s)

    @staticmethod
    def now_s() -> float:
        """Returns the time."""
        return asyncio.get_running_loop().time()


def distance_m(a: Pose, b: Pose) -> float:
    """Returns the distance of two poses, in the unit that they are in."""
    return float(((a.point.x - b.point.x) ** 2 + (a.point.y - b.point.y) ** 2 + (a.point.z - b.point.z) ** 2) ** 0.5)

"""A CRCL server as others build it, written without ours: what the client must get along with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from cellwright.core.clock import Clock
from cellwright.core.loop import SimulationLoop, WaitClock
from cellwright.crcl import (
    CommandStateEnum,
    CommandStatus,
    CRCLCommand,
    CRCLCommandInstance,
    CRCLStatus,
    Dwell,
    EndCanon,
    GetStatus,
    InitCanon,
    LengthUnitEnum,
    MessageStream,
    MoveTo,
    Point,
    Pose,
    PoseStatus,
    SetLengthUnits,
    SettingsStatus,
    StopMotion,
    Targets,
    TargetsCfg,
    Vector,
    decode,
    encode,
    tcp,
)

DONE, WORKING, ERROR = CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_WORKING, CommandStateEnum.CRCL_ERROR
PER_METER = {LengthUnitEnum.METER: 1.0, LengthUnitEnum.MILLIMETER: 1000.0, LengthUnitEnum.INCH: 1 / 0.0254}


@dataclass
class OtherServer:
    """One point that moves along x, with the habits of NIST's server; `push_s` gives it those of the others.

    Attributes:
        executed: Numbers and kinds of the commands that were taken up, in order.
        drop_before: Cut the connection when a command of this kind comes, before it is taken up; once.
        drop_after: The same, after it was taken up.
        deaf: Take nothing up, say nothing new.
        default_unit: Of lengths, on every connection and after InitCanon.
        keeps_unit: Say that SetLengthUnits is done, and go on as before.
        say_instead: Makes each status into the one that is sent.
    """

    push_s: float | None = None
    move_s: float = 0.3
    executed: list[CRCLCommand] = field(default_factory=list)
    drop_before: type | None = None
    drop_after: type | None = None
    deaf: bool = False
    x_m: float = 0.0
    initialised: bool = False
    command_id: int = -1
    state: CommandStateEnum = WORKING
    text: str | None = None
    status_id: int = 0
    accepted: int = 0
    refuse_connections: bool = False
    port: int = 0
    default_unit: LengthUnitEnum = LengthUnitEnum.METER
    keeps_unit: bool = False
    say_instead: Callable[[CRCLStatus], CRCLStatus] = lambda status: status

    async def start(self) -> str:
        self._tasks: set[asyncio.Task] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._work: asyncio.Task | None = None
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return f"127.0.0.1:{self.port}"

    async def stop(self) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        for task in [*self._tasks, self._work]:
            if task is not None:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.current_task())
        self._writers.add(writer)
        self.accepted += 1
        unit = {"name": self.default_unit}
        if self.push_s:
            self._tasks.add(asyncio.ensure_future(self._push(writer, unit)))
        stream = MessageStream()
        try:
            while (data := await reader.read(4096)) and not self.refuse_connections:
                for document in stream.feed(data):
                    command = decode(document, CRCLCommandInstance).crcl_command
                    if self._cut("drop_before", command):
                        return
                    self._take(command, unit)
                    if self._cut("drop_after", command):
                        return
                    if isinstance(command, GetStatus) and not self.deaf:
                        writer.write(self._status(unit))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _cut(self, when: str, command: CRCLCommand) -> bool:
        if getattr(self, when) is type(command):
            setattr(self, when, None)
            return True
        return False

    async def _push(self, writer: asyncio.StreamWriter, unit: dict) -> None:
        while not writer.is_closing():
            writer.write(b"\n" + self._status(unit))
            await asyncio.sleep(self.push_s)

    def _take(self, command: CRCLCommand, unit: dict) -> None:
        if isinstance(command, GetStatus) or self.deaf:
            return
        if isinstance(command, InitCanon):
            self.initialised, unit["name"] = True, self.default_unit
        elif not isinstance(command, EndCanon | StopMotion):
            if not self.initialised:
                self.state, self.text = ERROR, f"Not initialized when cmd={type(command).__name__} received."
                return
            if self.state is ERROR:
                return
        if self._work is not None:
            self._work.cancel()
        self.executed.append(command)
        self.command_id, self.state, self.text = command.command_id, DONE, None
        if isinstance(command, SetLengthUnits) and not self.keeps_unit:
            unit["name"] = command.unit_name
        elif isinstance(command, EndCanon):
            self.initialised = False
        elif isinstance(command, MoveTo):
            target_m = command.end_position.point.x / PER_METER[unit["name"]]
            if target_m > 2.0:
                self.state, self.text = ERROR, "X at 3.0 greater than limit 2.0"
            else:
                self._begin(target_m, self.move_s)
        elif isinstance(command, Dwell):
            self._begin(self.x_m, command.dwell_time)

    @property
    def moves(self) -> bool:
        """Whether it is on its way."""
        return self._work is not None and not self._work.done()

    def _begin(self, target_m: float, duration_s: float) -> None:
        async def work() -> None:
            start_m, steps = self.x_m, max(1, round(duration_s / 0.02))
            for step in range(steps):
                await asyncio.sleep(duration_s / steps)
                self.x_m = start_m + (target_m - start_m) * (step + 1) / steps
            self.state = DONE

        self.state, self._work = WORKING, asyncio.ensure_future(work())

    def _status(self, unit: dict) -> bytes:
        self.status_id += 1
        pose = Pose(Point(self.x_m * PER_METER[unit["name"]], 0.0, 0.0), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0))
        command_status = CommandStatus(self.command_id, self.status_id, self.state, state_description=self.text)
        settings = SettingsStatus(length_unit_name=unit["name"])
        status = CRCLStatus(command_status, pose_status=PoseStatus(pose), settings_status=settings)
        return encode(self.say_instead(status))


class NoPhysics:
    """Lets simulation time pass."""

    def __init__(self, clock):
        self._clock = clock

    def advance(self, until_tick, enough_tick=None):
        self._clock.tick = until_tick

    def interrupt(self):
        pass


@pytest.fixture(scope="session")
def simulated() -> Callable[[Callable[[WaitClock], Coroutine[Any, Any, Any]]], Any]:
    """Runs work, which is given the clock, in simulation time: as fast as it can."""

    def run(work):
        clock = Clock(0.002)
        loop = SimulationLoop(clock, NoPhysics(clock))
        try:
            return loop.run(work(loop.clock))
        finally:
            loop.close()

    return run


@pytest.fixture
def other_server() -> type[OtherServer]:
    return OtherServer


def pose_at(x: float) -> Pose:
    return Pose(Point(x, 0.0, 0.0), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0))


@pytest.fixture
def move_to():
    """MoveTo along x; its number is the client's business."""
    return lambda x: replace(MoveTo(0, True, pose_at(x)))


@pytest.fixture
def with_targets(other_server):
    """Runs work(target, simulated, real): both ends are servers on sockets, and the robot begins simulated."""

    def run(work, *, say=lambda _text: None, endpoint=(), **servers):
        async def main():
            simulated, real = other_server(move_s=0.1, **servers), other_server(move_s=0.1, **servers)
            address, real.address = await simulated.start(), await real.start()
            at = {"at": "simulated", "poll_s": 0.01, "reconnect_s": 0, **dict(endpoint)}
            cfg = TargetsCfg.model_validate({"robots": {"fanuc": at}})
            try:
                async with Targets(cfg, {"fanuc": tcp(address)}, say=say) as targets:
                    return await work(targets.robot("fanuc"), simulated, real)
            finally:
                await simulated.stop()
                await real.stop()

        return asyncio.run(main())

    return run

"""A practice arm behind a server, in memory under simulation time and over TCP in an ordinary event loop."""

from __future__ import annotations

import asyncio

import pytest

from cellwright.core.clock import Clock
from cellwright.core.loop import SimulationLoop
from cellwright.crcl import (
    CommandStateEnum,
    CRCLCommand,
    CRCLCommandInstance,
    CrclServer,
    CRCLStatus,
    ExampleArm,
    GetStatus,
    InitCanon,
    MessageStream,
    MoveTo,
    Point,
    Pose,
    Vector,
    WallClock,
    check,
    decode,
    encode,
)

PACE = 20.0  # of the arm behind sockets: its second is 50 ms


class Peer:
    """A client that knows nothing but bytes."""

    def __init__(self, receive, send, close, clock):
        self._receive, self.send_bytes, self.close = receive, send, close
        self._clock = clock
        self._stream = MessageStream()
        self._statuses: list[CRCLStatus] = []
        self._unchecked = 20

    async def send(self, *commands: CRCLCommand, **instance) -> None:
        """All of them in one write."""
        await self.send_bytes(b"".join(encode(CRCLCommandInstance(command, **instance)) for command in commands))

    async def status(self) -> CRCLStatus | None:
        """The next status; None when the connection has ended."""
        while not self._statuses:
            data = await asyncio.wait_for(self._receive(), 30.0)
            if not data:
                return None
            for document in self._stream.feed(data):
                if self._unchecked:  # it takes longer than everything else
                    self._unchecked -= 1
                    assert check(document) == []
                self._statuses.append(decode(document, CRCLStatus))
        return self._statuses.pop(0)

    async def ask(self) -> CRCLStatus | None:
        await self.send(GetStatus(1))
        return await self.status()

    async def until_ended(self, command_id: int | None = None) -> CRCLStatus:
        """The first status that says that the present command is over."""
        for _ in range(5000):
            status = await self.ask()
            head = status.command_status
            if head.command_state is not CommandStateEnum.CRCL_WORKING and command_id in (None, head.command_id):
                return status
            await self._clock.sleep(0.05)
        raise AssertionError(f"{command_id} does not end: {head}")

    async def do(self, command: CRCLCommand) -> CRCLStatus:
        await self.send(command)
        return await self.until_ended(command.command_id)

    async def begin(self) -> None:
        await self.do(InitCanon(2))


class Rig:
    """Runs work(rig) with `rig.arm`, `rig.server`, `rig.clock`, `rig.connect()`."""

    def __init__(self, transport: str) -> None:
        self.transport = transport

    def run(self, work, *, arm=None, **options):
        if self.transport == "tcp":
            return asyncio.run(self._perform(work, WallClock(PACE), arm or {}, options))
        clock = Clock(0.002)
        loop = SimulationLoop(clock, _Stepper(clock), pace=PACE if self.transport == "paced tcp" else None)
        try:
            return loop.run(self._perform(work, loop.clock, arm or {}, options))
        finally:
            loop.close()

    async def _perform(self, work, clock, arm, options):
        self.clock = clock
        self.arm = ExampleArm(clock, **arm)
        self.server = CrclServer(self.arm, **options)
        self._peers = []
        if self.transport != "memory":
            await self.server.start(port=0)
        try:
            return await work(self)
        finally:
            for peer in self._peers:
                await peer.close()
            await self.server.close()

    async def connect(self) -> Peer:
        if self.transport != "memory":
            reader, writer = await asyncio.open_connection(*self.server.address)

            async def receive():
                try:
                    return await reader.read(65536)
                except ConnectionResetError:
                    return b""

            async def send(data):
                writer.write(data)
                await writer.drain()

            async def close():
                writer.close()

            peer = Peer(receive, send, close, self.clock)
        else:
            connection = await self.server.connect()
            peer = Peer(connection.receive, connection.send, connection.close, self.clock)
        self._peers.append(peer)
        return peer

    async def until(self, true) -> None:
        """Lets time pass until something is so."""
        for _ in range(5000):
            if true():
                return
            await self.clock.sleep(0.02)
        raise AssertionError("it never was so")

    async def on_the_way(self) -> None:
        """Until the tool has visibly left its first place along x."""
        await self.until(lambda: self.tool()[0] > 0.42)

    def tool(self):
        return self.arm.read().pose_tool_in_base.position.tolist()


class _Stepper:
    """A world in which nothing happens but time."""

    def __init__(self, clock):
        self._clock = clock

    def advance(self, until_tick, enough_tick=None):
        self._clock.tick = until_tick

    def interrupt(self):
        pass


@pytest.fixture(params=["memory", "tcp"])
def rig(request) -> Rig:
    return Rig(request.param)


@pytest.fixture
def memory_rig() -> Rig:
    """For what depends on exact times."""
    return Rig("memory")


@pytest.fixture
def tcp_rig() -> Rig:
    return Rig("tcp")


@pytest.fixture
def paced_rig() -> Rig:
    """Sockets in an event loop whose time is simulation time, paced to the wall clock."""
    return Rig("paced tcp")


@pytest.fixture
def down():
    """A pose with the tool pointing down."""
    return lambda x, y, z: Pose(Point(x, y, z), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, -1.0))


@pytest.fixture
def move(down):
    return lambda number, x, y=0.0, z=0.3, straight=True: MoveTo(number, straight, down(x, y, z))

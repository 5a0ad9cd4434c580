"""The connection is cut everywhere it can be cut: every motion is executed once, and the robot ends where it should."""

from __future__ import annotations

import pytest

from cellwright.crcl import (
    CRCLProgram,
    CrclServer,
    EndCanon,
    ExampleArm,
    InitCanon,
    LengthUnitEnum,
    MoveScrew,
    MoveTo,
    Point,
    Pose,
    SetLengthUnits,
    SetTransSpeed,
    TransSpeedAbsolute,
    Vector,
)
from cellwright.crcl.client import CrclClient
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.runner import run_program


class CutConnection:
    """Breaks when the network has carried so many pieces: before the last one arrived, or right after."""

    def __init__(self, network, inner):
        self._network, self._inner, self._broken = network, inner, False

    def _piece(self):
        self._network.carried += 1
        return self._network.carried in self._network.cuts

    async def send(self, data):
        cut = self._piece()
        if self._broken or (cut and not self._network.arrives):
            await self._break()
        await self._inner.send(data)
        if cut:
            await self._break()

    async def receive(self):
        data = b"" if self._broken else await self._inner.receive()
        if data and self._piece():
            self._broken = True
            await self._inner.close()
            return b""
        return data

    async def close(self):
        await self._inner.close()

    async def _break(self):
        self._broken = True
        await self._inner.close()
        raise ConnectionResetError("cut")


class Network:
    def __init__(self, server, cuts, arrives):
        self._server, self.cuts, self.arrives, self.carried = server, cuts, arrives, 0

    async def connect(self):
        return CutConnection(self, await self._server.connect())


class CountingArm(ExampleArm):
    """Counts its motions."""

    def __init__(self, clock):
        super().__init__(clock)
        self.motions = []

    async def move_through(self, waypoints, *, straight):
        self.motions.append(round(float(waypoints[-1].pose_tool_in_base.position[0]), 6))
        await super().move_through(waypoints, straight=straight)

    async def move_screw(self, screw, pace):
        self.motions.append("screw")
        await super().move_screw(screw, pace)


def at_mm(x):
    return MoveTo(0, True, Pose(Point(x, 0.0, 300.0), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, -1.0)))


PROGRAM = CRCLProgram(
    init_canon=InitCanon(1),
    middle_command=(
        SetLengthUnits(2, LengthUnitEnum.MILLIMETER),
        SetTransSpeed(3, TransSpeedAbsolute(500.0)),
        at_mm(450.0),
        MoveScrew(5, axial_distance_screw=0.0, turn=0.2),
        at_mm(420.0),
    ),
    end_canon=EndCanon(9),
)


@pytest.fixture(scope="module")
def run_with_cuts(simulated):
    def run(cuts, arrives):
        async def work(clock):
            arm = CountingArm(clock)
            async with CrclServer(arm) as server:
                network = Network(server, cuts, arrives)
                options = ClientOptions(with_stop_connection=False)
                async with CrclClient(network.connect, options=options) as client:
                    return await run_program(client, PROGRAM), arm, network.carried

        return simulated(work)

    return run


@pytest.fixture(scope="module")
def pieces(run_with_cuts):
    """How many pieces a run without a cut takes."""
    return run_with_cuts((), True)[2]


@pytest.fixture
def check_cuts(run_with_cuts, pieces):
    def check(cuts, arrives):
        report, arm, _ = run_with_cuts(cuts, arrives)
        assert report.done, report.reason
        assert arm.motions == [0.45, "screw", 0.42], f"cut at {cuts} of {pieces} pieces, arrives {arrives}"
        assert float(arm.read().pose_tool_in_base.position[0]) == pytest.approx(0.42)

    return check


@pytest.mark.parametrize("arrives", [True, False])
def test_cut_here_and_there(check_cuts, pieces, arrives):
    for cut_at in range(5, pieces, 37):
        check_cuts((cut_at, cut_at + 9), arrives)


@pytest.mark.long
@pytest.mark.parametrize("again", [(), (1,), (2, 6), (4,), (7, 8)])
@pytest.mark.parametrize("arrives", [True, False])
def test_cut_everywhere(check_cuts, pieces, arrives, again):
    for cut_at in range(3, pieces + 1):
        check_cuts((cut_at, *(cut_at + later for later in again)), arrives)

"""Tools over CRCL: changing them, the pump of a vacuum tool, and what statuses and errors say."""

import math

import pytest

import cellwright as cw
from cellwright.cells import Cell
from cellwright.core.messages import ToolStatus
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.crcl import messages as m
from cellwright.crcl.outcome import OutcomeState
from cellwright.crcl.poses import message_of_pose
from cellwright.interfaces import CrclInterface

HOLDERS_M = {"left": (0.45, 0.20, 0.0), "right": (0.45, -0.20, 0.0)}
DOCK_M = 0.340 + 0.008 + 0.0222
LIFT_M = 0.25  # longer than any tool: clear of the rails
GEAR_M = (0.40, 0.0, 0.0)


@pytest.fixture
def lab():
    cell = {
        "name": "bench",
        "title": "One arm, two tools",
        "robots": {
            "arm": {
                "model": "lr_mate_200id",
                "base": {"xyz_m": [0, 0, 0]},
                "changer": "tool_changer",
                "home_deg": [0, 0, 0, 0, -90, 0],
            },
        },
        "fixtures": {
            "floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}},
            **{name: {"model": "tool_holder", "pose": {"xyz_m": xyz}} for name, xyz in HOLDERS_M.items()},
        },
        "tools": {
            "pincher": {"model": "aprs_fanuc_gripper", "holder": "left"},
            "cup": {"model": "small_vacuum", "holder": "right"},
        },
        "parts": {"gear": {"model": "thin_gear", "pose": {"xyz_m": GEAR_M}}},
        "sensors": ({"type": "tool_status", "robot": "arm", "rate_hz": 25},),
    }
    with cw.Lab(Cell.model_validate(cell)) as lab:
        yield lab


class Hand:
    """A CRCL client that says what it wants of the arm, in metres."""

    def __init__(self, client):
        self.client = client

    async def do(self, command) -> m.CRCLStatus:
        outcome = await self.client.execute(command)
        assert outcome.state is OutcomeState.DONE, outcome
        return await self.client.status()

    async def refuse(self, command) -> str:
        outcome = await self.client.execute(command)
        assert outcome.state is OutcomeState.ERROR, outcome
        return outcome.reason

    async def go(self, xyz_m, straight=True) -> m.CRCLStatus:
        pose = message_of_pose(Pose.from_xyz_rpy(xyz_m, (math.pi, 0, 0)))
        return await self.do(m.MoveTo(0, move_straight=straight, end_position=pose))

    async def change(self, holder, command, reach_m=0.0) -> m.CRCLStatus:
        """Comes down on a holder, with the controlled point so far from the flange, opens or closes, and goes up."""
        x, y, _ = HOLDERS_M[holder]
        await self.go((x, y, DOCK_M + LIFT_M - reach_m), straight=False)
        await self.go((x, y, DOCK_M + 0.0005 - reach_m))
        status = await self.do(command)
        here = status.pose_status.pose.point
        await self.go((x, y, here.z + LIFT_M))
        return status


def talk(lab, work):
    async def main():
        interface = CrclInterface(lab)
        try:
            async with CrclClient(lambda: interface.connect("arm")) as client:
                hand = Hand(client)
                await hand.do(m.InitCanon(0))
                await hand.do(m.SetLengthUnits(0, unit_name=m.LengthUnitEnum.METER))
                return await work(hand)
        finally:
            await interface.close()

    return lab.perform(main())


def test_two_tools_are_changed_and_both_work(lab):
    heard: list[ToolStatus] = []
    lab.bus.subscribe("/arm/tool_status", lambda _topic, message: heard.append(message), subscriber="test")

    async def work(hand):
        bare = await hand.client.status()
        assert bare.gripper_status is None
        assert (heard[-1].kind, heard[-1].locked) == ("none", False)
        with_pincher = await hand.change("left", m.CloseToolChanger(0))
        assert isinstance(with_pincher.gripper_status, m.ParallelGripperStatus)
        assert with_pincher.gripper_status.gripper_name == "pincher"
        assert (heard[-1].tool, heard[-1].kind, heard[-1].locked) == ("pincher", "gripper", True)
        drop = bare_height(with_pincher)
        assert drop == pytest.approx(DOCK_M + 0.0005 - 0.2202, abs=2e-4), "the controlled point is the tool's now"
        closed = await hand.do(m.SetEndEffector(0, setting=0.0))
        assert closed.gripper_status.separation == pytest.approx(0.002, abs=3e-4)
        await hand.do(m.SetEndEffector(0, setting=1.0))
        without = await hand.change("left", m.OpenToolChanger(0), reach_m=0.2202)
        assert without.gripper_status is None
        assert not heard[-1].locked
        with_cup = await hand.change("right", m.CloseToolChanger(0))
        assert isinstance(with_cup.gripper_status, m.VacuumGripperStatus)
        assert (with_cup.gripper_status.is_powered, with_cup.gripper_status.holding_object) == (False, False)
        await hand.go((*GEAR_M[:2], 0.35), straight=False)
        await hand.go((*GEAR_M[:2], 0.008 - 0.0015))
        holding = await hand.do(m.SetEndEffector(0, setting=1.0))
        assert (holding.gripper_status.is_powered, holding.gripper_status.holding_object) == (True, True)
        await hand.go((*GEAR_M[:2], 0.1))
        assert lab.world.pose_of("gear").position[2] == pytest.approx(0.092, abs=0.003)
        await hand.go((*GEAR_M[:2], 0.010))
        off = await hand.do(m.SetEndEffector(0, setting=0.0))
        assert (off.gripper_status.is_powered, off.gripper_status.holding_object) == (False, False)

    def bare_height(status):
        return status.pose_status.pose.point.z

    talk(lab, work)
    lab.advance(0.3)
    assert lab.world.pose_of("gear").position[2] == pytest.approx(0.0, abs=0.001)


def test_errors_say_what_is_missing(lab):
    async def work(hand):
        assert await hand.refuse(m.OpenToolChanger(0)) == "arm tool changer holds no tool"
        await hand.do(m.InitCanon(0))
        assert "arm tool changer finds no tool" in await hand.refuse(m.CloseToolChanger(0))
        await hand.do(m.InitCanon(0))
        assert await hand.refuse(m.SetEndEffector(0, setting=1.0)) == "arm has no end effector"
        await hand.do(m.InitCanon(0))
        await hand.do(m.SetLengthUnits(0, unit_name=m.LengthUnitEnum.METER))
        await hand.change("left", m.CloseToolChanger(0))
        assert await hand.refuse(m.CloseToolChanger(0)) == "arm tool changer holds pincher already"

    talk(lab, work)

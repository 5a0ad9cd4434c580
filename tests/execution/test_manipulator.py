"""A robot's hand and its ways, with an arm that says and refuses what a test wants."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from cellwright.catalogue import TOOLS, tool_grasp_xyz_m
from cellwright.core.pose import Pose
from cellwright.crcl import messages
from cellwright.crcl.outcome import Outcome, OutcomeState
from cellwright.execution.arm import ArmFailed, HandReading, tool_down
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.settings import Recipe
from cellwright.knowledge.belief_writer import note_held

HIGH = tool_down(np.array([0.2, -1.1, 1.3]))


class ScriptedArm:
    """Reports the widths that it is given, one after the other, and refuses straight lines to some turns."""

    def __init__(self, widths_m=(0.008,), holding=True, refused_rad=()):
        self.name, self.recipe, self.waits_for_tool = "fanuc", Recipe(), False
        self.widths_m, self.holding, self.refused_rad = list(widths_m), holding, refused_rad
        self.at, self.moves = HIGH, []

    async def read(self):
        width_m = self.widths_m.pop(0) if len(self.widths_m) > 1 else self.widths_m[0]
        return HandReading(self.at, "aprs_fanuc_gripper", width_m, self.holding)

    async def prepare(self):
        return await self.read()

    async def dwell(self, duration_s):
        pass

    async def set_tool(self, setting):
        return await self.read()

    async def move(self, pose, speed_mps, *, straight=True):
        self.moves.append((pose, speed_mps, straight))
        if straight and any(abs(pose.rpy[2] - turn) < 0.01 for turn in self.refused_rad):
            raise ArmFailed(self.name, Outcome(OutcomeState.ERROR, messages.InitCanon(1), "cannot follow", None, 0.0))
        self.at = pose


@pytest.fixture
def manipulator(still):
    def make(**arm):
        cell = still()
        asyncio.run(cell.sleep(0.5))
        scripted = ScriptedArm(**arm)
        return Manipulator(scripted, RobotHand(scripted, cell), cell.belief, "fanuc_tool")

    return make


@pytest.mark.parametrize(
    ("widths_m", "holding", "expected"),
    [
        ([0.008, 0.008], False, True),  # they tremble on something
        ([0.008, 0.006, 0.004, 0.002], False, False),  # they close: it has slipped out
        ([0.020], False, False),  # open
        ([0.002], False, False),  # shut
        ([0.008], True, True),
    ],
)
def test_fingers_that_stay_between_open_and_shut_have_something(manipulator, widths_m, holding, expected):
    reading = asyncio.run(manipulator(widths_m=widths_m, holding=holding).hand.read())
    assert reading.holding is expected


def test_closing_ends_when_the_fingers_do_not_creep_any_more(manipulator):
    reading = asyncio.run(manipulator(widths_m=[0.011, 0.010, 0.009, 0.008]).hand.grasp())
    assert reading.width_m == 0.008


@pytest.mark.parametrize(
    ("refused_rad", "expected"),
    [((), [(0.3, True)]), ((0.3,), [(0.3, True), (0.3 - np.pi, True)]), ((0.3, 0.3 - np.pi), [(0.3, False)])],
)
def test_a_line_that_the_arm_cannot_follow_is_tried_with_the_fingers_the_other_way_round(
    manipulator, refused_rad, expected
):
    robot = manipulator(refused_rad=refused_rad)
    asyncio.run(robot.go_above(tool_down(np.array([0.2, -1.0, 0.95]), 0.3)))
    made = [(float(pose.rpy[2]), straight) for pose, _, straight in robot.arm.moves]
    assert np.allclose(made[-len(expected) :], expected)


def test_what_is_in_the_hand_hangs_as_it_was_taken_whatever_was_seen_last(manipulator):
    """No camera sees a part between fingers: an old sighting of it is not where it is let go by."""
    robot = manipulator()
    cell = robot.hand.clock
    part = robot.believed.part("medium_gear_1")
    note_held(cell.belief, "fanuc_tool", part.name)
    robot.note_held(part.name)
    asyncio.run(cell.sleep(2.0))
    tool = TOOLS.get("aprs_fanuc_gripper")
    hang = HIGH @ Pose.from_xyz_rpy([0.0, 0.0, tool_grasp_xyz_m(part.figures, tool)[2]], [np.pi, 0.0, 0.0])
    found = robot.part_in_hand(asyncio.run(robot.hand.read()))
    assert found.position == pytest.approx(hang.position, abs=1e-6)


@pytest.mark.parametrize(
    ("width_m", "is_seen", "held"), [(0.008, False, True), (0.02, False, False), (0.008, True, False)]
)
def test_a_part_that_was_only_thought_to_be_lost_is_held_again(still, width_m, is_seen, held):
    """Something held the fingers apart for a moment: the part has not gone, and no detector sees it elsewhere."""
    cell = still()
    asyncio.run(cell.sleep(0.5))
    arm = ScriptedArm(widths_m=(width_m,))
    robot = Manipulator(arm, RobotHand(arm, cell), cell.belief, "fanuc_tool")
    cell.hidden.add("medium_gear_1")
    robot.note_held("medium_gear_1")
    asyncio.run(robot.hand.read())
    robot.note_lost()
    assert robot.held == ""
    if is_seen:
        cell.hidden.clear()
        cell.moved["medium_gear_1"] = Pose.from_xyz_rpy([0.3, -1.3, 0.916]).matrix
        asyncio.run(cell.sleep(0.5))
    arm.at = tool_down(np.array([0.3, -1.0, 1.5]))
    said = asyncio.run(robot.recover())
    assert robot.held == ("medium_gear_1" if held else "")
    assert said == ("medium_gear_1 is in the hand after all" if held else said)

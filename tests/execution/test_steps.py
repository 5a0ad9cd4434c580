"""A part taken and set into a slot by the steps of a plan, with an arm that follows every command exactly."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

from cellwright.catalogue import TOOLS, part_of_sku, tool_grasp_xyz_m
from cellwright.execution.arm import HandReading, tool_down
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.settings import ExecutionSettings, Recipe
from cellwright.execution.steps import StepRunner
from cellwright.planning import Action, Verb

from .conftest import SKUS, small_kit

GRIPPER, KIT, TRAY = "aprs_fanuc_gripper", "fanuc_kit_m2l1", "fanuc_medium_tray"
TAKING, PUTTING = (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART), (Verb.LOOK_SLOT, Verb.PLACE_PART)
GRASP_M = tool_grasp_xyz_m(part_of_sku(SKUS["m"]), TOOLS.get(GRIPPER))[2]


class ExactArm:
    """Is where it was sent to; what it closes on is a gear, until it has been read so often."""

    def __init__(self, cell, kept_for=99):
        self.name, self.recipe, self.waits_for_tool = "fanuc", Recipe(), False
        self.cell, self.kept_for, self.is_closed = cell, kept_for, False
        self.at, self.lines, self.rest_point, self.rest_rad = tool_down(np.array([0.2, -1.1, 1.3])), [], None, ()

    async def read(self):
        self.kept_for -= self.is_closed
        width_m = (0.008 if self.kept_for >= 0 else 0.002) if self.is_closed else 0.020
        return HandReading(self.at, GRIPPER, width_m, width_m == 0.008)

    async def dwell(self, duration_s):
        await self.cell.sleep(duration_s)

    async def set_tool(self, setting):
        self.lines.append((setting, self.at.position))
        self.is_closed = setting == 0.0
        return await self.read()

    async def move(self, pose, speed_mps, *, straight=True):
        self.lines.append(("move", pose.position))
        self.at = pose

    async def press(self, pose, speed_mps, limit_n):
        await self.move(pose, speed_mps)
        return 0.0

    def watched(self, check):
        return nullcontext()

    def changes(self):
        return [(what, at) for what, at in self.lines if what != "move"]


@pytest.fixture
def runner(still):
    order = small_kit("m")

    def make(**arm):
        cell = still(order)
        asyncio.run(cell.sleep(0.5))
        exact = ExactArm(cell, **arm)
        robot = Manipulator(exact, RobotHand(exact, cell), cell.belief, "fanuc_tool")
        looks = LookPlanner(cell.belief, cell, {"fanuc": robot}, None, ExecutionSettings(look_limit_s=5.0))
        return StepRunner(robot, looks, {KIT: order.lines[0].design}, ())

    return make


def do(runner, *verbs):
    async def work():
        for verb in verbs:
            await runner.do(Action(verb, "fanuc", "fanuc_tool", SKUS["m"], TRAY, KIT))

    asyncio.run(work())


def test_a_part_is_taken_by_its_peg_carried_above_everything_and_let_go_just_above_its_seat(runner):
    steps = runner()
    robot, arm = steps.manipulator, steps.manipulator.arm
    part = robot.believed.parts(SKUS["m"])[0]
    do(steps, *TAKING)
    assert (robot.held, robot.found, robot.misses) == (part.name, "", 0)
    travel_m = robot.travel_m()
    highest_m = max(other.top_m for other in robot.believed.parts() if other.name != part.name)
    assert travel_m - GRASP_M > highest_m, "so does what hangs from its tool"
    do(steps, *PUTTING[:1])
    slot = robot.slot
    do(steps, *PUTTING[1:])
    assert robot.held == ""
    (opened, _), (closed, taken), (released, let_go) = arm.changes()
    assert (opened, closed, released) == (1.0, 0.0, 1.0)
    assert taken == pytest.approx(part.position + [0, 0, GRASP_M], abs=1e-4)
    assert let_go == pytest.approx(slot.position + [0, 0, GRASP_M + arm.recipe.release_m], abs=1e-4)
    at = [place for _, place in arm.lines]
    across = [(a, b) for a, b in pairwise(at) if np.hypot(*(a - b)[:2]) > 0.002]
    assert across
    assert min(min(a[2], b[2]) for a, b in across) >= travel_m - 1e-6, "it crosses the cell above everything"
    assert at[-1][2] >= travel_m - 1e-6, "it leaves the part that it set down"


@pytest.mark.parametrize("kept_for", range(2, 8))
def test_a_part_that_is_lost_on_the_way_is_noted_and_not_set_down(runner, kept_for):
    steps = runner(kept_for=kept_for)
    robot = steps.manipulator
    with pytest.raises(StepFailed) as caught:
        do(steps, *TAKING, *PUTTING)
    assert caught.value.kind is FailureKind.LOST
    assert (robot.held, robot.misses) == ("", 1)
    assert [setting for setting, _ in robot.arm.changes()] == [1.0, 0.0], "the hand is not opened over the kit"


def test_a_hand_that_closed_on_nothing_is_opened_and_leaves(runner):
    steps = runner(kept_for=0)
    robot = steps.manipulator
    with pytest.raises(StepFailed, match=r"closed to 2.0 mm, medium_gear_\d+ gives 8.0 mm") as caught:
        do(steps, *TAKING)
    assert caught.value.kind is FailureKind.MISSED
    assert (robot.held, robot.misses) == ("", 1)
    assert [setting for setting, _ in robot.arm.changes()] == [1.0, 0.0, 1.0]
    assert robot.arm.at.position[2] >= robot.travel_m() - 1e-6

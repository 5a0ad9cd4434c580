"""One pick and place for everything: what is done in which order, what is checked, and ROVI's objects in physics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from cellwright.catalogue import PARTS, TOOLS
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.execution import (
    ArmClient,
    HandReading,
    Hold,
    PickPlace,
    PickPlacePhase,
    Recipe,
    RobotHand,
    StraightWay,
)
from cellwright.execution.arm import tool_down
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.interfaces import CrclInterface
from cellwright.lab import DirectArm, Lab
from cellwright.motion.grasps import GraspKind, find_grasps
from cellwright.perception import look, nearest_track

HERE, THERE = tool_down(np.array([0.3, 0.2, 0.10])), tool_down(np.array([0.3, -0.2, 0.12]))
FINGERS, CUPS = "aprs_fanuc_gripper", "tray_vacuum"
GEAR_M = 0.008


@dataclass
class Notebook:
    """An arm and a clock; what it holds slips out of the hand when it has been read so often."""

    tool: str = FINGERS
    closes_to_m: float = GEAR_M
    kept_for: int = 99
    lines: list[object] = field(default_factory=list)
    time_s: float = 0.0
    is_on: bool = False
    at: Pose = HERE
    recipe: Recipe = field(default_factory=Recipe)
    waits_for_tool: bool = False

    async def move(self, pose_tool_in_world: Pose, speed_mps: float, *, straight: bool = True) -> None:
        _, y, z = pose_tool_in_world.position
        self.lines.append((round(y, 3), round(z, 3), speed_mps if straight else "any"))
        self.at = pose_tool_in_world

    async def set_tool(self, setting: float) -> HandReading:
        self.lines.append(setting)
        self.is_on = setting == (1.0 if self.tool == CUPS else 0.0)
        return await self.read()

    async def read(self) -> HandReading:
        self.kept_for -= self.is_on
        width_m = (self.closes_to_m if self.kept_for >= 0 else 0.002) if self.is_on else 0.020
        return HandReading(self.at, self.tool, width_m, self.is_on and self.kept_for >= 0 and self.closes_to_m > 0.002)

    async def dwell(self, duration_s: float) -> None:
        self.time_s += duration_s

    sleep = dwell


def transfer(arm: Notebook, hold: Hold) -> list[PickPlacePhase]:
    phases: list[PickPlacePhase] = []
    work = PickPlace(RobotHand(arm, arm), lambda phase, _thing: phases.append(phase))

    async def run() -> None:
        await work.pick(StraightWay.from_above(arm, HERE), hold)
        await work.place(StraightWay.from_above(arm, THERE), hold)

    arm.phases = phases
    asyncio.run(run())
    return phases


@pytest.mark.parametrize(("tool", "opened", "closed"), [(FINGERS, 1.0, 0.0), (CUPS, 0.0, 1.0)])
def test_a_thing_is_taken_from_above_lifted_carried_set_down_and_left(tool, opened, closed):
    arm = Notebook(tool)
    phases = transfer(arm, Hold("gear", GEAR_M if tool == FINGERS else None, 0.0025))
    slow, fast = arm.recipe.slow_mps, arm.recipe.fast_mps
    taken = [opened, (0.2, 0.15, "any"), (0.2, 0.10, slow), closed, (0.2, 0.15, fast)]
    assert arm.lines == [*taken, (-0.2, 0.17, "any"), (-0.2, 0.12, slow), opened, (-0.2, 0.17, fast)]
    assert [str(phase) for phase in phases] == [
        "approach", "reach", "grasp", "lift", "carry", "lower", "release", "retreat",
    ]  # fmt: skip


@pytest.mark.parametrize("closes_to_m", [0.002, 0.012], ids=["nothing", "another part"])
def test_a_hand_that_missed_opens_goes_up_and_says_what_it_felt(closes_to_m):
    arm = Notebook(closes_to_m=closes_to_m)
    with pytest.raises(StepFailed, match=rf"closed to {closes_to_m * 1000:.1f} mm, gear gives 8.0 mm") as caught:
        transfer(arm, Hold("gear", GEAR_M, 0.0025))
    assert (caught.value.kind, caught.value.part) == (FailureKind.MISSED, "gear")
    assert arm.lines[-2:] == [1.0, (0.2, 0.15, arm.recipe.fast_mps)]
    assert arm.phases[-1] is PickPlacePhase.MISSED


def test_cups_that_find_no_hold_are_vented_and_lifted():
    arm = Notebook(CUPS, kept_for=0)
    with pytest.raises(StepFailed, match="tray_vacuum finds no hold on tray"):
        transfer(arm, Hold("tray"))
    assert arm.lines[-2:] == [0.0, (0.2, 0.15, arm.recipe.fast_mps)]


@pytest.mark.parametrize(
    ("tool", "kept_for", "when"),
    [(FINGERS, 2, "while it was lifted"), (FINGERS, 3, "before it was carried"), (FINGERS, 4, "on the way:"),
     (FINGERS, 5, "on the way down"), (CUPS, 2, "while it was lifted"), (CUPS, 5, "on the way down")],
)  # fmt: skip
def test_what_is_lost_is_noticed_at_the_next_stage_and_not_set_down(tool, kept_for, when):
    arm = Notebook(tool, kept_for=kept_for)
    with pytest.raises(StepFailed, match=f"gear was lost {when}") as caught:
        transfer(arm, Hold("gear", GEAR_M if tool == FINGERS else None, 0.0025))
    assert caught.value.kind is FailureKind.LOST
    assert arm.phases[-1] is PickPlacePhase.LOST
    assert PickPlacePhase.RELEASE not in arm.phases


def test_fingers_that_creep_are_waited_for_over_crcl():
    """A controller in process waits itself."""
    for waits, settled in ((False, 2), (True, 1)):
        arm = Notebook(waits_for_tool=waits)
        asyncio.run(RobotHand(arm, arm).grasp())
        assert arm.time_s == pytest.approx(settled * arm.recipe.settle_s)


def test_a_grasp_from_the_side_is_left_by_the_way_it_came_when_it_missed_and_upwards_when_it_holds():
    bottle = PARTS.get("bottle")
    grasp = next(g for g in find_grasps(bottle, TOOLS.get("wsg_50")) if g.kind is GraspKind.SIDE)
    arm, pose = Notebook("wsg_50"), Pose.from_xyz_rpy([0.4, 0.0, 0.0])
    way = StraightWay.to_pick(arm, grasp, pose)
    asyncio.run(way.leave(laden=False))
    assert arm.at.is_close(pose @ grasp.pose_approach)
    asyncio.run(way.leave(laden=True))
    assert arm.at.is_close(pose @ grasp.pose_retreat)
    down = StraightWay.to_place(arm, grasp, pose)
    assert down.at.position[2] == pytest.approx((pose @ grasp.pose_tcp).position[2] + arm.recipe.release_m)
    asyncio.run(down.leave(laden=False))
    assert arm.at.position == pytest.approx((pose @ grasp.pose_approach).position + [0, 0, arm.recipe.release_m])


async def crcl_arm(lab: Lab, recipe: Recipe) -> ArmClient:
    client = CrclClient(partial(CrclInterface(lab).connect, "ur5"), peer="ur5")
    await client.__aenter__()
    arm = ArmClient("ur5", client, lab.nominal.bases["ur5"], recipe)
    await arm.prepare()
    return arm


@pytest.mark.parametrize("is_crcl", [False, True], ids=["direct", "crcl"])
@pytest.mark.parametrize(
    ("cell", "part", "place"),
    [("rovi", "bottle", (0.65, 1.05, 0.75)), ("rovi@cube", "cube", (0.20, 1.05, 0.79))],
)
def test_objects_of_the_rovi_cell_are_taken_where_they_are_seen_and_set_down(cell, part, place, is_crcl):
    """From above, by friction alone, with a robot in process or over CRCL; where they stand then is the truth."""
    figures, recipe = PARTS.get(part), Recipe(approach_m=0.12)
    grasp = next(g for g in find_grasps(figures, TOOLS.get("wsg_50")) if g.kind is GraspKind.TOP)
    hold, heights = Hold(part, grasp.width_m, recipe.grip_tolerance_m), {}
    with Lab.from_cell(cell, seed=1) as lab:

        async def work() -> None:
            arm = await crcl_arm(lab, recipe) if is_crcl else DirectArm(lab.robot("ur5"), lab.clock, recipe)
            tracks = await look(lab.bus, lab.clock, "detector_pick")
            seen = nearest_track(tracks, figures.sku, lab.nominal.objects[part].pose_in_world.position)
            job = PickPlace(
                RobotHand(arm, lab.clock),
                lambda phase, _part: heights.update({phase: lab.world.pose_of(part).position[2]}),
            )
            await job.pick(StraightWay.to_pick(arm, grasp, seen), hold)
            await job.place(StraightWay.to_place(arm, grasp, Pose.from_xyz_rpy(place, seen.rpy)), hold)

        lab.perform(work())
        lab.advance(0.5)
        now = lab.world.pose_of(part)
    assert np.hypot(*(now.position - place)[:2]) < 0.004
    assert now.position[2] == pytest.approx(place[2], abs=5e-4)
    assert now.rotation_matrix[2, 2] > np.cos(np.radians(1.0)), "it stands upright"
    assert heights[PickPlacePhase.CARRY] > place[2] + 0.09, "it was lifted"
    assert heights[PickPlacePhase.RELEASE] < place[2] + recipe.release_m + 0.003, "it was not dropped"

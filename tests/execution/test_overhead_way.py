"""The last distance down to a part or a slot: something unseen is in the way, and the guards of the robot stop it."""

from __future__ import annotations

import asyncio
from functools import partial

import numpy as np
import pytest

from cellwright.catalogue import seated_pose
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.drawings.prior import Drawings
from cellwright.execution import Hold, PickPlace, Recipe, RobotHand
from cellwright.execution.arm import ArmClient, tool_down
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.grasps import GraspChoice
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.overhead_way import OverheadWay
from cellwright.interfaces import CrclInterface
from cellwright.knowledge import BelievedPart
from cellwright.lab import Lab

FREE_M = (0.32, -1.20)  # on the Fanuc's table, away from trays
PRESSED_N = 30.0  # beyond an impact, which is over in an instant
WAYS = {"slow_mps": 0.12, "leave_mps": 0.4, "lift_mps": 0.4}


class Wrist:
    """How long the true force at a wrist is large, while something is done."""

    def __init__(self, lab: Lab, robot: str) -> None:
        self.lab, self.at = lab, lab.world.robot(robot).force_sensor
        self.pressed_s = 0.0

    async def during(self, work) -> object:
        watch = asyncio.ensure_future(self._watch())
        try:
            return await work
        finally:
            watch.cancel()

    async def _watch(self) -> None:
        rest = self._force()
        while True:
            await self.lab.clock.sleep(0.002)
            self.pressed_s += 0.002 * (np.linalg.norm(self._force() - rest) > PRESSED_N)

    def _force(self) -> np.ndarray:
        return self.lab.world.data.sensordata[self.at : self.at + 3].copy()


async def manipulator_of(lab: Lab, belief, force_sensor: str = "") -> Manipulator:
    client = await CrclClient(partial(CrclInterface(lab).connect, "fanuc"), peer="fanuc").__aenter__()
    sensor = force_sensor or Drawings.of(lab.cell).force_sensors["fanuc"]
    arm = ArmClient("fanuc", client, lab.nominal.bases["fanuc"], Recipe(), force_sensor=sensor)
    await arm.prepare()
    return Manipulator(arm, RobotHand(arm, lab.clock), belief, belief.state.tool_of["fanuc"])


def way_to(worker: Manipulator, pose: Pose, place: str) -> OverheadWay:
    async def above() -> Pose:
        await worker.approach(pose)
        return pose

    return OverheadWay(worker, pose, above, place=place, **WAYS)


def test_fingers_that_come_down_on_something_stop_say_how_high_it_is_and_go_up_again(still):
    belief = still().belief
    with Lab.from_cell("aprs", 0) as lab:
        table_m = 1.5 - lab.world.ray([*FREE_M, 1.5], [0.0, 0.0, -1.0])
        wrist = Wrist(lab, "fanuc")

        async def work() -> tuple[StepFailed, float, bool]:
            worker = await manipulator_of(lab, belief)
            down = tool_down(np.array([*FREE_M, table_m + 0.007 - 0.014]))  # where a gear would be 14 mm lower
            with pytest.raises(StepFailed) as failed:
                await wrist.during(PickPlace(worker.hand).pick(way_to(worker, down, "gear_1"), Hold("gear_1", 0.008)))
            height_m = (await worker.hand.read()).pose_tool_in_world.position[2]
            await worker.arm.move(tool_down(np.array([*FREE_M, table_m + 0.2])), 0.4)  # it is in no error
            return failed.value, height_m - table_m, worker.hand.reading.holding

        failure, height_m, holding = lab.perform(work())
    assert failure.kind is FailureKind.BLOCKED
    assert str(failure) in {f"contact {far} mm above gear_1" for far in (13, 14, 15)}
    assert failure.part == "gear_1"
    assert height_m > 0.05
    assert not holding
    assert wrist.pressed_s < 0.35  # until it has stopped and left; without guards 0.54 s, at up to 740 N


def test_a_part_that_is_lowered_onto_another_stays_in_the_hand_and_the_other_in_its_slot(still):
    belief = still().belief
    held, there, tray = "medium_gear_1", "medium_gear_2", "fanuc_kit_m2l1"
    with Lab.from_cell("aprs", 0) as lab:
        world = lab.world
        figures, trayed = world.object(held).figures, world.object(tray).figures
        slot = next(slot for slot in trayed.slots if slot.accepts == figures.sku)
        seat = world.pose_of(tray) @ seated_pose(trayed, slot, figures)
        world.place(there, seat)
        lab.advance(0.5)
        wrist = Wrist(lab, "fanuc")

        async def work() -> StepFailed:
            worker = await manipulator_of(lab, belief)
            reading = await worker.hand.read()
            part = BelievedPart(held, figures.sku, world.pose_of(held).matrix, 0.0)
            grasp = GraspChoice(gripper=reading.gripper)
            hold = Hold.of_part(part, reading.gripper, worker.recipe.grip_tolerance_m)
            job = PickPlace(worker.hand)
            await job.pick(way_to(worker, grasp.pose_tool(part), held), hold)
            down = grasp.pose_tool(BelievedPart(held, figures.sku, seat.matrix, 0.0))
            with pytest.raises(StepFailed) as failed:
                await wrist.during(job.place(way_to(worker, down, "slot_1"), hold))
            assert hold.is_held(await worker.hand.read())
            return failed.value

        failure = lab.perform(work())
        lab.advance(0.5)
        assert world.pose_of(held).position[2] > seat.position[2] + 0.05
        assert world.pose_of(there).distance_m(seat) < 0.002
    assert (failure.kind, failure.part) == (FailureKind.BLOCKED, held)
    assert str(failure).endswith("mm above slot_1")
    assert wrist.pressed_s < 0.35


def test_a_robot_without_the_drawn_sensor_reaches_unguarded(still):
    """Its drawings name a sensor at the wrist that its server does not have: no command may be refused for that."""
    belief = still().belief
    with Lab.from_cell("aprs", 0) as lab:
        table_m = 1.5 - lab.world.ray([*FREE_M, 1.5], [0.0, 0.0, -1.0])

        async def work() -> float:
            worker = await manipulator_of(lab, belief, "no_such_sensor")
            down = tool_down(np.array([*FREE_M, table_m + 0.05]))
            await worker.go_above(down)
            return await worker.arm.press(down, 0.1, 6.0)

        assert lab.perform(work()) == 0.0

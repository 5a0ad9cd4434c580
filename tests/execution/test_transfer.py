"""A transfer with an arm that only writes down what it is told: execution needs no simulation."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest

from cellwright.catalogue import TRAYS, part_of_sku, seated_height_m
from cellwright.core.errors import JobFailed
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.execution import AveragedScene, Transfer
from cellwright.motion import LineSpeed

SUPPLY, KIT = TRAYS.get("medium_gear_tray"), TRAYS.get("kit_m2l1_tray")
SLOT = KIT.slots[0]
GEAR = part_of_sku(SLOT.accepts)
KIT_POSE = Pose.from_xyz_rpy([0.4, 0.0, 0.9], [0, 0, 0.3])
SUPPLY_POSE = Pose.from_xyz_rpy([0.0, 0.0, 0.9], [0, 0, -0.2])
SEAT = KIT_POSE @ Pose.from_xyz_rpy([*SLOT.xy_m, seated_height_m(KIT, SLOT, GEAR)])


@dataclass
class Notebook:
    """An arm and a clock; it knows where its tool was told to be."""

    width_m: float = GEAR.grasp_width_m
    lines: list[tuple[str, Pose | None]] = field(default_factory=list)
    time_s: float = 0.0

    async def move_tool(self, pose_tool_in_world: Pose, speed: float = 1.0) -> None:
        self.lines.append(("move", pose_tool_in_world))

    async def move_tool_straight(self, pose_tool_in_world: Pose, speed: LineSpeed) -> None:
        self.lines.append(("line", pose_tool_in_world))

    async def move_home(self, speed: float = 1.0) -> None:
        self.lines.append(("home", None))

    async def open_gripper(self) -> float:
        self.lines.append(("open", None))
        return 0.02

    async def close_gripper(self) -> float:
        self.lines.append(("close", None))
        return self.width_m

    async def sleep(self, duration_s: float) -> None:
        self.time_s += duration_s


def scene(*objects: tuple[str, Pose]) -> AveragedScene:
    skus, poses = zip(*objects, strict=True)
    frame = Detections(
        0, 0, "eye", "world", tuple(skus), np.array([p.position for p in poses]),
        np.array([p.quaternion for p in poses]), np.zeros((len(poses), 4)), np.ones(len(poses)),
    )  # fmt: skip
    return AveragedScene([frame])


def gear_in_supply(slot: int) -> tuple[str, Pose]:
    return GEAR.sku, SUPPLY_POSE @ Pose.from_xyz_rpy([*SUPPLY.slots[slot].xy_m, 0.004])


TRAYS_SEEN = [(SUPPLY.sku, SUPPLY_POSE), (KIT.sku, KIT_POSE)]
BEFORE = [*TRAYS_SEEN, gear_in_supply(1), gear_in_supply(3)]
AFTER = [*TRAYS_SEEN, (GEAR.sku, SEAT), gear_in_supply(3)]


def transfer(arm: Notebook, *views: list[tuple[str, Pose]]) -> Transfer:
    remaining = list(views)

    async def look() -> AveragedScene:
        return scene(*remaining.pop(0))

    return Transfer(arm, arm, look, SUPPLY, KIT, SLOT, KIT_POSE.position)


def test_takes_the_first_gear_of_the_tray_and_sets_it_into_the_slot():
    arm = Notebook()
    job = transfer(arm, BEFORE, AFTER)
    told = []
    job.on_step = lambda step, phase: told.append((step.name, phase))
    asyncio.run(job.run())
    kinds = [kind for kind, _ in arm.lines]
    take, place = ["open", "move", "line", "close", "line"], ["move", "line", "open", "line"]
    assert kinds == [*take, *place, "home"]
    grasp, release = arm.lines[2][1], arm.lines[6][1]
    gear_pose = gear_in_supply(1)[1]
    np.testing.assert_allclose(grasp.position, gear_pose.apply([0, 0, GEAR.grasp_height_m]))
    np.testing.assert_allclose(release.position[:2], SEAT.position[:2], atol=1e-12)
    assert 0 < release.position[2] - SEAT.apply([0, 0, GEAR.grasp_height_m])[2] < 0.005
    for _, pose in arm.lines:
        assert pose is None or pose.rotation_matrix[2, 2] == pytest.approx(-1), "the tool points at the floor"
    assert arm.lines[1][1].position[2] - grasp.position[2] == pytest.approx(0.05)
    names = ["look", "take", "place", "withdraw", "look again"]
    assert told == [(name, phase) for name in names for phase in ("start", "end")]
    assert [step.name for step in job.steps] == names


@pytest.mark.parametrize(
    ("views", "width_m", "reason", "step"),
    [
        ([BEFORE[1:]], 0.008, "no medium-gear tray is in view", "look"),
        ([[BEFORE[0], *BEFORE[2:]]], 0.008, "no kit tray for two medium gears and a large one is in view", "look"),
        ([TRAYS_SEEN], 0.008, "the medium-gear tray in view holds no medium gear", "look"),
        ([[*BEFORE, (GEAR.sku, SEAT)]], 0.008, "slot_1 of the kit tray", "look"),
        ([[*BEFORE, ("sku_part_small_gear", SEAT)]], 0.008, "already filled: sku_part_small_gear", "look"),
        ([BEFORE], 0.002, "nothing was grasped: the gripper closed to 2.0 mm", "take"),
        ([BEFORE], 0.020, "nothing was grasped: the gripper closed to 20.0 mm", "take"),
        ([BEFORE, BEFORE], 0.008, "no medium gear is seen at slot_1 after placing", "look again"),
    ],
)
def test_each_failure_says_why_and_stops_there(views, width_m, reason, step):
    job = transfer(Notebook(width_m), *views)
    told = []
    job.on_step = lambda step, phase: told.append((step.name, phase))
    with pytest.raises(JobFailed, match=reason):
        asyncio.run(job.run())
    assert told[-1] == (step, "fail")
    assert reason in job.steps[-1].detail


def test_gear_beside_the_tray_is_not_taken_for_one_in_it():
    beside = (GEAR.sku, SUPPLY_POSE @ Pose.from_xyz_rpy([SUPPLY.slots[0].xy_m[0] + 0.03, SUPPLY.slots[0].xy_m[1], 0]))
    with pytest.raises(JobFailed, match="holds no medium gear"):
        asyncio.run(transfer(Notebook(), [*TRAYS_SEEN, beside]).run())


def test_of_two_kits_the_expected_one_is_filled():
    other = Pose.from_xyz_rpy([-0.6, 0.2, 0.9])
    view = [(KIT.sku, other), *BEFORE]
    arm = Notebook()
    asyncio.run(transfer(arm, view, AFTER).run())
    np.testing.assert_allclose(arm.lines[6][1].position[:2], SEAT.position[:2], atol=1e-12)


def test_second_supply_tray_serves_when_the_first_is_empty():
    other = Pose.from_xyz_rpy([-0.6, 0.2, 0.9])
    gear = (GEAR.sku, other @ Pose.from_xyz_rpy([*SUPPLY.slots[2].xy_m, 0.004]))
    arm = Notebook()
    asyncio.run(transfer(arm, [*TRAYS_SEEN, (SUPPLY.sku, other), gear], [*TRAYS_SEEN, (GEAR.sku, SEAT)]).run())
    np.testing.assert_allclose(arm.lines[2][1].position[:2], gear[1].position[:2], atol=1e-12)


def test_what_is_not_a_failure_of_the_job_goes_through():
    arm = Notebook()
    job = transfer(arm)  # nothing to look at: the callable breaks
    with pytest.raises(IndexError):
        asyncio.run(job.run())
    assert job.steps[-1].detail == ""

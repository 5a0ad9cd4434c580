"""The collision monitor: what a robot, its tool and what it holds touch, and what they may."""

import numpy as np
import pytest

from cellwright.catalogue import PARTS
from cellwright.core.errors import OutOfRange
from cellwright.core.pose import Pose
from cellwright.judge import AllowedContact, CollisionMonitor
from cellwright.lab import Lab
from cellwright.motion import LineSpeed

PADS = AllowedContact("ur5/tool/pad_*", "bottle")
SLOW = LineSpeed(0.1, 0.5, 5.0)
BOTTLE = (0.40, 1.05)
TABLE = AllowedContact("bottle", "table", BOTTLE, 0.055)
BEFORE_RAD = (1.43735, -1.77634, 2.64933, -0.87299, 1.69915, -3.14159)  # the tool level, 0.1 m before the bottle


@pytest.fixture
def lab():
    with Lab.from_cell("rovi") as made:
        yield made


async def take(arm, lift_m=0.0):
    """Grasps the bottle of the cell as it stands in the drawings; the way before it is free."""
    await arm.move_joints(BEFORE_RAD, 0.4)
    before = arm.tool_in_world
    grasp = before @ Pose.from_xyz_rpy([0, 0, 0.1])
    await arm.move_tool_straight(grasp, SLOW)
    await arm.move_gripper(0.002, 40.0)
    if lift_m:
        await arm.move_tool_straight(Pose(grasp.position + [0, 0, lift_m], grasp.quaternion), SLOW)


def pairs(monitor):
    return {(hit.first, hit.second) for hit in monitor.hits}


def test_a_robot_that_stands_touches_nothing(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper)
    lab.advance(0.5)
    assert monitor.hits == []


def test_a_hand_that_runs_into_the_bottle_hits_it(lab):
    """And the record says who, when, where and how hard."""
    monitor = CollisionMonitor(lab.world, lab.stepper)
    arm = lab.robot("ur5")

    async def ram():
        await arm.move_joints(BEFORE_RAD, 0.4)
        await arm.move_gripper(0.04)
        await arm.move_tool_straight(arm.tool_in_world @ Pose.from_xyz_rpy([0, 0, 0.08]), SLOW)

    lab.perform(ram())
    assert lab.world.pose_of("bottle").distance_m(Pose.from_xyz_rpy([*BOTTLE, 0.75])) > 0.02
    hit = next(hit for hit in monitor.hits if hit.second == "bottle")
    assert hit.first in ("ur5/tool/pad_left", "ur5/tool/pad_right")
    assert hit.force_n > 0.1
    assert 0 < hit.start_s < hit.end_s <= lab.clock.time_s
    assert np.hypot(hit.position_m[0] - BOTTLE[0], hit.position_m[1] - BOTTLE[1]) < 0.05
    assert 0.75 < hit.position_m[2] < 0.90
    assert str(hit).startswith(f"{hit.first} hit bottle at ")


def test_pads_may_hold_what_they_are_permitted_to(lab):
    strict = CollisionMonitor(lab.world, lab.stepper, name="strict")
    kind = CollisionMonitor(lab.world, lab.stepper, [PADS, TABLE])
    others = {
        AllowedContact("bottle", "table", one_way=True): 0,
        AllowedContact("table", "bottle", one_way=True): 1,  # it is the bottle that is held
        AllowedContact("table", "bottle"): 0,
        AllowedContact("bottle", "table", limit_n=1000.0): 0,
        AllowedContact("bottle", "table", limit_n=0.001): 1,
    }
    monitors = [CollisionMonitor(lab.world, lab.stepper, [PADS, each], name=str(each)) for each in others]
    lab.perform(take(lab.robot("ur5"), lift_m=0.05))
    assert lab.world.pose_of("bottle").position[2] > 0.79
    assert kind.hits == []
    assert [len(pairs(monitor) & {("bottle", "table")}) for monitor in monitors] == list(others.values())
    assert pairs(strict) == {("ur5/tool/pad_left", "bottle"), ("ur5/tool/pad_right", "bottle"), ("bottle", "table")}


def test_what_is_held_must_not_touch_either_and_only_where_it_is_permitted(lab):
    """Dragged over the table the bottle leaves the place where it may stand."""
    monitor = CollisionMonitor(lab.world, lab.stepper, [PADS, TABLE])
    arm = lab.robot("ur5")

    async def drag():
        await take(arm)
        assert monitor.hits == []
        pose = arm.tool_in_world
        await arm.move_tool_straight(Pose(pose.position + [-0.06, 0, -0.0005], pose.quaternion), SLOW)

    lab.perform(drag())
    (hit,) = monitor.hits
    assert (hit.first, hit.second) == ("bottle", "table")
    assert hit.end_s - hit.start_s > 0.2


def test_what_nobody_holds_may_touch_anything(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper)
    lab.world.place("bottle", Pose.from_xyz_rpy([0.642, 0.6763, 1.2]))
    lab.advance(1.0)
    assert lab.world.pose_of("bottle").position[2] < 1.0, "it fell into the crate"
    assert monitor.hits == []


def test_what_lay_on_it_when_it_was_taken_may_touch_it_until_they_part(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper, [PADS, TABLE])
    lab.world.add("gear", "large_gear", Pose.from_xyz_rpy([*BOTTLE, 0.75 + PARTS.get("bottle").height_m + 0.002]))
    lab.perform(take(lab.robot("ur5")))
    gear = lab.world.pose_of("gear")
    assert gear.position[2] > 0.80, "it lies on the bottle"
    assert monitor.hits == []
    lab.world.place("gear", Pose(gear.position + [0, 0, 0.08], gear.quaternion))
    lab.advance(0.5)
    assert pairs(monitor) == {("bottle", "gear")}


def test_a_snapshot_takes_the_record_along(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper)
    before = lab.snapshot()
    lab.perform(take(lab.robot("ur5")))
    assert monitor.hits
    lab.restore(before)
    assert monitor.hits == []


def test_a_monitor_that_was_stopped_sees_nothing(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper)
    monitor.stop()
    lab.perform(take(lab.robot("ur5")))
    assert monitor.hits == []


def test_touching_again_after_a_pause_is_another_hit(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper, [TABLE])
    arm = lab.robot("ur5")

    async def twice():
        await take(arm)
        await arm.gripper.open()
        await arm.move_gripper(0.002, 40.0)

    lab.perform(twice())
    left = [hit for hit in monitor.hits if hit.first == "ur5/tool/pad_left"]
    assert len(left) == 2
    assert left[0].end_s + monitor.pause_s < left[1].start_s


def test_new_bodies_are_known_at_once(lab):
    monitor = CollisionMonitor(lab.world, lab.stepper)
    hand = lab.world.tcp_pose("ur5").position
    lab.world.add("gear", "large_gear", Pose.from_xyz_rpy(hand + [0.0, 0.0, 0.30]))
    lab.advance(0.6)
    assert "gear" in {hit.second for hit in monitor.hits}


@pytest.mark.parametrize(
    ("contact", "one", "other", "covered"),
    [
        (PADS, "ur5/tool/pad_left", "bottle", True),
        (PADS, "bottle", "ur5/tool/pad_right", True),
        (PADS, "bottle", "ur5/tool/tool", False),
        (PADS, "crate", "ur5/tool/pad_right", False),
        (AllowedContact("ur5/*", "*"), "ur5/link_3", "table", True),
        (AllowedContact("ur5/*", "*"), "motoman/link_3", "table", False),
    ],
)
def test_an_allowed_contact_is_of_two(contact, one, other, covered):
    assert contact.covers(one, other) is covered


def test_a_permit_may_hold_in_one_place_only():
    assert TABLE.covers_place(0.45, 1.05)
    assert not TABLE.covers_place(0.46, 1.05)
    assert PADS.covers_place(99.0, 99.0)


@pytest.mark.parametrize("pause_s", [-0.1, np.nan, np.inf])
def test_a_pause_is_a_time(lab, pause_s):
    with pytest.raises(OutOfRange, match="pause between hits"):
        CollisionMonitor(lab.world, lab.stepper, pause_s=pause_s)

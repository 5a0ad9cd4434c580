"""What the grippers really hold, by contacts alone."""

import numpy as np

from cellwright.core.pose import Pose
from cellwright.judge import HeldObject
from cellwright.motion import LineSpeed

SLOW = LineSpeed(0.12, 0.6, 6.0)


def test_a_gear_that_is_taken_carried_and_set_down_is_told_in_that_order(stand):
    stand.at("start")

    async def work():
        await stand.hover()
        await stand.take()
        await stand.shift(0.06, -0.06)
        await stand.shift(-0.06, 0.06)
        await stand.shift(0, 0, -0.048)
        await stand.arm.gripper.open()
        await stand.shift(0, 0, 0.15)

    stand.lab.perform(work())
    gear = "medium_gear_1"
    assert stand.moments() == [("approach", gear), ("grasp", gear), ("transfer", gear), ("release", gear)]
    assert stand.heard[-1].lifted
    assert stand.hand_monitor.held == {}
    assert {event.robot for event in stand.heard} == {"fanuc"}


def test_it_knows_what_is_held_and_how_far_it_has_come(stand):
    stand.at("held")
    hold = stand.hand_monitor.held["fanuc"]
    assert (hold.part, hold.lifted, hold.carried) == ("medium_gear_1", True, False)
    assert stand.hand_monitor.holds("medium_gear_1")
    assert not stand.hand_monitor.holds("medium_gear_2")
    assert stand.hand_monitor.distance_m("medium_gear_1") < 0.003
    stand.lab.perform(stand.shift(0.04, 0.03))
    assert stand.hand_monitor.held["fanuc"].carried
    assert abs(stand.hand_monitor.held["fanuc"].way_m - 0.05) < 0.002


def test_a_gear_that_is_pulled_out_is_lost_not_released(stand):
    stand.at("held")
    item = stand.world.objects["medium_gear_1"]
    stand.world.data.xfrc_applied[item.body, 2] = -12.0
    stand.lab.advance(0.1)
    stand.world.data.xfrc_applied[item.body, 2] = 0.0
    stand.lab.advance(0.3)
    assert stand.moments() == [("loss", "medium_gear_1")]


def test_passing_over_gears_is_no_approach(stand):
    stand.at("hover")

    async def pass_over():
        await stand.shift(0, 0, 0.02)
        stand.heard.clear()
        there = stand.position("medium_gear_2") - stand.position("medium_gear_1")
        await stand.shift(*(1.5 * there[:2]))

    stand.lab.perform(pass_over())
    assert stand.moments() == []


def test_the_moment_is_part_of_a_snapshot(stand):
    stand.at("held")
    snapshot = stand.lab.snapshot()
    stand.lab.perform(stand.arm.gripper.open())
    stand.lab.advance(0.1)
    assert stand.hand_monitor.held == {}
    stand.lab.restore(snapshot)
    assert stand.hand_monitor.held["fanuc"].part == "medium_gear_1"


def test_a_gear_that_is_put_elsewhere_was_not_lost(stand):
    stand.at("held")
    pose = stand.world.pose_of("medium_gear_1")
    stand.world.place("medium_gear_1", type(pose)(pose.position + [0, 0, 0.4], pose.quaternion))
    assert stand.hand_monitor.held == {}
    stand.lab.advance(0.1)
    assert not np.any([event.moment == "loss" for event in stand.heard])


def test_what_has_left_the_world_is_in_no_hand_and_what_was_put_elsewhere_did_not_fall_off_a_tray(stand):
    stand.at("start")
    gear, tray, here_m = "medium_gear_1", "fanuc_kit_m2l1", stand.position().copy()
    hands = stand.hand_monitor.save()
    hands["fanuc"].hold = HeldObject("no_gear", here_m, here_m)
    stand.hand_monitor.load(hands)
    assert stand.hand_monitor.held == {}
    pose = stand.world.pose_of(tray).inverse() @ stand.world.pose_of(gear)
    hands["fanuc"].hold = HeldObject(tray, here_m, here_m, lifted=True, parts_in_tray={gear: pose})
    stand.hand_monitor.load(hands)
    stand.world.place(gear, Pose.from_xyz_rpy([0.0, -1.12, 0.917]))
    stand.lab.advance(0.02)
    assert ("loss", gear) not in stand.moments()


def test_a_gear_that_one_pad_alone_touches_is_not_held(stand):
    stand.at("hover")
    model, pads = stand.world.model, stand.world.robots["fanuc"].gripper.pads
    missing = list(pads)[1]
    before = model.geom_contype[missing], model.geom_conaffinity[missing]
    model.geom_contype[missing] = model.geom_conaffinity[missing] = 0

    async def close():
        await stand.arm.move_tool_straight(stand.grasp(), SLOW)
        await stand.arm.gripper.close()

    stand.lab.perform(close())
    stand.lab.advance(0.1)
    touching = {int(geom) for pair in stand.world.data.contact.geom for geom in pair} & set(pads)
    model.geom_contype[missing], model.geom_conaffinity[missing] = before
    assert touching == {next(iter(pads))}
    assert stand.hand_monitor.held == {}


def test_a_gear_that_slides_over_the_table_is_neither_lifted_nor_under_way(stand):
    stand.at("start")
    stand.world.place("medium_gear_1", Pose.from_xyz_rpy([0.50, -1.00, 0.917]))

    async def slide():
        await stand.hover()
        grasp = stand.grasp()
        await stand.arm.move_tool_straight(grasp, SLOW)
        await stand.arm.gripper.close()
        await stand.shift(-0.03, 0.0)
        await stand.arm.gripper.open()

    stand.lab.perform(slide())
    stand.lab.advance(0.1)
    gear = "medium_gear_1"
    assert stand.moments() == [("approach", gear), ("grasp", gear), ("release", gear)]
    assert not stand.heard[-1].lifted
    assert stand.drops.drops == []


def test_a_part_that_another_hand_takes_out_of_a_tray_in_a_hand_was_not_lost(stand):
    stand.at("start")
    gear, tray, here_m = "medium_gear_1", "fanuc_kit_m2l1", stand.position().copy()
    for other_holds_it in (True, False):
        hands = stand.hand_monitor.save()
        hands["fanuc"].hold = HeldObject(tray, here_m, here_m, lifted=True, parts_in_tray={gear: Pose.identity()})
        hands["motoman"].hold = HeldObject(gear, here_m, here_m) if other_holds_it else None
        stand.hand_monitor.load(hands)
        stand.heard.clear()
        stand.lab.advance(0.02)
        assert (("loss", gear) in stand.moments()) is not other_holds_it

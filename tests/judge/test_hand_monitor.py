"""What the grippers really hold, by contacts alone."""

import numpy as np


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

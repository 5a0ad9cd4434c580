"""Who may touch whom in kitting."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.judge import CollisionMonitor, allowed_kitting_contacts
from cellwright.motion import LineSpeed
from cellwright.sim import World

GEAR = "medium_gear_1"


@pytest.mark.parametrize(
    ("one", "other", "allowed"),
    [
        ("fanuc/tool/pad_left", GEAR, True),
        ("motoman/tool/finger_right", "large_gear_1", True),
        (GEAR, "fanuc_kit_m2l1", True),
        (GEAR, "shared_table", True),
        ("fanuc/tool/tool", GEAR, False),
        ("fanuc/tool/pad_left", "fanuc_kit_m2l1", False),
        ("fanuc/tool/tool", "fanuc_cart", False),
        ("fanuc/link_3", GEAR, False),
        (GEAR, "medium_gear_2", False),
        (GEAR, "fence", False),
        (GEAR, "floor", False),
    ],
)
def test_the_permits_of_kitting(stand, one, other, allowed):
    assert any(contact.covers(one, other) for contact in allowed_kitting_contacts(stand.world)) is allowed


def test_the_permits_where_trays_are_carried_and_tools_changed():
    """A tray touches boxes gently, and other trays over a box only; tools touch holders and changers."""
    world = World(load_cell("kitting").model_copy(update={"settle_s": 0.0}), 0)
    contacts = allowed_kitting_contacts(world)

    def covering(one, other):
        return [contact for contact in contacts if contact.covers(one, other)]

    assert {contact.limit_n for contact in covering("m2l1_tray_1", "kit_box")} == {40.0}
    together = covering("m2l1_tray_1", "s2l2_tray_1")
    assert {contact.limit_n for contact in together} == {40.0}
    assert any(contact.covers_place(0.65, -0.40) for contact in together)
    assert not any(contact.covers_place(0.0, -0.65) for contact in together)
    assert all(contact.one_way for contact in covering("medium_gear_1", "m2l1_tray_1"))
    assert covering("m2l1_tray_1", "work_table")
    assert covering("tray_vacuum", "motoman/changer/body")
    assert covering("tray_vacuum/tool/tool", "tray_tool_holder")
    assert covering("tray_vacuum/tool/cup_1", "m2l1_tray_1")
    assert not covering("big_gripper/tool/pad_left", "m2l1_tray_1")
    assert not covering("m2l1_tray_1", "tray_tool_holder")


def test_taking_and_setting_down_is_no_collision_but_pressing_the_hand_on_the_tray_is(stand):
    stand.at("hover")
    monitor = CollisionMonitor(stand.world, stand.lab.stepper, allowed_kitting_contacts(stand.world), name="kitting")

    async def set_down():
        await stand.take()
        await stand.shift(0, 0, -0.048)
        await stand.arm.gripper.open()
        await stand.shift(0, 0, 0.05)

    stand.lab.perform(set_down())
    assert monitor.hits == []

    async def ram():
        tray = stand.world.pose_of("fanuc_medium_tray").apply([0.0, 0.0, 0.017])
        await stand.arm.move_tool(Pose.from_xyz_rpy(tray + [0, 0, 0.05], [np.pi, 0, 0]), 0.6)
        await stand.arm.gripper.close()
        await stand.arm.move_tool_straight(
            Pose.from_xyz_rpy(tray + [0, 0, 0.005], [np.pi, 0, 0]), LineSpeed(0.12, 0.6, 6.0)
        )

    stand.lab.perform(ram())
    assert {hit.second for hit in monitor.hits} == {"fanuc_medium_tray"}

"""Tool changers: what locks, what falls, what both robots share, and what the arm feels of it."""

import numpy as np
import pytest

from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER
from cellwright.control import NoToolThere
from cellwright.core.errors import ConfigError, JobFailed, UnknownName
from cellwright.core.pose import Pose
from cellwright.motion import LineSpeed

HOME = [0, 0, 0, 0, -90, 0]
HOLDER_M, LIFT_M = (0.45, 0.20, 0.0), 0.10
CELL = {
    "robots": {
        "one": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [0, 0, 0]},
            "changer": "tool_changer",
            "home_deg": HOME,
        },
        "two": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [0.9, 0.4, 0], "rpy_deg": [0, 0, 180]},
            "changer": "tool_changer",
            "home_deg": [90, *HOME[1:]],
        },
    },
    "fixtures": {
        "floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}},
        "holder": {"model": "tool_holder", "pose": {"xyz_m": HOLDER_M}},
    },
    "tools": {"pincher": {"model": "aprs_fanuc_gripper", "holder": "holder"}},
}


@pytest.fixture
def lab(open_lab):
    return open_lab(**CELL)


def dock(up_m: float = 0.0005, aside_m: float = 0.0, turn_rad: float = 0.0) -> Pose:
    """The flange over the tool in its holder."""
    height_m = TOOL_HOLDER.rail_top_m + TOOL_CHANGER.wing_size_m[2] + TOOL_CHANGER.coupling_in_flange_m[2] + up_m
    x, y, z = HOLDER_M
    return Pose.from_xyz_rpy((x + aside_m, y, z + height_m), (np.pi, 0, turn_rad))


async def come(arm, pose, up_m=LIFT_M):
    tool = arm.ring.pose_tool_in_flange
    await arm.move_tool(Pose(pose.position + [0, 0, up_m], pose.quaternion) @ tool, 0.5)
    await arm.move_tool_straight(pose @ tool, LineSpeed(0.15))


async def leave(arm, up_m=LIFT_M):
    here = arm.tool_in_world
    await arm.move_tool_straight(Pose(here.position + [0, 0, up_m], here.quaternion), LineSpeed(0.2))


async def take(arm):
    await come(arm, dock())
    tool = await arm.tool_changer.close()
    await leave(arm)
    return tool


async def put(arm):
    await come(arm, dock())
    tool = await arm.tool_changer.open()
    await leave(arm)
    return tool


def height_m(lab, tool="pincher"):
    return float(lab.world.data.xpos[lab.world.loose_tools[tool].body][2])


def test_a_tool_is_taken_used_and_put_back(lab):
    arm, hung_m = lab.robots["one"], height_m(lab)
    assert arm.tool is None
    assert not arm.tool_changer.locked
    assert lab.perform(take(arm)) == "pincher"
    assert (arm.tool.name, arm.tool.kind) == ("pincher", "gripper")
    assert height_m(lab) == pytest.approx(hung_m + LIFT_M, abs=0.001)
    reach_m = 0.022 + 0.0002 + 0.016 + 0.182
    assert arm.ring.pose_tool_in_flange.position == pytest.approx([0, 0, reach_m])
    assert lab.world.tcp_pose("one").distance_m(arm.tool_in_world) < 5e-5
    assert lab.perform(arm.gripper.close()) == pytest.approx(0.002, abs=2e-4)
    assert lab.perform(arm.gripper.open()) == pytest.approx(0.020, abs=2e-4)
    assert lab.perform(put(arm)) == "pincher"
    assert arm.tool is None
    assert arm.ring.pose_tool_in_flange.position == pytest.approx([0, 0, 0])
    lab.advance(0.5)
    assert height_m(lab) == pytest.approx(hung_m, abs=2e-4)


def test_both_robots_share_it(lab):
    one, two = lab.robots["one"], lab.robots["two"]

    async def hand_over():
        await take(one)
        await put(one)
        await one.move_home(0.5)
        await take(two)

    lab.perform(hand_over())
    assert (one.tool_changer.tool, two.tool_changer.tool) == (None, "pincher")
    assert lab.world.tcp_pose("two").distance_m(two.tool_in_world) < 5e-5


def test_a_tool_that_is_let_go_in_mid_air_falls(lab):
    arm = lab.robots["one"]
    lab.perform(take(arm))
    lab.perform(leave(arm, 0.05))
    lab.advance(0.5)
    before_m = height_m(lab)
    lab.advance(0.5)
    assert height_m(lab) == pytest.approx(before_m, abs=1e-5)
    lab.perform(arm.tool_changer.open())
    lab.advance(0.5)
    assert height_m(lab) < before_m - 0.1


@pytest.mark.parametrize(
    "pose", [dock(aside_m=0.005), dock(up_m=0.006), dock(turn_rad=0.06), dock(aside_m=-0.2)], ids=str
)
def test_it_locks_only_what_is_together(lab, pose):
    arm, hung_m = lab.robots["one"], height_m(lab)

    async def close():
        await come(arm, pose)
        await arm.tool_changer.close()

    with pytest.raises(NoToolThere, match=r"^one tool changer finds no tool: a coupling must be within 3.0 mm"):
        lab.perform(close())
    assert arm.tool is None
    lab.perform(leave(arm))
    assert height_m(lab) == pytest.approx(hung_m, abs=2e-4), "it hangs where it hung"


@pytest.mark.parametrize("pose", [dock(aside_m=0.002), dock(up_m=0.002), dock(turn_rad=0.02)], ids=str)
def test_its_pins_draw_together_what_is_near(lab, pose):
    arm = lab.robots["one"]

    async def close():
        await come(arm, pose)
        await arm.tool_changer.close()
        await leave(arm)

    lab.perform(close())
    off = lab.world.mounts.coupling_offset("one", "pincher")
    assert max(off.lateral_m, off.axial_m) < 1e-6
    assert max(off.tilt_rad, off.turn_rad) < 1e-5


def test_a_lock_that_is_used_twice_says_so(lab):
    arm = lab.robots["one"]
    with pytest.raises(JobFailed, match=r"^one tool changer holds no tool$"):
        lab.perform(arm.tool_changer.open())
    lab.perform(take(arm))
    with pytest.raises(JobFailed, match=r"^one tool changer holds pincher already$"):
        lab.perform(arm.tool_changer.close())


def test_the_lock_is_stiff(lab):
    """A kilogram at the centre point moves it by less than a tenth of a millimetre in the flange, in any direction.

    The servos of the arm yield more than that, as they do with a tool that is bolted on.
    """
    arm, world = lab.robots["one"], lab.world
    lab.perform(take(arm))
    lab.advance(0.5)
    at = world.loose_tools["pincher"]
    site = world.robots["one"].flange_site

    def tcp_in_flange():
        turn, middle = world.data.site_xmat[site].reshape(3, 3), world.data.site_xpos[site]
        return turn.T @ (world.tcp_pose("one").position - middle)

    still = tcp_in_flange()
    for direction in np.eye(3):
        force = 9.81 * direction
        lever = world.tcp_pose("one").position - world.data.xipos[at.body]
        world.data.xfrc_applied[at.body] = [*force, *np.cross(lever, force)]
        lab.advance(0.5)
        assert np.linalg.norm(tcp_in_flange() - still) < 1e-5
    world.data.xfrc_applied[at.body] = 0


def test_the_wrist_feels_the_tool_and_the_drives_carry_it(lab):
    """The sensor reads the weight of plate, coupling and gripper; the servos need no error to hold it."""
    arm, world = lab.robots["one"], lab.world
    lab.perform(take(arm))
    lab.advance(0.5)
    index = world.robots["one"]
    force = world.data.sensordata[index.force_sensor : index.force_sensor + 3]
    assert force == pytest.approx([0, 0, -(0.18 + 0.12 + 0.70) * 9.81], abs=0.02)
    assert np.abs(arm.set_point_rad - arm.joints_rad).max() < 2e-6
    lab.perform(put(arm))
    lab.advance(0.5)
    assert force == pytest.approx([0, 0, -0.18 * 9.81], abs=0.02)
    assert np.abs(arm.set_point_rad - arm.joints_rad).max() < 2e-6


def test_a_snapshot_goes_back_over_a_change(lab):
    arm = lab.robots["one"]
    before = lab.snapshot()
    lab.perform(take(arm))
    lab.advance(0.5)
    after = lab.snapshot()
    lab.restore(before)
    assert arm.tool is None
    assert arm.ring.pose_tool_in_flange.position == pytest.approx([0, 0, 0])
    lab.restore(after)
    assert arm.tool_changer.tool == "pincher"
    here_m = height_m(lab)
    lab.advance(0.3)
    assert height_m(lab) == pytest.approx(here_m, abs=1e-6)


def test_a_tool_stays_locked_when_a_part_is_added(lab):
    arm = lab.robots["one"]
    lab.perform(take(arm))
    lab.advance(0.5)
    here_m = height_m(lab)
    lab.world.add("gear", "small_gear", Pose.from_xyz_rpy((0.3, -0.4, 0.001)))
    lab.advance(0.3)
    assert height_m(lab) == pytest.approx(here_m, abs=1e-6)
    index = lab.world.robots["one"]
    assert lab.world.data.sensordata[index.force_sensor + 2] == pytest.approx(-9.81, abs=0.02)


def test_a_robot_may_begin_with_a_tool(open_lab):
    lab = open_lab(**{**CELL, "tools": {"cup": {"model": "small_vacuum", "robot": "one"}}})
    arm = lab.robots["one"]
    assert (arm.tool.name, arm.tool.kind) == ("cup", "vacuum")
    lab.advance(0.5)
    assert lab.world.tcp_pose("one").distance_m(arm.tool_in_world) < 5e-5


def test_without_forces_it_works_too(open_lab):
    lab = open_lab(**CELL, fidelity="kinematic")
    arm, hung_m = lab.robots["one"], height_m(lab)
    lab.perform(take(arm))
    assert height_m(lab) == pytest.approx(hung_m + LIFT_M, abs=1e-3)
    assert lab.world.tcp_pose("one").distance_m(arm.tool_in_world) < 1e-6
    lab.perform(put(arm))
    assert height_m(lab) == pytest.approx(hung_m, abs=1e-3)
    assert arm.tool is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tools": {"p": {"model": "aprs_fanuc_gripper", "holder": "floor"}}}, "unknown tool holder 'floor'"),
        ({"tools": {"p": {"model": "nothing", "holder": "holder"}}}, "unknown tool model 'nothing'"),
        ({"tools": {"p": {"model": "wsg_50", "robot": "three"}}}, "unknown robot with a changer 'three'"),
        (
            {"tools": {n: {"model": "wsg_50", "holder": "holder"} for n in ("p", "q")}},
            "holder has p already",
        ),
        ({"tools": {"p": {"model": "wsg_50", "holder": "holder", "handles": ["gold"]}}}, "unknown part model 'gold'"),
        ({"tools": {"one": {"model": "wsg_50", "holder": "holder"}}}, "the name is taken by robots.one"),
        (
            {"robots": {"one": {**CELL["robots"]["one"], "tool": "wsg_50"}}},
            "a robot with a changer has no fixed tool",
        ),
    ],
)
def test_bad_cells_say_what_is_wrong(open_lab, changes, problem):
    with pytest.raises((ConfigError, UnknownName), match=problem):
        open_lab(**{**CELL, **changes})

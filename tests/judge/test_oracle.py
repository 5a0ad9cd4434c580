"""The oracle: whether what is left is enough, by the truth."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.judge import HeldObject, judge_recoverable
from cellwright.judge.seating import lean_rad
from cellwright.orders import DESIGNS
from cellwright.planning import plan

M2L1, S2L2 = DESIGNS.get("kit_m2l1"), DESIGNS.get("kit_s2l2")
WANTED = {"fanuc_kit_m2l1": M2L1}
RIGHT = {"slot_1": "medium_gear_1", "slot_2": "medium_gear_2", "slot_3": "large_gear_1"}


def reaches(robot, point, tool="", **_):
    """Each robot the trays of its own table."""
    x, y, z = point
    return z > 0.85 and abs(x) < 0.6 and (-1.6 < y < -0.85 if robot == "fanuc" else -0.85 < y < -0.3)


def take_away(stand, pattern, keep=0):
    names = sorted(name for name in stand.world.objects if name.startswith(pattern))
    for number, name in enumerate(names[keep:]):
        stand.world.place(name, Pose.from_xyz_rpy([1.0 + 0.12 * number, 1.5, 0.001]))


def drop(stand, name, pose):
    """Lets something go, and waits until it lies."""
    stand.world.place(name, pose)
    stand.lab.advance(1.0)


def test_an_untouched_cell_is_recoverable_with_a_plan_that_holds(stand):
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.reason == f"a plan of {len(verdict.plan.actions)} steps completes it"
    assert {action.robot for action in verdict.plan.actions} == {"fanuc"}
    assert json.loads(json.dumps(verdict.as_dict()))["plan"]


def test_one_gear_less_is_recoverable_while_others_are_left(stand):
    take_away(stand, "medium_gear_1")
    take_away(stand, "large_gear_1")
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.lost["large_gear_1"] == "lies on the floor"
    stand.world.place("large_gear_1", Pose.from_xyz_rpy([1.0, 1.5, -0.0005]))
    assert judge_recoverable(stand.world, WANTED, reaches).lost["large_gear_1"] == "lies on the floor"


def test_without_large_gears_it_is_not_and_says_so(stand):
    take_away(stand, "large_gear")
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert not verdict.recoverable
    assert "sku_part_large_gear" in verdict.reason
    assert "large_gear_1: lies on the floor" in verdict.reason
    assert set(verdict.lost) == {f"large_gear_{n}" for n in (1, 2, 3, 4)}


def test_gears_that_the_other_robot_alone_reaches_do_not_help(stand):
    fanucs = [n for n, i in stand.world.objects.items() if n.startswith("large") and stand.position(n)[1] < -0.85]
    for number, name in enumerate(fanucs):
        stand.world.place(name, Pose.from_xyz_rpy([1.0 + 0.12 * number, 1.5, 0.001]))
    assert not judge_recoverable(stand.world, WANTED, reaches).recoverable
    assert judge_recoverable(stand.world, {"motoman_kit_m2l1": M2L1}, reaches).recoverable


def test_a_gear_that_fell_onto_the_table_counts(stand):
    """Upright where a robot gets to it, leaning as on its cone; not upside down, and not when it is out of reach."""
    take_away(stand, "large_gear", keep=1)
    on_cart = Pose.from_xyz_rpy([0.0, -1.12, 0.917])
    drop(stand, "large_gear_1", on_cart)
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable
    assert "loose sku_part_large_gear of fanuc" in {tray.name for tray in verdict.state.parts_trays}
    drop(stand, "large_gear_1", on_cart @ Pose.from_xyz_rpy([0, 0, 0.05], [np.pi, 0, 0]))
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert not verdict.recoverable
    assert "large_gear_1: no tool has room to take it, as it lies tilted by 1" in verdict.reason
    stand.world.place("large_gear_1", Pose.from_xyz_rpy([0.0, 0.3, 0.917]))
    assert "large_gear_1: out of every robot's reach" in judge_recoverable(stand.world, WANTED, reaches).reason


@pytest.mark.parametrize(("lean_deg", "taken"), [(0, True), (38, True), (60, True), (85, True), (180, False)])
def test_a_gear_is_taken_at_any_angle_at_which_fingers_get_to_its_peg(stand, lean_deg, taken):
    """High above the cart, where only the gear itself is in the way: geometry decides, and no angle of a recipe."""
    take_away(stand, "large_gear", keep=1)
    stand.world.place("large_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 1.3], [0, np.radians(lean_deg), 0]))

    def from_above(robot, point, tool="", pose_tool_in_world=None):
        pose = pose_tool_in_world
        return reaches(robot, point) and (pose is None or pose.rotation_matrix[2, 2] < -0.05)

    assert judge_recoverable(stand.world, WANTED, from_above).recoverable is taken


@pytest.mark.parametrize("inclined_at_the_kit", [True, False])
def test_a_gear_that_must_be_held_askew_counts_only_where_it_can_be_set_upright_again(stand, inclined_at_the_kit):
    """Its peg points down a little, so that no hand gets along it from above."""
    take_away(stand, "large_gear", keep=1)
    stand.world.place("large_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 1.3], [0, np.radians(100), 0]))

    def from_above(robot, point, tool="", pose_tool_in_world=None):
        down = 1.0 if pose_tool_in_world is None else -pose_tool_in_world.rotation_matrix[2, 2]
        return reaches(robot, point) and (down > 0.99 if point[2] < 1.1 and not inclined_at_the_kit else down > 0.05)

    assert judge_recoverable(stand.world, WANTED, from_above).recoverable is inclined_at_the_kit


def straight_down(robot, point, tool="", pose_tool_in_world=None):
    """What arms reach that keep their tools upright."""
    down = 1.0 if pose_tool_in_world is None else -pose_tool_in_world.rotation_matrix[2, 2]
    return reaches(robot, point) and down > np.cos(np.radians(10))


def lean_on_its_cone(stand):
    """Lets one of the two small gears that are left lean, its rim up towards +x."""
    take_away(stand, "small_gear", keep=2)
    drop(stand, "small_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 0.94], [0, np.radians(45), 0]))
    pose = stand.world.pose_of("small_gear_1")
    assert np.degrees(lean_rad(pose)) == pytest.approx(39, abs=1)
    return pose


def test_a_gear_that_leans_on_its_cone_is_pressed_upright_where_no_hand_gets_along_its_peg(stand):
    wanted, data = {"fanuc_kit_s2l2": S2L2}, stand.world.data
    lean_on_its_cone(stand)
    before = [array.copy() for array in (data.qpos, data.qvel, data.xfrc_applied, data.xpos)]
    verdict = judge_recoverable(stand.world, wanted, straight_down)
    assert verdict.recoverable, verdict.reason
    assert verdict.pressed == ("small_gear_1",) == tuple(verdict.as_dict()["pressed"])
    after = (data.qpos, data.qvel, data.xfrc_applied, data.xpos)
    assert all(map(np.array_equal, before, after)), "the oracle only thinks of it"
    assert not judge_recoverable(stand.world, wanted, reaches).pressed, "a hand that inclines takes it as it lies"


def test_a_gear_upside_down_or_one_whose_raised_rim_no_finger_gets_to_is_not_pressed_upright(stand):
    wanted, leaning = {"fanuc_kit_s2l2": S2L2}, lean_on_its_cone(stand)

    def not_on_its_high_side(robot, point, tool="", pose_tool_in_world=None):
        pose = pose_tool_in_world
        is_there = pose is not None and 0.001 < point[0] - leaning.position[0] < 0.03 and abs(point[1] + 1.12) < 0.03
        return straight_down(robot, point, tool, pose_tool_in_world) and not is_there

    verdict = judge_recoverable(stand.world, wanted, not_on_its_high_side)
    assert "no tool has room to take it, as it lies tilted by 39 deg" in verdict.lost["small_gear_1"]
    drop(stand, "small_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 0.97], [np.pi, 0, 0]))
    assert "no tool has room" in judge_recoverable(stand.world, wanted, straight_down).lost["small_gear_1"]


def test_a_gear_with_furniture_round_it_is_lost_though_the_arm_would_get_there(stand):
    take_away(stand, "large_gear", keep=1)
    under_the_table = Pose.from_xyz_rpy([0.0, -0.63, 0.80])
    stand.world.place("large_gear_1", under_the_table)
    verdict = judge_recoverable(stand.world, WANTED, lambda _robot, point, *_, **__: point[2] > 0.5)
    assert not verdict.recoverable
    assert "large_gear_1: no tool has room to take it, as it lies tilted by 0 deg" in verdict.reason


def test_a_gear_between_trays_where_no_fingers_fit_is_lost(stand):
    take_away(stand, "small_gear", keep=2)
    here = Pose.from_xyz_rpy([0.0, -1.12, 0.917])
    stand.world.place("small_gear_1", here)
    wanted = {"fanuc_kit_s2l2": S2L2}
    assert judge_recoverable(stand.world, wanted, reaches).recoverable
    walls = [("motoman_kit_m2l1", 1.0), ("motoman_kit_s2l2", -1.0)]
    for tray, side in walls:  # on their edges, as near as they get to it
        upright = Pose.from_xyz_rpy([side * 0.026, 0.0, 0.1], [0.0, side * np.pi / 2, 0.0])
        stand.world.place(tray, here @ upright)
    verdict = judge_recoverable(stand.world, wanted, reaches)
    assert not verdict.recoverable
    assert "small_gear_1: covered by motoman_kit_" in verdict.reason


def test_gears_under_a_tray_that_no_robot_takes_are_lost(stand):
    take_away(stand, "large_gear", keep=2)
    over = stand.world.pose_of("fanuc_large_tray") @ Pose.from_xyz_rpy([0, 0, 0.052])
    drop(stand, "fanuc_kit_s2l2", over)
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert not verdict.recoverable
    assert "large_gear_1: covered by fanuc_kit_s2l2, which no robot can take away" in verdict.reason
    stand.world.place("fanuc_kit_s2l2", Pose.from_xyz_rpy([1.0, 1.0, 0.001]))
    assert judge_recoverable(stand.world, WANTED, reaches).recoverable


def test_a_gear_under_another_gear_is_uncovered_first(stand):
    take_away(stand, "large_gear", keep=2)
    drop(stand, "large_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 0.917]))
    stand.world.place("large_gear_2", Pose.from_xyz_rpy([0.0, -1.12, 0.953]))
    verdict = judge_recoverable(stand.world, {"fanuc_kit_s2l2": S2L2}, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.reason.endswith("large_gear_2 is taken away from large_gear_1 before")
    assert verdict.as_dict()["before"] == {"large_gear_1": ["large_gear_2"]}


def test_a_gear_is_seen_once_what_covers_it_is_gone(stand):
    take_away(stand, "large_gear", keep=2)
    stand.world.place("large_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 0.917]))
    stand.world.place("large_gear_2", Pose.from_xyz_rpy([0.0, -1.12, 0.953]))

    def sees(thing, without):
        return thing != "large_gear_1" or "large_gear_2" in without

    assert judge_recoverable(stand.world, {"fanuc_kit_s2l2": S2L2}, reaches, sees=sees).recoverable


def test_a_part_that_belongs_to_one_kit_is_no_stock_for_another(stand):
    mine = [n for n in sorted(stand.world.objects) if n.startswith("large") and stand.position(n)[1] < -0.85]
    stand.fill(RIGHT | {"slot_3": mine[0]})
    both = {"fanuc_kit_m2l1": M2L1, "fanuc_kit_s2l2": S2L2}
    assert not judge_recoverable(stand.world, both, reaches).recoverable, "one is left, and two are needed"
    others = [name for name in stand.world.objects if name.startswith("large") and name not in mine]
    stand.world.place(others[0], Pose.from_xyz_rpy([0.0, -1.12, 0.917]))
    assert judge_recoverable(stand.world, both, reaches).recoverable


def test_only_the_slots_that_are_open_must_be_within_reach_and_a_part_that_two_robots_reach_serves_both(stand):
    first = stand.world.objects["fanuc_kit_m2l1"].figures.slots[0]
    x, y, _ = stand.world.pose_of("fanuc_kit_m2l1").apply([*first.xy_m, 0.0])

    def not_there(robot, point, tool="", **_):
        return reaches(robot, point) and np.hypot(point[0] - x, point[1] - y) > 0.01

    assert not judge_recoverable(stand.world, WANTED, not_there).recoverable
    stand.fill({"slot_1": "medium_gear_1"})
    assert judge_recoverable(stand.world, WANTED, not_there).recoverable
    mine = [n for n in sorted(stand.world.objects) if n.startswith("large") and stand.position(n)[1] < -0.85]
    take_away(stand, "large_gear")
    stand.fill({"slot_1": mine[0]}, "fanuc_large_tray")
    here = stand.position(mine[0]).copy()

    def also_this_one(robot, point, tool="", **_):
        return reaches(robot, point) or np.hypot(*(point - here)[:2]) < 0.01

    assert not judge_recoverable(stand.world, {"motoman_kit_m2l1": M2L1}, reaches).recoverable
    assert judge_recoverable(stand.world, {"motoman_kit_m2l1": M2L1}, also_this_one).recoverable


def test_what_the_plan_does_not_need_is_not_uncovered(stand):
    stand.world.place("large_gear_1", Pose.from_xyz_rpy([0.0, -1.12, 0.917]))
    stand.world.place("large_gear_2", Pose.from_xyz_rpy([0.0, -1.12, 0.953]))
    stand.fill({"slot_3": "large_gear_3"})
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.reason == f"a plan of {len(verdict.plan.actions)} steps completes it"
    assert not verdict.before


def test_a_plan_that_does_not_hold_is_no_answer(stand, monkeypatch):
    def forgetful(request):
        result = plan(request)
        return replace(result, actions=result.actions[1:])

    monkeypatch.setattr("cellwright.judge.oracle.plan", forgetful)
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert not verdict.recoverable
    assert verdict.reason.startswith("the plan does not hold: ")


def test_a_part_above_a_slot_that_no_robot_takes_blocks_it_and_one_in_a_hand_does_not(stand):
    slot = stand.world.objects["fanuc_kit_m2l1"].figures.slots[0]
    above = stand.world.pose_of("fanuc_kit_m2l1") @ Pose.from_xyz_rpy([*slot.xy_m, 0.1], [np.pi, 0, 0])
    stand.world.place("small_gear_1", above)
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert "fanuc_kit_m2l1/slot_1 is blocked: small_gear_1 no tool has room" in verdict.reason
    hands = stand.hand_monitor.save()
    hands["fanuc"].hold = HeldObject("small_gear_1", above.position, above.position)
    stand.hand_monitor.load(hands)
    assert judge_recoverable(stand.world, WANTED, reaches, hand_monitor=stand.hand_monitor).recoverable


def test_what_no_camera_ever_sees_is_lost(stand):
    take_away(stand, "large_gear", keep=1)
    asked = []

    def sees(thing, without):
        asked.append((thing, "large_gear_1" in without))
        return thing != "large_gear_1"

    assert judge_recoverable(stand.world, WANTED, reaches, sees=lambda *_: True).recoverable
    verdict = judge_recoverable(stand.world, WANTED, reaches, sees=sees)
    assert not verdict.recoverable
    assert "large_gear_1: no camera sees it" in verdict.reason
    assert ("large_gear_1", False) in asked


def test_a_kit_with_a_tray_on_it_and_one_that_lies_askew_or_elsewhere_are_hopeless_where_nothing_lifts_trays(stand):
    stand.fill(RIGHT)
    assert judge_recoverable(stand.world, WANTED, reaches).recoverable
    over = stand.world.pose_of("fanuc_kit_m2l1") @ Pose.from_xyz_rpy([0, 0, 0.052])
    drop(stand, "fanuc_kit_s2l2", over)
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.reason == "fanuc_kit_m2l1 cannot be cleared: fanuc_kit_s2l2 no tool holds it"
    stand.world.place("fanuc_kit_s2l2", Pose.from_xyz_rpy([1.0, 1.0, 0.001]))
    pose = stand.world.pose_of("fanuc_kit_m2l1")
    stand.world.place("fanuc_kit_m2l1", pose @ Pose.from_xyz_rpy([0, 0, 0.008], [0.06, 0, 0]))
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert "fanuc_kit_m2l1 cannot be put right: level: tilted by 3.4 deg (limit 2 deg)" in verdict.reason
    stand.world.place("fanuc_kit_m2l1", Pose.from_xyz_rpy([1.4, 1.0, 0.0]))
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert "fanuc_kit_m2l1 cannot be put right: on its table: on the floor, not on fanuc_cart" in verdict.reason


def test_a_part_on_a_finished_kit_is_taken_away_and_the_answer_says_so(stand):
    stand.fill(RIGHT)
    on_it = stand.world.pose_of("fanuc_kit_m2l1") @ Pose.from_xyz_rpy([0, 0, 0.03])
    drop(stand, "small_gear_1", on_it)
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable
    assert verdict.before["fanuc_kit_m2l1"] == {"small_gear_1"}
    assert "small_gear_1 is taken away from fanuc_kit_m2l1 before" in verdict.reason
    hands, here_m = stand.hand_monitor.save(), stand.position("small_gear_1")
    hands["fanuc"].hold = HeldObject("small_gear_1", here_m, here_m)
    stand.hand_monitor.load(hands)
    assert not judge_recoverable(stand.world, WANTED, reaches, hand_monitor=stand.hand_monitor).before, "a hand has it"


def test_what_is_in_the_kit_already_counts(stand):
    stand.fill(RIGHT)
    take_away(stand, "large_gear_2")
    take_away(stand, "large_gear_3")
    take_away(stand, "large_gear_4")
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable
    assert verdict.plan.actions == ()
    assert verdict.state.kits[0].filled == tuple(slot.sku for slot in M2L1.slots)


def test_a_gear_that_is_askew_in_its_slot_can_be_set_anew_unless_it_is_upside_down(stand):
    stand.fill(RIGHT)
    pose = stand.world.pose_of("large_gear_1")
    stand.world.place("large_gear_1", pose @ Pose.from_xyz_rpy([0, 0, 0.02], [np.radians(20), 0, 0]))
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable
    assert any("take-part" in str(action) for action in verdict.plan.actions), "it is not seated yet"
    drop(stand, "large_gear_1", pose @ Pose.from_xyz_rpy([0, 0, 0.04], [np.pi, 0, 0]))
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert not verdict.recoverable
    assert "fanuc_kit_m2l1/slot_3 is blocked: large_gear_1 no tool has room" in verdict.reason


def test_a_wrong_gear_in_a_slot_can_be_taken_out(stand):
    stand.fill({"slot_1": "small_gear_8"})
    verdict = judge_recoverable(stand.world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert any("remove-part" in str(action) and "small" in str(action) for action in verdict.plan.actions)


def test_a_held_part_is_in_the_hand(stand):
    stand.at("held")
    verdict = judge_recoverable(stand.world, WANTED, reaches, hand_monitor=stand.hand_monitor)
    assert verdict.recoverable, verdict.reason
    robots = {robot.name: robot for robot in verdict.state.robots}
    assert robots["fanuc"].hand.sku == "sku_part_medium_gear"
    assert robots["motoman"].hand is None
    trays = {tray.name: tray.count for tray in verdict.state.parts_trays}
    assert trays["fanuc_medium_tray"] == 3


def test_a_robot_out_of_service_builds_nothing(stand):
    verdict = judge_recoverable(stand.world, WANTED, reaches, robots=["motoman"])
    assert not verdict.recoverable


@pytest.mark.parametrize(
    ("wanted", "recoverable"),
    [
        ({"fanuc_kit_m2l1": M2L1, "motoman_kit_s2l2": S2L2}, True),
        ({"fanuc_kit_m2l1": M2L1, "fanuc_kit_s2l2": S2L2}, False),  # three large gears, two on that table
    ],
)
def test_several_kits(stand, wanted, recoverable):
    assert judge_recoverable(stand.world, wanted, reaches).recoverable is recoverable


def test_a_tray_that_is_gone_is_hopeless(stand):
    verdict = judge_recoverable(stand.world, {"no_tray": M2L1}, reaches)
    assert not verdict.recoverable
    assert verdict.reason == "no_tray: the tray is not there"
    verdict = judge_recoverable(stand.world, {"fanuc_kit_s2l2": M2L1}, reaches)
    assert not verdict.recoverable
    assert "fanuc_kit_s2l2: it is a sku_kit_s2l2_vessel, the kit needs a sku_kit_m2l1_vessel" in verdict.reason

"""The oracle where trays are carried and tools are changed: what is left of both, by the truth."""

import numpy as np
import pytest

from cellwright.catalogue import seated_height_m
from cellwright.cells import load_cell
from cellwright.cells.schema import PoseCfg
from cellwright.core.pose import Pose
from cellwright.judge import HandMonitor, HeldObject, judge_kit, judge_recoverable
from cellwright.judge.support import things_below
from cellwright.judge.takers import Takers
from cellwright.judge.tool_inventory import ToolInventory
from cellwright.judge.tray_inventory import TrayInventory
from cellwright.orders import DESIGNS
from cellwright.planning import HeldKind, PlanStatus
from cellwright.sim import Stepper, World

M2L1, S2L2 = DESIGNS.get("kit_m2l1"), DESIGNS.get("kit_s2l2")
WANTED = {"m2l1_tray_2": M2L1}
TABLE, BOX = Pose.from_xyz_rpy([0.0, -0.65, 0.89]), Pose.from_xyz_rpy([0.65, -0.522, 0.894], [0, 0, np.pi / 2])
FLOOR, UPSIDE_DOWN = Pose.from_xyz_rpy([0.3, -1.3, 0.001]), Pose.from_xyz_rpy([0, 0, 0.0172], [np.pi, 0, 0])
OTHER_PLACE = Pose.from_xyz_rpy([0.244, 0.0, 0.0])  # in the box, from the one to the other
GEARS = ["medium_gear_1", "medium_gear_2", "large_gear_1"]


def reaches(robot, point, tool="", **_):
    """Everything on the tables."""
    return point[2] > 0.85


@pytest.fixture(scope="module")
def made():
    return World(load_cell("kitting").model_copy(update={"settle_s": 0.0}), 0)


@pytest.fixture
def world(made):
    start = made.snapshot()
    yield made
    made.restore(start)


def fill(world, tray, parts):
    """Sets gears into the slots of a tray, one after the other."""
    figures = world.objects[tray].figures
    for slot, part in zip(figures.slots, parts, strict=False):
        height_m = seated_height_m(figures, slot, world.objects[part].figures)
        world.place(part, world.pose_of(tray) @ Pose.from_xyz_rpy([*slot.xy_m, height_m]))


def verbs(verdict):
    return [str(action).split()[0].strip("(") for action in verdict.plan.actions]


def test_tools_hang_in_their_holders_and_trays_are_stacked(world):
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    state = verdict.state
    assert {holder.name: holder.tool for holder in state.holders} == {
        "gripper_holder": "big_gripper",
        "tray_tool_holder": "tray_vacuum",
    }
    assert {(stack.name, stack.count) for stack in state.tray_stacks} == {("m2l1_tray_box", 2), ("s2l2_tray_box", 2)}
    assert [(outlet.name, outlet.count, outlet.capacity) for outlet in state.outlets] == [("kit_box", 0, 2)]
    assert state.tables == ("work_table",)
    assert {"take-kitTray", "place-kit"} < set(verbs(verdict))


def test_a_kit_that_was_begun_is_gone_on_with_where_it_stands(world):
    world.place("m2l1_tray_2", TABLE)
    fill(world, "m2l1_tray_2", ["medium_gear_1", "medium_gear_2"])
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    (kit,) = verdict.state.kits
    assert (kit.place, kit.filled.count(None), kit.fixed) == ("work_table", 1, False)
    assert "take-kitTray" not in verbs(verdict)
    assert verbs(verdict).count("take-part") == 1


def counts(verdict):
    return {stack.name: stack.count for stack in verdict.state.tray_stacks}, verdict.state.outlets[0].count


def test_a_tray_with_parts_in_it_is_no_empty_one_and_another_kit_fills_the_box_of_kits(world):
    fill(world, "m2l1_tray_2", GEARS[:1])  # on its stack
    verdict = judge_recoverable(world, WANTED, reaches)
    assert counts(verdict) == ({"m2l1_tray_box": 1, "s2l2_tray_box": 2}, 0)
    assert [kit.filled.count(None) for kit in verdict.state.kits] == [2]
    assert counts(judge_recoverable(world, {"m2l1_tray_1": M2L1}, reaches))[0]["m2l1_tray_box"] == 1
    world.place("m2l1_tray_2", Pose.from_xyz_rpy([0.4, -0.1, 0.89]))
    fill(world, "m2l1_tray_2", GEARS[:1])
    world.place("s2l2_tray_2", BOX)
    verdict = judge_recoverable(world, {"m2l1_tray_1": M2L1}, reaches)
    assert counts(verdict) == ({"m2l1_tray_box": 1, "s2l2_tray_box": 1}, 1)


def test_there_is_one_table_for_two_kits_that_are_not_complete_in_their_box(world):
    both = {"m2l1_tray_1": M2L1, "m2l1_tray_2": M2L1}
    world.place("m2l1_tray_1", BOX)
    world.place("m2l1_tray_2", TABLE)
    assert judge_recoverable(world, both, reaches).recoverable, "one is gone on with where it stands"
    world.place("m2l1_tray_2", BOX @ OTHER_PLACE)
    verdict = judge_recoverable(world, both, reaches)
    assert verdict.lost["m2l1_tray_2"] == "there is no table to set it down"


@pytest.mark.parametrize("place", [TABLE, BOX], ids=["table", "box"])
def test_a_place_that_the_tool_for_trays_does_not_reach_is_none(world, place):
    def not_there(robot, point, tool="", **_):
        return reaches(robot, point) and not (tool == "tray_vacuum" and np.hypot(*(point - place.position)[:2]) < 0.1)

    assert not judge_recoverable(world, WANTED, not_there).recoverable


def test_who_carries_a_kit_that_was_begun_must_also_get_to_its_slots(world):
    world.place("m2l1_tray_2", TABLE)
    fill(world, "m2l1_tray_2", GEARS[:2])

    def without_the_gripper_there(robot, point, tool="", **_):
        is_there = np.hypot(*(point - TABLE.position)[:2]) < 0.2
        return reaches(robot, point) and not (tool == "big_gripper" and is_there)

    assert not judge_recoverable(world, WANTED, without_the_gripper_there).recoverable


def test_a_kit_in_its_box_is_done_and_one_that_lacks_a_part_is_taken_out_and_gone_on_with(world):
    world.place("m2l1_tray_2", BOX)
    fill(world, "m2l1_tray_2", GEARS)
    assert judge_kit(world, "m2l1_tray_2", M2L1).done
    verdict = judge_recoverable(world, WANTED, reaches)
    assert (verdict.recoverable, verdict.plan.actions) == (True, ())
    world.place("large_gear_1", Pose.from_xyz_rpy([1.0, 1.0, 0.001]))
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.reason.endswith("m2l1_tray_2 is taken out of kit_box before")
    assert verdict.state.outlets[0].count == 0
    assert (verbs(verdict).count("take-part"), verbs(verdict).count("take-kitTray")) == (1, 0)
    world.place("m2l1_tray_1", FLOOR)
    assert judge_recoverable(world, WANTED, reaches).recoverable, "no other tray is needed"


def test_what_lies_on_a_kit_in_its_box_is_taken_away(world):
    world.place("m2l1_tray_2", BOX)
    fill(world, "m2l1_tray_2", GEARS)
    lower(world, "small_gear_1", BOX @ Pose.from_xyz_rpy([0.0, 0.018, 0.03]))
    world.place("m2l1_tray_1", FLOOR)
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.before["m2l1_tray_2"] == {"small_gear_1"}


def test_a_kit_that_is_done_needs_no_tool_and_no_reach(world):
    world.place("m2l1_tray_2", BOX)
    fill(world, "m2l1_tray_2", GEARS)
    verdict = judge_recoverable(world, WANTED, lambda *_, **__: False)
    assert verdict.recoverable, verdict.reason
    assert verdict.state.outlets[0].count == 1
    assert "m2l1_tray_2" not in verdict.lost
    world.place("large_gear_1", FLOOR)
    assert not judge_recoverable(world, WANTED, lambda *_, **__: False).recoverable


def test_a_tray_of_another_kind_on_the_work_table_is_taken_away_with_what_is_in_it(world):
    """Also where the only parts that are left lie deep in it."""
    world.place("s2l2_tray_2", TABLE)
    fill(world, "s2l2_tray_2", ["small_gear_1", "small_gear_2", "large_gear_1", "large_gear_2"])
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.reason.endswith("s2l2_tray_2 is taken away from work_table before")
    world.place("s2l2_tray_2", TABLE @ UPSIDE_DOWN)
    assert not judge_recoverable(world, WANTED, reaches).recoverable


def test_a_tray_that_no_robot_can_take_out_of_the_box_of_kits_leaves_less_room_there(world):
    both = {"m2l1_tray_1": M2L1, "m2l1_tray_2": M2L1}
    assert judge_recoverable(world, both, reaches).recoverable
    world.place("s2l2_tray_2", BOX @ UPSIDE_DOWN)
    verdict = judge_recoverable(world, both, reaches)
    assert not verdict.recoverable
    assert verdict.state.outlets[0].count == 1
    assert judge_recoverable(world, WANTED, reaches).recoverable


def test_trays_that_stand_about_are_counted_and_a_part_above_a_slot_is_in_nobodys_way(world):
    world.place("m2l1_tray_2", FLOOR)
    world.place("m2l1_tray_1", Pose.from_xyz_rpy([0.4, -0.1, 0.89]))
    world.place("small_gear_1", Pose.from_xyz_rpy([0.4, -0.1, 0.95]))
    verdict = judge_recoverable(world, {"m2l1_tray_1": M2L1}, reaches)
    assert verdict.recoverable, verdict.reason
    verdict = judge_recoverable(world, {"m2l1_tray_2": M2L1}, reaches)
    assert verdict.recoverable, verdict.reason
    assert ("loose m2l1_tray_1", 1) in {(stack.name, stack.count) for stack in verdict.state.tray_stacks}
    world.place("m2l1_tray_1", TABLE)
    slot = world.objects["m2l1_tray_1"].figures.slots[0]
    world.place("small_gear_1", TABLE @ Pose.from_xyz_rpy([*slot.xy_m, 0.15]))
    assert judge_recoverable(world, {"m2l1_tray_1": M2L1}, reaches).recoverable


def test_a_tray_that_fell_is_lost_and_another_one_serves_while_there_is_one(world):
    world.place("m2l1_tray_2", FLOOR)
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.lost == {"m2l1_tray_2": "lies on the floor"}
    world.place("m2l1_tray_1", Pose.from_xyz_rpy([0.0, -1.3, 0.001]))
    verdict = judge_recoverable(world, WANTED, reaches)
    assert not verdict.recoverable
    assert "m2l1_tray_1: lies on the floor" in verdict.reason


def test_a_tray_upside_down_on_a_stack_spoils_the_stack_and_one_askew_does_not(world):
    lower = world.pose_of("m2l1_tray_1")
    world.place("m2l1_tray_2", lower @ Pose.from_xyz_rpy([0.0, 0.08, 0.06], [0.45, 0, 0]))
    assert judge_recoverable(world, WANTED, reaches).recoverable, "a tool leans as the tray does"
    world.place("m2l1_tray_2", lower @ Pose.from_xyz_rpy([0, 0, 0.017]) @ UPSIDE_DOWN)
    verdict = judge_recoverable(world, WANTED, reaches)
    assert not verdict.recoverable
    assert verdict.lost["m2l1_tray_2"] == "no tool has room to take it, as it lies tilted by 180 deg"
    assert verdict.lost["m2l1_tray_1"] == "covered by m2l1_tray_2, which no robot can take away"


def test_a_tray_upside_down_on_the_work_table_leaves_no_place_to_work(world):
    world.place("m2l1_tray_2", TABLE @ UPSIDE_DOWN)
    verdict = judge_recoverable(world, WANTED, reaches)
    assert not verdict.recoverable
    assert verdict.plan.status is not PlanStatus.SOLVED
    assert "m2l1_tray_2: no tool has room" in verdict.reason


@pytest.mark.parametrize(("lean_deg", "times", "taken"), [(26, 1, True), (85, 1, True), (60, 8, False)])
def test_cups_hold_a_tray_that_leans_as_long_as_their_lips_do_not_slip(world, lean_deg, times, taken):
    world.place("m2l1_tray_2", TABLE @ Pose.from_xyz_rpy([0, 0, 0.4], [np.radians(lean_deg), 0, 0]))
    body = world.objects["m2l1_tray_2"].body
    world.model.body_mass[body] *= times
    try:
        assert ("m2l1_tray_2" not in judge_recoverable(world, WANTED, reaches).lost) is taken
    finally:
        world.model.body_mass[body] /= times


def lower(world, name, pose):
    """Lowers a thing until it stands on another one."""
    for step_m in (0.002, 0.00025):
        while not things_below(world, name):
            pose = Pose(pose.position - [0, 0, step_m], pose.quaternion)
            world.place(name, pose)
        pose = Pose(pose.position + [0, 0, step_m], pose.quaternion)
        world.place(name, pose if step_m > 0.001 else world.pose_of(name))


def test_a_tray_on_a_kit_and_a_gear_under_a_tray_are_uncovered_first(world):
    """Here a robot has a tool for trays: what one covers is not lost."""
    world.place("m2l1_tray_2", TABLE)
    fill(world, "m2l1_tray_2", GEARS)
    lower(world, "s2l2_tray_2", TABLE @ Pose.from_xyz_rpy([0, 0, 0.06]))
    assert judge_kit(world, "m2l1_tray_2", M2L1).items[4].reason == "s2l2_tray_2 on the tray"
    verdict = judge_recoverable(world, WANTED, reaches)
    assert verdict.recoverable, verdict.reason
    assert verdict.reason.endswith("s2l2_tray_2 is taken away from m2l1_tray_2 before")
    world.place("large_gear_2", Pose.from_xyz_rpy([1.0, 1.0, 0.001]))
    world.place("large_gear_1", TABLE)
    world.place("m2l1_tray_2", Pose.from_xyz_rpy([1.0, 1.3, 0.001]))
    lower(world, "s2l2_tray_2", TABLE @ Pose.from_xyz_rpy([0, 0, 0.06]))
    verdict = judge_recoverable(world, {"m2l1_tray_1": M2L1}, reaches)
    assert verdict.recoverable, verdict.reason
    assert "s2l2_tray_2 is taken away from large_gear_1 before" in verdict.reason


def test_a_tool_that_fell_out_of_its_holder_is_lost_with_what_it_is_for(world):
    tool = world.loose_tools["tray_vacuum"]
    world.data.qpos[tool.qpos : tool.qpos + 3] += [0.0, 0.1, 0.0]
    world.place("m2l1_tray_1", world.pose_of("m2l1_tray_1"))  # brings everything up to date
    verdict = judge_recoverable(world, WANTED, reaches)
    assert not verdict.recoverable
    assert {holder.tool for holder in verdict.state.holders} == {"big_gripper", None}
    assert {verdict.lost[f"m2l1_tray_{number}"] for number in (1, 2)} == {"no tool holds it"}


def test_tools_count_for_robots_that_get_to_their_holders_and_for_what_they_are_meant_to_hold(world):
    def without_holders(robot, point, tool="", **_):
        return bool(tool) and reaches(robot, point)

    verdict = judge_recoverable(world, WANTED, without_holders)
    assert (verdict.recoverable, verdict.lost["m2l1_tray_2"]) == (False, "no tool holds it")
    gripper = world.cell.tools["big_gripper"].model_copy(update={"handles": ("medium_gear",)})
    picky = World(world.cell.model_copy(update={"tools": world.cell.tools | {"big_gripper": gripper}}), 0)
    verdict = judge_recoverable(picky, WANTED, reaches)
    assert (verdict.recoverable, verdict.lost["large_gear_1"]) == (False, "no tool holds it")
    assert "medium_gear_1" not in verdict.lost


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        (True, "m2l1_tray_2: covered by big_gripper, which no robot can take away"),
        (False, "m2l1_tray_2 cannot be cleared: big_gripper no robot can take it away"),
    ],
)
def test_a_tool_that_fell_onto_a_kit_cannot_be_taken_away(world, box, reason):
    if not box:
        fixtures = {name: fixture for name, fixture in world.cell.fixtures.items() if name != "kit_box"}
        world = World(world.cell.model_copy(update={"fixtures": fixtures}), 0)
    tool = world.loose_tools["big_gripper"]
    world.data.qpos[tool.qpos : tool.qpos + 3] = TABLE.apply([0.0, 0.0, 0.3045])
    world.place("m2l1_tray_2", TABLE)
    assert things_below(world, "big_gripper") == ["m2l1_tray_2"]
    assert reason in judge_recoverable(world, WANTED, reaches).reason


def test_both_kits_need_more_large_gears_than_there_are(world):
    verdict = judge_recoverable(world, WANTED | {"s2l2_tray_2": S2L2}, reaches)
    assert not verdict.recoverable
    assert "sku_part_large_gear" in verdict.reason


@pytest.fixture(scope="module")
def with_tray_tool():
    """The tool for trays is on the robot, so that it may hold one."""
    cell = load_cell("kitting")
    tools = cell.tools | {
        "tray_vacuum": cell.tools["tray_vacuum"].model_copy(update={"holder": None, "robot": "motoman"})
    }
    world = World(cell.model_copy(update={"settle_s": 0.0, "tools": tools}), 0)
    return world, HandMonitor(world, Stepper(world.clock, world.engine))


def test_a_tool_on_a_robot_does_not_lie_on_a_tray(with_tray_tool):
    world, _ = with_tray_tool
    start, tip = world.snapshot(), world.tcp_pose("motoman")
    world.place("m2l1_tray_2", Pose.from_xyz_rpy(tip.position - [0.0, 0.0, 0.0171]))
    items = {item.name: item for item in judge_kit(world, "m2l1_tray_2", M2L1).items}
    assert (items["extras"].passed, items["tool clear"].passed) == (True, False)
    world.restore(start)


def test_a_kit_that_only_lacks_a_hand_that_withdraws_is_done_for_a_perfect_controller(with_tray_tool):
    cell, tip = with_tray_tool[0].cell, with_tray_tool[0].tcp_pose("motoman").position
    place = PoseCfg(xyz_m=tuple(tip - [0.122, 0.0, 0.028]))
    box = cell.fixtures["kit_box"].model_copy(update={"pose": place})
    world = World(cell.model_copy(update={"fixtures": cell.fixtures | {"kit_box": box}}), 0)
    world.place("m2l1_tray_2", Pose.from_xyz_rpy(tip - [0.0, 0.0, 0.024]))
    fill(world, "m2l1_tray_2", GEARS)
    verdict = judge_kit(world, "m2l1_tray_2", M2L1)
    assert [item.name for item in verdict.items if not item.passed] == ["tool clear"]
    verdict = judge_recoverable(world, WANTED, reaches)
    assert (verdict.recoverable, verdict.plan.actions) == (True, ()), verdict.reason


@pytest.mark.parametrize(
    ("parts", "kind", "places", "steps"),
    [
        ([], HeldKind.KIT_TRAY, [], "place-kitTray"),
        (GEARS[:2], None, ["work_table"], "take-part"),
        (GEARS, HeldKind.KIT, [""], "place-kit"),
    ],
    ids=["an empty tray", "a kit that was begun", "a full kit"],
)
def test_a_tray_in_a_hand_is_gone_on_with(with_tray_tool, parts, kind, places, steps):
    world, monitor = with_tray_tool
    start = world.snapshot()
    world.place("m2l1_tray_2", TABLE @ Pose.from_xyz_rpy([0.0, 0.0, 0.2]))
    fill(world, "m2l1_tray_2", parts)
    hold(monitor, "m2l1_tray_2", world)
    verdict = judge_recoverable(world, WANTED, reaches, hand_monitor=monitor)
    assert verdict.recoverable, verdict.reason
    hand = verdict.state.robots[0].hand
    assert (hand and hand.kind) == kind
    assert [kit.place for kit in verdict.state.kits] == places
    assert steps in verbs(verdict)
    world.place("s2l2_tray_2", TABLE @ UPSIDE_DOWN)
    verdict = judge_recoverable(world, WANTED, reaches, hand_monitor=monitor)
    assert verdict.recoverable is (parts == GEARS), "there is no table to work at"
    assert verdict.lost.get("m2l1_tray_2") == ("there is no table to set it down" if parts == GEARS[:2] else None)
    world.restore(start)


def test_a_tray_of_another_kind_in_a_hand_is_in_that_hand(with_tray_tool):
    world, monitor = with_tray_tool
    start = world.snapshot()
    world.place("s2l2_tray_2", TABLE @ Pose.from_xyz_rpy([0.0, 0.0, 0.2]))
    hold(monitor, "s2l2_tray_2", world)
    verdict = judge_recoverable(world, WANTED, reaches, hand_monitor=monitor)
    assert (verdict.state.robots[0].hand.kind, verdict.state.robots[0].hand.sku) == (HeldKind.KIT_TRAY, S2L2.tray_sku)
    world.restore(start)


def hold(monitor, tray, world):
    """Lets the monitor believe what it would see: a tray in the hand."""
    state, here_m = monitor.save(), world.pose_of(tray).position
    state["motoman"].hold = HeldObject(tray, here_m, here_m, lifted=True)
    monitor.load(state)


def test_a_kit_that_was_begun_on_a_table_that_is_lower_than_drawn_stands_on_that():
    cell = load_cell("kitting").changed({"actual": {"size": None}, "settle_s": 0.0})
    tray, world = "m2l1_tray_2", World(cell.changed({"actual": {"table": {"z_m": -0.035, "x_m": 0.05}}}), 0)
    world.place(tray, Pose.from_xyz_rpy(world.layout.fixtures["work_table"].apply([0.0, 0.0, 0.890])))
    tools = ToolInventory(world, lambda *_args, **_keys: True)
    takers = Takers(world, tools, ["motoman"], [name for name in world.objects if world.objects[name].is_tray], {})
    trays = TrayInventory(world, tools, takers, ["motoman"], {})
    (kit,) = trays.add_wanted(tray, M2L1, ("sku_part_medium_gear", None, None))
    assert kit.place == "work_table"

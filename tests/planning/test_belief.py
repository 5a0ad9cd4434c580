"""From belief to a planning state: counted where parts lie, not where they once belonged."""

import numpy as np
import pytest

from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge import Database, WorldModel, fill, records
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.knowledge.slot_contents import SupplyFilter
from cellwright.knowledge.tray_layout import design_slots, tray_layout
from cellwright.knowledge.workstation import (
    FixedKit,
    PartInTray,
    Place,
    ReachBox,
    RobotDescription,
    SupplyTray,
    Workstation,
    WorkstationTool,
    WorkTable,
)
from cellwright.orders import DESIGNS, find_order
from cellwright.planning import HeldItem, HeldKind, PlanStatus, ToolHolderState, Verb, plan, validate_timed
from cellwright.planning.belief import request_of, state_of

M2L1 = DESIGNS.get("kit_m2l1")
MEDIUM, LARGE = "sku_part_medium_gear", "sku_part_large_gear"


def supply(name, sku, table, x_m, count):
    slots = tray_layout(sku).slots[:count]
    parts = (PartInTray(f"{name}_part_{s.name}", s.sku, Place(s.pose_part_in_tray, name), s.name) for s in slots)
    return SupplyTray(name, sku, Place(Pose.from_xyz_rpy([x_m, 0, 0.9]), table), tuple(parts))


def two_benches():
    """Two tables with a robot each, which has gears and a kit tray; the right one also reaches the left table."""
    sides = {"left": 0.0, "right": 2.0}
    boxes = {name: ReachBox(f"{name}_reach", (x - 0.9, -1, 0), (x + 0.9, 1, 2)) for name, x in sides.items()}
    return Workstation(
        "benches",
        tables=tuple(
            WorkTable(f"{n}_table", Place(Pose.from_xyz_rpy([x, 0, 0])), (1.5, 1, 0.9)) for n, x in sides.items()
        ),
        robots=tuple(
            RobotDescription(n, Place(), f"{n}_tool", (boxes[n],) if n == "left" else tuple(boxes.values()))
            for n in sides
        ),
        tools=tuple(WorkstationTool(f"{n}_tool", "ParallelGripper", (MEDIUM, LARGE)) for n in sides),
        supplies=tuple(
            tray
            for n in sides
            for tray in (
                supply(f"{n}_medium", "sku_medium_gear_vessel", f"{n}_table", -0.4, 4),
                supply(f"{n}_large", "sku_large_gear_vessel", f"{n}_table", 0.0, 2),
            )
        ),
        kits=tuple(
            FixedKit(f"{n}_kit", M2L1.tray_sku, Place(Pose.from_xyz_rpy([0.4, 0, 0.9]), f"{n}_table")) for n in sides
        ),
    )


@pytest.fixture
def model():
    database = Database()
    fill(database, two_benches(), [M2L1])
    yield WorldModel(database)
    database.close()


def move(model, name, frame, xyz_m, time_s=1.0):
    pose = model.pose_in(frame, "benches") @ Pose.from_xyz_rpy(xyz_m)
    model.observe([name], pose.matrix[None], time_s, "camera")


def counts(state):
    return {tray.name: (tray.count, tray.capacity) for tray in state.parts_trays}


def into_kit(model, part, kit, slot):
    move(model, part, kit, design_slots(M2L1)[slot].pose_part_in_tray.position)


def test_state_of_a_cell_at_rest(model):
    state = state_of(model)
    assert counts(state) == {f"{n}_{k}": (c, c) for n in ("left", "right") for k, c in (("medium", 4), ("large", 2))}
    assert {kit.name: (kit.place, kit.fixed, kit.filled) for kit in state.kits} == {
        name: (name, True, (None, None, None)) for name in ("left_kit", "right_kit")
    }
    reach = {robot.name: robot.reach for robot in state.robots}
    assert reach["left"] == {"left_medium", "left_large", "left_kit"} < reach["right"]
    assert [(robot.tool, robot.hand) for robot in state.robots] == [("left_tool", None), ("right_tool", None)]
    assert dict(state.zones) == dict.fromkeys(reach["left"], "left_table")
    assert state == state_of(model.database)


def test_part_counts_where_it_is_seen(model):
    into_kit(model, "left_medium_part_slot_1", "left_kit", 0)
    move(model, "left_medium_part_slot_2", "left_table", [0.2, 0.3, 0.9])  # beside everything
    slot = tray_layout("sku_medium_gear_vessel").slots[0].pose_part_in_tray.position
    move(model, "left_large_part_slot_1", "left_medium", slot)
    state = state_of(model)
    assert counts(state)["left_medium"] == (2, 3)  # a foreign part takes up a slot
    assert counts(state)["left_large"] == (1, 2)
    assert state.kits[0].filled == (MEDIUM, None, None)
    request = request_of(model, [find_order("kit_m2l1")])
    assert [kit.name for kit in request.state.kits] == ["left_kit"]
    result = plan(request)
    assert sum(action.verb.value == "place-part" for action in result.actions) == 2


def test_tray_that_was_shifted_takes_its_parts_along(model):
    pose = model.pose_in("left_medium", "benches") @ Pose.from_xyz_rpy([0.02, -0.03, 0], [0, 0, 0.3])
    model.observe(["left_medium"], pose.matrix[None], 1.0, "camera")
    assert counts(state_of(model))["left_medium"] == (4, 4)


def test_wrong_part_in_a_kit_is_shown(model):
    into_kit(model, "left_large_part_slot_1", "left_kit", 0)
    assert state_of(model).kits[0].misplaced == [f"slot_1 holds {LARGE}, not {MEDIUM}"]
    chosen = request_of(model, [find_order("kit_m2l1")]).state.kits
    assert [kit.name for kit in chosen] == ["right_kit"]


def test_kit_that_is_begun_is_finished_first_and_only_where_robots_get(model):
    into_kit(model, "right_medium_part_slot_1", "right_kit", 1)
    order = [find_order("kit_m2l1")]
    assert [kit.name for kit in request_of(model, order).state.kits] == ["right_kit"]
    alone = request_of(model, order, robots=["left"])
    assert [kit.name for kit in alone.state.kits] == ["left_kit"]
    assert [robot.available for robot in alone.state.robots] == [True, False]
    assert plan(alone).status is not PlanStatus.UNSOLVABLE
    with pytest.raises(UnknownName, match="unknown robot 'middle'"):
        request_of(model, order, robots=["middle"])


def test_more_kits_than_trays_leaves_some_unfinished_with_a_reason(model):
    result = plan(request_of(model, [find_order("kit_m2l1", 3)]))
    assert [kit.kit for kit in result.unfinished] == ["kit_m2l1_1"]
    assert result.reasons[0]


def test_each_robot_builds_at_its_own_table(model):
    """The right one reaches the left table, too, and would be in the way there."""
    request = request_of(model, [find_order("kit_m2l1", 2)], robots=["left", "right"])
    result = plan(request)
    assert validate_timed(request, result).valid
    assert (result.status, result.makespan_s) == (PlanStatus.OPTIMAL, 33.0)
    assert {(action.robot, action.kit) for action in result.actions} == {("left", "left_kit"), ("right", "right_kit")}


def test_one_kit_is_built_where_both_robots_get(model):
    request = request_of(model, [find_order("kit_m2l1")], robots=["left", "right"])
    result = plan(request)
    assert [kit.name for kit in request.state.kits] == ["left_kit"]
    assert {action.robot for action in result.actions} == {"left", "right"}
    assert result.makespan_s < 33.0


def test_a_robot_takes_parts_beside_the_kit_and_none_from_a_table_of_others(model):
    result = plan(request_of(model, [find_order("kit_m2l1")], robots=["right"]))
    taken = [action.place for action in result.actions if action.verb is Verb.TAKE_PART]
    assert {action.kit for action in result.actions} == {f"{taken[0].split('_')[0]}_kit"}
    assert taken in ([f"{side}_medium", f"{side}_medium", f"{side}_large"] for side in ("left", "right"))


def test_most_urgent_order_gets_the_tray(model):
    with model.database.session() as session:
        session.delete(records.Kit.get(session, "right_kit"))
    urgent, other = find_order("kit_m2l1", priority=5), find_order("kit_m2l1")
    request = request_of(model, [other, urgent])
    assert [(job.priority, job.started is None) for job in request.jobs] == [(5, False), (0, True)]


def test_held_part_is_in_the_hand_and_nowhere_else(model):
    with model.database.session() as session:
        part = records.Part.get(session, "left_medium_part_slot_1")
        records.EndEffector.get(session, "left_tool").held_object = part
    state = state_of(model)
    assert state.robots[0].hand == HeldItem(HeldKind.PART, MEDIUM)
    assert counts(state)["left_medium"] == (3, 4)


def test_part_that_is_old_or_vague_is_no_supply_and_takes_up_room(model):
    move(
        model,
        "left_large_part_slot_1",
        "left_large",
        tray_layout("sku_large_gear_vessel").slots[0].pose_part_in_tray.position,
        9.0,
    )
    assert counts(state_of(model, supply_filter=SupplyFilter(now_s=10.0, max_age_s=5.0)))["left_large"] == (1, 1)
    with model.database.session() as session:
        where = records.Part.get(session, "left_medium_part_slot_1").primary_location
        where.position_covariance = records.Covariance(1e-4, 0.0, 0.0, 4e-4, 0.0, 0.0)
    model.reload()
    assert counts(state_of(model, supply_filter=SupplyFilter(max_deviation_m=0.019)))["left_medium"] == (3, 3)
    assert counts(state_of(model, supply_filter=SupplyFilter(max_deviation_m=0.021)))["left_medium"] == (4, 4)


def test_part_without_a_pose_is_where_it_belongs(model):
    with model.database.session() as session:
        part, tray = records.Part.get(session, "left_medium_part_slot_1"), records.PartsTray.get(session, "left_medium")
        session.delete(part.primary_location)
        part.primary_location = records.RelativeLocationIn(name="somewhere", ref_object=tray)
    assert counts(state_of(model.database))["left_medium"] == (4, 4)


def test_papers_workstation_with_tools_trays_and_outlet():
    database = Database()
    orders = [find_order("a2b1c1", 2)]
    fill(database, paper_workstation(orders, tables=2), [line.design for line in orders[0].lines])
    state = state_of(database)
    assert state.tables == ("work_table_1", "work_table_2")
    assert state.holders == (
        ToolHolderState("tray_gripper_holder", "tray_gripper"),
        ToolHolderState("part_gripper_holder", "part_gripper"),
    )
    assert [(stack.sku, stack.count) for stack in state.tray_stacks] == [("sku_kit_tray", 4)]
    assert [(outlet.count, outlet.capacity) for outlet in state.outlets] == [(0, 10)]
    assert state.robots[0].reach == state.places
    result = plan(request_of(database, orders))
    assert result.status is PlanStatus.OPTIMAL
    with database.session() as session:  # a tray is on a table, another in the hand
        stack = records.LargeBoxWithEmptyKitTrays.all(session)[0]
        laid, held = stack.empty_kit_tray[-2:]
        table, tool = records.WorkTable.get(session, "work_table_1"), records.EndEffector.get(session, "tray_gripper")
        laid.primary_location.ref_object = table
        table.object_on_table.append(laid)
        records.EndEffectorHolder.get(session, "tray_gripper_holder").end_effector = None
        records.Robot.get(session, "robot_1").end_effector = tool
        tool.held_object = held
        held.primary_location.ref_object = tool
    state = state_of(database, orders=orders)
    assert [(kit.place, kit.created, kit.design.name) for kit in state.kits] == [("work_table_1", False, "a2b1c1")]
    assert state.tray_stacks[0].count == 2
    assert state.robots[0].hand == HeldItem(HeldKind.KIT_TRAY, "sku_kit_tray")
    again = plan(request_of(database, orders))
    assert not again.unfinished
    assert len(again.actions) < len(result.actions)
    database.close()


def test_reach_is_asked_of_the_believed_pose(model):
    far = np.eye(4)
    far[:3, 3] = [9.0, 0.0, 0.9]
    model.observe(["left_medium"], far[None], 1.0, "camera")
    assert "left_medium" not in state_of(model).robots[0].reach

"""Changing tools in the ring: a plan that needs two tools runs with both changes; what is believed of tools follows."""

import pytest

import cellwright as cw
from cellwright.cells import Cell, load_cell
from cellwright.drawings.database import designs_for, planning_database
from cellwright.drawings.workstation import workstation_of
from cellwright.execution.holder_way import HolderWay
from cellwright.execution.predicates import Truth
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.tool_change import CHANGES
from cellwright.knowledge import Belief, Database, WorldModel, fill
from cellwright.knowledge.belief_writer import note_tool
from cellwright.lab.direct_arm import DirectArm
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import Verb, plan
from cellwright.planning.belief import request_of
from cellwright.trials import run_order


@pytest.fixture
def two_tools() -> Cell:
    """The APRS lab in which the Fanuc needs one gripper for large gears and another for medium ones."""
    data = load_cell("aprs@lab_tools").model_dump()
    data["tools"] = {
        "pincher": {"model": "pincher", "holder": "far_left_holder", "handles": ["large_gear"]},
        "big_gripper": {"model": "big_gripper", "holder": "near_left_holder", "handles": ["medium_gear"]},
    }
    return Cell.model_validate(data)


def test_what_is_believed_of_tools_follows_the_changes(two_tools):
    database = Database("sqlite://")
    fill(database, workstation_of(two_tools), designs_for([]))
    belief = Belief(WorldModel(database))
    assert belief.state.tool_of == {
        "far_left_holder": "pincher",
        "near_left_holder": "big_gripper",
    }
    note_tool(belief, "fanuc", "pincher", None, "far_left_holder")
    believed = belief.state
    assert believed.tool_of == {"fanuc": "pincher", "near_left_holder": "big_gripper"}
    assert believed.objects["pincher"].reference == "fanuc"
    note_tool(belief, "fanuc", "pincher", "far_left_holder", "far_left_holder")
    assert belief.state.tool_of == {
        "far_left_holder": "pincher",
        "near_left_holder": "big_gripper",
    }


@pytest.fixture
def one_tool() -> Cell:
    """The APRS lab with a single gripper, in the holder that both robots reach."""
    data = load_cell("aprs@lab_tools").model_dump()
    data["tools"] = {"pincher": {"model": "pincher", "holder": "shared_holder"}}
    return Cell.model_validate(data)


SMALL = KitDesign.of("kit_s", "sku_kit_s2l2_vessel", {"sku_part_small_gear": 1})
TWO_SMALL = Order("two", (OrderLine(SMALL, 2),))
HANDED_OVER = [
    ("attach-endEffector", "fanuc", "shared_holder"),
    ("detach-endEffector", "fanuc", "shared_holder"),
    ("attach-endEffector", "motoman", "shared_holder"),
]


def test_a_tool_that_both_need_is_put_where_the_other_reaches_it(one_tool):
    database, _ = planning_database(one_tool, [TWO_SMALL])
    result = plan(request_of(database, [TWO_SMALL]))
    assert not result.unfinished
    changes = [action for action in result.actions if action.verb in CHANGES]
    assert [(str(action.verb), action.robot, action.place) for action in changes] == HANDED_OVER
    database.close()


@pytest.mark.slow
def test_two_robots_share_one_tool(one_tool):
    with cw.Lab(one_tool, seed=1) as lab:
        report = run_order(lab, [TWO_SMALL])
    assert report.done, report.reason
    assert report.hits == ()
    words = [record.action.strip("()").split() for record in report.order.actions if "endEffector" in record.action]
    assert [(verb, robot, holder) for verb, robot, _, holder in words] == HANDED_OVER


@pytest.mark.slow
def test_a_plan_that_needs_two_tools_runs_with_both_changes(two_tools):
    with cw.Lab(two_tools, seed=1) as lab:
        report = lab.run("kit_m2l1", robots=["fanuc"])
    assert report.done, report.reason
    assert report.hits == ()
    changes = [record for record in report.order.actions if record.action.startswith(tuple(f"({v}" for v in CHANGES))]
    assert [(record.action.split()[0][1:], record.phase) for record in changes] == [
        (Verb.ATTACH, "end"),
        (Verb.DETACH, "end"),
        (Verb.ATTACH, "end"),
    ]
    for record in changes:
        assert record.predicates, "a change is checked before and after"
        assert all(row.value == Truth.TRUE for row in record.predicates)
        assert any("fanuc reports" in row.evidence for row in record.predicates)


def test_only_the_last_way_into_a_holder_and_the_first_out_of_it_is_slow():
    with cw.Lab.from_cell("kitting", seed=1) as lab:
        arm = DirectArm(lab.robot("motoman"), lab.clock)
        holder, base = lab.nominal.fixtures["gripper_holder"], lab.nominal.bases["motoman"]
        way = HolderWay(arm, RobotHand(arm, lab.clock), holder, base, "big_gripper")

        async def change() -> float:
            await way.come()
            await arm.change_tool(lock=True)
            start_s = lab.clock.time_s
            await way.leave()
            return lab.clock.time_s - start_s

        assert lab.perform(change()) < 2.6  # 0.33 m, of which 0.03 m slowly
        assert arm.robot.tool_changer.tool == "big_gripper"

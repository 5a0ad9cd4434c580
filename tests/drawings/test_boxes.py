"""Boxes of kit trays and of kits in the description of a workstation: what plans with kit trays begin with."""

import pytest

from cellwright.cells import Cell, load_cell
from cellwright.drawings.database import planning_database
from cellwright.drawings.workstation import workstation_of
from cellwright.orders import find_order
from cellwright.planning import Verb, plan
from cellwright.planning.belief import request_of


@pytest.fixture(scope="module")
def station():
    return workstation_of(load_cell("kitting"))


def test_boxes_with_trays_supply_them_and_the_others_take_kits(station):
    found = {stack.name: (stack.tray_sku, [name for name, _ in stack.trays]) for stack in station.stacks}
    assert found == {
        "m2l1_tray_box": ("sku_kit_m2l1_vessel", ["m2l1_tray_1", "m2l1_tray_2"]),
        "s2l2_tray_box": ("sku_kit_s2l2_vessel", ["s2l2_tray_1", "s2l2_tray_2"]),
    }
    assert [(box.name, box.capacity) for box in station.boxes] == [("kit_box", 2)]
    assert station.kits == ()
    for stack in station.stacks:  # the first stands on the floor of its box, the second on the first
        heights = [place.pose.position[2] for _, place in stack.trays]
        assert heights == pytest.approx([0.0, 0.017], abs=1e-6)
        assert stack.size_m is not None
        assert stack.size_m[2] >= 0.034


def test_the_tray_tool_is_for_trays_and_the_gripper_for_gears(station):
    tools = {tool.name: tool for tool in station.tools}
    assert tools["tray_vacuum"].kind == "MultiCupEffector"
    assert set(tools["tray_vacuum"].handles) == {"sku_kit_m2l1_vessel", "sku_kit_s2l2_vessel"}
    assert all("gear" in sku for sku in tools["big_gripper"].handles)


def test_the_robot_reaches_boxes_and_the_one_table_that_is_free(station):
    (motoman,) = station.robots
    names = {box.name for box in motoman.reach}
    places = ("m2l1_tray_box", "s2l2_tray_box", "kit_box", "work_table", "gripper_holder", "tray_tool_holder")
    assert {f"motoman_reaches_{name}" for name in places} <= names
    assert {table.name for table in station.tables} == {"work_table", "parts_table", "boxes_table"}


def test_a_plan_fetches_the_tray_and_puts_the_kit_away():
    cell, orders = load_cell("kitting"), [find_order("kit_m2l1")]
    database, _ = planning_database(cell, orders)
    result = plan(request_of(database, orders))
    assert not result.unfinished
    verbs = [action.verb for action in result.actions]
    with_trays = [Verb.TAKE_TRAY, Verb.PLACE_TRAY, Verb.CREATE_KIT, Verb.TAKE_KIT, Verb.PLACE_KIT]
    assert [verb for verb in verbs if verb in with_trays] == with_trays
    assert verbs.count(Verb.ATTACH) == 3
    assert verbs.count(Verb.DETACH) == 2
    database.close()


def test_a_box_out_of_reach_is_no_place_for_kits():
    data = load_cell("kitting").model_dump()
    data["fixtures"]["kit_box"]["pose"]["xyz_m"] = (3.0, 0.0, 0.890)
    (motoman,) = workstation_of(Cell.model_validate(data)).robots
    assert "motoman_reaches_kit_box" not in {box.name for box in motoman.reach}

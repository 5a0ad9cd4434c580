"""Tools that robots change, in the description of a workstation: what plans begin with."""

import pytest

from cellwright.catalogue import part_of_sku
from cellwright.cells import load_cell, nominal_layout
from cellwright.drawings.tools import changing_station, holder_boxes, station_tools
from cellwright.drawings.workstation import workstation_of


@pytest.fixture(scope="module")
def cell():
    return load_cell("aprs@lab-tools")


def test_the_labs_holders_and_tools(cell):
    (station,) = changing_station(cell)
    assert {holder.name: holder.tool for holder in station.holders} == {
        "far_left_holder": "pincher",
        "near_left_holder": "big_vacuum",
        "shared_holder": "small_vacuum",
        "big_gripper_holder": "big_gripper",
    }
    assert changing_station(load_cell("aprs")) == ()


def test_tools_are_for_what_the_lab_says_and_what_they_can_hold(cell):
    skus = [f"sku_part_{kind}_gear" for kind in ("small", "medium", "large", "thin")]
    found = {
        tool.name: (tool.kind, {part_of_sku(sku).name for sku in tool.handles}) for tool in station_tools(cell, skus)
    }
    assert found == {
        "pincher": ("ParallelGripper", {"large_gear", "medium_gear"}),
        "big_gripper": ("ParallelGripper", {"large_gear", "small_gear"}),
        "small_vacuum": ("SingleCupEffector", {"thin_gear"}),
        "big_vacuum": ("SingleCupEffector", set()),
    }


def test_both_robots_reach_the_shared_holder(cell):
    layout = nominal_layout(cell, 0)
    reached = {robot: {box.name for box in holder_boxes(cell, layout, robot)} for robot in cell.robots}
    assert reached["fanuc"] == {f"fanuc_reaches_{name}_holder" for name in ("far_left", "near_left", "shared")}
    assert reached["motoman"] >= {"motoman_reaches_shared_holder", "motoman_reaches_big_gripper_holder"}


def test_the_workstation_has_them_and_robots_begin_with_empty_flanges(cell):
    station = workstation_of(cell)
    assert [tool.name for tool in station.tools] == ["pincher", "big_vacuum", "small_vacuum", "big_gripper"]
    assert [robot.tool for robot in station.robots] == [None, None]
    fanuc, _ = station.robots
    names = {box.name for box in fanuc.reach}
    assert {"fanuc_reaches_fanuc_kit_m2l1", "fanuc_reaches_shared_holder"} <= names
    assert len(names) == len(fanuc.reach)


def test_a_fixed_tool_is_as_it_was():
    station = workstation_of(load_cell("aprs"))
    assert [tool.name for tool in station.tools] == ["fanuc_tool", "motoman_tool"]
    assert station.changers == ()

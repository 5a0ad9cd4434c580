"""From a cell's drawings to what its knowledge starts from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.cells import actual_layout, load_cell, nominal_layout
from cellwright.core.errors import UnknownName
from cellwright.drawings.database import planning_database, planning_workstation
from cellwright.drawings.reach import SlotReach, WristRange
from cellwright.drawings.workstation import workstation_of
from cellwright.knowledge import WorldModel, records
from cellwright.motion import ArmKinematics
from cellwright.orders import find_order


@pytest.fixture(scope="module")
def cell(aprs):
    return workstation_of(aprs)


def test_each_robot_reaches_the_trays_that_its_kinematics_reach(cell):
    reach = {robot.name: {box.name.partition("_reaches_")[2] for box in robot.reach} for robot in cell.robots}
    trays = {tray.name for tray in cell.supplies} | {kit.name for kit in cell.kits}
    assert reach["motoman"] == {name for name in trays if name.startswith("motoman")}
    assert {name for name in trays if name.startswith("fanuc")} <= reach["fanuc"] < trays
    for robot in cell.robots:
        for box in robot.reach:
            assert all(low < high for low, high in zip(box.low_m, box.high_m, strict=True))


def test_poses_are_those_of_the_drawings(aprs, tmp_path):
    database, notes = planning_database(aprs, [find_order("kit_m2l1")], url=tmp_path / "cell.db")
    assert notes == []
    model, drawn, actual = WorldModel(database), nominal_layout(aprs, 3), actual_layout(aprs, 3)
    for name, placed in drawn.objects.items():
        assert model.pose_in(name, "aprs").is_close(placed.pose_in_world, tolerance_m=1e-9, tolerance_rad=1e-7)
        assert not model.pose_in(name, "aprs").is_close(actual.objects[name].pose_in_world, tolerance_m=1e-6)
    with database.session() as session:
        tables = {table.name: {t.name for t in table.object_on_table} for table in records.WorkTable.all(session)}
        assert tables.keys() == {"fanuc_cart", "shared_table"}
        assert {"motoman_small_tray", "motoman_kit_s2l2"} < tables["shared_table"]
        assert records.PartsTray.get(session, "fanuc_medium_tray").part_quantity == 4
        assert records.Kit.get(session, "fanuc_kit_m2l1").kit_design.name == "kit_m2l1"
        where = records.PartsTray.get(session, "fanuc_medium_tray").primary_location
        assert where.position_standard_deviation == 0.003
        assert where.orientation_covariance.zz == pytest.approx(np.radians(1.0) ** 2)
    database.close()


def test_cell_without_trays_is_a_workstation_without_kits():
    cell = workstation_of(load_cell("rovi"))
    assert (cell.kits, cell.supplies, cell.tables) == ((), (), ())
    assert {part.name for part in cell.loose} == {"bottle", "can", "mug", "crate"}
    assert "sku_bottle" in cell.tools[0].handles


def test_part_beside_its_slot_is_loose(changed):
    cell = changed(parts={"odd": {"model": "small_gear", "pose": {"xyz_m": [0.6, -1.2, 0.916]}}})
    made = workstation_of(cell)
    assert [part.name for part in made.loose] == ["odd"]


@pytest.mark.parametrize("model", ["lr_mate_200id", "sia20f", "ur5"])
@settings(max_examples=40, deadline=None)
@given(turns=st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_nothing_within_reach_counts_as_too_far(model, turns):
    arm = ROBOTS.get(model)
    limits = [joint.position_limits_rad for joint in arm.joints]
    joints = [low + turn * (high - low) for (low, high), turn in zip(limits, turns, strict=False)]
    assert not WristRange(arm).too_far(ArmKinematics(arm).forward(joints))


def test_robot_without_a_tool_reaches_nothing(aprs, cell):
    robot = aprs.robots["fanuc"].model_copy(update={"tool": None})
    reach = SlotReach(robot, robot.base.pose)
    assert not reach.grasps("sku_part_small_gear")


def test_papers_parts_are_planned_on_the_papers_workstation(aprs):
    made, notes = planning_workstation(aprs, [find_order("a2b1c1")], ["motoman"])
    assert [robot.name for robot in made.robots] == ["motoman"]
    (note,) = notes
    assert note.startswith("a2b1c1: aprs has no parts of the kitting papers")
    assert "\n" not in note
    with pytest.raises(UnknownName, match="unknown robot 'fanuk'; did you mean 'fanuc'"):
        planning_workstation(aprs, [find_order("kit_m2l1")], ["fanuk"])

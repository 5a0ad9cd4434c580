"""From a description to a database: everything where the drawings say, or nothing at all."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import func, select

from cellwright.catalogue import TRAYS, part_of_sku, seated_height_m
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge import Database, Workstation, WorldModel, fill, filled_database, records
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.knowledge.tray_layout import design_slots, tray_layout
from cellwright.knowledge.workstation import (
    FixedKit,
    PartInTray,
    Place,
    ReachBox,
    RobotDescription,
    Spread,
    SupplyTray,
    WorkstationTool,
    WorkTable,
)
from cellwright.orders import DESIGNS, find_order

M2L1 = DESIGNS.get("kit_m2l1")
GEAR = "sku_part_medium_gear"


def small_cell(**changes):
    """A table with a supply and a kit tray, turned by a right angle, with one gear each."""
    on_table = Place(
        Pose.from_xyz_rpy([0.2, 0.0, 0.9], [0, 0, np.pi / 2]), "table", Spread((0.003, 0.002, 0.0), (0, 0, 0.02))
    )
    first = tray_layout("sku_medium_gear_vessel").slots[0]
    in_kit = design_slots(M2L1)[1]
    made = Workstation(
        "cell",
        tables=(WorkTable("table", Place(Pose.from_xyz_rpy([1.0, 0.0, 0.0])), (1.0, 0.5, 0.9)),),
        robots=(RobotDescription("arm", Place(), "hand", (ReachBox("all", (0, -1, 0), (2, 1, 2)),)),),
        tools=(WorkstationTool("hand", "ParallelGripper", (GEAR,), width_m=0.06),),
        supplies=(
            SupplyTray(
                "supply",
                "sku_medium_gear_vessel",
                on_table,
                (PartInTray("gear_1", GEAR, Place(first.pose_part_in_tray, "supply"), first.name),),
            ),
        ),
        kits=(
            FixedKit(
                "kit",
                M2L1.tray_sku,
                Place(Pose.from_xyz_rpy([-0.2, 0.0, 0.9]), "table"),
                (PartInTray("gear_2", GEAR, Place(in_kit.pose_part_in_tray, "kit"), in_kit.name),),
            ),
        ),
    )
    return replace(made, **changes)


def test_what_is_written_is_what_the_drawings_say(database):
    fill(database, small_cell(), [M2L1])
    model = WorldModel(database)
    tray = next(TRAYS.get(name) for name in TRAYS if TRAYS.get(name).sku == "sku_medium_gear_vessel")
    x_m, y_m = tray.slots[0].xy_m
    height_m = seated_height_m(tray, tray.slots[0], part_of_sku(GEAR))
    expected = [1.2 - y_m, x_m, 0.9 + height_m]  # the tray is turned by a right angle
    np.testing.assert_allclose(model.pose_in("gear_1", "cell").position, expected, atol=1e-12)
    with database.session() as session:
        supply, kit = records.PartsTray.get(session, "supply"), records.Kit.get(session, "kit")
        assert (supply.part_quantity, supply.part_sku.name, len(supply.slot)) == (1, GEAR, 4)
        assert [slot.slot_part and slot.slot_part.name for slot in supply.slot] == ["gear_1", None, None, None]
        assert (kit.kit_design.name, kit.stationary, kit.finished) == ("kit_m2l1", True, False)
        assert [slot.is_occupied for slot in kit.slot] == [False, True, False]
        assert kit.kit_tray.sku.name == M2L1.tray_sku
        assert {thing.name for thing in records.WorkTable.get(session, "table").object_on_table} == {"supply", "kit"}
        where = supply.primary_location
        assert (where.evidence, where.position_standard_deviation) == ("drawings", 0.003)
        assert where.timestamp < 0
        assert where.position_covariance == records.Covariance(0.003**2, 0.0, 0.0, 0.002**2, 0.0, 0.0)
        sku = records.StockKeepingUnit.get(session, GEAR)
        assert [tool.name for tool in sku.usable_end_effector] == ["hand"]
        assert sku.weight == part_of_sku(GEAR).mass_kg
        assert records.Robot.get(session, "arm").work_volume[0].maximum_point == records.Point(2.0, 1.0, 2.0)


def test_kit_tray_without_a_design_is_a_kit_without_one(file):
    database = Database(file)
    fill(database, small_cell(), [DESIGNS.get("s2b2")])
    with database.session() as session:
        kit = records.Kit.get(session, "kit")
        assert kit.kit_design is None
        assert [part.name for part in kit.part] == ["gear_2"]


def test_failing_in_the_middle_leaves_nothing_behind(file):
    database = Database(file)
    bad = small_cell(loose=(PartInTray("odd", "sku_part_medium_gaer", Place()),))
    with pytest.raises(UnknownName, match="sku_part_medium_gaer"):
        fill(database, bad, [M2L1])
    with database.session() as session:
        assert session.scalar(select(func.count(records.SolidObject.id))) == 0
    fill(database, small_cell(), [M2L1])
    with pytest.raises(BadInput, match="holds the workstation 'cell' already"):
        fill(database, small_cell(), [M2L1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loose": (PartInTray("kit", GEAR, Place()),)}, "two objects are called 'kit'"),
        ({"loose": (PartInTray("p", GEAR, Place(reference="tabel")),)}, "unknown object 'tabel'; did you mean 'table'"),
        ({"robots": (RobotDescription("arm", Place(), "hnad"),)}, "unknown tool 'hnad'"),
        (
            {"robots": (RobotDescription("a", Place(), "hand"), RobotDescription("b", Place(), "hand"))},
            "'hand' is in 2 places",
        ),
    ],
)
def test_contradicting_description_is_refused(changes, words):
    with pytest.raises(BadInput, match=words):
        small_cell(**changes)


def test_papers_workstation_has_enough_of_everything():
    orders = [find_order("a2b3c3d1e1", 5), find_order("kit_s2l2", 3)]
    cell = paper_workstation(orders, robots=("left", "right"), tables=3, spare=1)
    counts = {}
    for part in cell.parts:
        counts[part.sku] = counts.get(part.sku, 0) + 1
    wanted = {"a": 11, "b": 16, "c": 16, "d": 6, "e": 6, "small_gear": 7, "large_gear": 7}
    assert counts == {f"sku_part_{name}": number for name, number in wanted.items()}
    assert {stack.tray_sku: stack.count for stack in cell.stacks} == {"sku_kit_tray": 6, "sku_kit_s2l2_vessel": 4}
    assert {tool.name: set(tool.handles) for tool in cell.tools}["vacuum_gripper"] == {"sku_part_d", "sku_part_e"}
    assert [h.tool for h in cell.changers[0].holders] == ["tray_gripper", "part_gripper", "vacuum_gripper"]
    assert len(cell.tables) == 3
    for robot in cell.robots:
        assert "estimated" in robot.description
    for tray in cell.supplies:
        slots = [part.slot for part in tray.parts]
        assert len(set(slots)) == len(slots) <= len(tray_layout(tray.sku).slots)


@pytest.mark.parametrize("changes", [{"robots": ()}, {"robots": "abc"}, {"tables": 0}, {"spare": -1}])
def test_papers_workstation_has_limits(changes):
    with pytest.raises(OutOfRange):
        paper_workstation([find_order("a2b1c1")], **changes)
    with pytest.raises(BadInput, match="give at least one"):
        paper_workstation([])


def test_tray_that_nobody_sells_is_refused_with_those_that_there_are():
    with pytest.raises(UnknownName, match="sku_part_a_tray"):
        tray_layout("sku_nothing")


def test_a_database_in_memory_that_was_made_before_is_copied(monkeypatch):
    first = filled_database("sqlite://", small_cell(), [M2L1])
    with first.session() as session:
        records.Part.get(session, "gear_1").name = "somebody's"  # the first is changed, and no other
    first.close()
    monkeypatch.setattr("cellwright.knowledge.workstation_records.fill", lambda *_: pytest.fail("made anew"))
    second = filled_database("sqlite://", small_cell(), [M2L1])
    with second.session() as session:
        assert records.Part.get(session, "gear_1").primary_location.ref_object.name == "supply"
    second.close()


def test_another_workstation_is_another_database():
    filled_database("sqlite://", small_cell(), [M2L1]).close()
    other = filled_database("sqlite://", replace(small_cell(), name="other"), [M2L1])
    with other.session() as session:
        assert [station.name for station in records.KittingWorkstation.all(session)] == ["other"]
    other.close()

"""Stable states: what is restored is all that was, to the last bit."""

import numpy as np
import pytest
from sqlalchemy import select

from cellwright.core.pose import Pose
from cellwright.knowledge import WorldModel, records
from cellwright.knowledge.history import METADATA, POSE_HISTORY, STABLE_STATE
from cellwright.knowledge.stable_state import changeable_tables

SHIFT = Pose.from_xyz_rpy((0.3, -0.2, 0.1), (0.1, 0.2, 1.5)).matrix


def dump(database):
    """Every row of every table, beside the history and the states themselves."""
    with database.transaction() as connection:
        return {
            name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for name, table in METADATA.tables.items()
            if table not in (POSE_HISTORY, STABLE_STATE)
        }


def place(name, reference):
    axes = {"x_axis": records.Vector(1.0, 0.0, 0.0), "z_axis": records.Vector(0.0, 0.0, 1.0)}
    point = records.Point(0.1, 0.2, 0.3)
    return records.PoseLocationIn(name=f"{name}_at", ref_object=reference, point=point, timestamp=0.0, **axes)


@pytest.fixture
def model(database):
    """Two robots with tools, tables, trays with parts in slots, a kit in work: sixty objects."""
    with database.session() as session:
        cell = records.KittingWorkstation(name="cell")
        skus = {n: records.StockKeepingUnit(name=n) for n in ("gear", "gear_tray", "kit_tray")}
        tools = [records.ParallelGripper(name=n) for n in ("pincher", "vacuum")]
        robots = [records.Robot(name=n) for n in ("fanuc", "motoman")]
        robots[0].end_effector = tools[0]
        holder = records.EndEffectorHolder(name="holder", end_effector=tools[1])
        changer = records.EndEffectorChangingStation(name="changer", end_effector_holder=[holder])
        tables = [records.WorkTable(name=n) for n in ("cart", "shared")]
        for item in (*tools, *robots, holder, changer, *tables):
            item.primary_location = place(item.name, cell)
        for t in range(10):
            tray = records.PartsTray(name=f"tray_{t}", sku=skus["gear_tray"], part_quantity=4, finished=False)
            tray.primary_location = place(tray.name, tables[t % 2])
            tray.part = [records.Part(name=f"gear_{t}_{n}", sku=skus["gear"]) for n in range(4)]
            for part in tray.part:
                part.primary_location = place(part.name, tray)
            tray.slot = [records.Slot(name=f"slot_{t}_{n}", slot_part=tray.part[n], is_occupied=True) for n in range(4)]
            tables[t % 2].object_on_table.append(tray)
        kit = records.Kit(name="kit", finished=False, kit_tray=records.KitTray(name="kit_tray", sku=skus["kit_tray"]))
        kit.primary_location = place("kit", tables[0])
        kit.slot = [records.Slot(name=f"kit_slot_{n}", is_occupied=False) for n in range(3)]
        cell.robot, cell.changing_station = robots, [changer]
        cell.station_object = [*tables, kit]
        session.add(cell)
        session.add_all([*skus.values(), *tables])
    return WorldModel(database)


def take_part(session):
    """The robot has a gear in its hand, which no tray has any more."""
    part, tray = records.Part.get(session, "gear_0_0"), records.PartsTray.get(session, "tray_0")
    tool = records.EndEffector.get(session, "pincher")
    tool.held_object = part
    part.primary_location.ref_object = tool
    tray.part.remove(part)
    tray.slot[0].slot_part, tray.slot[0].is_occupied = None, False
    tray.part_quantity = 3


def put_part_in_kit(session):
    part, kit = records.Part.get(session, "gear_0_1"), records.Kit.get(session, "kit")
    tray = records.PartsTray.get(session, "tray_0")
    tray.part.remove(part)
    kit.part.append(part)
    kit.slot[0].slot_part, kit.slot[0].is_occupied, kit.finished = part, True, True
    tray.slot[1].slot_part = None


def change_tool(session):
    robot, holder = records.Robot.get(session, "fanuc"), records.EndEffectorHolder.get(session, "holder")
    robot.end_effector, holder.end_effector = holder.end_effector, robot.end_effector


def make_and_remove_objects(session):
    table = records.WorkTable.get(session, "cart")
    session.add(records.Kit(name="kit_2", primary_location=place("kit_2", table)))
    sku = session.scalars(select(records.StockKeepingUnit).filter_by(name="gear")).one()
    session.add(records.Part(name="sensed", sku=sku, primary_location=place("sensed", table)))
    session.delete(records.Kit.get(session, "kit"))
    session.delete(records.Part.get(session, "gear_3_2"))
    tray, other = records.PartsTray.get(session, "tray_4"), records.WorkTable.get(session, "shared")
    table.object_on_table.remove(tray)
    other.object_on_table.append(tray)


def swap_in_slots(session):
    first, second = (records.PartsTray.get(session, f"tray_{t}") for t in (5, 6))
    first.part, second.part = list(second.part), list(first.part)
    for one, two in zip(first.slot, second.slot, strict=True):
        one.slot_part, two.slot_part = two.slot_part, one.slot_part


EVENTS = [take_part, put_part_in_kit, change_tool, make_and_remove_objects, swap_in_slots]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.__name__)
def test_restored_state_is_the_marked_one(model, event):
    database = model.database
    model.observe(["tray_0", "gear_0_0"], np.stack([SHIFT, SHIFT]), 1.0, "camera", np.full((2, 6), 1e-6))
    before, poses = dump(database), model.tree.in_world.copy()
    model.mark_stable("before")
    with database.session() as session:
        event(session)
    model.reload()
    model.observe(["gear_1_1", "tray_1"], np.stack([SHIFT, SHIFT]), 2.0, "camera", np.full((2, 6), 1e-5))
    changed = dump(database)
    assert changed != before
    model.mark_stable("after")
    model.restore("before")
    assert dump(database) == before
    assert np.allclose(model.tree.in_world, poses, rtol=0, atol=1e-12)
    model.restore("after")  # and forward again
    assert dump(database) == changed
    model.restore("before")
    assert dump(database) == before


def test_everything_at_once(model):
    before = dump(model.database)
    model.mark_stable("before")
    for event in EVENTS[:3] + EVENTS[4:] + EVENTS[3:4]:
        with model.database.session() as session:
            event(session)
    model.restore("before")
    assert dump(model.database) == before
    with model.database.session() as session:  # and life goes on
        for event in EVENTS:
            event(session)


def test_all_that_refers_to_objects_belongs_to_the_state():
    names = [one.table.name for one in changeable_tables()]
    assert {"solid_object", "kit", "part", "slot", "pose_location", "physical_location", "data_thing"} <= {*names}
    assert {"kit_part", "parts_vessel_part", "work_table_object_on_table", "kitting_workstation_robot"} <= {*names}
    assert not {"stock_keeping_unit", "action", "predicate", "kit_design", "box_volume"} & {*names}
    assert names.index("data_thing") < names.index("physical_location") < names.index("pose_location")


def test_vocabulary_and_designs_made_since_stay(model):
    model.mark_stable("before")
    with model.database.session() as session:
        session.add(records.KitDesign(name="design"))
    model.restore("before")
    with model.database.session() as session:
        assert records.KitDesign.get(session, "design")
        assert records.Action.get(session, "take-part")


def test_old_states_give_way_to_new_ones(database):
    model = WorldModel(database, keep_states=3)
    for label in "abcabde":
        model.mark_stable(label)
    assert model.stable_states() == ["b", "d", "e"]

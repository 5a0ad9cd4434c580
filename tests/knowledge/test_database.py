"""The generated database: what goes in comes out, and what may not go in does not."""

import subprocess
import sys
import threading

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable

from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge import Database, DatabaseError, records
from cellwright.knowledge.generated.records import Covariance, Point, Vector


def add_cell(session):
    cell = records.KittingWorkstation(name="cell", angle_unit="radian", length_unit="meter", weight_unit="kilogram")
    for name in ("fanuc", "motoman"):
        robot = records.Robot(name=name, maximum_load_weight=7.0)
        tool = records.ParallelGripper(name=f"gripper_{name}", max_grip_width=0.1)
        robot.end_effector = tool  # and the tool's location refers back to the robot
        tool.primary_location = records.PoseOnlyLocation(name=f"gripper_{name}_at", ref_object=robot)
        robot.primary_location = records.PoseOnlyLocation(
            name=f"{name}_at", ref_object=cell, point=Point(1.0, 0.0, 0.5)
        )
        cell.robot.append(robot)
    session.add(cell)


def test_names_fit_every_server():
    for table in records.Record.metadata.tables.values():
        for name in [table.name, *(c.name for c in table.constraints), *(i.name for i in table.indexes)]:
            assert len(str(name)) <= 63, name


@pytest.mark.parametrize("dialect", [mysql.dialect(), postgresql.dialect()], ids=["mysql", "postgresql"])
def test_tables_can_be_written_in_the_language_of_other_servers(dialect):
    for table in records.Record.metadata.tables.values():
        assert str(CreateTable(table).compile(dialect=dialect)).strip().startswith("CREATE TABLE")


def test_circles_of_references_are_stored_and_read(database):
    with database.session() as session:
        add_cell(session)
    with database.session() as session:
        cell = records.KittingWorkstation.get(session, "cell")
        assert [r.name for r in cell.robot] == ["fanuc", "motoman"]
        for robot in cell.robot:
            assert isinstance(robot.end_effector, records.ParallelGripper)
            assert robot.end_effector.primary_location.ref_object is robot
            assert robot.primary_location.point == Point(1.0, 0.0, 0.5)
            assert robot.end_effector.primary_location.point is None
        assert [e.name for e in records.EndEffector.all(session)] == ["gripper_fanuc", "gripper_motoman"]


def test_uncertainty_is_kept(database):
    spread = Covariance(1e-6, 0.0, 0.0, 2e-6, 0.0, 3e-6)
    with database.session() as session:
        session.add(
            records.PoseLocationIn(
                name="l", x_axis=Vector(1.0, 0.0, 0.0), position_covariance=spread, timestamp=2.5, evidence="camera"
            )
        )
    with database.session() as session:
        found = records.PoseLocation.get(session, "l")
        assert (found.position_covariance, found.timestamp, found.evidence) == (spread, 2.5, "camera")
        assert found.orientation_covariance is None


def test_order_of_slots_and_corners_is_kept(database):
    with database.session() as session:
        tray = records.KitTray(name="tray", sku=records.StockKeepingUnit(name="tray_sku"))
        tray.slot = [records.Slot(name=f"slot_{n}") for n in (3, 1, 2)]
        session.add(tray)
        session.add(records.Polygon2D(name="outline", corner=[Point(2.0, 0.0, 0.0), Point(1.0, 0.0, 0.0)]))
    with database.session() as session:
        assert [s.name for s in records.KitTray.get(session, "tray").slot] == ["slot_3", "slot_1", "slot_2"]
        assert [c.x for c in records.Polygon2D.get(session, "outline").corner] == [2.0, 1.0]


def test_vocabulary_is_there_from_the_start(database):
    with database.session() as session:
        take = records.Action.get(session, "take-part")
        assert take.signature.split()[:2] == ["robot", "part"]
        assert "part-is-found" in [p.name for p in take.precondition]
        held = records.Predicate.get(session, "endEffector-has-heldObject-part")
        assert (held.holds_when[0].name, held.subject, held.unless_any.name) == (
            "BetweenFingers",
            "target",
            "Supporting",
        )
        between = held.holds_when[0]
        assert (between.first_region, between.second_region) == ("handle", "inside")
        assert sorted(records.StateRelation.get(session, "ContainedIn").x_relation) == ["NTPP", "TPP"]
        steps = records.Sequence.get(session, "look-then-take").step
        assert [s.step_activity.name for s in sorted(steps, key=lambda s: s.step_number)] == [
            "look-for-part",
            "set-grasp",
            "take-part",
        ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: records.StockKeepingUnit(name="x", weight=-0.1),
        lambda: records.KittingWorkstation(name="x", angle_unit="gon"),
        lambda: records.Part(name="x"),  # of no kind
        lambda: records.Robot(name="twice"),
        lambda: records.Robot(),
    ],
)
def test_what_the_ontology_forbids_is_refused_and_nothing_of_the_unit_stays(database, make):
    with database.session() as session:
        session.add(records.Human(name="twice"))
    with pytest.raises(DatabaseError) as caught, database.session() as session:
        session.add_all([records.Human(name="somebody"), make()])
    assert "\n" not in str(caught.value)
    with database.session() as session:
        assert [h.name for h in records.Human.all(session)] == ["twice"]


def test_a_part_is_in_one_box_only(database):
    with database.session() as session:
        kit = records.Kit(name="kit")
        session.add_all([records.LargeBoxWithKits(name="a", kit=[kit]), records.LargeBoxWithKits(name="b")])
    with database.session() as session:
        kit, box = records.Kit.get(session, "kit"), records.LargeBoxWithKits.get(session, "b")
        box.kit.append(kit)
        with pytest.raises(IntegrityError, match=r"(?i)unique|duplicate"):
            session.flush()
        session.rollback()


def test_data_of_different_classes_may_share_a_name_and_objects_may_not(database):
    with database.session() as session:
        session.add_all([records.StockKeepingUnit(name="take-part"), records.Slot(name="take-part")])
    with database.session() as session:
        assert isinstance(records.Slot.get(session, "take-part"), records.Slot)
        with pytest.raises(BadInput, match="ask one of the classes Action, Slot, StockKeepingUnit"):
            records.DataThing.get(session, "take-part")


def test_unknown_name_lists_what_there_is(database):
    with database.session() as session:
        add_cell(session)
    with database.session() as session, pytest.raises(UnknownName, match=r"did you mean 'fanuc'.*fanuc, motoman"):
        records.Robot.get(session, "fanucc")


def test_readers_never_see_half_an_update(url):
    writer, reader = Database(url), Database(url)
    with writer.session() as session:
        session.add_all([records.PoseOnlyLocation(name=f"l{n}", timestamp=0.0) for n in range(50)])
    seen, done = [], threading.Event()

    def read():
        while not done.is_set():
            with reader.session() as session:
                seen.append(frozenset(session.scalars(select(records.PhysicalLocation.timestamp))))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        table = records.PhysicalLocation.__table__
        for stamp in range(1, 60):
            with writer.session() as session:
                for n in range(0, 50, 10):  # several statements in one unit of work
                    session.execute(
                        update(table).where(table.c.id % 50 >= n, table.c.id % 50 < n + 10).values(timestamp=stamp)
                    )
    finally:
        done.set()
        thread.join()
    assert all(len(stamps) == 1 for stamps in seen)
    assert len(set(seen)) > 1
    writer.close()
    reader.close()


def test_file_runs_with_a_write_ahead_log_and_opens_again(file):
    first = Database(file)
    with first.session() as session:
        add_cell(session)
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
    first.close()
    again = Database(f"sqlite:///{file}")
    with again.session() as session:
        assert records.Robot.get(session, "motoman").maximum_load_weight == 7.0
    again.close()


def test_reading_and_writing_needs_no_ontology_package(tmp_path):
    program = (
        "import sys; sys.modules['rdflib'] = sys.modules['owlready2'] = None; "
        "from cellwright.knowledge import Database, records; Database(sys.argv[1]).close()"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "world.db")], check=True)

"""The world model in a database: what is believed is what is stored."""

import shutil
import sqlite3

import numpy as np
import pytest

from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge import Database, DatabaseError, WorldModel, records
from cellwright.knowledge.generated.records import Point, Vector

SHIFT = Pose.from_xyz_rpy((0.3, -0.2, 0.1), (0.1, 0.2, 1.5))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("database") / "made.db"
    opened = Database(path)
    with opened.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        tray = records.PartsTray(name="tray", sku=sku, primary_location=place("tray_at", cell, 1.0))
        gears = [records.Part(name=f"gear_{n}", sku=sku, primary_location=place(f"g{n}", tray, n / 10)) for n in (1, 2)]
        session.add_all([tray, *gears])
    opened.close()
    return path


@pytest.fixture
def database(tmp_path, made):
    opened = Database(shutil.copy(made, tmp_path / "world.db"))
    yield opened
    opened.close()


def place(name, reference, x):
    axes = {"x_axis": Vector(0.0, 1.0, 0.0), "z_axis": Vector(0.0, 0.0, 1.0)}
    return records.PoseLocationOn(name=name, ref_object=reference, point=Point(x, 0.0, 0.0), timestamp=0.0, **axes)


def matrices(*poses):
    return np.array([p.matrix for p in poses])


def relative_poses(model):
    return {name: link.pose_in_reference for name, link in model.tree.links().items()}


def same(first, second):
    return first.keys() == second.keys() and all(first[n].is_close(second[n], tolerance_rad=1e-7) for n in first)


def test_poses_chain_through_the_references(database):
    model = WorldModel(database)
    assert np.allclose(model.pose_in("gear_2", "cell").position, [1.0, 0.2, 0.0])
    assert np.allclose(model.pose_in("gear_2", "gear_1").position, [0.0, -0.1, 0.0])


def test_what_is_believed_is_what_another_reader_finds(database):
    model = WorldModel(database)
    names = ["gear_1", "tray"]
    seen = [SHIFT @ model.pose_in(name, "cell") for name in names]
    assert set(model.observe(names, matrices(*seen), 1.5, "camera")) == {"gear_1", "tray"}
    other = WorldModel(database)
    assert same(relative_poses(other), relative_poses(model))
    assert other.pose_in("gear_1", "cell").is_close(seen[0], tolerance_rad=1e-7)
    assert other.pose_in("gear_2", "tray").is_close(Pose.from_xyz_rpy((0.2, 0.0, 0.0), (0.0, 0.0, np.pi / 2)))
    with database.session() as session:
        location = records.Part.get(session, "gear_1").primary_location
        assert (location.timestamp, location.evidence, location.ref_object.name) == (1.5, "camera", "tray")


def test_history_tells_when_and_by_what(database):
    model = WorldModel(database)
    for time_s, evidence in ((1.0, "camera_1"), (2.0, "camera_2")):
        model.observe(["tray"], matrices(Pose.from_xyz_rpy((time_s, 0.0, 0.0))), time_s, evidence)
    model.observe(["tray"], matrices(Pose.from_xyz_rpy((9.0, 0.0, 0.0))), 1.5, "late")
    past = model.history("tray")
    assert [(t, e, p.position[0]) for t, e, p in past] == [(1.0, "camera_1", 1.0), (2.0, "camera_2", 2.0)]
    assert model.history("gear_1") == []


def test_stable_state_is_restored_with_its_references(database):
    model = WorldModel(database)
    model.observe(["gear_1"], matrices(SHIFT), 1.0, "camera")
    before = relative_poses(model)
    model.mark_stable("before take")
    with database.session() as session:  # the robot takes the gear
        tool = records.ParallelGripper(name="gripper", primary_location=records.PoseOnlyLocation(name="tool_at"))
        tool.primary_location.ref_object = records.KittingWorkstation.get(session, "cell")
        records.Part.get(session, "gear_1").primary_location.ref_object = tool
    model.reload()
    model.observe(["gripper", "gear_2"], matrices(SHIFT, SHIFT), 2.0, "joints")
    assert np.allclose(model.pose_in("gear_1", "gripper").matrix, before["gear_1"].matrix)
    model.restore("before take")
    after = relative_poses(model)
    assert after.pop("gripper").is_close(SHIFT, tolerance_rad=1e-7)
    assert same(after, before)
    assert model.tree.links()["gear_1"].reference == "tray"


def test_marking_again_replaces_and_unknown_mark_is_refused(database):
    model = WorldModel(database)
    model.mark_stable("s")
    model.observe(["tray"], matrices(SHIFT), 1.0, "camera")
    model.mark_stable("s")
    model.restore("s")
    assert model.pose_in("tray", "cell").is_close(SHIFT, tolerance_rad=1e-7)
    with pytest.raises(UnknownName, match="unknown stable state 't'"):
        model.restore("t")


def test_update_that_cannot_be_stored_is_not_believed(database, tmp_path):
    model = WorldModel(database)
    before = relative_poses(model)
    with sqlite3.connect(tmp_path / "world.db") as connection:
        connection.execute("DROP TABLE pose_history")  # the last statement of the batch fails
    with pytest.raises(DatabaseError, match="pose_history"):
        model.observe(["tray"], matrices(SHIFT), 1.0, "camera")
    assert same(relative_poses(model), before)
    assert same(relative_poses(WorldModel(database)), before)


@pytest.mark.parametrize("change", ["observe", "mark_stable"])
def test_database_that_is_locked_or_read_only_is_named_and_nothing_is_lost(database, tmp_path, monkeypatch, change):
    path = tmp_path / "world.db"
    monkeypatch.setattr("cellwright.knowledge.database.BUSY_TIMEOUT_MS", 20)
    read_only = WorldModel(Database(f"sqlite:///file:{path}?mode=ro&uri=true"))
    locked = WorldModel(Database(path))
    before = relative_poses(locked)
    lock = sqlite3.connect(path)
    lock.execute("BEGIN IMMEDIATE")
    try:
        for model, words in ((locked, "locked"), (read_only, "readonly")):
            arguments = [["tray"], matrices(SHIFT), 1.0, "camera"] if change == "observe" else ["now"]
            with pytest.raises(DatabaseError, match=words):
                getattr(model, change)(*arguments)
            assert same(relative_poses(model), before)
    finally:
        lock.rollback()
        lock.close()
    locked.observe(["tray"], matrices(SHIFT), 1.0, "camera")
    assert same(relative_poses(WorldModel(database)), relative_poses(locked))
    for model in (locked, read_only):
        model.database.close()

"""The world model in a database: what is believed is what is stored."""

import numpy as np
import pytest
from sqlalchemy import func, select

from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge import Database, WorldModel, records
from cellwright.knowledge.generated.records import Point, Vector

SHIFT = Pose.from_xyz_rpy((0.3, -0.2, 0.1), (0.1, 0.2, 1.5))


@pytest.fixture
def database(database):
    """A cell with a tray and two gears in it."""
    with database.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        tray = records.PartsTray(name="tray", sku=sku, primary_location=place("tray_at", cell, 1.0))
        gears = [records.Part(name=f"gear_{n}", sku=sku, primary_location=place(f"g{n}", tray, n / 10)) for n in (1, 2)]
        session.add_all([tray, *gears])
    return database


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
    assert same(relative_poses(model), before)  # and there never was a gripper
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


def test_update_that_cannot_be_stored_is_not_believed(database):
    model = WorldModel(database)
    before = relative_poses(model)
    model.keep_poses = 0  # the last statement of the batch fails
    with pytest.raises(ZeroDivisionError):
        model.observe(["tray"], matrices(SHIFT), 1.0, "camera")
    assert same(relative_poses(model), before)
    assert same(relative_poses(WorldModel(database)), before)


def test_history_is_a_ring_and_goes_on_after_opening_again(database):
    for opened in range(3):
        model = WorldModel(database, keep_poses=4)
        for step in range(1, 4):
            time_s = 3.0 * opened + step
            model.observe(["tray"], matrices(Pose.from_xyz_rpy((time_s, 0.0, 0.0))), time_s, "camera")
        expected = [float(t) for t in range(1, 3 * opened + 4)][-4:]
        assert [t for t, _, _ in model.history("tray")] == expected
        assert [p.position[0] for _, _, p in model.history("tray")] == expected
    with pytest.raises(OutOfRange, match="keep_poses"):
        WorldModel(database, keep_poses=0)


def test_what_stands_still_does_not_fill_the_history(database):
    model = WorldModel(database)
    for step in range(1, 20):
        model.observe(["tray"], matrices(Pose.from_xyz_rpy((1e-6 * step, 0.0, 0.0))), float(step), "camera")
    assert len(model.history("tray")) == 1
    with database.session() as session:
        assert records.PartsTray.get(session, "tray").primary_location.timestamp == 19.0


def test_attached_object_stays_where_it_is_and_moves_along(database):
    model = WorldModel(database)
    with database.session() as session:
        at = place("tool_at", records.KittingWorkstation.get(session, "cell"), 2.0)
        session.add(records.ParallelGripper(name="gripper", primary_location=at))
    model.reload()
    model.observe(["gear_1"], matrices(SHIFT), 1.0, "camera", np.array([[1e-6, 4e-6, 9e-6, 0.02, 0.03, 0.01]]))
    model.attach({"gear_1": "gripper"})
    assert model.pose_in("gear_1", "cell").is_close(SHIFT, tolerance_rad=1e-7)
    gear_in_gripper = model.pose_in("gear_1", "gripper")
    model.observe(["gripper"], matrices(SHIFT), 2.0, "joints")
    assert model.pose_in("gear_1", "cell").is_close(SHIFT @ gear_in_gripper, tolerance_m=1e-9, tolerance_rad=1e-7)
    assert same(relative_poses(WorldModel(database)), relative_poses(model))
    with pytest.raises(BadInput, match="in a circle"):
        model.attach({"tray": "gear_2"})
    with pytest.raises(UnknownName, match="did you mean 'gripper'"):
        model.attach({"gear_1": "griper"})


def test_uncertainty_is_stored_in_the_frame_of_the_reference(database):
    model = WorldModel(database)
    variances = np.array([[1e-6, 4e-6, 9e-6, 0.02, 0.03, 0.01]])
    model.observe(["gear_1"], matrices(Pose.identity()), 1.0, "camera", variances)
    with database.session() as session:
        found = records.Part.get(session, "gear_1").primary_location
        numbers = found.position_covariance
        assert np.allclose([numbers.xx, numbers.yy, numbers.zz], [4e-6, 1e-6, 9e-6])  # the tray is turned by 90 degrees
        assert np.allclose([numbers.xy, numbers.xz, numbers.yz], 0.0)
        turns = found.orientation_covariance
        assert np.allclose([turns.xx, turns.yy, turns.zz], [0.03, 0.02, 0.01])
        assert found.orientation_standard_deviation == pytest.approx(0.03**0.5)
        assert found.position_standard_deviation == pytest.approx(0.003)
    again = WorldModel(database)  # and as it was in the frame of the world
    assert np.allclose(again.variances[again.tree.index["gear_1"]], variances[0])
    with pytest.raises(BadInput, match="1 x 6 variances"):
        model.observe(["gear_1"], matrices(Pose.identity()), 2.0, "camera", -variances)


def test_poses_that_are_held_back_are_written_in_time_for_every_reader(tmp_path):
    file = tmp_path / "held.db"
    with Database(file).session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        session.add(records.PartsTray(name="tray", sku=sku, primary_location=place("tray_at", cell, 1.0)))
    writer, reader = Database(file), Database(file)
    model = WorldModel(writer, write_every_s=0.5)

    def see(x_m, time_s):
        model.observe(["tray"], matrices(Pose.from_xyz_rpy((x_m, 0.0, 0.0))), time_s, "camera", np.full((1, 6), 1e-6))

    def read():
        return WorldModel(reader).pose_in("tray", "cell").position[0]

    see(2.0, 1.0)
    assert model.pose_in("tray", "cell").position[0] == pytest.approx(2.0)
    assert read() == pytest.approx(1.0)  # no user of the writer's object has asked
    see(3.0, 1.6)
    assert read() == pytest.approx(3.0)  # it was time
    see(4.0, 1.7)
    assert len(model.history("tray")) == 3  # by its own object everything is there at once
    assert read() == pytest.approx(4.0)
    see(5.0, 1.8)
    model.mark_stable("five")
    assert read() == pytest.approx(5.0)
    see(6.0, 1.9)
    writer.close()
    assert read() == pytest.approx(6.0)
    reader.close()


def test_databases_in_memory_begin_alike_and_have_nothing_in_common():
    first, second = Database(), Database()
    with first.session() as session:
        session.add(records.StockKeepingUnit(name="only here"))
    third = Database()
    counts = []
    for database in (first, second, third):
        with database.session() as session:
            counts.append(session.scalar(select(func.count()).select_from(records.DataThing)))
    assert counts[0] == counts[1] + 1 == counts[2] + 1
    assert counts[1] > 100  # the vocabulary


def test_attaching_one_object_says_nothing_new_about_the_others(database):
    model = WorldModel(database)
    poses = matrices(*(model.pose_in(name, "cell") for name in ("gear_1", "gear_2")))
    model.observe(["gear_1", "gear_2"], poses, 1.0, "camera")
    model.attach({"gear_1": "cell"})
    model.observe(["gear_1", "gear_2"], poses, 2.0, "camera")
    assert [len(model.history(name)) for name in ("gear_1", "gear_2")] == [2, 1]
    assert same(relative_poses(WorldModel(database)), relative_poses(model))

"""SDF: written and read back by the importer, the same; models and whole cells."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from cellwright.catalogue import find_model
from cellwright.cells import actual_layout, load_cell
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.description import (
    WORLD,
    CapsuleGeometry,
    EllipsoidGeometry,
    FrameDescription,
    JointDescription,
    JointKind,
    LinkDescription,
    ModelDescription,
    PlaneGeometry,
    SensorDescription,
    Shape,
)
from cellwright.models.exporting import ModelFormat, describe, export_spec, sdf_text, write_description
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.sdf import read_sdf
from cellwright.sim.compose import compose

SLOW = ("lr_mate_200id", "ur5", "wsg_50", "large_gear", "cube", "optical_table")
MODELS = ["sia20f", "aprs_fanuc_gripper", "robotiq_2f_85", "kit_m2l1_tray"]
MODELS += [pytest.param(name, marks=pytest.mark.slow) for name in SLOW]


def renamed(model: ModelDescription) -> dict[str, str]:
    """In SDF joints may not be called like links."""
    links = {link.name for link in model.links}
    return {joint.name: f"{joint.name}_joint" for joint in model.joints if joint.name in links}


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, tmp_path, read, same_mechanism, same_shapes):
    spec = build(find_model(name)[1])
    export_spec(spec, tmp_path / f"{name}.sdf", ModelFormat.SDF, name=name)
    ours = describe(spec, name=name, folder=f"{name}_meshes/").model()
    theirs = read(tmp_path / f"{name}.sdf")
    assert theirs.name == name
    same_mechanism(ours, theirs, renamed(ours))
    same_shapes(ours, theirs)
    for mine, back in zip(ours.links, theirs.links, strict=True):
        assert [shape.friction for shape in mine.collisions] == [shape.friction for shape in back.collisions]


@pytest.mark.parametrize("cell", ["rovi", pytest.param("aprs", marks=pytest.mark.slow)])
def test_cell_round_trip(cell, tmp_path, flat, same_mechanism, same_shapes):
    loaded = load_cell(cell)
    spec = compose(loaded, actual_layout(loaded, 3))
    export_spec(spec, tmp_path / "cell.sdf", ModelFormat.SDF, name=cell, whole=True)
    ours = describe(spec, name=cell, folder="cell_meshes/").world
    path = tmp_path / "cell.sdf"
    theirs = read_sdf(path, FileFinder(path), Notes())
    assert (theirs.name, theirs.gravity_mps2) == (cell, ours.gravity_mps2)
    assert len(theirs.models) == len(ours.models)
    for mine, back in zip(ours.models, theirs.models, strict=True):
        assert back.model.name == mine.model.name
        assert back.pose.is_close(mine.pose)
        assert back.model.static == mine.model.static
        ours_flat = flat(mine.model)
        same_mechanism(ours_flat, back.model, renamed(ours_flat))
        same_shapes(ours_flat, back.model)


def test_version_is_the_lowest_that_can_say_it():
    arm, gripper = (describe(build(find_model(n)[1])).model() for n in ("ur5", "wsg_50"))
    assert ET.fromstring(sdf_text(arm, Notes())).get("version") == "1.9"
    assert ET.fromstring(sdf_text(gripper, Notes())).get("version") == "1.11"


def test_arm_stays_fastened_where_asked(tmp_path):
    spec = build(find_model("ur5")[1])
    for fastened in (True, False):
        export_spec(spec, tmp_path / "a.sdf", ModelFormat.SDF, name="ur5", fastened=fastened)
        parents = [e.text for e in ET.parse(tmp_path / "a.sdf").iter("parent")]
        assert (WORLD in parents) is fastened
    export_spec(build(find_model("fence")[1]), tmp_path / "f.sdf", ModelFormat.SDF, fastened=True)
    assert ET.parse(tmp_path / "f.sdf").findtext("model/static") == "true"


def test_wrist_sensor_sits_on_its_joint():
    root = ET.fromstring(sdf_text(describe(build(find_model("ur5")[1]), name="ur5").model(), Notes()))
    joint = next(e for e in root.iter("joint") if e.get("name") == "flange_fixed")
    assert joint.find("sensor").get("type") == "force_torque"
    assert joint.findtext("sensor/force_torque/frame") == "sensor"


def test_names_are_unique_and_without_the_separator():
    model = ModelDescription(
        name="a::b",
        links=(LinkDescription(name="__x__"), LinkDescription(name="y::z")),
        joints=(JointDescription(name="y_z", kind=JointKind.FIXED, parent="__x__", child="y::z"),),
        frames=(FrameDescription(name="world", link="y::z"),),
    )
    notes = Notes()
    root = ET.fromstring(sdf_text(model, notes))
    names = [e.get("name") for e in root.iter() if e.tag in ("link", "joint", "frame")]
    assert names == ["x", "y_z", "y_z_joint", "world_frame"]
    assert len(notes) == 4


def test_shapes_sensors_and_joints_of_its_own(tmp_path, read, same_shapes):
    shapes = tuple(
        Shape(name=str(number), geometry=geometry, pose=Pose.from_xyz_rpy([0, number, 0], [0.1, 0.2, 0.3]))
        for number, geometry in enumerate(
            (CapsuleGeometry(0.1, 0.4), EllipsoidGeometry((0.1, 0.2, 0.3)), PlaneGeometry((2.0, 3.0)))
        )
    )
    links = (
        LinkDescription(name="a", collisions=shapes),
        LinkDescription(name="b"),
        LinkDescription(name="c"),
        LinkDescription(name="d"),
    )
    joints = (
        JointDescription(name="u", kind=JointKind.UNIVERSAL, parent="a", child="b", axis=(0, 1, 0), axis_2=(0, 0, 1)),
        JointDescription(
            name="s", kind=JointKind.SCREW, parent="b", child="c", anchor_m=(0, 0, 0.5), thread_pitch_m=0.002
        ),
        JointDescription(name="p", kind=JointKind.BALL, parent="c", child="d", pose=Pose.from_xyz_rpy([0, 0, 1])),
    )
    lidar = SensorDescription(
        name="scan", kind="gpu_lidar", link="b", rate_hz=10.0, settings={"lidar/range/max": "3", "lidar/range/min": "1"}
    )
    model = ModelDescription(name="m", links=links, joints=joints, sensors=(lidar,))
    written = write_description(model, tmp_path / "m.sdf", ModelFormat.SDF)
    assert written.notes == ()
    theirs = read(tmp_path / "m.sdf")
    same_shapes(model, theirs)
    assert [joint.kind for joint in theirs.joints] == [joint.kind for joint in joints]
    assert theirs.joints[0].axis_2 == (0, 0, 1)
    assert theirs.joints[1].thread_pitch_m == 0.002
    assert theirs.joints[1].anchor_m == (0, 0, 0.5)
    assert (theirs.sensors[0].kind, theirs.sensors[0].rate_hz) == ("gpu_lidar", 10.0)
    assert theirs.sensors[0].settings["lidar/range/max"] == "3"


def test_meshes_of_an_imported_model_come_along(tmp_path, read, same_mechanism):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    spec = build(find_model("wsg_50")[1])
    export_spec(spec, tmp_path / "one" / "w.urdf", ModelFormat.URDF, name="w")
    first = read(tmp_path / "one" / "w.urdf")
    written = write_description(first, tmp_path / "two" / "w.sdf", ModelFormat.SDF)
    second = read(tmp_path / "two" / "w.sdf")
    same_mechanism(first, second, renamed(first))
    before, after = ([s.geometry.path.read_bytes() for li in m.links for s in li.visuals] for m in (first, second))
    assert before == after
    assert all(path.parent.name == "w_meshes" for path in written.files[1:])

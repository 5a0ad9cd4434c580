"""URDF: written, read back by the importer and by MuJoCo, the same."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import find_model
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.description import (
    CapsuleGeometry,
    EllipsoidGeometry,
    FrameDescription,
    JointDescription,
    JointKind,
    LimitsDescription,
    LinkDescription,
    ModelDescription,
    PlaneGeometry,
    Shape,
)
from cellwright.models.exporting import ModelFormat, describe, export_spec, urdf_text, write_description
from cellwright.models.importing.notes import Notes

SLOW = ("lr_mate_200id", "sia20f", "wsg_50", "kit_m2l1_tray", "large_gear")
MODELS = ["ur5", "aprs_motoman_gripper", "bottle", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, tmp_path, read, same_mechanism, same_shapes):
    spec = build(find_model(name)[1])
    export_spec(spec, tmp_path / f"{name}.urdf", ModelFormat.URDF, name=name)
    ours = describe(spec, name=name, folder=f"{name}_meshes/").model()
    theirs = read(tmp_path / f"{name}.urdf")
    same_mechanism(ours, theirs)
    same_shapes(ours, theirs)


@pytest.mark.parametrize("name", MODELS)
def test_mujoco_opens_it(name, tmp_path):
    spec = build(find_model(name)[1])
    export_spec(spec, tmp_path / "x.urdf", ModelFormat.URDF, name=name)
    ours, theirs = spec.compile(), mujoco.MjModel.from_xml_path(str(tmp_path / "x.urdf"))
    assert theirs.body_mass.sum() == pytest.approx(ours.body_mass.sum(), abs=1e-12)
    assert theirs.ngeom == ours.ngeom
    mine, read = mujoco.MjData(ours), mujoco.MjData(theirs)
    rng = np.random.default_rng(1)
    for number in range(ours.njnt):
        own, other = ours.joint(number), theirs.joint(ours.joint(number).name)
        assert np.array_equal(own.range, other.range)
        value = rng.uniform(*own.range)
        mine.qpos[own.qposadr], read.qpos[other.qposadr] = value, value
    mujoco.mj_kinematics(ours, mine)
    mujoco.mj_kinematics(theirs, read)
    mujoco.mj_comPos(ours, mine)
    mujoco.mj_comPos(theirs, read)
    for body in range(1, ours.nbody):
        place = ours.body(body).name
        assert np.allclose(mine.body(place).xpos, read.body(place).xpos, atol=1e-9)
        assert np.allclose(mine.body(place).xmat, read.body(place).xmat, atol=1e-9)
    assert np.allclose(mine.subtree_com[0], read.subtree_com[0], atol=1e-9)


def test_same_bytes_every_time(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        export_spec(build(find_model("wsg_50")[1]), tmp_path / folder / "x.urdf", ModelFormat.URDF)
    names = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(names) > 5
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_axis_elsewhere_and_many_axes_keep_the_kinematics(tmp_path, read, kinematics):
    links = tuple(LinkDescription(name=name) for name in "abcd")
    hinge = JointDescription(
        name="hinge",
        kind=JointKind.REVOLUTE,
        parent="a",
        child="b",
        pose=Pose.from_xyz_rpy([1, 0, 0], [0.1, 0.2, 0.3]),
        anchor_m=(0.2, 0.0, -0.1),
        axis=(0.0, 1.0, 0.0),
        limits=LimitsDescription(lower=-1.0, upper=2.0, velocity=3.0, effort=4.0),
    )
    ball = JointDescription(name="ball", kind=JointKind.BALL, parent="b", child="c", anchor_m=(0.0, 0.0, 0.5))
    loop = JointDescription(name="loop", kind=JointKind.FIXED, parent="a", child="c")
    screw = JointDescription(name="screw", kind=JointKind.SCREW, parent="c", child="d", thread_pitch_m=0.01)
    model = ModelDescription(name="m", links=links, joints=(hinge, ball, loop, screw))
    notes = Notes()
    (tmp_path / "m.urdf").write_text(urdf_text(model, notes))
    theirs = read(tmp_path / "m.urdf")
    mine = kinematics(ModelDescription(name="m", links=links, joints=(hinge, ball, screw)), {"hinge": 0.7})
    read_back = kinematics(theirs, {"hinge": 0.7})
    for link in "abcd":
        assert mine[link].is_close(read_back[link])
    assert [note.where for note in notes] == ["joint loop", "joint hinge", "joint ball", "joint screw"]
    assert sum(joint.kind is JointKind.CONTINUOUS for joint in theirs.joints) == 3


def test_shapes_that_urdf_does_not_know(tmp_path, read):
    shapes = tuple(
        Shape(name=name, geometry=geometry)
        for name, geometry in (
            ("c", CapsuleGeometry(0.1, 0.4)),
            ("e", EllipsoidGeometry((0.1, 0.2, 0.3))),
            ("p", PlaneGeometry((2.0, 3.0))),
        )
    )
    written = write_description(
        ModelDescription(name="m", links=(LinkDescription(name="a", collisions=shapes),)),
        tmp_path / "m.urdf",
        ModelFormat.URDF,
    )
    assert [path.name for path in written.files] == ["m.urdf", "ball.stl"]
    assert [note.kind for note in written.notes] == ["changed"] * 3
    kinds = [type(shape.geometry).__name__ for shape in read(tmp_path / "m.urdf").links[0].collisions]
    assert kinds == ["CylinderGeometry", "SphereGeometry", "SphereGeometry", "MeshFile", "BoxGeometry"]
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "m.urdf"))
    mesh = next(g for g in range(compiled.ngeom) if compiled.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH)
    volumes = compiled.geom_size[mesh].prod() * 4 / 3 * np.pi
    assert volumes == pytest.approx(4 / 3 * np.pi * 0.1 * 0.2 * 0.3, rel=0.02)


def test_frame_called_like_a_link_gets_another_name(tmp_path, read):
    model = ModelDescription(
        name="m",
        links=(LinkDescription(name="a"), LinkDescription(name="b c")),
        joints=(JointDescription(name="j", kind=JointKind.FIXED, parent="a", child="b c"),),
        frames=(FrameDescription(name="a", link="b c", pose=Pose.from_xyz_rpy([0, 0, 1])),),
    )
    notes = Notes()
    (tmp_path / "m.urdf").write_text(urdf_text(model, notes))
    assert [link.name for link in read(tmp_path / "m.urdf").links] == ["a", "b_c", "a_frame"]
    assert [(note.kind, note.where) for note in notes] == [("changed", "link b c"), ("changed", "frame a")]


def test_uris_of_a_package(tmp_path):
    spec = build(find_model("small_gear")[1])
    export_spec(spec, tmp_path / "gear.urdf", ModelFormat.URDF, mesh_uri="package://parts/")
    assert 'filename="package://parts/gear_meshes/cone_hull.stl"' in (tmp_path / "gear.urdf").read_text()
    assert (tmp_path / "gear_meshes" / "cone_hull.stl").exists()

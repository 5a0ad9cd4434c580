"""A specification, described: the same masses, limits and kinematics as MuJoCo's own."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import find_model
from cellwright.cells import actual_layout, load_cell
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.description import WORLD, CapsuleGeometry, JointKind, PlaneGeometry
from cellwright.models.exporting import describe, sdf_text, urdf_text
from cellwright.models.importing.mesh_files import _read_obj, _read_stl
from cellwright.models.importing.meshes import open_edges
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.sdf import read_sdf
from cellwright.sim.compose import compose

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("lr_mate_200id", "sia20f", "aprs_fanuc_gripper")]
MODELS = ["ur5", "wsg_50", "robotiq_2f_85", "small_gear", *SLOW]


def spec_of(xml: str):
    return mujoco.MjSpec.from_string(f"<mujoco><compiler angle='radian'/>{xml}</mujoco>")


@pytest.mark.parametrize("name", MODELS)
def test_kinematics_and_masses_are_mujocos(name, kinematics, draw):
    spec = build(find_model(name)[1])
    model = describe(spec, name=name).model()
    compiled = spec.compile()
    data = mujoco.MjData(compiled)
    rng = np.random.default_rng(2)
    for _ in range(5):
        positions = draw(model, rng)
        for joint, value in positions.items():
            data.joint(joint).qpos[0] = value
        mujoco.mj_kinematics(compiled, data)
        for link, pose in kinematics(model, positions).items():
            if link in [compiled.body(i).name for i in range(compiled.nbody)]:
                assert pose.is_close(Pose(data.body(link).xpos, data.body(link).xquat)), link
    for link in model.links:
        if link.inertial is not None:
            assert link.inertial.mass_kg == compiled.body(link.name).mass[0]
            moments = np.linalg.eigvalsh(link.inertial.inertia_kgm2)
            assert np.allclose(moments, np.sort(compiled.body(link.name).inertia), rtol=1e-12)


def test_limits_are_the_catalogues():
    figures = find_model("lr_mate_200id")[1]
    model = describe(build(figures), name="arm").model()
    for joint, own in zip(figures.joints, (j for j in model.joints if j.kind is JointKind.REVOLUTE), strict=True):
        assert (own.limits.lower, own.limits.upper) == joint.position_limits_rad
        assert own.limits.velocity == joint.velocity_limit_radps
        assert own.limits.effort == joint.effort_limit_nm
        assert own.damping == joint.viscous_damping_nms_per_rad


def test_speed_of_wheels_is_the_catalogues():
    figures = find_model("epuck")[1]
    wheels = describe(build(figures)).model().joints
    assert [joint.name for joint in wheels] == ["wheel_left", "wheel_right"]
    assert {joint.limits.velocity for joint in wheels} == {figures.max_speed_radps}
    assert {joint.limits.effort for joint in wheels} == {figures.motor_torque_nm}


def test_coupled_fingers_mimic_and_count_from_the_middle():
    figures = find_model("aprs_fanuc_gripper")[1]
    model = describe(build(figures)).model()
    right = next(joint for joint in model.joints if joint.name == "finger_right")
    assert (right.mimic.joint, right.mimic.multiplier, right.mimic.offset) == ("finger_left", 1.0, 0.0)
    assert np.allclose(right.pose.position, figures.tcp_xyz_m)  # at zero the pads meet in the middle


def test_mimic_counts_from_the_references():
    spec = spec_of("""<worldbody><body name="a"><joint name="p" ref="0.5"/><geom size=".1"/>
        <body name="b"><joint name="q" ref="0.2"/><geom size=".1"/></body></body></worldbody>
        <equality><joint joint1="q" joint2="p" polycoef="0.1 3 0 0 0"/></equality>""")
    mimic = next(j.mimic for j in describe(spec).model().joints if j.name == "q")
    assert (mimic.multiplier, mimic.offset) == (3.0, pytest.approx(0.2 + 0.1 - 3 * 0.5))


def test_body_with_several_joints_becomes_a_chain(kinematics):
    spec = spec_of("""<worldbody><body name="a"><geom size=".1"/><body name="b" pos="0 0 1" euler="0.3 0 0">
        <joint name="x" type="slide" axis="1 0 0" ref="0.1"/>
        <joint name="turn" axis="0 1 0" pos="0.1 0.2 0.3" ref="0.4"/>
        <geom size=".1"/></body></body></worldbody>""")
    model = describe(spec).model()
    assert [link.name for link in model.links] == ["a", "b_x", "b"]
    assert model.link("b_x").inertial is None
    turning = spec_of("""<worldbody><body name="a"><geom size=".1"/><body name="b"><geom size=".1"/>
        <joint name="x" axis="1 0 0" pos="0 0 .2"/><joint name="y" pos="0 0 .2"/></body></body></worldbody>""")
    step, _ = describe(turning).model().joints
    assert (step.child, step.anchor_m) == ("b_x", (0.0, 0.0, 0.0))  # a link that holds nothing stands on its axis
    compiled = spec.compile()
    data = mujoco.MjData(compiled)
    data.joint("x").qpos[0], data.joint("turn").qpos[0] = 0.7, -0.9
    mujoco.mj_kinematics(compiled, data)
    assert kinematics(model, {"x": 0.7, "turn": -0.9})["b"].is_close(Pose(data.body("b").xpos, data.body("b").xquat))


def test_what_is_touched_and_what_is_seen():
    spec = spec_of("""<worldbody><body name="a"><geom name="both" type="capsule" size=".1 .2"/>
        <geom name="seen" type="box" size="1 2 3" contype="0" conaffinity="0"/>
        <geom name="touched" type="ellipsoid" size="1 2 3" group="3"/></body></worldbody>""")
    link = describe(spec).model().links[0]
    assert [shape.name for shape in link.visuals] == ["both", "seen"]
    assert [shape.name for shape in link.collisions] == ["both", "touched"]
    assert link.collisions[0].geometry == CapsuleGeometry(0.1, 0.4)
    assert link.visuals[1].geometry.size_m == (2.0, 4.0, 6.0)


def test_mesh_keeps_its_own_frame_and_its_hull_is_closed():
    described = describe(build(find_model("kit_m2l1_tray")[1]), folder="m/")
    shapes = described.model().links[0].collisions
    wedge = next(shape for shape in shapes if shape.name == "wedge_0")
    (part,), _ = _read_stl(described.files[wedge.geometry.uri], None)
    corners, place = np.unique(part.mesh.vertices, axis=0, return_inverse=True)
    hull = type(part.mesh)(corners, place.reshape(-1)[part.mesh.faces])
    assert open_edges(hull) == 0
    assert hull.volume_m3 > 0
    seen = described.model().links[0].visuals[0]
    assert seen.pose.is_close(Pose.identity())
    (look,), _ = _read_obj(described.files[seen.geometry.uri], Path("none"))
    assert np.ptp(look.mesh.vertices, axis=0)[:2] == pytest.approx(find_model("kit_m2l1_tray")[1].size_m, abs=1e-6)


def test_cell_is_models_at_their_places():
    cell = load_cell("rovi")
    layout = actual_layout(cell, 0)
    world = describe(compose(cell, layout)).world
    models = {placed.model.name: placed for placed in world.models}
    assert len(world.models) == len(models)
    assert set(models) == {*cell.fixtures, *cell.robots, *layout.objects}
    assert models["ur5"].model.joint_of("base").parent == WORLD
    assert not models["ur5"].model.static
    assert models["table"].model.static
    bottle = models["bottle"]
    assert not bottle.model.static
    assert bottle.model.joints == ()
    assert bottle.pose.is_close(layout.objects["bottle"].pose_in_world)
    assert any(isinstance(s.geometry, PlaneGeometry) for s in models["floor"].model.links[0].collisions)
    assert [s.kind for s in models["stereo"].model.sensors] == ["camera", "camera"]
    assert [s.kind for s in models["ur5"].model.sensors] == ["force_torque"]


def test_camera_looks_along_x():
    spec = spec_of(
        "<worldbody><body name='a'><geom size='.1'/><camera name='c' xyaxes='0 -1 0 0 0 1'/></body></worldbody>"
    )
    sensor = describe(spec).model().sensors[0]  # right is -y, up is z: it looks along x
    assert sensor.pose.is_close(Pose.identity())


FOUR_BAR = """<worldbody><body name="base"><geom size=".01"/>
    <body name="left"><joint name="j1" axis="0 1 0"/><geom type="box" size=".01 .01 .1" pos="0 0 .1"/>
      <body name="top" pos="0 0 .2"><joint name="j2" axis="0 1 0"/><geom type="box" size=".1 .01 .01" pos=".1 0 0"/>
        <site name="bush" pos=".2 0 0"/></body></body>
    <body name="right" pos=".2 0 0"><joint name="j3" axis="0 1 0" ref="{}"/>
      <geom type="box" size=".01 .01 .1" pos="0 0 .1"/><site name="pin" pos="0 0 .2"/></body></body></worldbody>
    <equality><connect name="loop" {}/></equality>"""


@pytest.mark.parametrize("ends", ["site1='pin' site2='bush'", "body1='right' body2='top' anchor='0 0 .2'"])
def test_loop_is_a_second_joint(ends, tmp_path):
    described = describe(spec_of(FOUR_BAR.format(0, ends)), name="m")
    model = described.model()
    loop = next(joint for joint in model.joints if joint.name == "loop_loop")
    assert (loop.kind, loop.parent, loop.child) == (JointKind.BALL, "right", "top")
    assert loop.anchor_m == pytest.approx((0.2, 0, 0))
    assert loop.pose.apply(loop.anchor_m) == pytest.approx([0, 0, 0.2])
    notes = Notes()
    urdf_text(model, notes)
    assert [note.where for note in notes if "loop" in note.what] == ["joint loop_loop"]
    path, again = tmp_path / "m.sdf", Notes()
    path.write_text(sdf_text(model, again))
    assert not again
    back = read_sdf(path, FileFinder(path), Notes()).models[0].model
    same = next(joint for joint in back.joints if joint.name == "loop_loop")
    assert (same.parent, same.child, same.anchor_m) == ("right", "top", pytest.approx((0.2, 0, 0)))


def test_loop_that_is_open_at_zero_cannot_be_said_in_sdf():
    notes = Notes()
    text = sdf_text(describe(spec_of(FOUR_BAR.format(0.3, "site1='pin' site2='bush'"))).model(), notes)
    assert 'type="ball"' not in text
    assert [str(note) for note in notes] == [
        "dropped: joint loop_loop: closes a loop that is torn where all joints are at zero"
    ]


def test_what_cannot_be_said_is_noted():
    described = describe(build(find_model("robotiq_2f_85")[1]))
    assert {note.where for note in described.notes} == {"contacts", "armature", "gravity compensation"}
    notes = Notes()
    urdf_text(described.model(), notes)
    assert sum("closes a loop" in note.what for note in notes) == 4


def test_several_models_are_not_one():
    spec = spec_of(
        "<worldbody><body name='a'><geom size='.1'/></body><body name='b'><geom size='.1'/></body></worldbody>"
    )
    with pytest.raises(BadInput, match="holds 2 models \\(a, b\\), not one"):
        describe(spec).model()


def test_specification_that_does_not_compile_is_one_line():
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="a").add_joint()
    with pytest.raises(BadInput, match=r"does not compile: .*mass"):
        describe(spec)


NASTY = """<asset><mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.2 0.3" refpos="0.01 0 0"/>
      <hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset>
    <worldbody>
      <body pos="0 0 1"><freejoint/><geom type="capsule" fromto="0 0 0 0.3 0 0" size=".02"/>
        <body pos="0.3 0 0"><joint type="ball" range="0 0.5"/><geom type="mesh" mesh="tetra" pos="0 0 2"/></body></body>
      <body name="a b"><joint name="hin"/><geom size=".1"/></body>
      <body name="terrain"><geom type="hfield" hfield="h"/></body></worldbody>
    <tendon><fixed name="f"><joint joint="hin" coef="1"/></fixed></tendon>
    <actuator><motor joint="hin" gear="5" forcerange="-3 3"/><position tendon="f"/></actuator>
    <sensor><jointpos joint="hin"/></sensor>"""


def test_what_others_write_is_described():
    """Elements without names, meshes that are scaled and moved, fields, tendons, gears, limits by cones."""
    described = describe(spec_of(NASTY), name="w", folder="")
    thing, hinge, terrain = (placed.model for placed in described.world.models)
    assert [link.name for link in thing.links] == ["body_1", "body_2"]
    assert (hinge.name, hinge.joints[0].limits.effort) == ("a b", 15.0)
    assert terrain.links[0].collisions == ()
    mesh = thing.links[1].collisions[0]
    (part,), _ = _read_stl(described.files[mesh.geometry.uri], Path("none"))
    corners = mesh.pose.apply(np.unique(part.mesh.vertices, axis=0))
    given = np.vstack([np.zeros(3), np.eye(3)])
    for corner in (given - [0.01, 0, 0]) * [0.1, 0.2, 0.3] + [0, 0, 2]:
        assert np.linalg.norm(corners - corner, axis=1).min() < 1e-6
    noted = {note.where for note in described.notes}
    assert noted == {"actuator actuator_2", "tendons", "joint joint_2", "geom 3", "sensor number 0"}

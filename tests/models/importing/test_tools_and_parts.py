"""Grippers, parts and fixtures from files; MJCF and xacro."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput, MissingExtra
from cellwright.models import build
from cellwright.models.importing import ImportedGripperFigures, ImportedPartFigures, UnclearKindError, write_figures
from cellwright.models.importing.grasp_points import grasp_points
from cellwright.motion import ArmKinematics
from cellwright.shapes.mesh import Mesh, cuboid, lathe

MJCF = """<mujoco model="small"><compiler angle="degree"/><option timestep="0.001" impratio="5"/>
<worldbody><light pos="0 0 3"/><geom type="plane" size="1 1 .1"/>
<body name="foot" pos="0 0 .1" euler="0 0 90"><geom type="cylinder" size=".1 .1"/>
<body name="l1" pos="0 0 .1"><joint name="j1" axis="0 0 1" range="-170 170" actuatorfrcrange="-50 50"/>
<geom type="capsule" fromto="0 0 0 0 0 .3" size=".05"/>
<body name="l2" pos="0 0 .3"><joint name="j2" axis="0 1 0" range="-90 90" ref="10"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
<body name="l3" pos=".3 0 0"><joint name="j3" axis="0 1 0" pos="0 0 .02" range="-120 120"/>
<geom type="capsule" fromto="0 0 0 .2 0 0" size=".03"/><site name="attachment_site" pos=".2 0 0" euler="0 90 0"/>
</body></body></body></body></worldbody>
<actuator><position name="a" joint="j2" kp="100" forcerange="-40 40"/></actuator>
<keyframe><key qpos="0 0 0"/></keyframe></mujoco>"""


def write_stl(path, mesh: Mesh):
    head = bytes(80) + len(mesh.faces).to_bytes(4, "little")
    corners = mesh.vertices[mesh.faces].astype("<f4")
    path.write_bytes(head + b"".join(bytes(12) + corner.tobytes() + bytes(2) for corner in corners))
    return path


def test_a_linkage_gripper_is_commanded_by_its_width(load):
    figures = load("gripper.urdf")
    assert isinstance(figures, ImportedGripperFigures)
    assert figures.unsourced() == []
    # knuckles of 0.0492 m that lean outwards by 0.4182 rad carry the fingers
    length, lean = np.hypot(0.02, 0.045), np.arctan2(0.02, 0.045)
    assert figures.open_m == pytest.approx(0.03 + 0.02 - 0.006, abs=1e-4)
    assert figures.closed_m == pytest.approx(0.03 + length * np.sin(lean - 0.9) - 0.006, abs=1e-4)
    for angle in (0.1, 0.45, 0.8):
        half = 0.03 + length * np.sin(lean - angle) - 0.006
        joints = figures.joints_at(half)
        assert joints["own drive"] == pytest.approx(angle, abs=2e-3)
        assert joints["own left_finger_joint"] == pytest.approx(-angle, abs=2e-3)
        assert joints["finger_left"] == half
    assert figures.tcp_xyz_m[:2] == pytest.approx((0.0, 0.0), abs=1e-6)
    assert any("forbid" in note.what for note in figures.notes)
    model = build(figures).compile()
    data = mujoco.MjData(model)
    grip = model.actuator_ctrladr[model.actuator("grip").id]
    for wanted in (figures.closed_m, 0.03, figures.open_m):
        data.ctrl[grip] = wanted
        for _ in range(600):
            mujoco.mj_step(model, data)
        assert data.joint("finger_left").qpos[0] == pytest.approx(wanted, abs=5e-4)
        left, right = data.geom("pad_left"), data.geom("pad_right")
        assert left.xpos[0] - right.xpos[0] == pytest.approx(2 * wanted + 0.006, abs=2e-3)
        assert left.xpos[2] == pytest.approx(right.xpos[2], abs=1e-3)


def test_a_gripper_presses_with_its_force(load):
    """A block between the pads feels twice the force: the drive's, shared by two fingers."""
    figures = load("gripper.urdf", grip_force_n=20.0)
    spec = build(figures)
    block = spec.worldbody.add_body(name="block", pos=figures.tcp_xyz_m)
    block.add_geom(name="block", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.02, 0.008, 0.008], group=3)
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, position in figures.joints_at(figures.open_m).items():
        data.joint(name).qpos[0] = position
    data.ctrl[model.actuator_ctrladr[model.actuator("grip").id]] = figures.closed_m
    for _ in range(1500):
        mujoco.mj_step(model, data)
    forces = []
    for number in range(data.ncon):
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, number, force)
        forces.append(force[0])
    assert sum(forces) == pytest.approx(40.0, rel=0.1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '<robot name="r"><link name="a"><visual><geometry><sphere radius="1"/></geometry></visual></link></robot>',
            "no joint moves",
        ),
        (
            '<robot name="r"><link name="a"/><link name="b"><collision><geometry><sphere radius="0.1"/></geometry>'
            '</collision></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
            '<limit lower="-1" upper="1"/></joint></robot>',
            "no two solid parts move towards each other",
        ),
    ],
)
def test_what_is_no_gripper_says_why(load, tmp_path, text, words):
    (tmp_path / "r.urdf").write_text(text)
    with pytest.raises(BadInput, match=words):
        load(tmp_path / "r.urdf", "tool")
    if "joint" in text:
        with pytest.raises(
            UnclearKindError, match=f"neither an arm nor a gripper .{words}.*--kind arm, tool, part or fix"
        ):
            load(tmp_path / "r.urdf")
    assert build(load(tmp_path / "r.urdf", "fixture")).compile().nv == 0


def test_bodies_without_names_get_some(load, tmp_path):
    (tmp_path / "r.xml").write_text(
        MJCF.replace('name="l1" ', "").replace('name="j2" ', "").replace('joint="j2"', 'joint="j1"')
    )
    assert [joint.name for joint in load(tmp_path / "r.xml").joints] == ["j1", "joint_1", "j3"]


def test_a_part_in_millimetres_stands_on_its_origin(load, tmp_path):
    file = write_stl(tmp_path / "part.stl", cuboid([10, 20, 30], [40, 40, 80]))
    part = load(file, units="mm", mass_kg=0.03)
    assert isinstance(part, ImportedPartFigures)
    assert part.unsourced() == []
    assert part.low_m == pytest.approx((-0.015, -0.010, 0.0))
    assert part.high_m == pytest.approx((0.015, 0.010, 0.05))
    assert part.bottom_m == 0.0
    assert part.sku == "sku_mine"
    model = build(part).compile()
    assert model.body_mass[1] == pytest.approx(0.03)
    expected = 0.03 / 12 * (np.array([0.02, 0.03, 0.03]) ** 2 + np.array([0.05, 0.05, 0.02]) ** 2)
    np.testing.assert_allclose(np.sort(model.body_inertia[1]), np.sort(expected), rtol=1e-5)
    assert {round(1000 * grasp.width_m) for grasp in part.grasps} == {20, 30}
    best = part.grasps[0]
    assert best.xyz_m == pytest.approx((0, 0, 0.025), abs=0.006)
    assert part.notes == ()


def test_a_part_without_unit_and_mass_is_guessed(load, tmp_path):
    file = write_stl(tmp_path / "part.stl", cuboid([0, 0, 0], [100, 100, 100]))
    part = load(file, origin="centre")
    assert part.mass_kg == pytest.approx(1.2)
    assert part.bottom_m == pytest.approx(-0.05)
    assert {note.where for note in part.notes} == {"part.stl", "mass"}


def test_a_round_part_is_grasped_across_its_middle():
    points = grasp_points(lathe([(0.02, 0.0), (0.02, 0.06)], 48))
    assert all(point.width_m == pytest.approx(0.04, abs=1e-3) for point in points)
    assert len({round(point.yaw_rad, 1) for point in points}) > 3


def test_a_part_is_not_grasped_where_fingers_would_be_in_the_table():
    """Most of a stand is its foot, 8 mm high: grasps of it are high enough for the tips of fingers."""
    stand = lathe([(0.03, 0.0), (0.03, 0.008), (0.004, 0.0081), (0.004, 0.05)], 48)
    points = grasp_points(stand)
    assert {round(1000 * point.width_m) for point in points} >= {60}
    assert min(point.xyz_m[2] for point in points) >= 0.005
    sheet = grasp_points(cuboid([0, 0, 0], [0.04, 0.03, 0.004]))
    assert min(point.xyz_m[2] for point in sheet) >= 0.002


def test_a_flat_or_open_part(load, tmp_path):
    flat = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    with pytest.raises(BadInput, match="encloses no volume"):
        load(write_stl(tmp_path / "flat.stl", flat), units="mm")
    cube = cuboid([0, 0, 0], [20, 20, 20])
    part = load(write_stl(tmp_path / "open.stl", Mesh(cube.vertices, cube.faces[1:])), units="mm", mass_kg=0.1)
    assert [note.kind for note in part.notes] == ["changed"]
    assert "not closed" in part.notes[0].what


def test_a_hollow_part_is_touched_in_pieces_unless_somebody_wants_its_hull(load, tmp_path):
    file = write_stl(tmp_path / "channel.stl", channel())
    part = load(file, units="mm", mass_kg=0.1)
    model = build(part).compile()
    touched = np.flatnonzero(model.geom_contype)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    ray = (np.array([0.0, 0, 0.1]), np.array([0.0, 0, -1.0]))  # from above into the channel
    assert len(touched) > 1
    assert 0.1 - mujoco.mj_ray(model, data, *ray, None, 1, -1, np.zeros(1, np.int32)) == pytest.approx(0.005, abs=1e-6)
    assert any("convex pieces, which have 1.0" in note.what for note in part.notes)
    block = load(file, units="mm", mass_kg=0.1, collision="hull")
    assert len(np.flatnonzero(build(block).compile().geom_contype)) == 1
    assert any("convex hull, which has" in note.what for note in block.notes)


def test_a_ring_is_grasped_from_outside_and_at_its_wall_if_a_finger_fits_into_it():
    def widths_mm(inner_m):
        ring = lathe([(0.025, 0.0), (0.025, 0.03), (inner_m, 0.03), (inner_m, 0.0)], 32)
        return {round(1000 * point.width_m) for point in grasp_points(ring)}

    assert widths_mm(0.020) >= {50, 5}
    assert widths_mm(0.004) == {50}


def test_a_mesh_may_stand_about_as_a_fixture(load, tmp_path):
    file = write_stl(tmp_path / "channel.stl", channel())
    figures = load(file, "fixture", units="mm")
    model = build(figures).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    ray = (np.array([0.0, 0, 0.1]), np.array([0.0, 0, -1.0]))
    assert (model.nv, figures.title) == (0, "channel")
    assert 0.1 - mujoco.mj_ray(model, data, *ray, None, 1, -1, np.zeros(1, np.int32)) == pytest.approx(0.005, abs=1e-6)
    assert {note.kind for note in figures.notes} == {"changed", "guessed"}
    again = write_figures(figures, ModelSettings(file="channel.stl"), file, tmp_path / "o")
    assert build(load(again[0])).compile().ngeom == model.ngeom


def channel():
    """A channel as one closed surface: an outline with a notch, drawn out along y."""
    outline = np.array([(0, 0), (55, 0), (55, 30), (50, 30), (50, 5), (5, 5), (5, 30), (0, 30)], float)
    rows = [np.column_stack([outline[:, 0], np.full(8, y), outline[:, 1]]) for y in (0.0, 30.0)]
    caps = [(0, 1, 4), (1, 2, 3), (1, 3, 4), (0, 4, 5), (0, 5, 7), (5, 6, 7)]
    faces = [*caps, *((c + 8, b + 8, a + 8) for a, b, c in caps)]
    for i in range(8):
        j = (i + 1) % 8
        faces += [(j, i, i + 8), (j, i + 8, j + 8)]
    return Mesh(np.concatenate(rows), np.array(faces))


def test_mjcf_in_degrees_with_anchors_and_references_keeps_its_kinematics(load, tmp_path):
    file = tmp_path / "small.xml"
    file.write_text(MJCF)
    figures = load(file, "arm")
    arm, ours = ArmKinematics(figures), build(figures).compile()
    theirs = mujoco.MjModel.from_xml_string(MJCF)
    data, true = mujoco.MjData(ours), mujoco.MjData(theirs)
    assert [joint.effort_limit_nm for joint in figures.joints[:2]] == [50.0, 40.0]
    assert figures.joints[0].position_limits_rad == pytest.approx(np.radians([-170, 170]))
    rng = np.random.default_rng(0)
    for _ in range(5):
        joints = rng.uniform(arm.lower_rad, arm.upper_rad)
        for joint, angle in zip(figures.joints, joints, strict=True):
            data.joint(joint.name).qpos[0] = true.joint(joint.name).qpos[0] = angle
        mujoco.mj_kinematics(ours, data)
        mujoco.mj_kinematics(theirs, true)
        foot, tip = true.body("foot"), true.site("attachment_site")
        expected = foot.xmat.reshape(3, 3).T @ (tip.xpos - foot.xpos)
        np.testing.assert_allclose(arm.forward(joints).position, expected, atol=1e-9)
        np.testing.assert_allclose(data.site("flange").xpos, expected, atol=1e-9)
    kinds = {note.what for note in figures.notes if note.kind == "dropped"}
    assert {"1 x <light> is not used", "1 x <keyframe> is not used"} <= kinds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody><body><geom type='mesh' mesh='x'/></body></worldbody></mujoco>", "is no MJCF file"),
        ("<mujoco><extension><plugin plugin='p'/></extension></mujoco>", "needs a plugin"),
        ("<mujoco><asset><mesh name='x' file='gone.stl'/></asset><worldbody/></mujoco>", "has no <body>"),
    ],
)
def test_mjcf_that_mujoco_does_not_read_is_one_line(load, tmp_path, text, words):
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(BadInput, match=words) as caught:
        load(tmp_path / "r.xml")
    assert "\n" not in str(caught.value)


def test_a_fixture_never_moves(load, tmp_path):
    figures = load("gripper.urdf", "fixture")
    model = build(figures).compile()
    assert model.nv == 0
    assert model.body(1).name == "furniture"
    assert model.ngeom == 10  # each is touched, and drawn as what is touched
    assert any("4 are fixed" in note.what for note in figures.notes)


XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:include filename="$(find my_robot)/urdf/parts.xacro"/><xacro:arg name="size" default="0.1"/>
<xacro:block name="a" size="$(arg size)"/><xacro:include filename="inner/other.xacro"/></robot>"""
PARTS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="block" params="name size">
<link name="${name}"><collision><geometry><box size="${size} ${2 * size} ${size}"/></geometry></collision></link>
</xacro:macro></robot>"""


@pytest.mark.peer
def test_xacro_files_find_their_packages_and_take_arguments(load, tmp_path):
    pytest.importorskip("xacrodoc", reason="xacro is optional: pip install 'cellwright[xacro]'")
    folder = tmp_path / "some_folder" / "urdf"
    folder.mkdir(parents=True)
    (folder.parent / "package.xml").write_text("<package><name>my_robot</name></package>")
    (folder / "parts.xacro").write_text(PARTS)
    (folder / "r.urdf.xacro").write_text(XACRO)
    (folder / "inner").mkdir()
    (folder / "inner" / "other.xacro").write_text('<robot name="o"><material name="m"/></robot>')
    model = load(folder / "r.urdf.xacro", "fixture", arguments={"size": "0.2"}).spec.compile()
    np.testing.assert_allclose(model.geom_size[0], [0.1, 0.2, 0.1])
    (folder / "parts.xacro").write_text("<robot")
    with pytest.raises(BadInput, match="xacro cannot run it"):
        load(folder / "r.urdf.xacro", "fixture")


def test_without_xacro_the_extra_is_named(load, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xacrodoc", None)
    (tmp_path / "r.xacro").write_text(XACRO)
    with pytest.raises(MissingExtra, match=r"cellwright\[xacro\]"):
        load(tmp_path / "r.xacro")


def test_a_part_has_grasps_for_a_gripper(load, tmp_path):
    from cellwright.motion.grasps import find_grasps

    part = load(write_stl(tmp_path / "part.stl", cuboid([0, 0, 0], [30, 20, 60])), units="mm", mass_kg=0.03)
    grasps = find_grasps(part, load("gripper.urdf"))
    assert {round(grasp.width_m, 6) for grasp in grasps} == {0.02, 0.03}


def test_two_slides_that_nothing_couples_move_alike(load, tmp_path):
    """Parallel grippers are often described so, with moments of 1 kg m2 where nobody knew them."""
    inertial = '<inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shape = '<collision><origin xyz="{0} 0 0.03"/><geometry><box size="0.01 0.02 0.06"/></geometry></collision>'
    text = f'<link name="base">{inertial}{shape.format(0)}</link>'
    for side, x, low, high in (("left", -0.005, -0.055, -0.0027), ("right", 0.005, 0.0027, 0.055)):
        text += f'<link name="{side}">{inertial}{shape.format(x)}</link><joint name="{side}" type="prismatic">'
        text += f'<parent link="base"/><child link="{side}"/><origin xyz="0 0 0.07"/><axis xyz="1 0 0"/>'
        text += f'<limit lower="{low}" upper="{high}" effort="80" velocity="0.2"/></joint>'
    (tmp_path / "wsg.urdf").write_text(f'<robot name="wsg">{text}</robot>')
    figures = load(tmp_path / "wsg.urdf")
    assert (figures.open_m, figures.closed_m) == pytest.approx((0.055, 0.0027), abs=1e-5)
    assert figures.grip_force_n == pytest.approx(40.0)
    assert figures.tcp_xyz_m == pytest.approx((0, 0, 0.1), abs=1e-6)
    assert figures.joints_at(0.03)["own left"] == pytest.approx(-0.03, abs=1e-4)
    assert figures.joints_at(0.03)["own right"] == pytest.approx(0.03, abs=1e-4)
    assert sum("cannot be" in note.what for note in figures.notes) == 3


def test_an_arm_whose_meshes_are_missing_still_moves(load, tmp_path):
    """Nobody gives masses or meshes here: rods between the joints stand for the links."""
    mesh = '<{0}><geometry><mesh filename="package://gone/{1}.stl"/></geometry></{0}>'
    text = "".join(
        f'<link name="l{n}">{mesh.format("visual", n)}{mesh.format("collision", n)}</link>' for n in range(4)
    )
    for n in range(3):
        axis = "0 0 1" if n == 0 else "0 1 0"
        text += f'<joint name="j{n}" type="revolute"><parent link="l{n}"/><child link="l{n + 1}"/>'
        text += (
            f'<origin xyz="0 0 0.3"/><axis xyz="{axis}"/><limit lower="-2" upper="2" velocity="2" effort="0"/></joint>'
        )
    (tmp_path / "arm.urdf").write_text(f'<robot name="r">{text}</robot>')
    figures = load(tmp_path / "arm.urdf")
    assert [joint.name for joint in figures.joints] == ["j0", "j1", "j2"]
    assert sum("not found" in note.what for note in figures.notes) == 8
    assert sum("a rod of 0.3 m" in note.what for note in figures.notes) == 3
    assert build(figures).compile().nbody == 6


def test_a_description_can_be_a_part(load, tmp_path):
    """As objects for grasping are often given: a URDF or SDF of one body."""
    (tmp_path / "box.sdf").write_text(
        "<sdf version='1.7'><model name='box'><link name='l'><inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx>"
        "<iyy>0.0002</iyy><izz>0.0001</izz></inertia></inertial><collision name='c'><pose>0 0 0.05 0 0 0</pose>"
        "<geometry><box><size>0.04 0.06 0.1</size></box></geometry></collision></link></model></sdf>"
    )
    part = load(tmp_path / "box.sdf", "part", sku="sku_box")
    assert isinstance(part, ImportedPartFigures)
    assert part.unsourced() == []
    assert part.mass_kg == pytest.approx(0.2)
    assert (part.low_m, part.high_m) == (pytest.approx((-0.02, -0.03, 0)), pytest.approx((0.02, 0.03, 0.1)))
    assert part.grasps[0].width_m == pytest.approx(0.04, abs=1e-4)
    model = build(part).compile()
    assert model.body(1).name == "part"
    assert model.site("grasp").pos[2] == pytest.approx(0.05, abs=0.02)
    (tmp_path / "empty.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(BadInput, match="has no solid that can be touched"):
        load(tmp_path / "empty.urdf", "part")


def test_mjcf_tells_speeds_and_a_pose_and_does_without_a_mesh(load, tmp_path):
    servos = '<velocity joint="j1" kv="10" ctrlrange="-2 2"/><position joint="j2"/></actuator>'
    text = MJCF.replace("</actuator>", servos).replace('<key qpos="0 0 0"/>', '<key name="home" qpos="0.2 -0.3 0.4"/>')
    text = text.replace("<worldbody>", '<asset><mesh name="m" file="gone.stl"/></asset><worldbody>', 1)
    text = text.replace('<site name="att', '<geom type="mesh" mesh="m"/><site name="att')
    (tmp_path / "r.xml").write_text(text)
    arm = load(tmp_path / "r.xml", "arm")
    assert arm.joints[0].velocity_limit_radps == 2.0
    assert arm.home_rad == pytest.approx((0.2, -0.3, 0.4))
    assert any("mesh gone.stl not found" in note.what and "1 geoms are left out" in note.what for note in arm.notes)
    assert any("the file's 3 give way to servos" in note.what for note in arm.notes)
    (tmp_path / "r.xml").write_text(text.replace('axis="0 0 1"', 'axis="nan 0 1"'))
    with pytest.raises(BadInput, match="axis of <joint>: 'nan 0 1' has a number that is not finite"):
        load(tmp_path / "r.xml", "arm")


FINGER = """<body name="{0}" pos="{1} 0 .1"><joint name="{0}" type="slide" axis="{2} 0 0" range="0 .03"/>
<geom type="box" size=".005 .01 .03"/></body>"""


def test_a_third_finger_and_a_drive_by_a_tendon(load, tmp_path):
    fingers = FINGER.format("a", -0.04, 1) + FINGER.format("b", 0.04, -1)
    third = FINGER.format("c", 0.0, 1).replace('pos="0.0 0', 'pos="0 .06')
    text = """<mujoco><worldbody><body name="palm"><geom type="box" size=".05 .05 .03"/>{0}</body></worldbody>
    <equality><joint joint1="b" joint2="a"/>{1}</equality>
    <tendon><fixed name="t"><joint joint="a" coef=".5"/><joint joint="b" coef=".5"/></fixed></tendon>
    <actuator><general name="pull" tendon="t" forcerange="-30 30"/></actuator></mujoco>"""
    (tmp_path / "two.xml").write_text(text.format(fingers, ""))
    two = load(tmp_path / "two.xml", "tool")
    assert two.grip_force_n == pytest.approx(15.0)
    assert not any(note.where == "fingers" for note in two.notes)
    (tmp_path / "three.xml").write_text(text.format(fingers + third, '<joint joint1="c" joint2="a"/>'))
    notes = {note.where: note.what for note in load(tmp_path / "three.xml", "tool").notes}
    assert notes["fingers"] == "c is one more: the width is that between 'a' and 'b' alone"


@pytest.mark.peer
def test_xacro_names_what_is_missing(load, tmp_path):
    pytest.importorskip("xacrodoc", reason="xacro is optional: pip install 'cellwright[xacro]'")
    head = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)"><xacro:arg name="name" default="x"/>'
    body = '<link name="a"><visual><geometry><sphere radius="0.1"/></geometry><shiny/></visual></link></robot>'
    (tmp_path / "r.xacro").write_text(head + body)
    figures = load(tmp_path / "r.xacro", arguments={"nome": "y"})
    assert figures.title == "x"
    assert {(note.where, note.what) for note in figures.notes if note.kind == "dropped"} == {
        ("argument nome", "no file knows it (known: name)"),
        ("r.xacro", "<shiny> in <visual> of link 'a' is not used"),
    }
    (tmp_path / "r.xacro").write_text(head + '<xacro:macro name="m" params="a"/></robot>')
    with pytest.raises(BadInput, match="may only define macros"):
        load(tmp_path / "r.xacro")
    (tmp_path / "r.xacro").write_text(head + '<link name="$(arg other)"/></robot>')
    with pytest.raises(BadInput, match="--arg name:=value gives one; the file knows name, other"):
        load(tmp_path / "r.xacro")


def test_the_centre_point_is_in_the_middle_of_pads_of_several_pieces(load, tmp_path):
    """Some files give each finger tip four small pads at its corners and a recessed block behind them."""
    pieces = "".join(
        f'<geom name="{{0}}{n}" type="box" size=".003 .002 .003" pos="{x} .002 {z}"/>'
        for n, (x, z) in enumerate([(0.0055, 0.050), (-0.0055, 0.050), (0.0055, 0.0395), (-0.0055, 0.0395)])
    )
    finger = f"""<body name="{{0}}" pos="0 0 .0584" quat="{{1}}"><joint name="{{0}}" type="slide" axis="0 1 0"
    range="0 .04"/><geom type="box" size=".0085 .004 .0085" pos="0 .0055 .0445"/>{pieces}</body>"""
    (tmp_path / "hand.xml").write_text(
        f"""<mujoco><worldbody><body name="hand"><geom type="box" size=".03 .1 .03" pos="0 0 .025"/>
        {finger.format("left", "1 0 0 0")}{finger.format("right", "0 0 0 1")}</body></worldbody>
        <equality><joint joint1="right" joint2="left"/></equality></mujoco>"""
    )
    figures = load(tmp_path / "hand.xml", "tool")
    assert figures.tcp_xyz_m == pytest.approx((0.0, 0.0, 0.0584 + 0.04475), abs=1e-6)
    assert figures.pad_size_m[1:] == pytest.approx((0.017, 0.0165), abs=1e-6)
    assert abs(figures.pad_offset_m) < 1e-6
    model = build(figures).compile()
    pads = [model.geom(geom).name for geom in range(model.ngeom) if model.geom(geom).name.startswith("pad_")]
    assert sorted(pads) == sorted(f"pad_{side}{n}" for side in ("left", "right") for n in ("", "_1", "_2", "_3"))


@pytest.mark.parametrize(
    ("geom", "half_m"),
    [
        ('type="box" size=".01 .02 .03"', (0.01, 0.02, 0.03)),
        ('type="sphere" size=".02"', (0.02, 0.02, 0.02)),
        ('type="cylinder" size=".02 .03"', (0.02, 0.02, 0.03)),
        ('type="capsule" size=".01 .03"', (0.01, 0.01, 0.04)),
        ('type="ellipsoid" size=".01 .02 .03"', (0.01, 0.02, 0.03)),
    ],
)
def test_a_part_of_any_shape_is_touched_as_what_it_is(load, tmp_path, geom, half_m):
    """Within a thousandth, and not as the box round it; a second geom is a solid of its own."""
    (tmp_path / "part.xml").write_text(
        f'<mujoco><worldbody><body pos="1 2 3"><geom {geom} pos="0 0 .05"/>'
        '<geom type="box" size=".04 .04 .005"/></body></worldbody></mujoco>'
    )
    own, foot = load(tmp_path / "part.xml", "part").solids
    np.testing.assert_allclose(np.ptp(own.vertices, axis=0) / 2, half_m, rtol=2e-3)
    np.testing.assert_allclose(own.vertices.mean(axis=0)[2], 0.05, atol=1e-3)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><geom {geom} density="1000"/></body></worldbody></mujoco>'
    )
    assert own.volume_m3 == pytest.approx(model.body_mass[1] / 1000, rel=5e-3)
    assert foot.volume_m3 == pytest.approx(0.08 * 0.08 * 0.01)

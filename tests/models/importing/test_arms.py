"""Arms from URDF and SDF files are the arms of the catalogue, which were made from the makers' figures."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.core.errors import BadInput, UnknownName
from cellwright.models import build
from cellwright.models.importing import ImportedArmFigures, write_figures
from cellwright.models.importing.drives import loads
from cellwright.motion import ArmKinematics

ARMS = {"ur5.urdf": "ur5", "lr_mate_200id.urdf": "lr_mate_200id", "sia20.sdf": "sia20f"}
VECTORS = {
    "ur5.urdf": [
        ((0, 0, 0, 0, 0, 0), (0.81725, 0.19145, -0.005491)),
        ((0.3, -1.2, 1.4, -0.9, -1.3, 0.5), (0.475931, 0.284520, 0.283868)),
    ],
    "lr_mate_200id.urdf": [
        ((0, 0, 0, 0, 0, 0), (0.465, 0, 0.695)),
        ((0.3, 0.4, -0.5, 0.6, -0.7, 0.8), (0.408770, 0.095987, 0.318922)),
    ],
    "sia20.sdf": [
        ((0, 0, 0, 0, 0, 0, 0), (0, 0, 1.5)),
        ((0.3, 0.4, -0.5, 0.6, -0.7, 0.8, 0.2), (-0.040437, 0.106529, 1.373198)),
    ],
}


@pytest.mark.parametrize("file", ARMS)
def test_the_flange_is_where_the_published_vectors_have_it(load, file):
    arm = ArmKinematics(load(file))
    for joints, position in VECTORS[file]:
        np.testing.assert_allclose(arm.forward(joints).position, position, atol=1e-6)


@pytest.mark.parametrize("file", ARMS)
def test_forward_kinematics_are_the_catalogue_s_to_1e_9(load, file):
    mine, ours = ArmKinematics(load(file)), ArmKinematics(ROBOTS.get(ARMS[file]))
    rng = np.random.default_rng(1)
    for _ in range(50):
        joints = rng.uniform(mine.lower_rad, mine.upper_rad)
        assert mine.forward(joints).is_close(ours.forward(joints), tolerance_m=1e-9, tolerance_rad=1e-7)


@pytest.mark.parametrize("file", ARMS)
def test_the_model_and_the_figures_agree_and_have_a_closed_form(load, file):
    figures = load(file)
    arm, model = ArmKinematics(figures), build(figures).compile()
    assert arm.method == "analytic"
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    for _ in range(10):
        joints = rng.uniform(arm.lower_rad, arm.upper_rad)
        for joint, angle in zip(figures.joints, joints, strict=True):
            data.joint(joint.name).qpos[0] = angle
        mujoco.mj_kinematics(model, data)
        pose = arm.forward(joints)
        np.testing.assert_allclose(data.site("flange").xpos, pose.position, atol=1e-9)
        np.testing.assert_allclose(data.site("flange").xmat.reshape(3, 3), pose.rotation_matrix, atol=1e-9)
        assert any(np.allclose(found, joints, atol=1e-5) for found in arm.inverse(pose, joints))


def test_nothing_is_fused_and_no_frame_is_lost(load):
    model = build(load("ur5.urdf")).compile()
    assert model.body_mass.sum() == pytest.approx(20.9939)
    names = {model.body(number).name for number in range(model.nbody)}
    assert {"base_link", "base", "shoulder_link", "wrist_3_link", "tool0", "flange"} <= names
    assert {"wrist_3_link", "tool0"} <= {model.site(number).name for number in range(model.nsite)}
    np.testing.assert_allclose(model.body("base_link").pos, 0, atol=1e-12)


def test_limits_of_the_file_are_kept_and_missing_ones_are_guessed_with_a_note(load):
    ur5, fanuc = load("ur5.urdf"), load("lr_mate_200id.urdf")
    assert [j.effort_limit_nm for j in ur5.joints] == [150, 150, 150, 28, 28, 28]
    assert [j.velocity_limit_radps for j in fanuc.joints] == [7.85, 6.63, 9.08, 9.60, 9.51, 17.45]
    assert not any("effort" in note.what for note in ur5.notes)
    efforts = [note for note in fanuc.notes if note.kind == "guessed" and "effort" in note.what]
    assert len(efforts) == 6
    masses = [note for note in fanuc.notes if "no inertial" in note.what]
    assert len(masses) == 7
    assert all("1000 kg/m3" in note.what for note in masses)


def test_efforts_of_the_file_are_kept_and_guessed_masses_and_payload_yield(load):
    figures = load("sia20.sdf")
    assert [joint.effort_limit_nm for joint in figures.joints] == [100] * 7
    notes = {note.where: note.what for note in figures.notes}
    assert "the effort of 'joint_l', 100 N m, carries no more" in notes["masses"]
    assert figures.payload_kg == pytest.approx(0.15 * sum(link.mass_kg for link in figures.links[1:]), rel=0.05)
    model = build(figures).compile()
    assert loads(model, ["joint_l"])[1][0] < 100 / 1.1
    said = load("sia20.sdf", mass_kg=40.0)  # a mass that somebody knows stays, the guessed payload yields alone
    assert said.mass_kg == pytest.approx(40.0)
    assert said.payload_kg < figures.payload_kg
    known = load("sia20.sdf", mass_kg=60.0, payload_kg=20.0)
    assert (known.joints[1].effort_limit_nm, known.payload_kg) == (100, 20.0)
    assert any("does not carry what hangs on it" in note.what for note in known.notes)


def test_neighbours_do_not_touch_even_at_the_welded_base(load):
    for file in ARMS:
        model = build(load(file)).compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        assert data.ncon == 0


def test_every_figure_has_a_source(load):
    for file in ARMS:
        assert load(file).unsourced() == []


def test_the_servos_hold_the_arm_and_move_it(load):
    figures = load("lr_mate_200id.urdf")
    model = build(figures).compile()
    data = mujoco.MjData(model)
    goal = np.array([0.4, 0.2, -0.3, 0.5, -0.6, 0.7])
    first = [model.actuator_ctrladr[model.actuator(joint.name).id] for joint in figures.joints]
    for step in range(1500):
        data.ctrl[first] = goal * min(1.0, step / 500)
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(data.qpos, goal, atol=1e-3)


def test_a_total_mass_scales_what_was_guessed(load):
    assert load("lr_mate_200id.urdf", mass_kg=25.0).mass_kg == pytest.approx(25.0)


def test_base_and_tip_can_be_chosen(load):
    short = load("ur5.urdf", base="shoulder_link", tip="wrist_1_link")
    assert [joint.name for joint in short.joints] == ["shoulder_lift_joint", "elbow_joint", "wrist_1_joint"]
    whole = load("ur5.urdf")
    angles = [0.3, -0.4, 0.5]
    pose = ArmKinematics(short).forward(angles)
    model = build(whole).compile()
    data = mujoco.MjData(model)
    for joint, angle in zip(short.joints, angles, strict=True):
        data.joint(joint.name).qpos[0] = angle
    mujoco.mj_kinematics(model, data)
    base, tip = data.body("shoulder_link"), data.body("wrist_1_link")
    expected = base.xmat.reshape(3, 3).T @ (tip.xpos - base.xpos)
    np.testing.assert_allclose(pose.position, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"tip": "tool9"}, UnknownName, "did you mean 'tool0'"),
        ({"base": "nowhere"}, UnknownName, "unknown link 'nowhere'"),
        ({"base": "tool0", "tip": "base_link"}, BadInput, "does not hang on"),
        ({"joints": {"joint_9": {"effort_nm": 1}}}, UnknownName, "unknown joint 'joint_9'"),
        ({"home_rad": (0.0,)}, BadInput, "home_rad: has 1 angles"),
    ],
)
def test_what_does_not_fit_is_said(load, settings, error, words):
    with pytest.raises(error, match=words):
        load("lr_mate_200id.urdf", "arm", **settings)


def test_figures_on_disk_give_the_same_arm(load, tmp_path, data):
    figures = load("lr_mate_200id.urdf")
    settings = ModelSettings(file="lr_mate_200id.urdf")
    written = write_figures(figures, settings, data / "lr_mate_200id.urdf", tmp_path)
    assert [path.name for path in written] == ["mine.yaml", "mine.xml"]
    again = load(tmp_path / "mine.yaml")
    assert isinstance(again, ImportedArmFigures)
    for field in ("joints", "links", "flange_xyz_m", "flange_rpy_rad", "payload_kg", "mass_kg", "home_rad"):
        assert getattr(again, field) == getattr(figures, field), field


def test_figures_on_disk_give_the_same_gripper(load, tmp_path, data):
    figures = load("gripper.urdf")
    written = write_figures(figures, ModelSettings(file="gripper.urdf"), data / "gripper.urdf", tmp_path)
    again = load(written[0])
    for field in ("open_m", "closed_m", "tcp_xyz_m", "grip_force_n", "closing_time_s"):
        assert getattr(again, field) == pytest.approx(getattr(figures, field), abs=1e-6), field


def test_a_figure_that_somebody_gives_takes_the_place_of_a_guess(load):
    figures = load("lr_mate_200id.urdf", joints={"joint_2": {"effort_nm": 280.0, "gear_ratio": 80.0}}, payload_kg=7.0)
    assert figures.joints[1].effort_limit_nm == 280.0
    assert figures.joints[1].gear_ratio == 80.0
    assert figures.payload_kg == 7.0
    assert not any(note.where in ("joint joint_2", "payload") for note in figures.notes)


SRDF = """<robot name="ur5"><group name="arm"><chain base_link="shoulder_link" tip_link="wrist_3_link"/></group>
<group_state name="home" group="arm"><joint name="elbow_joint" value="0"/></group_state>
<group_state name="ready" group="arm"><joint name="elbow_joint" value="1.2"/><joint name="wrist_1_joint" value="-0.4"/>
</group_state><disable_collisions link1="{}" link2="upper_arm_link" reason="Never"/></robot>"""


def test_an_srdf_tells_pairs_ends_and_a_pose_to_start_from(load, data, tmp_path):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "urdf" / "ur5.urdf").write_bytes((data / "ur5.urdf").read_bytes())
    srdf = tmp_path / "config" / "ur5.srdf"
    srdf.write_text(SRDF.format("wrist_3_link"))
    arm = load(tmp_path / "urdf" / "ur5.urdf")
    assert (arm.base_link, arm.tip_link, len(arm.joints)) == ("shoulder_link", "wrist_3_link", 5)
    assert arm.home_rad == (0.0, 1.2, -0.4, 0.0, 0.0)
    pairs = {frozenset((pair.bodyname1, pair.bodyname2)) for pair in arm.spec.excludes}
    assert frozenset(("wrist_3_link", "upper_arm_link")) in pairs
    assert {"SRDF", "home"} <= {note.where for note in arm.notes}
    srdf.write_text(SRDF.format("elsewhere"))  # not of this robot: found no more, but it may be named
    assert load(tmp_path / "urdf" / "ur5.urdf").base_link == "base_link"
    named = load(tmp_path / "urdf" / "ur5.urdf", srdf=str(srdf))
    assert any("link 'elsewhere' does not exist" in note.what for note in named.notes)


def test_a_flange_is_found_behind_a_prefix(load, data, tmp_path):
    text = (data / "ur5.urdf").read_text().replace('"tool0"', '"left_tool0"')
    (tmp_path / "ur5.urdf").write_text(text)
    assert load(tmp_path / "ur5.urdf").tip_link == "left_tool0"


@pytest.mark.filterwarnings("error")
def test_options_of_a_file_leave_nothing_that_could_contradict_a_cell(load, tmp_path):
    link = "<body name='{0}' pos='0 0 .2'><joint name='j{0}' axis='{1}' range='-90 90'/><geom size='.03'/>"
    bodies = "".join(link.format(f"l{n}", "0 0 1" if n % 2 else "0 1 0") for n in range(4)) + "</body>" * 4
    option = "<option integrator='implicitfast' cone='elliptic' timestep='.01'/>"
    (tmp_path / "own.xml").write_text(f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>")
    arm = load(tmp_path / "own.xml", "arm")
    assert [note.what for note in arm.notes if "<option>" in note.what]
    whole = mujoco.MjSpec()
    whole.option.integrator, whole.option.timestep = mujoco.mjtIntegrator.mjINT_DISCRETE, 0.001
    whole.worldbody.add_frame().attach_body(build(arm).worldbody.first_body(), "r/", "")
    assert whole.compile().opt.timestep == 0.001
    assert "<option" not in arm.spec.to_xml()

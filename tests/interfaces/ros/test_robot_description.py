"""Frames and descriptions have the same names, and say where the robots are as far as anybody can know."""

from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.interfaces.ros.graph_rig import graph_rig

from cellwright.core.pose import Pose
from cellwright.models.importing import Notes, read_description

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def aprs():
    with graph_rig("aprs", seed=5) as rig:
        rig.listen_to_tf()
        rig.joint_states = rig.hear("/joint_states")
        rig.own_states = rig.hear("/fanuc/joint_states")
        home = rig.lab.robot("fanuc").joints_rad
        rig.lab.perform(rig.lab.robot("fanuc").move_joints(home + np.radians([20, 8, -6, 15, 10, 30])))
        rig.lab.perform(rig.lab.robot("fanuc").move_gripper(0.006))
        rig.lab.advance(0.1)
        yield rig


def of_urdf(text):
    root = ET.fromstring(text)
    links = {link.get("name") for link in root.findall("link")}
    joints = {joint.get("name"): joint.get("type") for joint in root.findall("joint")}
    return links, {name for name, kind in joints.items() if kind != "fixed"}, root


def test_links_of_the_descriptions_are_frames_of_the_tree(aprs):
    frames = {"world", *(frame.child for frame in aprs.graph.frames)}
    links, _, _ = of_urdf(aprs.graph.parameters["/robot_description"])
    assert {"fanuc/base_link", "fanuc/tool0", "motoman/tool/tcp", "world"} <= links <= frames
    for robot in ("fanuc", "motoman"):
        links, _, _ = of_urdf(aprs.graph.parameters[f"/{robot}/robot_description"])
        assert links <= frames
        assert all(link == "world" or link.startswith(f"{robot}/") for link in links)


def test_joints_of_the_descriptions_are_those_of_the_joint_states(aprs):
    _, moving, _ = of_urdf(aprs.graph.parameters["/robot_description"])
    assert {name for message in aprs.joint_states for name in message.name} == moving
    _, moving, _ = of_urdf(aprs.graph.parameters["/fanuc/robot_description"])
    assert set(aprs.own_states[-1].name) == moving - {"tool/finger_left", "tool/finger_right"}


def test_all_joints_are_in_one_message_as_measured(aprs):
    merged = [message for message in aprs.joint_states if message.name[0].startswith("fanuc/")][-1]
    assert len(merged.name) == len(merged.position) == len(merged.velocity) == len(merged.effort) == 8
    own = aprs.own_states[-1]
    assert merged.position[:6].tolist() == own.position.tolist()
    assert merged.header.stamp == own.header.stamp
    assert merged.position[6] == pytest.approx(0.003, abs=2e-4)  # half of what is between the fingers


def test_the_chain_leads_to_the_tool_as_the_robot_knows_it(aprs):
    for name, robot in aprs.lab.robots.items():
        chain = aprs.frame_in_world(f"{name}/tool/tcp")
        error = chain.inverse() @ robot.tool_in_world
        assert np.linalg.norm(error.position) < 1e-4  # what the arm moved since the last report, and its noise
        assert np.abs(error.rpy).max() < 2e-4


def test_the_chain_is_the_measured_one_and_the_truth_differs_by_the_errors_of_the_cell(aprs):
    world = aprs.lab.world
    for name in aprs.lab.robots:
        away_m = np.linalg.norm(aprs.frame_in_world(f"{name}/tool/tcp").position - world.tcp_pose(name).position)
        assert 1e-5 < away_m < 0.01


def test_fingers_move_with_the_width_that_the_gripper_reports(aprs):
    left, right = (aprs.frame_in_world(f"fanuc/tool/finger_{side}").position for side in ("left", "right"))
    tool = aprs.frame_in_world("fanuc/tool/tool")
    apart_m = abs((tool.inverse().apply(left) - tool.inverse().apply(right))[0])
    assert apart_m == pytest.approx(0.006, abs=5e-4)


def test_frames_in_messages_are_frames_of_the_tree(aprs):
    frames = {"world", *(frame.child for frame in aprs.graph.frames)}
    wrenches = aprs.hear("/fanuc/wrench")
    aprs.lab.advance(0.1)
    assert wrenches[0].header.frame_id in frames
    assert aprs.frame_in_world("fanuc/flange").is_close(aprs.frame_in_world("fanuc/tool0"))


def test_meshes_are_files_of_this_machine(aprs):
    _, _, root = of_urdf(aprs.graph.parameters["/fanuc/robot_description"])
    meshes = [mesh.get("filename") for mesh in root.iter("mesh")]
    assert meshes
    for uri in meshes:
        parsed = urlparse(uri)
        assert parsed.scheme == "file"
        assert Path(url2pathname(parsed.path)).stat().st_size > 84  # more than the head of an STL


def test_a_reader_of_urdf_finds_the_chain_where_the_tree_has_it(aprs, tmp_path):
    file = tmp_path / "motoman.urdf"
    file.write_text(aprs.graph.parameters["/motoman/robot_description"])
    notes = Notes()
    (placed,) = read_description(file, (), notes).models
    model, robot = placed.model, aprs.lab.robot("motoman")
    angles = {f.name: angle for f, angle in zip(robot.kinematics.arm.joints, robot.joints_rad, strict=True)}
    link, pose = "motoman_tool0", Pose.identity()  # the reader's names have no slashes
    while link != "world":
        joint = model.joint_of(link)
        half = angles.get(joint.name, 0.0) / 2
        turn = Pose(np.zeros(3), np.array([np.cos(half), *(np.array(joint.axis) * np.sin(half))]))
        pose, link = joint.pose @ turn @ pose, joint.parent
    assert np.linalg.norm(pose.position - aprs.frame_in_world("motoman/tool0").position) < 1e-4


def test_cameras_are_where_they_were_calibrated_and_not_where_they_are():
    with graph_rig("rovi", seed=4) as rig:
        rig.listen_to_tf()
        world = rig.lab.world
        for side in ("left", "right"):
            told = rig.frame_in_world(f"stereo/{side}/optical").position
            assert np.allclose(told, world.calibrated_cameras[f"stereo_{side}"].pose_in_world.position, atol=1e-12)
            assert np.linalg.norm(told - world.layout.cameras[f"stereo_{side}"].pose_in_world.position) > 1e-5
        ahead = rig.frame_in_world("detector_pick/optical").rotation_matrix[:, 2]
        assert ahead[2] < -0.5  # z of an optical frame is the way that it looks: downwards here


def test_frames_are_the_same_whatever_the_seed():
    tellings = []
    for seed in (1, 2):
        with graph_rig("rovi", seed=seed) as rig:
            tellings.append((rig.graph.frames, rig.graph.parameters))
    assert tellings[0] == tellings[1]  # the errors of the actual cell are not in them


def test_a_robot_with_a_changer_ends_at_the_changer():
    with graph_rig("kitting") as rig:
        rig.listen_to_tf()
        rig.lab.advance(0.1)
        error = rig.frame_in_world("motoman/flange").inverse() @ rig.lab.robot("motoman").tool_in_world
        assert np.linalg.norm(error.position) < 1e-4
        assert "motoman/changer/changer" in rig.transforms

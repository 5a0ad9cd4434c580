"""Bags with the tools of Debian's ROS: ours are played, theirs go through perception."""

from __future__ import annotations

import os
import re
import signal

import numpy as np
import pytest
from tests.interfaces.ros.roscore import Roscore, ServedCell, need_ros

from cellwright.catalogue import ROBOTS
from cellwright.drawings.prior import Drawings
from cellwright.exchange import ExportOptions, export_log, perceive, read_recording
from cellwright.lab import Lab
from cellwright.lab.cell_file import read_cell
from cellwright.motion.kinematics import ArmKinematics
from cellwright.record import read_log

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    need_ros()
    roscore = Roscore(tmp_path_factory.mktemp("ros"))
    roscore.start()
    yield roscore
    roscore.kill()


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bag")
    with Lab.from_cell("aprs", seed=4) as lab:
        lab.record(folder / "run.mcap")
        lab.advance(1.0)
    export_log(read_log(folder / "run.mcap"), folder / "run.bag", "bag", ExportOptions(topics=["/*/joint_states"]))
    return folder / "run.bag"


def test_rosbag_plays_a_run_and_tf_knows_where_the_flange_is(ros, bag):
    ros.run("rosparam", "set", "/use_sim_time", "true")
    player = ros.popen("rosbag", "play", "--clock", "--keep-alive", "--rate", 0.5, "--delay", 2, bag)
    try:
        said = ros.run("/usr/lib/tf/tf_echo", "world", "fanuc/tool0", within_s=8)
    finally:
        os.killpg(player.pid, signal.SIGKILL)  # the player is a child of what was started
        player.communicate()
        ros.run("rosparam", "set", "/use_sim_time", "false")
    places = re.findall(r"Translation: \[(.+), (.+), (.+)\]", said)
    assert places, said
    (joints,) = [entry.message.position for entry in read_recording(bag).entries(["/fanuc/joint_states"])][-1:]
    drawings = Drawings.of(read_cell("aprs", 0))
    arm = ArmKinematics(ROBOTS.get(drawings.cell.robots["fanuc"].model))
    flange = drawings.layout.bases["fanuc"] @ arm.forward(joints)
    np.testing.assert_allclose([float(number) for number in places[-1]], flange.position, atol=0.0011)


def test_what_rosbag_records_of_a_served_cell_goes_through_perception(ros, tmp_path):
    served = ServedCell(ros, tmp_path, "aprs", "--seed", "4")
    try:
        topics = ("/detector_fanuc/detections", "/detector_motoman/detections", "/fanuc/joint_states")
        ros.run("rosbag", "record", "-O", tmp_path / "field.bag", "--duration=3", *topics, within_s=30)
    finally:
        served.close()
    recording = read_recording(tmp_path / "field.bag")
    assert set(recording.topics) == set(topics)
    assert recording.topics["/fanuc/joint_states"].rate_hz == pytest.approx(50, rel=0.2)
    made = perceive(recording, "aprs")
    assert set(made.frames) == {"detector_fanuc", "detector_motoman"}
    assert not made.notes
    last = made.tracks[-1]
    with Lab.from_cell("aprs", seed=4) as lab:
        for name in ("large_gear_1", "medium_gear_1", "small_gear_8"):
            off = last.positions[last.identities.index(name), :2] - lab.world.pose_of(name).position[:2]
            assert np.linalg.norm(off) < 0.006, name

"""What lasts: no message is lost at 500 Hz, and the bridge outlives stalled subscribers, roscore, nodes and itself."""

from __future__ import annotations

import os
import re
import signal

import numpy as np
import pytest
from tests.interfaces.ros.roscore import SYSTEM_PYTHON, ServedCell, wait_for

pytestmark = pytest.mark.peer

FAST_JOINTS = """
name: fast_joints
title: An arm whose joints are told 500 times a second
timestep_s: 0.002
robots: {ur5: {model: ur5, base: {xyz_m: [0.0, 0.0, 0.0]}, crcl: {port: 0}}}
fixtures: {floor: {model: floor, pose: {xyz_m: [0.0, 0.0, 0.0]}}}
sensors: [{type: joint_state, robot: ur5, rate_hz: 500}]
"""

COUNT = """
import json, sys, threading
import rospy, roslib.message, rostopic
rospy.init_node("counter", anonymous=True)
topic, wanted = sys.argv[1], int(sys.argv[2])
kind, _, _ = rostopic.get_topic_class(topic)
seen, done = [], threading.Event()
def take(message):
    seen.append((message.header.seq, message.header.stamp.to_nsec()))
    if len(seen) >= wanted: done.set()
rospy.Subscriber(topic, kind, take, tcp_nodelay=True)
done.wait(20)
print(json.dumps({"numbers": [a for a, _ in seen[:wanted]], "stamps_ns": [b for _, b in seen[:wanted]]}))
"""

NEVER_READ = """
import os, signal, socket, struct, sys
from xmlrpc.client import ServerProxy
from rosgraph.network import write_ros_handshake_header
master = ServerProxy(os.environ["ROS_MASTER_URI"])
node = ServerProxy(master.lookupNode("/stalled", "/cellwright")[2])
_, _, (_, host, port) = node.requestTopic("/stalled", sys.argv[1], [["TCPROS"]])
end = socket.socket()
end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
end.connect((host, port))
write_ros_handshake_header(end, {"topic": sys.argv[1], "md5sum": "*", "type": "*", "callerid": "/stalled"})
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
signal.sigwait([signal.SIGUSR1])
read = end.makefile("rb")
read.read(*struct.unpack("<I", read.read(4)))
numbers = []
while not numbers or numbers[-1] - numbers[0] < int(sys.argv[2]):
    (length,) = struct.unpack("<I", read.read(4))
    numbers += struct.unpack("<I", read.read(length)[:4])
print(numbers[-1] - numbers[0] + 1 - len(numbers))
"""


@pytest.fixture(scope="module")
def arm(ros, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "cell.yaml").write_text(FAST_JOINTS)
    served = ServedCell(ros, folder, folder / "cell.yaml")
    yield served
    assert served.is_alive, served.said()
    served.close()


def time_s(ros):
    """Returns simulation time, as a new subscriber of the clock learns it."""
    said = ros.run("rostopic", "echo", "-n", 1, "-p", "/clock")
    return int(said.strip().splitlines()[-1].split(",")[-1]) / 1e9


def test_joint_states_at_500_hz_arrive_without_loss(ros, arm):
    seen = ros.python(COUNT, "/ur5/joint_states", 2000)
    assert np.diff(seen["numbers"]).tolist() == [1] * 1999
    assert np.diff(seen["stamps_ns"]).tolist() == [2_000_000] * 1999


def test_everything_is_registered_anew_with_a_roscore_that_was_started_again(ros, arm):
    hearer = ros.popen("rostopic", "hz", "--wall-time", "/ur5/joint_states")
    wait_for(lambda: hearer.stdout.readline().startswith("average"), "messages")
    before_s = time_s(ros)
    ros.kill()
    wait_for(lambda: "the roscore does not answer" in arm.said(), "the line")
    assert [hearer.stdout.readline() for _ in range(2)] != ["", ""]  # who is connected still hears
    ros.start()
    wait_for(arm.is_known, "the bridge")
    wait_for(lambda: "a new roscore at" in arm.said(), "the line")
    os.killpg(hearer.pid, signal.SIGKILL)
    hearer.communicate()
    assert time_s(ros) > before_s
    assert "/ur5/joint_states" in ros.run("rostopic", "list")
    assert "/cellwright/get_loggers" in ros.run("rosservice", "list")


@pytest.mark.parametrize("end", ["node", "process"])
def test_another_bridge_takes_the_place_of_one_that_is_killed(ros, arm, end):
    before_s, lines = time_s(ros), arm.said().count("ros1 is there again")
    if end == "node":
        ros.run("rosnode", "kill", "/cellwright")
    else:
        (bridge,) = arm.children()
        os.kill(bridge, signal.SIGKILL)
    wait_for(lambda: arm.said().count("ros1 is there again") > lines, "another process")
    wait_for(arm.is_known, "the bridge")
    assert time_s(ros) > before_s
    assert "the process of ros1 has gone; another one is started" in arm.said()


def test_a_subscriber_that_never_reads_costs_only_its_own_messages(ros, arm):
    stalled = ros.popen(SYSTEM_PYTHON, "-c", NEVER_READ, "/ur5/joint_states", 3000)
    try:
        seen = ros.python(COUNT, "/ur5/joint_states", 3000)
        wait_for(lambda: "/stalled reads /ur5/joint_states too slowly" in arm.said(), "the line")
        os.kill(stalled.pid, signal.SIGUSR1)  # it reads at last, and the oldest that waited are not there any more
        lost, _ = stalled.communicate(timeout=30)
        assert int(lost) > 0
    finally:
        if stalled.poll() is None:
            os.killpg(stalled.pid, signal.SIGKILL)
            stalled.communicate()
    assert np.diff(seen["stamps_ns"]).tolist() == [2_000_000] * 2999
    counts = re.findall(r"/stalled reads .* dropped \((\d+) times\)", arm.said())
    assert counts == sorted(counts, key=int)

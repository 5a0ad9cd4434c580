"""A cell served to a real roscore, looked at and driven with the tools of Debian's ROS."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit
from xmlrpc.client import ServerProxy

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore
from tests.interfaces.ros.roscore import SYSTEM_PYTHON, ServedCell, wait_for

from cellwright.interfaces.ros.types import RosTypes, short_name

pytestmark = pytest.mark.peer

SEND_BADLY = """
import json, time
import rospy
from std_msgs.msg import String, UInt8MultiArray
from geometry_msgs.msg import Twist
rospy.init_node("careless")
speeds = rospy.Publisher("/ePuck0/cmd_vel", Twist, queue_size=5)
leds = rospy.Publisher("/ePuck0/cmd_led", UInt8MultiArray, queue_size=5)
while not (speeds.get_num_connections() and leds.get_num_connections()): time.sleep(0.05)
nan = Twist(); nan.linear.x = float("nan")
speeds.publish(nan)
leds.publish(data=bytes(100_000_000))
leds.publish(data=[0, 0, 0, 0, 0, 0, 0, 9])
rospy.Publisher("/ePuck1/cmd_vel", String, queue_size=1)
time.sleep(2.0)
print(json.dumps({"connected": leds.get_num_connections()}))
"""

CHECKSUMS = """
import importlib, json, sys
sums = {}
for name in sys.argv[1:]:
    package, kind, short = name.split("/")
    try:
        sums[name] = getattr(importlib.import_module(f"{package}.{kind}"), short)._md5sum
    except ImportError:
        pass
print(json.dumps(sums))
"""


@pytest.fixture(scope="module")
def epucks(ros, tmp_path_factory):
    served = ServedCell(ros, tmp_path_factory.mktemp("served"), "epucks")
    yield served
    assert served.is_alive, served.said()
    served.close()


def place_of(ros, robot="ePuck0"):
    """Returns where a robot believes it is, as `rostopic echo` prints it."""
    said = ros.run("rostopic", "echo", "-n", 1, "-p", f"/{robot}/odom/pose/pose/position")
    return np.array([float(number) for number in said.strip().splitlines()[-1].split(",")[1:]])


def test_tools_see_the_topics_and_their_types(ros, epucks):
    topics = ros.run("rostopic", "list").split()
    assert {"/clock", "/tf", "/tf_static", "/ePuck0/odom", "/ePuck3/cmd_vel"} <= set(topics)
    assert ros.run("rostopic", "type", "/ePuck0/odom").strip() == "nav_msgs/Odometry"
    said = ros.run("rosnode", "info", "/cellwright")
    assert " * /ePuck0/odom [nav_msgs/Odometry]" in said
    assert " * /ePuck0/cmd_vel" in said.partition("Subscriptions")[2]


def test_simulation_time_is_the_time_of_ros(ros, epucks):
    assert ros.run("rosparam", "get", "/use_sim_time").strip() == "true"
    rates = re.findall(r"average rate: ([\d.]+)", ros.run("rostopic", "hz", "/ePuck0/odom", within_s=3.0))
    assert float(rates[-1]) == pytest.approx(25, rel=0.1)  # by /clock, whatever else the machine does


def test_a_robot_is_driven_and_its_frame_follows(ros, epucks):
    turn = "{angular: {z: 1.0}}"
    ros.run("rostopic", "pub", "-r", 20, "/ePuck0/cmd_vel", "geometry_msgs/Twist", turn, within_s=2.5)
    echo = ros.run("/usr/lib/tf/tf_echo", "odom", "ePuck0/base_prox0", within_s=2.5)
    tells = re.findall(r"Translation: \[(.*?)\]", echo)
    sensors = np.array([[float(number) for number in tell.split(",")] for tell in tells[-2:]])
    assert np.linalg.norm(sensors[1] - sensors[0]) > 0.02  # it turns on the spot
    radii = np.linalg.norm(sensors[:, :2] - place_of(ros)[:2], axis=1)
    assert radii == pytest.approx([0.0365, 0.0365], abs=0.003)  # the ring on which the sensors are


def test_what_rosbag_records_is_read_and_what_is_written_it_plays(ros, epucks, tmp_path):
    ros.run("rosbag", "record", "-O", tmp_path / "kept.bag", "--duration=1", "/ePuck1/odom", "/tf", "/clock")
    with AnyReader([tmp_path / "kept.bag"]) as bag:
        kinds = {connection.topic: connection.msgtype for connection in bag.connections}
        assert kinds == {
            "/ePuck1/odom": "nav_msgs/msg/Odometry",
            "/tf": "tf2_msgs/msg/TFMessage",
            "/clock": "rosgraph_msgs/msg/Clock",
        }
        poses = [c for c in bag.connections if c.topic == "/ePuck1/odom"]
        stamps = [bag.deserialize(raw, c.msgtype).header.stamp for c, _, raw in bag.messages(poses)]
        times_s = np.array([stamp.sec + stamp.nanosec / 1e9 for stamp in stamps])
        assert len(times_s) > 10
        assert np.diff(times_s) == pytest.approx(np.full(len(times_s) - 1, 0.04), abs=1e-6)

    store = get_typestore(Stores.ROS1_NOETIC)
    vector = store.types["geometry_msgs/msg/Vector3"]
    twist = store.types["geometry_msgs/msg/Twist"](linear=vector(x=0.03, y=0, z=0), angular=vector(x=0, y=0, z=0))
    with Writer(tmp_path / "drive.bag") as bag:
        topic = bag.add_connection("/ePuck1/cmd_vel", "geometry_msgs/msg/Twist", typestore=store)
        for number in range(10):
            bag.write(topic, 10**9 + number * 10**8, store.serialize_ros1(twist, twist.__msgtype__))
    before = place_of(ros, "ePuck1")
    ros.run("rosbag", "play", tmp_path / "drive.bag")
    assert place_of(ros, "ePuck1")[0] > before[0] + 0.01


def test_what_cannot_be_taken_is_refused_counted_and_told(ros, epucks):
    assert ros.python(SEND_BADLY) == {"connected": 1}  # whoever sends badly stays connected
    wait_for(lambda: "topic types do not match" in epucks.said(), "the line")
    said = epucks.said()
    assert re.search(r"refused: /ePuck0/cmd_vel: .*nan", said)
    assert "refused: a message of 100.0 MB on /ePuck0/cmd_led" in said
    assert re.search(r"refused: /ePuck0/cmd_led: .* not .*9", said)
    assert re.search(
        r"refused: a publisher of /ePuck1/cmd_vel: .*\[geometry_msgs/Twist\] vs. \[std_msgs/String\]", said
    )
    assert place_of(ros, "ePuck2") == pytest.approx([-0.1, 0.1, 0.0], abs=0.01)  # nobody else suffers


def header_of(**fields):
    """Returns what a peer says first when it connects."""
    lines = [f"{key}={value}".encode() for key, value in fields.items()]
    said = b"".join(struct.pack("<I", len(line)) + line for line in lines)
    return struct.pack("<I", len(said)) + said


def test_connections_that_say_nothing_or_too_much_hinder_nobody(ros, epucks):
    master = ServerProxy(ros.uri)
    where = urlsplit(master.lookupService("/test", "/cellwright/fault")[2])
    place = where.hostname, where.port
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(place)) for _ in range(3)]
        silent[0].sendall(b"\x20\0\0")
        assert "success: True" in ros.run("rosservice", "call", "/cellwright/resume")  # by a connection of its own
        assert place_of(ros) is not None
        long, call = (stack.enter_context(socket.create_connection(place, timeout=10)) for _ in range(2))
        long.sendall(struct.pack("<I", 2**31))
        call.sendall(header_of(callerid="/test", service="/cellwright/fault", md5sum="*"))
        assert b"callerid=/cellwright" in call.recv(4096)
        call.sendall(struct.pack("<I", 100_000_000))
        for end in (long, call, *silent):
            end.settimeout(20)
            with suppress(ConnectionResetError):
                assert end.recv(1) == b""  # each is ended
    said = epucks.said()
    assert "refused: a connection: its header would have 2147483648 bytes" in said
    assert "refused: a request of 100.0 MB for /cellwright/fault" in said
    assert "refused: a connection: no header came in time" in said


def test_checksums_are_those_of_debian(ros):
    types = RosTypes({})
    names = sorted(name for name in types.ros1.fielddefs if "/msg/" in name and not name.startswith("builtin"))
    services = ["std_srvs/srv/Empty", "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"]
    sums = ros.python(CHECKSUMS, *names, *services)
    ours = {name: types.service_md5(name) if "/srv/" in name else types.md5(name) for name in sums}
    assert {short_name(name) for name in sums} >= {"nav_msgs/Odometry", "tf2_msgs/TFMessage", "std_srvs/SetBool"}
    assert ours == sums


def test_rviz_draws_the_frames_of_the_robots(ros, epucks, tmp_path):
    if shutil.which("rviz") is None or shutil.which("Xvfb") is None:
        pytest.skip("no rviz or Xvfb; on Debian: apt install rviz xvfb")
    view = Path(__file__).parents[3] / "examples" / "mobile" / "epucks.rviz"
    reader, writer = os.pipe()  # on which the display tells its number
    display = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-fbdir", str(tmp_path)],
        pass_fds=[writer],
        stderr=subprocess.DEVNULL,
    )
    try:
        screen = os.read(reader, 20).decode().strip()
        software = {"DISPLAY": f":{screen}", "LIBGL_ALWAYS_SOFTWARE": "1", "QT_X11_NO_MITSHM": "1"}
        rviz = ros.popen("rviz", "-d", view, **software)
        try:
            wait_for(lambda: min(pixels_of_axes(tmp_path / "Xvfb_screen0")) > 150, "axes in the picture")
        finally:
            os.killpg(rviz.pid, signal.SIGKILL)
            rviz.communicate()
    finally:
        display.kill()
        display.wait()
        os.close(reader)
        os.close(writer)


def pixels_of_axes(screen):
    """Returns how many pixels of the view are as red, green and blue as the axes of frames: of an X window dump."""
    dump = screen.read_bytes()
    head = struct.unpack(">25I", dump[:100])
    start, width, height, line_bytes, colours = head[0], head[4], head[5], head[12], head[19]
    rows = np.frombuffer(dump, np.uint8, line_bytes * height, start + 12 * colours).reshape(height, line_bytes)
    view = rows[:, : 4 * width].reshape(height, width, 4)[70:760, 370:1260, 2::-1].astype(int)  # beside the panel
    return [int(((view[..., c] > 110) & (np.delete(view, c, -1).max(-1) < 40)).sum()) for c in range(3)]


def test_a_program_with_nothing_but_rospy_turns_away_from_another_robot(ros, epucks):
    program = Path(__file__).parents[3] / "examples" / "mobile" / "avoid_walls.py"
    x_m, y_m = place_of(ros, "ePuck2")[:2]
    driver = ros.popen(SYSTEM_PYTHON, program, "_speed:=0.1", ROS_NAMESPACE="ePuck2")  # ePuck3 stands ahead of it
    wait_for(lambda: abs(place_of(ros, "ePuck2")[1] - y_m) > 0.03, "another way")
    os.killpg(driver.pid, signal.SIGINT)
    assert "Traceback" not in driver.communicate()[0]
    assert place_of(ros, "ePuck2")[0] < x_m + 0.2 - 2 * 0.035  # it has not pushed it


def test_types_that_ros_does_not_have_are_read_from_written_packages(ros, epucks, tmp_path):
    command = [sys.executable, "-m", "cellwright", "ros", "messages", "epucks", "--out", tmp_path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    paths = {name: f"/usr/share:{path}" for name, path in re.findall(r"export (\w+)=.*[:}](/\S+)", said)}
    assert "left_wheel" in ros.run("rostopic", "echo", "-n", 1, "/ePuck0/encoders", **paths)
    assert "int64[] counts" in ros.run("rosmsg", "show", "cellwright_msgs/Encoder", **paths)

    def told(service, request="{}"):
        return ros.run("rosservice", "call", f"/cellwright/{service}", request, **paths)

    assert "success: True" in told("pause")
    times_s = [float(re.search(r"time_s: (\S+)", told("info"))[1]) for _ in range(2)]
    assert times_s[0] == times_s[1]
    assert "success: True" in told("resume")
    assert float(re.search(r"time_s: (\S+)", told("info"))[1]) > times_s[1]
    assert "unknown object 'nobody'" in told("place", "{name: nobody}")

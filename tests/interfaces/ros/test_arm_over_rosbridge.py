"""A program at a WebSocket drives an arm of a served cell, grips, pauses time, and is told what it did wrong."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from websockets.sync.client import connect

from cellwright.core.pose import Pose

pytestmark = pytest.mark.slow
PATIENCE_S = 30.0


class Client:
    """Speaks rosbridge, and keeps the last message of each topic."""

    def __init__(self, address):
        self.socket = connect(address, max_size=2**24)
        self.latest, self.frames, self.ids = {}, {}, 0

    def send(self, **op):
        self.socket.send(json.dumps(op))

    def take(self, timeout_s=PATIENCE_S):
        said = json.loads(self.socket.recv(timeout=timeout_s))
        if said["op"] == "publish":
            self.latest[said["topic"]] = said["msg"]
            for one in said["msg"].get("transforms", ()):
                place, turn = one["transform"]["translation"], one["transform"]["rotation"]
                pose = Pose(np.array([place[k] for k in "xyz"]), np.array([turn[k] for k in "wxyz"]))
                self.frames[one["child_frame_id"]] = one["header"]["frame_id"], pose
        return said

    def until(self, is_so):
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            self.take()
            if is_so():
                return
        raise AssertionError(f"waited {PATIENCE_S} s: {self.latest}")

    def call(self, service, **args):
        self.ids += 1
        self.send(op="call_service", service=service, args=args, id=f"call {self.ids}")
        while (said := self.take())["op"] != "service_response" or said["id"] != f"call {self.ids}":
            pass
        return said

    def in_world(self, frame):
        pose = Pose.identity()
        while frame != "world":
            parent, step = self.frames[frame]
            pose, frame = step @ pose, parent
        return pose

    @property
    def position(self):
        state = self.latest["/joint_states"]
        return dict(zip(state["name"], state["position"], strict=True))


@pytest.fixture(scope="module")
def served():
    command = [sys.executable, "-m", "cellwright", "serve", "rovi", "--any-port", "--json", "--bridge", "rosbridge"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = json.loads(process.stdout.readline())
        yield process, said["bridges"]["rosbridge"]
        process.terminate()


@pytest.fixture(scope="module")
def client(served):
    client = Client(served[1])
    for topic in ("/joint_states", "/tf", "/tf_static", "/clock"):
        client.send(op="subscribe", topic=topic)
    client.until(lambda: "/joint_states" in client.latest and "ur5/link_6" in client.frames)
    return client


def test_the_arm_goes_where_a_joint_state_says_and_the_tree_follows(client):
    before = client.in_world("ur5/tool/tcp").position
    goal = {"joint_1": 1.2, "joint_6": 0.5}
    command = {"name": [*goal], "position": [*goal.values()]}
    client.send(op="advertise", topic="/ur5_joint_position_controller/command", type="sensor_msgs/JointState")
    client.send(op="publish", topic="/ur5_joint_position_controller/command", msg=command)
    client.until(lambda: all(abs(client.position[name] - angle) < 1e-3 for name, angle in goal.items()))
    client.until(lambda: "/tf" in client.latest)
    moved = client.in_world("ur5/tool/tcp").position - before
    radius_m = np.hypot(*(before - client.in_world("ur5/base_link").position)[:2])
    assert np.linalg.norm(moved) == pytest.approx(2 * radius_m * np.sin(0.185), rel=0.02)


def test_fingers_close_and_open_by_efforts(client):
    topic = "/wsg_hybrid_controller/command"
    for effort, is_there in ((-50.0, lambda x: x < 0.002), (30.0, lambda x: x > 0.05)):
        client.send(op="publish", topic=topic, type="std_msgs/Float64", msg={"data": effort})
        client.until(lambda is_there=is_there: is_there(client.position["tool/finger_left"]))


def test_time_is_paused_and_goes_on_while_the_bridge_answers(client):
    def now_s():
        clock = client.latest["/clock"]["clock"]
        return clock.get("sec", clock.get("secs")) + 1e-9 * clock.get("nanosec", clock.get("nsecs"))

    assert client.call("/cellwright/pause")["result"]
    first = client.call("/cellwright/info")["values"]
    assert first["is_paused"]
    assert client.call("/cellwright/info")["values"]["time_s"] == first["time_s"]
    assert client.call("/cellwright/step", duration_s=0.25)["result"]
    stepped = client.call("/cellwright/info")["values"]
    assert stepped["time_s"] == pytest.approx(first["time_s"] + 0.25, abs=1e-6)
    assert client.call("/cellwright/resume")["result"]
    client.until(lambda: now_s() > stepped["time_s"] + 0.1)


def test_what_is_refused_is_told_to_the_caller_and_on_the_terminal(served, client):
    answer = client.call("/cellwright/remove", name="cup")
    assert not answer["result"]
    assert "unknown object 'cup'" in json.dumps(answer["values"])
    wrong = {"name": ["elbow"], "position": [0.0]}
    client.send(op="publish", topic="/ur5/joint_command", type="sensor_msgs/JointState", msg=wrong)
    for line in served[0].stderr:
        if "elbow" in line:
            assert "joint_1, joint_2" in line
            break
    assert client.call("/cellwright/info")["result"]  # and it serves on

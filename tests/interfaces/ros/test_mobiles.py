"""What ROS programs see of mobile robots and tell them, for each profile: names, gains, LEDs, frames, signs."""

import asyncio
import contextlib
import json
from math import pi
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from websockets.asyncio.client import connect

from cellwright.catalogue import MOBILE_PROFILES
from cellwright.cells import load_cell
from cellwright.core.errors import BadInput
from cellwright.core.messages import Imu, InfraredReading
from cellwright.interfaces.ros.bridges import BRIDGES, BridgeOptions
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.lab import Lab

RANGES = [f"proximity{n}" for n in range(8)]
PROFILES = {
    "epuck1-si": ({"camera", "odom", "imu", *RANGES}, {"cmd_vel", "cmd_led"}),
    "epuck1-vrep": ({"camera", "imu", *RANGES}, {"cmd_vel", "cmd_led"}),
    "epuck1-driver": (
        {"camera", "odom", "accel", "scan", *RANGES},
        {"mobile_base/cmd_vel", "mobile_base/cmd_led"},
    ),
    "epuck2": (
        {"camera", "odom", "imu", "scan", "dist_sens", "battery", *RANGES},
        {"mobile_base/cmd_vel", "mobile_base/cmd_led", "mobile_base/rgb_leds"},
    ),
    "epuck2-ros2": (
        {"odom", "imu", "scan", "tof", *(f"ps{n}" for n in range(8)), "gs0", "gs1", "gs2"},
        {"cmd_vel", *(f"led{n}" for n in range(8))},
    ),
}


def at_rest(acceleration=(0.1, 0.2, 9.81)):
    """What the accelerometer tells inside the laboratory."""
    return Imu(
        0,
        0,
        "ePuck0",
        frame="ePuck0/imu",
        acceleration=np.array(acceleration),
        angular_velocity=np.array([0.0, 0.0, 0.5]),
        acceleration_variance=np.full(3, 1e-4),
        angular_velocity_variance=np.full(3, 1e-5),
    )


@pytest.fixture
def offered():
    """A laboratory with one robot of a profile, and its graph."""
    with contextlib.ExitStack() as stack:

        def make(profile):
            cell = load_cell("epucks@one").changed({"mobiles": {"ePuck": {"profile": profile}}})
            lab = stack.enter_context(Lab(cell, 1))
            lab.bus.declare("/ePuck0/imu", Imu)
            return lab, graph_of(lab)

        yield make


def twist(x=0.0, z=0.0):
    return SimpleNamespace(linear=SimpleNamespace(x=x, y=0.0, z=0.0), angular=SimpleNamespace(x=0.0, y=0.0, z=z))


def tell(graph, topic, message):
    graph.subscribed[f"/ePuck0/{topic}"].take(message, "test")


@pytest.mark.parametrize("profile", list(MOBILE_PROFILES))
def test_topics_are_those_of_the_driver(offered, profile):
    _, graph = offered(profile)
    published, subscribed = PROFILES[profile]
    assert {f"/ePuck0/{end}" for end in published} <= set(graph.published)
    assert {f"/ePuck0/{end}" for end in subscribed} == set(graph.subscribed)
    types = {topic.rpartition("/")[2]: one.ros_type.rpartition("/")[2] for topic, one in graph.published.items()}
    expected = {"camera": "Image", "imu": "Imu", "accel": "Imu", "scan": "LaserScan", "battery": "BatteryState"}
    expected |= {"odom": "Odometry", "proximity0": "Range", "ps0": "Range", "dist_sens": "Range", "gs0": "Range"}
    for end, kind in expected.items():
        assert types.get(end, kind) == kind, end


# The wheels' steps a second, as each driver's source has it for linear x and angular z; 1000 are one turn.
WHEELS = {
    "epuck1-vrep": (10.0, 2.0, lambda x, z: [(8.9 * x + side * 26.5 * z) / 40 * 1000 / 2 / pi for side in (-1, 1)]),
    "epuck1-driver": (2.0, 0.5, lambda x, z: [(x / 3 + side * 2.65 * z / 3) / 4 * 1000 for side in (-1, 1)]),
    "epuck2": (-3.0, 0.7, lambda x, z: [(x / 3 + side * 2.65 * z / 3) / 4 * 1000 for side in (-1, 1)]),
    "epuck2-ros2": (0.05, 0.4, lambda x, z: [(x + side * z * 0.0265) / 0.02 / 2 / pi * 1000 for side in (-1, 1)]),
    "epuck1-si": (0.05, 0.4, lambda x, z: [(x + side * z * 0.0265) / 0.02 / 2 / pi * 1000 for side in (-1, 1)]),
}


@pytest.mark.parametrize("profile", list(WHEELS))
def test_a_twist_turns_the_wheels_as_the_driver_does(offered, profile):
    lab, graph = offered(profile)
    x, z, steps = WHEELS[profile]
    tell(graph, MOBILE_PROFILES.get(profile).velocity_topic, twist(x, z))
    told = [speed / (2 * pi / 1000) for speed in lab.mobile("ePuck0").commanded_radps]
    assert told == pytest.approx(steps(x, z), abs=1.0)  # whole steps
    assert abs(told[0]) < abs(told[1]) or x < 0


def test_drivers_cut_wheels_down_one_by_one_and_si_keeps_the_arc(offered):
    for profile, x, z, expected in (("epuck1-driver", 13.0, 1.0, (862, 1000)), ("epuck1-si", 0.13, 1.0, (661, 1000))):
        lab, graph = offered(profile)
        tell(graph, MOBILE_PROFILES.get(profile).velocity_topic, twist(x, z))
        told = [speed / (2 * pi / 1000) for speed in lab.mobile("ePuck0").commanded_radps]
        assert told == pytest.approx(expected, abs=1.0), profile


def test_speeds_that_are_no_numbers_are_refused(offered):
    lab, graph = offered("epuck1-driver")
    aside, tumbling = twist(), twist()
    aside.linear.y, tumbling.angular.x = float("nan"), float("-inf")  # which wheels cannot follow anyway
    for bad in (twist(float("nan")), twist(0.0, float("inf")), twist(1e308, 1e308), aside, tumbling):
        with pytest.raises(BadInput, match="ePuck0"):
            tell(graph, "mobile_base/cmd_vel", bad)
    assert lab.mobile("ePuck0").commanded_radps == (0.0, 0.0)


def lit(lab):
    return [number for number, on in enumerate(lab.mobile("ePuck0").leds) if on]


def test_leds_are_switched_as_each_driver_does(offered):
    lab, graph = offered("epuck1-driver")
    tell(graph, "mobile_base/cmd_led", SimpleNamespace(data=[1, 0, 2, 0, 0, 0, 0, 0, 1, 2]))
    assert lit(lab) == [0, 2, 8, 9]
    tell(graph, "mobile_base/cmd_led", SimpleNamespace(data=[2, 2]))
    assert lit(lab) == [1, 2, 8, 9]
    for bad in ([3], [0] * 11, bytes(10_000_000)):
        with pytest.raises(BadInput, match="ePuck0 takes 10 LEDs here, each 0") as error:
            tell(graph, "mobile_base/cmd_led", SimpleNamespace(data=bad))
        assert len(str(error.value)) < 200

    lab, graph = offered("epuck1-vrep")  # what is not 1, or not told, is off
    tell(graph, "cmd_led", SimpleNamespace(data=[1, 2, 1, 1, 1, 1, 1, 1, 1]))
    assert lit(lab) == [0, 2, 3, 4, 5, 6, 7, 8]
    tell(graph, "cmd_led", SimpleNamespace(data=[0, 1]))
    assert lit(lab) == [1]

    lab, graph = offered("epuck2")  # six of one colour
    tell(graph, "mobile_base/cmd_led", SimpleNamespace(data=[1, 0, 2, 1, 1, 1]))
    assert lit(lab) == [0, 4, 6, 8, 9]


def test_colours_of_leds_are_set_and_come_back_from_a_snapshot(offered):
    lab, graph = offered("epuck2")
    values = [100, 0, 0, 0, 50, 0, 0, 0, 0, 20, 20, 20]
    tell(graph, "mobile_base/rgb_leds", SimpleNamespace(data=values))
    assert lit(lab) == [1, 3, 7]
    colours = lab.world.leds.colours["ePuck0"]
    assert colours[[1, 3, 7]].tolist() == [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.2, 0.2, 0.2]]
    moment, shown = lab.snapshot(), lab.world.leds.lit()
    assert shown == ("ePuck0/1#ff0000", "ePuck0/3#008000", "ePuck0/7#333333")
    tell(graph, "mobile_base/rgb_leds", SimpleNamespace(data=[0] * 11 + [100]))
    lab.restore(moment)
    assert lab.world.leds.lit() == shown
    lab.world.leds.show(["ePuck0/2", "ePuck0/3#0000ff"])
    assert lit(lab) == [2, 3]
    assert lab.world.leds.lit() == ("ePuck0/2", "ePuck0/3#0000ff")
    for bad in ([1, 2, 3], [101] * 12, bytes(10_000_000)):
        with pytest.raises(BadInput, match="12 numbers from 0 to 100"):
            tell(graph, "mobile_base/rgb_leds", SimpleNamespace(data=bad))


def test_single_leds_are_bools_and_colours(offered):
    lab, graph = offered("epuck2-ros2")
    tell(graph, "led0", SimpleNamespace(data=True))
    tell(graph, "led3", SimpleNamespace(data=0x00FF80))
    assert lit(lab) == [0, 3]
    assert lab.world.leds.colours["ePuck0"][3] == pytest.approx([0.0, 1.0, 128 / 255])
    tell(graph, "led3", SimpleNamespace(data=0))
    tell(graph, "led0", SimpleNamespace(data=False))
    assert lit(lab) == []


@pytest.mark.parametrize(
    ("profile", "acceleration", "turn", "variance"),
    [
        ("epuck1-si", [0.1, 0.2, 9.81], 0.5, 1e-4),
        ("epuck1-vrep", [-0.1, -0.2, -9.81], 0.5, 0.01),  # as in the paper's Table 1 and Figure 6
        ("epuck1-driver", [0.1, 0.2, 9.81], 0.0, 0.01),
        ("epuck2", [0.1, 0.2, 9.81], 0.5, 0.01),
    ],
)
def test_accelerations_have_the_drivers_signs_and_frame(offered, profile, acceleration, turn, variance):
    _, graph = offered(profile)
    topic = "accel" if profile == "epuck1-driver" else "imu"
    own = at_rest()
    told = graph.published[f"/ePuck0/{topic}"].convert(own)
    assert told.acceleration.tolist() == acceleration
    assert told.angular_velocity[2] == turn
    assert told.linear_acceleration_covariance[[0, 4, 8]].tolist() == [variance] * 3
    assert told.frame == "ePuck0/base_link"
    assert own.acceleration[2] == 9.81  # others hear the message as it was


@pytest.mark.parametrize("profile", list(MOBILE_PROFILES))
def test_every_message_is_in_a_frame_of_the_tree(offered, profile):
    lab, graph = offered(profile)
    frames = {frame.child for frame in graph.frames} | {"odom", "ePuck0/base_link"}
    heard = {}
    lab.bus.subscribe(None, lambda topic, message: heard.setdefault(topic, message), subscriber="test")
    lab.advance(1.1)
    converts = {one.bus_topic: one.convert for one in graph.published.values()}
    seen = 0
    for topic, message in heard.items():
        if hasattr(message, "frame") and topic in converts:
            told = converts[topic](message) if converts[topic] else message
            assert told.frame in frames, topic
            seen += not isinstance(message, InfraredReading)
    assert seen >= 9
    names = {frame.child.removeprefix("ePuck0/") for frame in graph.frames}
    of_ring = {f"ps{n}" if profile == "epuck2-ros2" else f"base_prox{n}" for n in range(8)}
    assert of_ring | {"left_wheel", "right_wheel", "body_top"} <= names


@pytest.mark.slow
def test_a_program_for_the_real_driver_drives_and_sees_over_rosbridge():
    """Backs off from the wall until the driver's range says so, by its own topics, types and gains alone."""
    wall = {"arena": {"inner_walls_m": [[[0.06, -0.2], [0.06, 0.2]]]}}  # 10 mm before the robot's front sensors
    cell = load_cell("epucks@one").changed(wall | {"mobiles": {"ePuck": {"profile": "epuck1-driver"}}})

    async def program(port):
        async with connect(f"ws://127.0.0.1:{port}") as link:
            await link.send(json.dumps({"op": "subscribe", "topic": "/ePuck0/proximity0", "type": "sensor_msgs/Range"}))
            await link.send(
                json.dumps({"op": "advertise", "topic": "/ePuck0/mobile_base/cmd_vel", "type": "geometry_msgs/Twist"})
            )
            await link.send(json.dumps({"op": "subscribe", "topic": "/ePuck0/accel", "type": "sensor_msgs/Imu"}))
            speed = {"linear": {"x": -4.0, "y": 0, "z": 0}, "angular": {"x": 0, "y": 0, "z": 0}}
            await link.send(json.dumps({"op": "publish", "topic": "/ePuck0/mobile_base/cmd_vel", "msg": speed}))
            told = []
            while not told or told[-1]["range"] < 0.045:
                message = json.loads(await asyncio.wait_for(link.recv(), 20))
                if message["op"] == "publish":
                    (told if message["topic"].endswith("proximity0") else felt).append(message["msg"])
            return told

    ranges, felt = [], []
    with Lab(cell, 1, pace=4.0) as lab:
        lab.bus.declare("/ePuck0/imu", Imu)

        async def served():
            bridge = BRIDGES.get("rosbridge")(lab, graph_of(lab), None, BridgeOptions(is_any_port=True))
            await bridge.start()
            try:
                address = next(str(value) for value in bridge.said.values() if str(value).startswith("ws:"))
                port = int(address.rpartition(":")[2].strip("/"))
                talk = Thread(target=lambda: ranges.extend(asyncio.run(program(port))), daemon=True)
                talk.start()
                while talk.is_alive():
                    lab.bus.publish("/ePuck0/imu", at_rest())
                    await lab.clock.sleep(0.05)
            finally:
                await bridge.close()

        lab.perform(served())
        assert ranges[0]["range"] < 0.03
        assert ranges[0]["header"]["frame_id"] == "ePuck0/base_prox0"
        assert ranges[0]["field_of_view"] == pytest.approx(0.26)
        assert felt[0]["header"]["frame_id"] == "ePuck0/base_link"  # inside it is another
        assert felt[0]["linear_acceleration_covariance"][0] == 0.01
        speed_mps = 4.0 * pi * 0.04 / 12
        assert lab.mobile("ePuck0").odometry.speed_mps == pytest.approx(-speed_mps, rel=0.1)

"""A client of a bridge, in a process of its own: counts joint states and how old they are, or drives a robot."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["ACK_EVERY", "ACK_TOPIC", "JOINTS_TOPIC", "LAST", "SPEEDS_TOPIC", "JointListener"]

JOINTS_TOPIC, ACK_TOPIC, SPEEDS_TOPIC = "/bench/joint_states", "/bench/ack", "/ePuck0/cmd_vel"
ACK_EVERY = 100
LAST = "last"  # the name of the first joint in the last message
RATE_HZ, COMMANDS = 50, 150
HELLO_S = 0.05


class JointListener:
    """Takes messages whose first effort is the time at which they were published, by this machine's monotonic clock.

    Args:
        acknowledge: Tells the laboratory how many have come.
    """

    def __init__(self, acknowledge: Callable[[int], None]) -> None:
        self._acknowledge = acknowledge
        self._ages_s: list[float] = []
        self._first_s = self._last_s = 0.0
        self.is_done = False

    @property
    def has_begun(self) -> bool:
        """Whether a message has come."""
        return bool(self._ages_s)

    def take(self, names: list[str], sent_s: float) -> None:
        """Takes a message."""
        self._last_s = time.monotonic()
        self._first_s = self._first_s or self._last_s
        if names[0] == LAST:
            self.is_done = True
            return
        self._ages_s.append(self._last_s - sent_s)
        if len(self._ages_s) % ACK_EVERY == 0:
            self._acknowledge(len(self._ages_s))

    def result(self) -> dict[str, float]:
        """Returns how many came, how many in a second, and how old they were."""
        median_ms, p99_ms = np.percentile(self._ages_s, [50, 99]) * 1e3
        rate = len(self._ages_s) / max(self._last_s - self._first_s, 1e-9)
        return {"count": len(self._ages_s), "per_s": rate, "p50_ms": float(median_ms), "p99_ms": float(p99_ms)}


def _rosbridge(address: str, task: str) -> dict[str, float]:
    from websockets.sync.client import connect

    with connect(address, compression=None, max_size=None, max_queue=None) as socket:

        def send(**operation: Any) -> None:
            socket.send(json.dumps(operation))

        if task == "drive":
            send(op="advertise", topic=SPEEDS_TOPIC, type="geometry_msgs/Twist")
            _drive(lambda twist: send(op="publish", topic=SPEEDS_TOPIC, msg=twist))
            send(op="call_service", id="end", service="/rosapi/get_time")
            socket.recv()  # all that was sent before has been taken
            return {}
        listener = JointListener(lambda count: send(op="publish", topic=ACK_TOPIC, msg={"data": count}))
        send(op="subscribe", topic=JOINTS_TOPIC, type="sensor_msgs/JointState")
        send(op="publish", topic=ACK_TOPIC, msg={"data": 0})
        while not listener.is_done:
            message = json.loads(socket.recv())["msg"]
            listener.take(message["name"], message["effort"][0])
        return listener.result()


def _ros1(_: str, task: str) -> dict[str, float]:
    from importlib import import_module

    from cellwright.interfaces.ros.ros1 import rospy_path

    sys.path.append(str(rospy_path()))
    rospy, messages = import_module("rospy"), import_module("std_msgs.msg")
    rospy.init_node("bench_client", anonymous=True, disable_signals=True)
    if task == "drive":
        twists = import_module("geometry_msgs.msg")
        speeds = rospy.Publisher(SPEEDS_TOPIC, twists.Twist, queue_size=100, tcp_nodelay=True)
        _wait(lambda: speeds.get_num_connections() > 0)

        def publish(plain: Mapping[str, Mapping[str, float]]) -> None:
            speeds.publish(twists.Twist(linear=twists.Vector3(**plain["linear"])))

        _drive(publish)
        time.sleep(0.5)
        return {}
    acks = rospy.Publisher(ACK_TOPIC, messages.UInt32, queue_size=100, tcp_nodelay=True)
    listener = JointListener(lambda count: acks.publish(count))
    rospy.Subscriber(
        JOINTS_TOPIC,
        import_module("sensor_msgs.msg").JointState,
        lambda message: listener.take(message.name, message.effort[0]),
        tcp_nodelay=True,
    )
    while not listener.has_begun:
        acks.publish(0)
        time.sleep(HELLO_S)
    _wait(lambda: listener.is_done)
    return listener.result()


def _drive(publish: Callable[[Mapping[str, Mapping[str, float]]], None]) -> None:
    """Publishes speeds whose third one, which no robot on wheels can have, is the time of publishing."""
    for number in range(COMMANDS):
        time.sleep(1 / RATE_HZ)
        publish({"linear": {"x": 0.01 * (-1) ** number, "y": 0.0, "z": time.monotonic()}})


def _wait(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)


if __name__ == "__main__":
    bridge, given_address, given_task = sys.argv[1:]
    print(json.dumps({"rosbridge": _rosbridge, "ros1": _ros1}[bridge](given_address, given_task)), flush=True)

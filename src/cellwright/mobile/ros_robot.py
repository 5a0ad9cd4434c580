"""A robot for a control program over ROS topics: by rosbridge with roslibpy, or as a node of ROS 1 with rospy.

Both take the topics of the e-puck's own driver, so that the robot may be simulated or real. Neither is imported until
it is used; a machine beside a real robot needs only one of them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from cellwright.catalogue import MOBILE_PROFILES
from cellwright.core.errors import BadInput, JobFailed, MissingExtra
from cellwright.core.pose import Pose
from cellwright.core.rospy_import import import_rospy
from cellwright.mobile.behaviours import Behaviour
from cellwright.mobile.readings import PROXIMITY_COUNT, RobotReadings, two_speeds

__all__ = ["RosRobot", "RosbridgeRobot", "RospyRobot"]

TYPES = {
    "odom": "nav_msgs/Odometry",
    "tf": "tf2_msgs/TFMessage",
    "cmd_vel": "geometry_msgs/Twist",
    "proximity": "sensor_msgs/Range",
}
CONNECT_S = 5.0
PACKAGES = "python3-nav-msgs python3-tf2-msgs python3-sensor-msgs"


class RosRobot:
    """The part that both ways share: what messages say, and when the control program is asked.

    Args:
        name: The robot, the namespace of its topics; empty for a robot without one.
        behaviour: Its control program, asked at each odometry of the robot.
        profile: The driver that it talks to: names of topics, and what a unit of speed is.
        task: Figures of an exercise.

    Attributes:
        failure: The error with which the control program failed; from then on the robot stands.
    """

    def __init__(
        self, name: str, behaviour: Behaviour, profile: str = "epuck1-si", task: Mapping[str, Any] | None = None
    ) -> None:
        self.profile = MOBILE_PROFILES.get(profile)
        self.readings = RobotReadings(name, task=task or {})
        self.prefix = f"/{name}" if name else ""
        self.updates = 0
        self.failure: Exception | None = None
        self._behaviour = behaviour
        self._lock = threading.Lock()  # clients call back in threads of their own
        self._is_closed = False

    def close(self) -> None:
        """Stops the robot, and ends the program."""
        with self._lock:
            self._is_closed = True
        self._send(0.0, 0.0)

    def _topic(self, name: str) -> str:
        return f"{self.prefix}/{self.profile.topics.get(name, name)}"

    def _send(self, speed_mps: float, turn_radps: float) -> None:
        """Publishes speeds, in the units of the driver."""
        self._publish(float(speed_mps) / self.profile.linear_gain, float(turn_radps) / self.profile.angular_gain)

    def _publish(self, linear: float, angular: float) -> None:
        raise NotImplementedError

    def _take_range(self, number: int, message: Any) -> None:
        with self._lock:
            self.readings.ranges_m[number] = float(message.range)
            self.readings.max_range_m = float(message.max_range)

    def _take_transforms(self, message: Any, *, are_static: bool) -> None:
        with self._lock:
            for stamped in message.transforms:
                place, turn = stamped.transform.translation, stamped.transform.rotation
                pose = Pose(np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
                when = () if are_static else (_seconds(stamped.header.stamp),)
                self.readings.frames.put(stamped.header.frame_id, stamped.child_frame_id, pose, *when)

    def _take_odometry(self, message: Any) -> None:
        place, turn = message.pose.pose.position, message.pose.pose.orientation
        speeds = message.twist.twist
        with self._lock:
            if self._is_closed:
                return
            self.readings.take_odometry(
                _seconds(message.header.stamp),
                (place.x, place.y),
                (turn.w, turn.x, turn.y, turn.z),
                float(speeds.linear.x),
                float(speeds.angular.z),
            )
            self.updates += 1
            try:
                speed_mps, turn_radps = two_speeds(self._behaviour.update(self.readings))
            except Exception as error:  # in a thread of the client, where nobody would hear of it
                self.failure, self._is_closed = error, True
                speed_mps, turn_radps = 0.0, 0.0
        self._send(speed_mps, turn_radps)


class RosbridgeRobot(RosRobot):
    """A robot behind a rosbridge server: `cellwright serve epucks --bridge rosbridge`, or that of a real robot.

    Args:
        name: The robot.
        behaviour: Its control program.
        host: Of the server.
        port: Of the server.
        profile: The driver behind it.
        task: Figures of an exercise.
    """

    def __init__(
        self,
        name: str,
        behaviour: Behaviour,
        host: str = "127.0.0.1",
        port: int = 9090,
        profile: str = "epuck1-si",
        task: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, behaviour, profile, task)
        try:
            self._roslibpy = import_module("roslibpy")
        except ImportError:
            raise MissingExtra("a robot over rosbridge (roslibpy)", "peers") from None
        self._client = self._roslibpy.Ros(host, port)
        try:
            self._client.run(timeout=CONNECT_S)
        except Exception as error:
            self._client.close()
            raise JobFailed(f"no rosbridge server answers at {host}:{port}: {error or type(error).__name__}") from None
        self._topics = [self._listen("/tf", "tf", lambda m: self._take_transforms(m, are_static=False))]
        self._topics.append(self._listen("/tf_static", "tf", lambda m: self._take_transforms(m, are_static=True)))
        for number in range(PROXIMITY_COUNT):
            self._topics.append(
                self._listen(
                    self._topic(f"proximity{number}"),
                    "proximity",
                    partial(self._take_range, number),
                )
            )
        self._speeds = self._roslibpy.Topic(
            self._client, f"{self.prefix}/{self.profile.velocity_topic}", TYPES["cmd_vel"]
        )
        self._speeds.advertise()
        self._topics.append(self._listen(self._topic("odom"), "odom", self._take_odometry))

    @property
    def is_connected(self) -> bool:
        """Whether the server is still there."""
        return bool(self._client.is_connected)

    def close(self) -> None:
        """Stops the robot, and leaves the server."""
        super().close()
        for topic in self._topics:
            topic.unsubscribe()
        self._speeds.unadvertise()
        self._client.close()

    def _listen(self, topic: str, kind: str, take: Any) -> Any:
        listener = self._roslibpy.Topic(self._client, topic, TYPES[kind])
        listener.subscribe(lambda message: take(_as_object(message)))
        return listener

    def _publish(self, linear: float, angular: float) -> None:
        self._speeds.publish(
            self._roslibpy.Message(
                {
                    "linear": {"x": linear, "y": 0.0, "z": 0.0},
                    "angular": {"x": 0.0, "y": 0.0, "z": angular},
                }
            )
        )


class RospyRobot(RosRobot):
    """A robot on the ROS 1 graph; `rospy.init_node` has been called.

    Args:
        name: The robot.
        behaviour: Its control program.
        profile: The driver that it talks to.
        task: Figures of an exercise.
    """

    def __init__(
        self, name: str, behaviour: Behaviour, profile: str = "epuck1-si", task: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(name, behaviour, profile, task)
        rospy = import_rospy()
        try:
            messages = {kind: _ros_class(kind) for kind in TYPES.values()}
        except ImportError as error:
            raise BadInput(f"ROS has no {error.name}; on Debian and Ubuntu: apt install {PACKAGES}") from None
        transforms, self._make = messages[TYPES["tf"]], messages[TYPES["cmd_vel"]]
        self._speeds = rospy.Publisher(f"{self.prefix}/{self.profile.velocity_topic}", self._make, queue_size=1)
        subscribe = rospy.Subscriber
        self._subscribers = [
            subscribe("/tf", transforms, lambda m: self._take_transforms(m, are_static=False)),
            subscribe("/tf_static", transforms, lambda m: self._take_transforms(m, are_static=True)),
        ]
        for number in range(PROXIMITY_COUNT):
            self._subscribers.append(
                subscribe(
                    self._topic(f"proximity{number}"),
                    messages[TYPES["proximity"]],
                    partial(self._take_range, number),
                )
            )
        self._subscribers.append(subscribe(self._topic("odom"), messages[TYPES["odom"]], self._take_odometry))

    def close(self) -> None:
        """Stops the robot, and leaves its topics."""
        super().close()
        for subscriber in self._subscribers:
            subscriber.unregister()

    def _publish(self, linear: float, angular: float) -> None:
        twist = self._make()
        twist.linear.x, twist.angular.z = linear, angular
        self._speeds.publish(twist)


def _ros_class(kind: str) -> Any:
    """Returns the class that ROS 1 has generated for a type."""
    package, _, name = kind.partition("/")
    return getattr(import_module(f"{package}.msg"), name)


def _seconds(stamp: Any) -> float:
    """Returns a time of ROS 1 (`secs`) or ROS 2 (`sec`) in seconds."""
    whole = stamp.secs if hasattr(stamp, "secs") else stamp.sec
    rest = stamp.nsecs if hasattr(stamp, "nsecs") else stamp.nanosec
    return float(whole) + float(rest) / 1e9


def _as_object(value: Any) -> Any:
    """Returns plain fields, as rosbridge sends them, as an object with attributes."""
    if isinstance(value, Mapping):
        return SimpleNamespace(**{key: _as_object(inner) for key, inner in value.items()})
    return [_as_object(inner) for inner in value] if isinstance(value, list) else value

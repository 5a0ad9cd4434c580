"""A simulated robot for a control program in the same process: the same topics as over ROS, without ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from cellwright.core.bus import Bus, Subscription
from cellwright.core.messages import Odometry, Range
from cellwright.core.pose import Pose
from cellwright.mobile.behaviours import Behaviour
from cellwright.mobile.readings import PROXIMITY_COUNT, FrameTree, RobotReadings

__all__ = ["BusRobot"]


class FixedFrame(Protocol):
    """A frame that never moves in its parent."""

    parent: str
    child: str
    position: Any
    quaternion: Any
    topic: str


class BusRobot:
    """Runs a control program on a robot of a laboratory, by the messages of its bus.

    Args:
        bus: The laboratory's.
        name: The robot.
        behaviour: Its control program, asked at each odometry of the robot.
        move: Takes the speeds: `lab.mobile(name).move`.
        frames: Frames of bodies; those that never move become part of the tree, as `/tf_static` does over ROS.
        others: Robots whose odometry it gets, as `/tf` brings it over ROS.
        task: Figures of an exercise.

    Attributes:
        readings: What the program knows.
    """

    def __init__(
        self,
        bus: Bus,
        name: str,
        behaviour: Behaviour,
        move: Callable[[float, float], None],
        *,
        frames: Iterable[FixedFrame] = (),
        others: Iterable[str] = (),
        task: Mapping[str, Any] | None = None,
    ) -> None:
        self.readings = RobotReadings(name, frames=FrameTree(), task=task or {})
        self._behaviour = behaviour
        self._move = move
        self._bus = bus
        for frame in frames:
            if not frame.topic:
                self.readings.frames.put(
                    frame.parent, frame.child, Pose(np.array(frame.position), np.array(frame.quaternion))
                )
        self._subscriptions: list[Subscription] = []
        for number in range(PROXIMITY_COUNT):
            self._listen(f"/{name}/proximity{number}", partial(self._take_range, number))
        for other in others:
            if other != name:
                self._listen(f"/{other}/odom", self._take_other)
        self._listen(f"/{name}/odom", self._take_odometry)

    def close(self) -> None:
        """Ends the program; the robot keeps its last speeds."""
        for subscription in self._subscriptions:
            self._bus.unsubscribe(subscription)

    def _listen(self, topic: str, take: Callable[[str, Any], None]) -> None:
        self._subscriptions.append(
            self._bus.subscribe(topic, take, subscriber=f"control program of {self.readings.name}")
        )

    def _take_range(self, number: int, _topic: str, message: Range) -> None:
        self.readings.ranges_m[number] = message.range_m
        self.readings.max_range_m = message.max_range_m

    def _take_other(self, _topic: str, message: Odometry) -> None:
        pose = Pose(message.position, message.quaternion)
        self.readings.frames.put(message.frame, message.child_frame, pose, message.time_ns / 1e9)

    def _take_odometry(self, topic: str, message: Odometry) -> None:
        self._take_other(topic, message)
        self.readings.take_odometry(
            message.time_ns / 1e9,
            message.position[:2].tolist(),
            message.quaternion.tolist(),
            float(message.linear_velocity[0]),
            float(message.angular_velocity[2]),
        )
        self._move(*self._behaviour.update(self.readings))

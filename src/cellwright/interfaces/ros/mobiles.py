"""Mobile robots for ROS programs: their topics, speeds and LEDs that are told them, and the frames of their bodies."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from cellwright.control import DifferentialDrive
from cellwright.core.errors import BadInput
from cellwright.core.messages import LedCommand, Odometry, VelocityCommand
from cellwright.core.rotation import quaternion_from_rpy
from cellwright.interfaces.ros.graph import JointFrame, RosGraph, SubscribedTopic
from cellwright.lab.lab import Lab

__all__ = ["MobileTopics", "add_mobile"]

TWIST, LEDS = "geometry_msgs/msg/Twist", "std_msgs/msg/UInt8MultiArray"
NO_TURN = (1.0, 0.0, 0.0, 0.0)
TOGGLE = 2


class MobileTopics:
    """Takes what ROS programs tell a mobile robot, and keeps it on the bus.

    Args:
        lab: The laboratory.
        drive: The robot's drive.
        linear_gain: Metres a second of the robot for one unit of a Twist.
        angular_gain: Radians a second for one unit.
    """

    def __init__(self, lab: Lab, drive: DifferentialDrive, linear_gain: float, angular_gain: float) -> None:
        self._lab = lab
        self._drive = drive
        self._gains = linear_gain, angular_gain
        self._velocity_topic, self._led_topic = f"/{drive.name}/cmd_vel", f"/{drive.name}/cmd_led"
        self._sequence = 0
        lab.bus.declare(self._velocity_topic, VelocityCommand)
        lab.bus.declare(self._led_topic, LedCommand)

    def take_velocity(self, twist: Any, sender: str) -> None:
        """Drives as a Twist says: ahead along x, and about z; a robot on two wheels can nothing else."""
        linear = np.array([twist.linear.x, twist.linear.y, twist.linear.z], float)
        angular = np.array([twist.angular.x, twist.angular.y, twist.angular.z], float)
        if not (np.isfinite(linear).all() and np.isfinite(angular).all()):
            raise BadInput(f"a speed is a finite number, not {linear.tolist()}, {angular.tolist()}")
        speed_mps, turn_radps = linear[0] * self._gains[0], angular[2] * self._gains[1]
        if not (isfinite(speed_mps) and isfinite(turn_radps)):
            raise BadInput(f"{self._drive.name} cannot drive at {linear[0]} and {angular[2]}")
        self._drive.move(speed_mps, turn_radps)
        command = VelocityCommand(*self._header(sender), linear=linear, angular=angular)
        self._lab.bus.publish(self._velocity_topic, command)

    def take_leds(self, array: Any, sender: str) -> None:
        """Switches LEDs by their numbers: 0 off, 1 on, 2 the other one of the two."""
        values = tuple(int(value) for value in array.data)
        count = len(self._drive.leds)
        if len(values) > count or any(value > TOGGLE for value in values):
            raise BadInput(
                f"{self._drive.name} has {count} LEDs, each 0 (off), 1 (on) or {TOGGLE} (change), not {values}"
            )
        self._drive.set_leds(
            [not lit if value == TOGGLE else value == 1 for value, lit in zip(values, self._drive.leds, strict=False)]
        )
        self._lab.bus.publish(self._led_topic, LedCommand(*self._header(sender), values=values))

    def _header(self, sender: str) -> tuple[int, int, str]:
        self._sequence += 1
        return self._lab.world.clock.time_ns, self._sequence - 1, sender


def add_mobile(graph: RosGraph, lab: Lab, name: str) -> None:
    """Adds a mobile robot: its topics as its profile names them, what it takes, and its frames."""
    drive = lab.mobile(name)
    taker = MobileTopics(lab, drive, 1.0, 1.0)
    for bus_topic, kind in sorted(lab.bus.topics.items()):
        if bus_topic.startswith(f"/{name}/") and not kind.TRUTH and kind not in (VelocityCommand, LedCommand):
            graph.publish_bus(lab.bus, bus_topic)
            if kind is Odometry:
                graph.odometry.append(bus_topic)
    graph.subscribe(
        SubscribedTopic(topic=f"/{name}/cmd_vel", ros_type=TWIST, take=taker.take_velocity),
        SubscribedTopic(topic=f"/{name}/cmd_led", ros_type=LEDS, take=taker.take_leds),
    )
    graph.frames += _frames(lab, name)


def _frames(lab: Lab, name: str) -> list[JointFrame]:
    """Returns the frames of a mobile robot's body, named as in the e-puck's package for V-REP."""
    figures = lab.mobile(name).figures
    base, encoders = f"{name}/base_link", f"/{name}/encoders"
    frames = [
        JointFrame(
            parent=base,
            child=f"{name}/base_{sensor.name}",
            position=sensor.xyz_m,
            quaternion=_quaternion((0.0, 0.0, sensor.yaw_rad)),
        )
        for sensor in figures.proximity
    ]
    for wheel, side in (("left_wheel", 0.5), ("right_wheel", -0.5)):
        frames.append(
            JointFrame(
                parent=base,
                child=f"{name}/{wheel}",
                position=(0.0, side * figures.wheel_base_m, figures.wheel_radius_m),
                quaternion=NO_TURN,
                topic=encoders if encoders in lab.bus.topics else "",
                joint=wheel,
                axis=(0.0, 1.0, 0.0),
                scale=figures.step_rad,
            )
        )
    places = {"body_top": (0.0, 0.0, figures.height_m), "imu": figures.imu_xyz_m, "camera": figures.camera.xyz_m}
    turns = {"camera": figures.camera.rpy_rad}
    for child, xyz_m in places.items():
        turn = _quaternion(turns[child]) if child in turns else NO_TURN
        frames.append(JointFrame(parent=base, child=f"{name}/{child}", position=xyz_m, quaternion=turn))
    return frames


def _quaternion(rpy_rad: tuple[float, float, float]) -> tuple[float, float, float, float]:
    w, x, y, z = (float(value) for value in quaternion_from_rpy(np.array(rpy_rad)))
    return w, x, y, z

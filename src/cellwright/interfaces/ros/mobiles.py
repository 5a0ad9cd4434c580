"""Mobile robots for ROS programs: their topics, speeds and LEDs that are told them, and the frames of their bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from math import isfinite, trunc
from typing import Any

import numpy as np

from cellwright.catalogue import MOBILE_PROFILES, MobileProfile
from cellwright.control import DifferentialDrive
from cellwright.core.errors import BadInput
from cellwright.core.messages import Imu, LedCommand, Message, Odometry, VelocityCommand
from cellwright.core.pose import Pose
from cellwright.interfaces.ros.graph import Convert, JointFrame, RosGraph, SubscribedTopic
from cellwright.lab.lab import Lab
from cellwright.sensors.viewfinder import OPTICAL

__all__ = ["MobileTopics", "add_mobile", "profile_of"]

TWIST, BYTES = "geometry_msgs/msg/Twist", "std_msgs/msg/UInt8MultiArray"
NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])
TOGGLE = 2
MOST_COLOUR = 100
RING_LEDS = 8
DEFAULT_PROFILE = "epuck1-si"


class MobileTopics:
    """Takes what ROS programs tell a mobile robot, as the driver of its profile does, and keeps it on the bus.

    Args:
        lab: The laboratory.
        drive: The robot's drive.
        profile: The driver's conventions.
    """

    def __init__(self, lab: Lab, drive: DifferentialDrive, profile: MobileProfile) -> None:
        self._lab = lab
        self._drive = drive
        self._profile = profile
        self._velocity_topic, self._led_topic = f"/{drive.name}/cmd_vel", f"/{drive.name}/cmd_led"
        self._sequence = 0
        lab.bus.declare(self._velocity_topic, VelocityCommand)
        lab.bus.declare(self._led_topic, LedCommand)

    def topics(self) -> list[SubscribedTopic]:
        """Returns the topics of the driver."""
        profile, robot = self._profile, self._drive.name
        told: list[tuple[str, str, Callable[[Any, str], None]]] = [(profile.velocity_topic, TWIST, self.take_velocity)]
        if profile.led_topic:
            told.append((profile.led_topic, BYTES, self.take_leds))
        if profile.rgb_topic:
            told.append((profile.rgb_topic, BYTES, self.take_colours))
        if profile.single_leds:
            for led in range(RING_LEDS):
                if led in profile.rgb_numbers:
                    told.append((f"led{led}", "std_msgs/msg/Int32", partial(self._take_colour, led)))
                else:
                    told.append((f"led{led}", "std_msgs/msg/Bool", partial(self._take_switch, led)))
        return [SubscribedTopic(topic=f"/{robot}/{end}", ros_type=kind, take=take) for end, kind, take in told]

    def take_velocity(self, twist: Any, sender: str) -> None:
        """Drives as a Twist says: ahead along x, and about z; a robot on two wheels can nothing else."""
        drive, profile = self._drive, self._profile
        linear = np.array([twist.linear.x, twist.linear.y, twist.linear.z], float) * profile.linear_gain
        angular = np.array([twist.angular.x, twist.angular.y, twist.angular.z], float) * profile.angular_gain
        if not (np.isfinite(linear).all() and np.isfinite(angular).all()):
            told = [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
            raise BadInput(f"a speed of {drive.name} is six finite numbers, not {told}")
        speed_mps, turn_radps = float(linear[0]), float(angular[2])
        if profile.cuts_wheels_alone:
            half_mps = turn_radps * drive.figures.wheel_base_m / 2
            step_m = drive.figures.wheel_radius_m * drive.figures.step_rad
            left, right = ((speed_mps + side) / step_m for side in (-half_mps, half_mps))
            if not (isfinite(left) and isfinite(right)):
                raise BadInput(f"{drive.name} cannot drive at {twist.linear.x} and {twist.angular.z}")
            drive.drive_steps(trunc(left), trunc(right))
        else:
            drive.move(speed_mps, turn_radps)
        command = VelocityCommand(*self._header(sender), linear=linear, angular=angular)
        self._lab.bus.publish(self._velocity_topic, command)

    def take_leds(self, array: Any, sender: str) -> None:
        """Switches LEDs by their places in an array."""
        drive, numbers, meaning = self._drive, self._profile.led_numbers, self._profile.led_values
        values = [int(value) for value in array.data[: len(numbers) + 1]]
        if len(values) > len(numbers) or (meaning == "toggle" and any(value > TOGGLE for value in values)):
            what = f"each 0 (off), 1 (on) or {TOGGLE} (change)" if meaning == "toggle" else "each a number"
            told = values if len(array.data) == len(values) else f"{len(array.data)} numbers"
            raise BadInput(f"{drive.name} takes {len(numbers)} LEDs here, {what}, not {told}")
        if meaning == "one":  # what is not told is off
            values += [0] * (len(numbers) - len(values))
        before = drive.leds
        for number, value in zip(numbers, values, strict=False):
            lit = value == 1 if meaning != "nonzero" else value != 0
            drive.set_led(number, not before[number] if meaning == "toggle" and value == TOGGLE else lit)
        self._tell_leds(sender)

    def take_colours(self, array: Any, sender: str) -> None:
        """Sets the colours of the LEDs that have any: red, green, blue of each, 0 to 100."""
        numbers = self._profile.rgb_numbers
        count = 3 * len(numbers)
        values = [int(value) for value in array.data[:count]]
        if len(array.data) != count or max(values) > MOST_COLOUR:
            told = values if len(array.data) == count else f"{len(array.data)} numbers"
            raise BadInput(
                f"{self._drive.name} takes red, green and blue of {len(numbers)} LEDs, "
                f"{count} numbers from 0 to {MOST_COLOUR}, not {told}"
            )
        for place, number in enumerate(numbers):
            self._drive.set_led_colour(number, *(value / MOST_COLOUR for value in values[3 * place : 3 * place + 3]))
        self._tell_leds(sender)

    def _take_switch(self, led: int, message: Any, sender: str) -> None:
        self._drive.set_led(led, bool(message.data))
        self._tell_leds(sender)

    def _take_colour(self, led: int, message: Any, sender: str) -> None:
        red, green, blue = ((int(message.data) >> shift & 0xFF) / 255 for shift in (16, 8, 0))
        self._drive.set_led_colour(led, red, green, blue)
        self._tell_leds(sender)

    def _tell_leds(self, sender: str) -> None:
        """Keeps on the bus which LEDs are on now."""
        values = tuple(int(lit) for lit in self._drive.leds)
        self._lab.bus.publish(self._led_topic, LedCommand(*self._header(sender), values=values))

    def _header(self, sender: str) -> tuple[int, int, str]:
        self._sequence += 1
        return self._lab.world.clock.time_ns, self._sequence - 1, sender


def profile_of(lab: Lab, name: str) -> MobileProfile:
    """Returns the profile of a mobile robot; one that has none is told speeds in SI units."""
    named = next(cfg.profile for key, cfg in lab.cell.mobiles.items() if name in cfg.names(key))
    return MOBILE_PROFILES.get(named or DEFAULT_PROFILE)


def add_mobile(graph: RosGraph, lab: Lab, name: str) -> None:
    """Adds a mobile robot: its topics as its profile names them, what it takes, and its frames."""
    profile = profile_of(lab, name)
    for bus_topic, kind in sorted(lab.bus.topics.items()):
        end = bus_topic.removeprefix(f"/{name}/")
        if end == bus_topic or kind.TRUTH or kind in (VelocityCommand, LedCommand):
            continue
        topic = f"/{name}/{profile.topics.get(end, end)}"
        graph.publish_bus(lab.bus, bus_topic, topic, convert=_conversion(profile, name, kind))
        if kind is Odometry:
            graph.odometry.append(bus_topic)
    graph.subscribe(*MobileTopics(lab, lab.mobile(name), profile).topics())
    graph.frames += _frames(lab, name, profile)


def _conversion(profile: MobileProfile, robot: str, kind: type[Message]) -> Convert | None:
    """Returns what makes of a message the driver's; None where they are the same."""
    if kind is Imu:
        signs = np.array(profile.imu_signs)
        variance = None if profile.imu_variance is None else np.full(3, profile.imu_variance)

        def told(message: Imu) -> Imu:
            return replace(
                message,
                frame=f"{robot}/{profile.imu_frame}",
                acceleration=message.acceleration * signs,
                angular_velocity=message.angular_velocity * float(profile.has_gyroscope),
                acceleration_variance=message.acceleration_variance if variance is None else variance,
                angular_velocity_variance=message.angular_velocity_variance if variance is None else variance,
            )

        return told
    if not profile.frames or not any(field.name == "frame" for field in fields(kind)):
        return None
    names = {f"{robot}/{own}": f"{robot}/{theirs}" for own, theirs in profile.frames.items()}
    return lambda message: replace(message, frame=names[message.frame]) if message.frame in names else message


def _frames(lab: Lab, name: str, profile: MobileProfile) -> list[JointFrame]:
    """Returns the frames of a mobile robot's body; those of the wheels turn with its encoders."""
    figures = lab.mobile(name).figures
    base, encoders = f"{name}/base_link", f"/{name}/encoders"
    eye = Pose.from_xyz_rpy(figures.camera.xyz_m, figures.camera.rpy_rad)
    places = {f"base_{one.name}": Pose.from_xyz_rpy(one.xyz_m, (0.0, 0.0, one.yaw_rad)) for one in figures.proximity}
    places |= {
        "body_top": Pose(np.array([0.0, 0.0, figures.height_m]), NO_TURN),
        "imu": Pose(np.array(figures.imu_xyz_m), NO_TURN),
        "camera": eye,
        "optical": eye @ OPTICAL,
    }
    for sensor in lab.sensors:
        if getattr(sensor.cfg, "robot", None) == name:
            places |= sensor.frames
    frames = [
        JointFrame(
            parent=base,
            child=f"{name}/{profile.frames.get(child, child)}",
            position=tuple(pose.position.tolist()),
            quaternion=tuple(pose.quaternion.tolist()),
        )
        for child, pose in places.items()
    ]
    for wheel, side in (("left_wheel", 0.5), ("right_wheel", -0.5)):
        frames.append(
            JointFrame(
                parent=base,
                child=f"{name}/{wheel}",
                position=(0.0, side * figures.wheel_base_m, figures.wheel_radius_m),
                quaternion=tuple(NO_TURN.tolist()),
                topic=encoders if encoders in lab.bus.topics else "",
                joint=wheel,
                axis=(0.0, 1.0, 0.0),
                scale=figures.step_rad,
            )
        )
    return frames

"""Controllers of robots on two wheels: speeds for the motors, step counters, odometry, LEDs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.control.differential_odometry import WheelFigures, WheelOdometry
from cellwright.core.bus import Bus
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.messages import Odometry
from cellwright.core.pose import Pose
from cellwright.sim import Stepper, TickOrder, World

__all__ = ["DifferentialDrive", "DifferentialDrives", "DriveEstimate"]

Array = npt.NDArray[np.float64]

FRAME = "odom"


@dataclass(frozen=True)
class DriveEstimate:
    """The estimated pose of a robot in the frame `odom`, and its speeds.

    Attributes:
        covariance: (3, 3) of x, y and yaw, since its start or its last reset; a few readings old.
    """

    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    turn_radps: float
    covariance: Array


class DifferentialDrives:
    """The controllers of a group of mobile robots of one model, in one turn of the schedule for all of them.

    They believe the nominal robot. Odometry begins at the start poses of the drawings and is published on
    `/<robot>/odom`.

    Args:
        world: The world that contains them.
        stepper: Schedules them.
        bus: Odometry is published on it.
        starts: Robot -> its pose in the drawings; the robots must stand next to each other in the world's order.
        rate_hz: The rate at which steps are counted.

    Attributes:
        robots: Robot -> its drive.
    """

    def __init__(self, world: World, stepper: Stepper, bus: Bus, starts: Mapping[str, Pose], rate_hz: float) -> None:
        self._world = world
        self._bus = bus
        names = list(starts)
        figures = world.mobile(names[0]).figures
        self.first_row = world.wheels.rows[names[0]]
        self._rows = slice(self.first_row, self.first_row + len(names))
        self._step_m = figures.wheel_radius_m * figures.step_rad
        wheels = WheelFigures(
            figures.wheel_radius_m,
            figures.wheel_base_m,
            figures.wheel_radius_sd_m,
            figures.wheel_base_sd_m,
            figures.slip_m,
            self._step_m,
        )
        poses = np.array([[*pose.position[:2], pose.rpy[2]] for pose in starts.values()])
        self.odometry = WheelOdometry(poses, wheels)
        self._counts = self.counts()
        self._sequence = 0
        self._period_s = world.clock.period_ticks(rate_hz) * world.clock.tick_s
        self._topics = [(row, name, f"/{name}/odom", f"{name}/base_link") for row, name in enumerate(names)]
        for _, _, topic, _ in self._topics:
            bus.declare(topic, Odometry)
        self.robots = {name: DifferentialDrive(name, self, world) for name in names}
        world.add_component(f"drives of {names[0]}", self)
        stepper.every(
            world.clock.period_ticks(rate_hz), self._update, order=TickOrder.CONTROL, name=f"{names[0]} odometry"
        )

    def counts(self) -> npt.NDArray[np.int64]:
        """Returns the step counters: (robots, 2)."""
        return self._world.wheels.counts()[self._rows]

    def save(self) -> Any:
        """Returns odometry and the counts that it has processed."""
        return self._counts.copy(), self._sequence, self.odometry.save()

    def load(self, state: Any) -> None:
        """Restores what `save` returned."""
        counts, self._sequence, odometry = state
        self._counts = counts.copy()
        self.odometry.load(odometry)

    def reset(self, row: int, pose: tuple[float, float, float]) -> None:
        """Restarts the odometry of one robot; steps not yet processed belong to the way before."""
        self._counts[row] = self.counts()[row]
        self.odometry.reset(row, pose)

    def let_go(self, part: str) -> None:
        """Does nothing: wheels hold no parts."""

    def _update(self) -> None:
        counts = self.counts()
        steps = counts - self._counts
        self._counts = counts
        if steps.any():
            self.odometry.update(np.asarray(steps * self._step_m, np.float64), self._period_s)
        else:
            self.odometry.set_at_rest()
        self._publish()
        self._sequence += 1

    def _publish(self) -> None:
        subscribed = [entry for entry in self._topics if self._bus.has_listener(entry[2])]
        if not subscribed:
            return
        pose, velocity, count = self.odometry.pose, self.odometry.velocity, len(self._topics)
        half = pose[:, 2] / 2
        rows = np.zeros((count, 13))  # position, quaternion, linear and angular velocity: cut up below, never changed
        rows[:, :2] = pose[:, :2]
        rows[:, 3], rows[:, 6] = np.cos(half), np.sin(half)
        rows[:, 7], rows[:, 12] = velocity[:, 0], velocity[:, 1]
        covariance = self.odometry.covariance.reshape(count, 9)
        time_ns, sequence, publish = self._world.clock.time_ns, self._sequence, self._bus.publish
        for row, name, topic, child in subscribed:
            own = rows[row]
            message = Odometry(
                time_ns,
                sequence,
                name,
                frame=FRAME,
                child_frame=child,
                position=own[:3],
                quaternion=own[3:7],
                linear_velocity=own[7:10],
                angular_velocity=own[10:],
                covariance=covariance[row],
            )
            publish(topic, message)


class DifferentialDrive:
    """The drive of one mobile robot.

    Its motors are stepper motors: a speed is a whole number of steps a second, at most that of the catalogue. How
    quickly the wheels follow is up to the motors' torque and the floor.
    """

    def __init__(self, name: str, group: DifferentialDrives, world: World) -> None:
        self.name = name
        self._group = group
        self._world = world
        self.figures = world.mobile(name).figures
        self._row = world.wheels.rows[name]
        self._at = self._row - group.first_row

    def drive(self, left_radps: float, right_radps: float) -> None:
        """Turns the wheels at these speeds from now on; more than the motors can do is cut down to that."""
        step = self.figures.step_rad
        self.drive_steps(left_radps / step, right_radps / step)

    def drive_steps(self, left: float, right: float) -> None:
        """Turns the wheels at speeds in steps a second, the robot's own unit; rounded to whole ones."""
        if not (isfinite(left) and isfinite(right)):
            raise BadInput(f"{self.name} cannot turn its wheels at {left} and {right} steps a second")
        most = self.figures.max_steps_per_s
        speeds = (round(min(max(speed, -most), most)) * self.figures.step_rad for speed in (left, right))
        self._world.wheels.command(self._row, *speeds)

    def move(self, speed_mps: float, turn_radps: float) -> None:
        """Drives an arc, by the nominal wheels; both speeds are cut down alike when a wheel cannot turn so fast."""
        half = turn_radps * self.figures.wheel_base_m / 2
        left, right = ((speed_mps + side) / self.figures.wheel_radius_m for side in (-half, half))
        if not (isfinite(left) and isfinite(right)):
            raise BadInput(f"{self.name} cannot drive at {speed_mps} m/s and turn at {turn_radps} rad/s")
        excess = max(abs(left), abs(right)) / self.figures.max_speed_radps
        share = 1 / excess if excess > 1 else 1.0
        self.drive(left * share, right * share)

    def stop(self) -> None:
        """Holds both wheels."""
        self.drive_steps(0, 0)

    @property
    def commanded_radps(self) -> tuple[float, float]:
        """The commanded speeds of the motors: left, right."""
        return self._world.wheels.commanded(self._row)

    @property
    def steps(self) -> tuple[int, int]:
        """The step counters of the wheels: left, right."""
        left, right = self._group.counts()[self._at]
        return int(left), int(right)

    @property
    def odometry(self) -> DriveEstimate:
        """The estimate as of the last count."""
        found, at = self._group.odometry, self._at
        x, y, yaw, speed, turn = (float(number) for number in (*found.pose[at], *found.velocity[at]))
        return DriveEstimate(x, y, yaw, speed, turn, found.covariance[at].copy())

    def reset_odometry(self, x_m: float = 0.0, y_m: float = 0.0, yaw_rad: float = 0.0) -> None:
        """Restarts odometry at a known pose."""
        if not all(isfinite(number) for number in (x_m, y_m, yaw_rad)):
            raise BadInput(f"{self.name} cannot be at x {x_m}, y {y_m}, yaw {yaw_rad}")
        self._group.reset(self._at, (x_m, y_m, yaw_rad))

    @property
    def leds(self) -> tuple[bool, ...]:
        """The LEDs by number, True if on."""
        return tuple(bool(lit) for lit in self._world.leds.on[self.name])

    def set_led(self, number: int, on: bool = True) -> None:
        """Switches an LED: 0 to 7 of an e-puck are its ring, 8 its body, 9 its front."""
        last = len(self.figures.leds) - 1
        if number not in range(last + 1):
            raise OutOfRange(f"lamp of {self.name}", number, 0, last)
        self._world.leds.on[self.name][number] = on

    def set_led_colour(self, number: int, red: float, green: float, blue: float) -> None:
        """Sets the colour that an LED has when it is on, each part from 0 to 1, and switches it: off for black."""
        colour = red, green, blue
        if not all(0.0 <= part <= 1.0 for part in colour):
            raise BadInput(f"a colour of {self.name} is red, green, blue from 0 to 1, not {list(colour)}")
        self.set_led(number, any(colour))
        if any(colour):
            self._world.leds.colours[self.name][number] = colour

    def set_leds(self, on: Sequence[bool]) -> None:
        """Switches the first LEDs, in the order of their numbers."""
        count = len(self.figures.leds)
        if len(on) > count:
            raise OutOfRange(f"number of lamps of {self.name}", len(on), 0, count)
        self._world.leds.on[self.name][: len(on)] = on

"""Joint angles that a program commands again and again, followed within the limits of the arm.

A program that streams set points sends steps, late or far away at times. What reaches the drives moves on between two
of them at the pace at which they come, and never faster or harder than the joints may move.
"""

from __future__ import annotations

import contextlib

import numpy as np
import numpy.typing as npt

from cellwright.control.drive import CommandMode
from cellwright.control.robot import RobotController
from cellwright.control.state import NotReady
from cellwright.core.clock import Clock
from cellwright.core.errors import CellwrightError, OutOfRange
from cellwright.motion import JointLimits
from cellwright.sim import ScheduledCall, Stepper, TickOrder

__all__ = ["JointStream"]

Array = npt.NDArray[np.float64]

RATE_HZ = 500.0
LONGEST_GAP_S = 0.2  # between two commands of one stream; after a longer silence the next one is a goal by itself
LARGEST_STEP_RAD = 0.045  # from one set point to the next, what a drive takes at once
BRAKING_SHARE = 0.8  # of the acceleration that a joint counts on to stop in time
AT_REST_RAD = 1e-7


class JointStream:
    """Leads the set points of an arm to the angles that were commanded last.

    Attributes:
        ended: Why it ended before it was at its goal; empty when it did not.

    Args:
        robot: The arm.
        stepper: By whose time.
        clock: The same, to look at.
    """

    def __init__(self, robot: RobotController, stepper: Stepper, clock: Clock) -> None:
        self._robot, self._stepper, self._clock = robot, stepper, clock
        self._period_ticks = clock.period_ticks(RATE_HZ)
        self._period_s = self._period_ticks * clock.tick_s
        limits = JointLimits.of(robot.kinematics.arm)
        self._acceleration = limits.acceleration_radps2
        self._velocity_limit = np.minimum(limits.velocity_radps, LARGEST_STEP_RAD / self._period_s)
        self._ticking: ScheduledCall | None = None
        self._goal = self._place = robot.set_point_rad
        self._way = self._velocity = np.zeros_like(self._goal)
        self._begin_s, self._gap_s, self._last_s = 0.0, 0.0, -np.inf
        self.ended = ""

    @property
    def is_active(self) -> bool:
        """True while the arm is on its way to what was commanded."""
        return self._ticking is not None and self._ticking.active

    @property
    def goal_rad(self) -> Array:
        """The angles to which the arm is on its way, or at which it is held."""
        return self._goal.copy() if self.is_active else self._robot.set_point_rad

    def aim(self, goal_rad: npt.ArrayLike) -> None:
        """Goes on to other angles.

        Raises:
            OutOfRange: A joint cannot be there; nothing is changed.
            NotReady: The arm follows a motion, is locked or in fault, or does not take angles.
        """
        robot, goal = self._robot, np.array(goal_rad, float)
        for joint, value in zip(robot.kinematics.arm.joints, goal, strict=True):
            low, high = joint.position_limits_rad
            if not low <= value <= high:
                raise OutOfRange(f"{robot.name} {joint.name}", value, low, high, "rad")
        robot.require_unlocked()
        if robot.mode is not CommandMode.POSITION:
            why = f"follows motions with its controller '{robot.controller}', which leaves no set points to a program"
            raise NotReady(robot.name, robot.state, why)
        now_s = self._clock.time_s
        gap_s = now_s - self._last_s
        if not self.is_active:
            self._goal = self._place = robot.set_point_rad
            self._velocity, self._gap_s = np.zeros_like(goal), 0.0
        if 0 < gap_s <= LONGEST_GAP_S:
            reference, _ = self._reference(now_s)
            self._way, self._gap_s = goal - reference, gap_s
        elif gap_s > 0:
            self._way, self._gap_s = np.zeros_like(goal), 0.0
        else:  # of the same moment as the one before, which it replaces
            self._way = goal - (self._goal - self._way)
        self._goal, self._begin_s, self._last_s, self.ended = goal, now_s, now_s, ""
        if not self.is_active:
            self._ticking = self._stepper.every(
                self._period_ticks, self._tick, order=TickOrder.CONTROL, name=f"{robot.name} joint stream"
            )

    def cancel(self) -> None:
        """Leaves the arm where its set points are."""
        if self.is_active and not self._robot.moving:
            with contextlib.suppress(CellwrightError):  # locked, or in fault: it stands already
                self._robot.command(self._place)  # without the speed of its last set point
        self._stop()

    def _stop(self) -> None:
        if self._ticking is not None:
            self._ticking.cancel()

    def _reference(self, now_s: float) -> tuple[Array, Array]:
        """Returns where the stream is between its last two commands, and its speed there."""
        if not self._gap_s or now_s >= self._begin_s + self._gap_s:
            return self._goal, np.zeros_like(self._goal)
        left = 1 - (now_s - self._begin_s) / self._gap_s
        return self._goal - left * self._way, self._way / self._gap_s

    def _tick(self) -> None:
        robot, step_s = self._robot, self._period_s
        if robot.moving:
            self._end("another program moves it")
            return
        reference, speed = self._reference(self._clock.time_s)
        error = reference - self._place
        half = BRAKING_SHARE * self._acceleration * step_s / 2  # a stop takes whole steps
        nearing = np.sqrt(half**2 + 2 * BRAKING_SHARE * self._acceleration * np.abs(error)) - half
        wanted = speed + np.sign(error) * np.minimum(np.abs(error) / step_s, nearing)
        limit = self._velocity_limit * robot.override
        change = self._acceleration * step_s
        wanted = np.clip(wanted, self._velocity - change, self._velocity + change)
        self._velocity = np.clip(wanted, -limit, limit)
        self._place = self._place + self._velocity * step_s
        low, high = np.array([joint.position_limits_rad for joint in robot.kinematics.arm.joints]).T
        self._place = np.clip(self._place, low, high)
        is_there = np.abs(self._goal - self._place).max() <= AT_REST_RAD and not speed.any()
        try:
            robot.command(self._goal if is_there else self._place, None if is_there else self._velocity)
        except CellwrightError as error_of_robot:
            self._end(str(error_of_robot))
            return
        if is_there and self._clock.time_s > self._last_s + LONGEST_GAP_S:
            self._stop()

    def _end(self, why: str) -> None:
        self.ended = why
        self._stop()

"""Speeds and torques from outside, straight to the drives, and the guard that limits them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cellwright.control.drive import CommandMode, Drive
from cellwright.sim import ScheduledCall, Stepper, TickOrder, World

__all__ = ["DirectCommands"]

Array = npt.NDArray[np.float64]

RATE_HZ = 250.0
BRAKING_SHARE = 0.5  # of the acceleration that is planned with
OVERSPEED = 1.2  # times a joint's largest speed


class DirectCommands:
    """Passes commands on, slows a joint down before its limit, and notices when one runs away.

    Args:
        world: The world that contains the arm.
        stepper: Runs the guard.
        robot: Its name.
        drive: Its drives.
        overspeed: Called with joint, speed and limit when a joint turns too fast, which only a torque can bring about.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        robot: str,
        drive: Drive,
        overspeed: Callable[[str, float, float], None],
    ) -> None:
        self._world = world
        self._stepper = stepper
        self._robot = robot
        self._drive = drive
        self._overspeed = overspeed
        joints = drive.figures.joints
        self._lower, self._upper = np.array([j.position_limits_rad for j in joints]).T
        self._braking = np.array([j.acceleration_limit_radps2 for j in joints]) * BRAKING_SHARE
        self._fastest = np.array([j.velocity_limit_radps for j in joints]) * OVERSPEED
        self._wanted = np.zeros(len(joints))
        self._guard_call: ScheduledCall | None = None

    @property
    def active(self) -> bool:
        """Whether commands come from outside."""
        return self._guard_call is not None

    def start(self) -> None:
        """Starts, with the joints at rest."""
        self._wanted[:] = 0.0
        period = self._world.clock.period_ticks(RATE_HZ)
        self._guard_call = self._stepper.every(
            period, self._guard, order=TickOrder.CONTROL, name=f"{self._robot} guard"
        )

    def cancel(self) -> None:
        """Ends direct commands; the drives keep the last one."""
        if self._guard_call is not None:
            self._guard_call.cancel()
        self._guard_call = None

    def save(self) -> tuple[ScheduledCall | None, Array]:
        """Returns the scheduled guard, if active, and the commanded speeds."""
        return self._guard_call, self._wanted.copy()

    def load(self, state: tuple[ScheduledCall | None, Array]) -> None:
        """Restores what `save` returned; the laboratory restores the schedule itself."""
        guard_call, self._wanted[:] = state
        if guard_call is not self._guard_call:
            self.cancel()
        self._guard_call = guard_call
        if guard_call is not None:
            guard_call.active = True

    def write(self, values: npt.ArrayLike) -> None:
        """Writes the next command."""
        if self._drive.mode is CommandMode.EFFORT:
            self._drive.write_effort(values)
        else:
            self._drive.write_velocity(values)
            self._wanted[:] = np.asarray(values, float)
            self._guard()

    def _guard(self) -> None:
        drive = self._drive
        drive.drift()
        if drive.mode is CommandMode.VELOCITY:
            position = drive.position_rad
            down = np.sqrt(2 * self._braking * np.maximum(0.0, position - self._lower))
            up = np.sqrt(2 * self._braking * np.maximum(0.0, self._upper - position))
            drive.ctrl_velocity[:] = np.clip(self._wanted, -down, up)
        excess = np.abs(drive.qvel) - self._fastest
        worst = int(excess.argmax())
        if excess[worst] > 0:
            speed, limit = float(abs(drive.qvel[worst])), float(self._fastest[worst])
            self._overspeed(drive.figures.joints[worst].name, speed, limit)

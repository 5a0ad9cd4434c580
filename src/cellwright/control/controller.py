"""The base of controllers: they turn a reference and the joints' state into commands, at a fixed rate.

A new one is a subclass with `command`, registered under a name or named by an entry point of the group
`cellwright.controllers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cellwright.control.drive import CommandMode, Drive
from cellwright.core.pose import Pose
from cellwright.core.registry import Registry
from cellwright.motion.dynamics import Payload
from cellwright.sim import ScheduledCall, Stepper, TickOrder, World

__all__ = ["CONTROLLERS", "Controller", "ControllerContext"]

Array = npt.NDArray[np.float64]

CHECK_HZ = 125.0


@dataclass(frozen=True)
class ControllerContext:
    """The surroundings of a controller: the drives of one arm, and what the drawings say about the arm.

    Attributes:
        drive: Reads and commands the joints.
        pose_base_in_world: The pose of the base by the drawings: which way is down.
        payload: As the operator declared it.
    """

    world: World
    stepper: Stepper
    robot: str
    drive: Drive
    pose_base_in_world: Pose
    payload: Payload


class Controller(ABC):
    """Base of all controllers; as it stands, one that is called in Python at every turn.

    Between motions it goes on: the last row of its reference is where the arm is held.

    Attributes:
        mode: The kind of commands that it gives.
        rate_hz: Its rate.
        count: The number of rows of the reference that are done.
        watch: The supervision of the motion, called regularly while a reference is followed.
    """

    mode: ClassVar[CommandMode] = CommandMode.EFFORT
    rate_hz: ClassVar[float] = 500.0
    weightless_tool: bool = False

    def __init__(self, context: ControllerContext) -> None:
        self.context = context
        self.drive = context.drive
        self.joints = len(context.drive.figures.joints)
        self.period_ticks = context.world.clock.period_ticks(self.rate_hz)
        self.period_s = self.period_ticks * context.world.clock.tick_s
        self.reference: Array = np.zeros((1, 3, self.joints))
        self.count = 0
        self.watch: Callable[[], object] = bool
        self.scheduled: list[ScheduledCall] = []

    @abstractmethod
    def command(self, reference: Array, position_rad: Array, velocity_radps: Array) -> npt.ArrayLike:
        """Returns the commands of the drives: one number per joint, in the units of `mode`.

        Args:
            reference: Positions, velocities and accelerations that the joints should have now, in three rows.
            position_rad: Joint angles by the encoders.
            velocity_radps: Joint speeds.
        """

    def look_up(self) -> None:  # noqa: B027
        """Looks up addresses anew after the world's arrays were replaced; by default there are none."""

    def start(self) -> None:
        """Takes over the drives, to hold the arm where it is."""
        here = self.drive.set_point_rad if self.drive.mode is CommandMode.POSITION else self.drive.position_rad
        self.drive.switch(self.mode, weightless_tool=self.weightless_tool)
        self.follow(np.array([[here, np.zeros(self.joints), np.zeros(self.joints)]]))
        self.scheduled = self._schedule()

    def stop(self) -> None:
        """Stops giving commands."""
        for call in self.scheduled:
            call.cancel()

    def follow(self, reference: Array) -> None:
        """Begins with another reference: (turns, 3, joints)."""
        self.reference = np.ascontiguousarray(reference)
        self.count = 0

    def rest(self) -> None:
        """Ends a reference that was followed to its end; by default the arm is held there."""
        self.watch = bool

    def save(self) -> Any:
        """Returns the reference at which it holds the arm, between motions."""
        return self.reference[-1:].copy(), tuple(self.scheduled)

    def load(self, state: Any) -> None:
        """Restores what `save` returned; the laboratory restores the schedule itself."""
        reference, scheduled = state
        self.follow(reference)
        self.scheduled = list(scheduled)
        for call in self.scheduled:
            call.active = True

    def _schedule(self) -> list[ScheduledCall]:
        name = f"{self.context.robot} controller"
        every = self.context.stepper.every
        check = self.context.world.clock.period_ticks(CHECK_HZ)
        return [
            every(self.period_ticks, self._tick, order=TickOrder.CONTROL, name=name),
            every(check, lambda: self.watch(), order=TickOrder.CONTROL, name=f"{name} watch"),
        ]

    def _tick(self) -> None:
        row = self.drive.aim(self.reference[min(self.count, len(self.reference) - 1)])
        self.count += 1
        command = np.asarray(self.command(row, self.drive.position_rad, self.drive.velocity_radps), float)
        if self.mode is CommandMode.EFFORT:
            self.drive.write_effort(self.drive.clip_effort(command))
        elif self.mode is CommandMode.VELOCITY:
            self.drive.write_velocity(self.drive.clip_velocity(command))
        else:
            self.drive.write_position(command)


CONTROLLERS: Registry[type[Controller]] = Registry("control law", "cellwright.controllers", of_plugins=True)

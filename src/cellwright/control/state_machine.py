"""The state machine of a robot: its state, the locks on it, and how they are reset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.control.commander import Commander
from cellwright.control.controller import Controller
from cellwright.control.drive import CommandMode, Drive
from cellwright.control.state import NotReady, RobotState
from cellwright.motion.dynamics import Payload

__all__ = ["RobotStateMachine"]

Array = npt.NDArray[np.float64]


class RobotStateMachine(ABC):
    """State, reason and locks of one robot, and the commands that it takes only at rest and unlocked."""

    commander: Commander

    def __init__(self, robot: str) -> None:
        self.robot = robot
        self.state = RobotState.IDLE
        self.reason = ""
        self.locks: set[str] = set()

    @property
    def drive(self) -> Drive:
        """The arm's drives."""
        return self.commander.drive

    @property
    def controller(self) -> Controller:
        """The controller that commands them."""
        return self.commander.controller

    @property
    def position_rad(self) -> Array:
        """Joint angles by the encoders."""
        return self.drive.position_rad

    @property
    def set_point_rad(self) -> Array:
        """The angles at which the arm is held: the start of the next motion."""
        return self.commander.set_point_rad

    @property
    @abstractmethod
    def moving(self) -> bool:
        """Whether a motion is in progress."""

    def use(self, controller: str, **gains: Any) -> None:
        """Switches to another controller by name; the arm stays where it is.

        Raises:
            NotReady: while the arm moves, is locked or in fault.
            UnknownName: when there is none of that name.
        """
        self.require_unlocked()
        self.commander.use(controller, **gains)

    def set_payload(self, payload: Payload) -> None:
        """Declares the payload to controllers."""
        self.require_unlocked()
        self.commander.set_payload(payload)

    def take_commands(self, mode: CommandMode) -> None:
        """Lets the drives take direct commands in one of the modes; in position mode motions can be followed, too."""
        self.require_unlocked()
        self.commander.take_commands(mode)

    def command(self, values: npt.ArrayLike, velocity_radps: npt.ArrayLike | None = None) -> None:
        """Commands angles, speeds or torques, by the mode of the drives; they hold until the next ones.

        Args:
            values: For every joint.
            velocity_radps: Beside angles: the speeds of a set point that moves on.

        Raises:
            NotReady: when the robot moves by itself, is locked or in fault, or a controller commands its drives.
            OutOfRange: beyond a limit; names the joint.
        """
        self.require_unlocked()
        if not self.commander.command(values, velocity_radps):
            raise NotReady(self.robot, self.state, "takes its commands from a controller; set its mode first")

    def lock(self, lock: str, reason: str) -> None:
        """Notes why the robot stops, and the lock that comes with it, if any."""
        if lock:
            self.locks.add(lock)
        self.reason = reason

    def fail(self, reason: str) -> None:
        """Enters the fault state: nothing moves before a reset."""
        self.state = RobotState.FAULT
        self.reason = reason

    def reset(self, lock: str = "") -> None:
        """Removes a lock, or, without its name, ends a fault; the robot is ready when no lock is left."""
        self.locks.discard(lock)
        if self.moving:
            raise NotReady(self.robot, self.state, f"cannot be reset: it is {self.state.value}")
        if not lock or self.state is not RobotState.FAULT:
            self.state = RobotState.STOPPED if self.locks else RobotState.IDLE
            self.reason = self.reason if self.locks else ""

    def require_unlocked(self) -> None:
        """Checks that the robot is at rest and may move.

        Raises:
            NotReady: otherwise; says why.
        """
        if self.moving:
            raise NotReady(self.robot, self.state, "is already moving")
        if self.state is RobotState.FAULT:
            raise NotReady(self.robot, self.state, f"is in fault and needs a reset: {self.reason}")
        if self.locks:
            why = f"is locked by {', '.join(sorted(self.locks))} and needs a reset: {self.reason}"
            raise NotReady(self.robot, self.state, why)

    def save(self) -> Any:
        """Returns state, reason and locks."""
        return self.state, self.reason, frozenset(self.locks)

    def load(self, state: Any) -> None:
        """Restores what `save` returned."""
        self.state, self.reason, locks = state
        self.locks = set(locks)

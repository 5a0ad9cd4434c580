"""The source of an arm's drive commands: one of several controllers, or direct commands from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.control.controller import CONTROLLERS, Controller, ControllerContext
from cellwright.control.direct import DirectCommands
from cellwright.control.drive import CommandMode, Drive
from cellwright.core.pose import Pose
from cellwright.motion.dynamics import NO_PAYLOAD, Payload
from cellwright.sim import Stepper, World

__all__ = ["Commander"]

Array = npt.NDArray[np.float64]


class Commander:
    """The drives of one arm, and the controller or direct commands that drive them.

    Attributes:
        drive: The drives.
        controller: The controller that follows motions and holds the arm.
        chosen: Its registered name, and the gains that it was given.
        direct: Commands from outside, when they are taken.

    Args:
        world: The world that contains the arm.
        stepper: Runs the controllers.
        robot: Its name.
        pose_base_in_world: The pose of its base by the drawings.
        controller: Name of the first controller.
        overspeed: Called with joint, speed and limit when a joint runs away under commands from outside.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        robot: str,
        pose_base_in_world: Pose,
        controller: str,
        overspeed: Callable[[str, float, float], None],
    ) -> None:
        self.drive = Drive(world, robot)
        self._site = ControllerContext(world, stepper, robot, self.drive, pose_base_in_world, NO_PAYLOAD)
        self.direct = DirectCommands(world, stepper, robot, self.drive, overspeed)
        self.controller: Controller = CONTROLLERS.get(controller)(self._site)
        self.chosen: tuple[str, dict[str, Any]] = (controller, {})
        # One callback for all controllers that will ever be used: the world keeps what it calls for ever.
        world.bind(lambda: self.controller.look_up())
        self.controller.start()

    @property
    def set_point_rad(self) -> Array:
        """The joint angles at which the arm is held."""
        if self.drive.mode is CommandMode.POSITION:
            return self.drive.set_point_rad
        return np.array(self.controller.reference[-1, 0])

    @property
    def in_force(self) -> Array:
        """The row of the controller's reference that is in force: positions, velocities, accelerations."""
        reference = self.controller.reference
        return np.asarray(reference[max(0, min(self.controller.count, len(reference)) - 1)])

    @property
    def follows(self) -> bool:
        """Whether the drives listen to the controller, so that motions can be followed."""
        return self.drive.mode is self.controller.mode and not self.direct.active

    def use(self, controller: str, **gains: Any) -> None:
        """Switches to another controller by name; the arm stays where it is."""
        chosen = CONTROLLERS.get(controller)(self._site, **gains)
        self.direct.cancel()
        self.controller.stop()
        self.controller = chosen
        self.chosen = (controller, gains)
        chosen.start()

    def set_payload(self, payload: Payload) -> None:
        """Declares the payload to controllers: the present one is made anew."""
        self._site = replace(self._site, payload=payload)
        name, gains = self.chosen
        self.use(name, **gains)

    def take_commands(self, mode: CommandMode) -> None:
        """Lets the drives take commands from outside; in position mode motions can be followed, too."""
        self.controller.stop()
        self.direct.cancel()
        if mode is CommandMode.POSITION:
            self.use("pid")
        else:
            self.drive.switch(mode)
            self.direct.start()

    def command(self, values: npt.ArrayLike, velocity_radps: npt.ArrayLike | None = None) -> bool:
        """Passes on a command from outside; returns whether the drives take any."""
        if self.drive.mode is CommandMode.POSITION:
            self.drive.write_position(values, velocity_radps)
        elif self.direct.active:
            self.direct.write(values)
        else:
            return False
        return True

    def halt(self) -> None:
        """Ends commands from outside at once: the servos hold the arm."""
        self.direct.cancel()
        self.drive.halt()
        self.controller = CONTROLLERS.get("pid")(self._site)
        self.chosen = ("pid", {})
        self.controller.start()

    def hold(self, position_rad: Array) -> None:
        """Has the controller hold the arm at joint angles, at once."""
        still = np.zeros_like(position_rad)
        self.controller.follow(np.array([[position_rad, still, still]]))
        if self.drive.mode is CommandMode.POSITION:
            self.drive.ctrl_position[:] = position_rad + self.drive.zeros_rad

    def save(self) -> Any:
        """Returns the source of commands, and the angles at which the arm is held."""
        return self.controller, self.controller.save(), self.chosen, self.direct.save()

    def load(self, state: Any, *, moving: bool) -> None:
        """Restores what `save` returned; a motion in progress keeps its reference."""
        controller, own, self.chosen, direct = state
        self.direct.load(direct)
        if controller is not self.controller:
            self.controller.stop()
            self.controller = controller
        if not moving:
            controller.load(own)

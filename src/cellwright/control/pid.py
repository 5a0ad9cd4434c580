"""The everyday controller: the joints' own servos, which physics runs along with the arm."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.control.controller import CONTROLLERS, Array, Controller, ControllerContext
from cellwright.control.drive import CommandMode
from cellwright.sim import ScheduledCall, TickOrder

__all__ = ["PidController"]

CHECK_EVERY = 5


@CONTROLLERS.register("pid")
class PidController(Controller):
    """Writes set points to the drives in the model; between motions the drives hold by themselves."""

    mode = CommandMode.POSITION
    rate_hz = 250.0

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._rows: list[memoryview] = []

    def command(self, reference: Array, position_rad: Array, velocity_radps: Array) -> npt.ArrayLike:
        """Returns the reference itself: the drives do the rest."""
        return np.asarray(reference[0])

    def start(self) -> None:
        """Takes over the drives, which hold by themselves."""
        if self.drive.mode is not self.mode:
            self.drive.switch(self.mode)
        self.reference = np.array([[self.drive.set_point_rad, np.zeros(self.joints), np.zeros(self.joints)]])

    def follow(self, reference: Array) -> None:
        """Begins with another reference."""
        super().follow(reference)
        position, velocity = reference[:, 0] + self.drive.zeros_rad, reference[:, 1]
        rows = np.stack([position, velocity, np.zeros_like(position)], axis=2)
        self._rows = [row.data for row in rows.reshape(len(rows), -1)]
        if not self.scheduled:
            self.scheduled = self._schedule()

    def load(self, state: object) -> None:
        """Does nothing: where the drives hold is part of the world."""

    def _schedule(self) -> list[ScheduledCall]:
        name = f"{self.context.robot} servo"
        return [self.context.stepper.every(self.period_ticks, self._tick, order=TickOrder.CONTROL, name=name)]

    def _tick(self) -> None:
        # All rows were made at once: one by one, between physics steps, they take several times as long.
        count = self.count
        if count < len(self._rows):
            self.drive.ctrl[:] = self._rows[count]
            self.count = count = count + 1
        if count % CHECK_EVERY == 0 or count >= len(self._rows):
            self.watch()

    def rest(self) -> None:
        """Ends the calls after a motion; the drives hold."""
        super().rest()
        self.stop()
        self.scheduled = []
        self.drive.ctrl_velocity[:] = 0.0

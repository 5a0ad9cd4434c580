"""The LEDs of the mobile robots. Physics knows nothing of light; pictures do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["LIT_SHELL", "Leds"]

GLOW = 1.0
BODY_GLOW = 0.35
LIT_FROM_INSIDE, LIT_SHELL = "led8", "clear"

Mask = npt.NDArray[np.bool_]


class Leds:
    """The states of the LEDs of every mobile robot.

    Attributes:
        on: Robot -> its LEDs by number, True if on.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.on: dict[str, Mask] = {n: np.zeros(len(r.figures.leds), bool) for n, r in world.mobiles.items()}
        world.add_component("lamps", self)

    def save(self) -> dict[str, Mask]:
        """Returns the states of all LEDs."""
        return {name: leds.copy() for name, leds in self.on.items()}

    def load(self, state: dict[str, Mask]) -> None:
        """Restores what `save` returned."""
        self.on = {name: leds.copy() for name, leds in state.items()}

    def let_go(self, part: str) -> None:
        """Does nothing: LEDs hold no parts."""

    def paint(self, model: Any) -> None:
        """Sets colours and emission of a visual model's materials by the present states."""
        for name, robot in self._world.mobiles.items():
            dark = robot.figures.colours["dark"]
            for lamp, lit in zip(robot.figures.leds, self.on[name], strict=True):
                material = model.material(f"{name}/{lamp.name}").id
                model.mat_rgba[material, :3] = lamp.colour if lit else dark
                model.mat_emission[material] = GLOW if lit else 0.0
                if lamp.name == LIT_FROM_INSIDE:  # its light fills the clear body
                    shell = model.material(f"{name}/{LIT_SHELL}").id
                    model.mat_rgba[shell, :3] = lamp.colour if lit else robot.figures.colours["clear"]
                    model.mat_emission[shell] = BODY_GLOW if lit else 0.0

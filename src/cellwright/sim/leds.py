"""The LEDs of the mobile robots. Physics knows nothing of light; pictures do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["LIT_SHELL", "Leds"]

GLOW = 1.0
BODY_GLOW = 0.35
LIT_FROM_INSIDE, LIT_SHELL = "led8", "clear"

Mask = npt.NDArray[np.bool_]
Colours = npt.NDArray[np.float64]
T = TypeVar("T", bound=npt.NDArray[Any])


class Leds:
    """The states of the LEDs of every mobile robot.

    Attributes:
        on: Robot -> its LEDs by number, True if on.
        colours: Robot -> red, green and blue of each when it is on, 0 to 1; at first those of its figures.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.on: dict[str, Mask] = {n: np.zeros(len(r.figures.leds), bool) for n, r in world.mobiles.items()}
        self.colours = {n: np.array([led.colour for led in r.figures.leds]) for n, r in world.mobiles.items()}
        self._own = {name: colours.copy() for name, colours in self.colours.items()}
        world.add_component("lamps", self)

    def save(self) -> tuple[dict[str, Mask], dict[str, Colours]]:
        """Returns the states of all LEDs."""
        return _copied(self.on), _copied(self.colours)

    def load(self, state: tuple[dict[str, Mask], dict[str, Colours]]) -> None:
        """Restores what `save` returned."""
        on, colours = state
        self.on, self.colours = _copied(on), _copied(colours)

    def lit(self) -> tuple[str, ...]:
        """Returns the LEDs that are on: `ePuck0/3`, and `ePuck0/3#00ff00` for one in another colour than its own."""
        names = []
        for robot, leds in self.on.items():
            for led in np.flatnonzero(leds).tolist():
                colour = self.colours[robot][led]
                is_own = bool((colour == self._own[robot][led]).all())
                names.append(
                    f"{robot}/{led}" + ("" if is_own else f"#{np.rint(colour * 255).astype(np.uint8).tobytes().hex()}")
                )
        return tuple(names)

    def show(self, lit: Iterable[str]) -> None:
        """Lights the LEDs that `lit` returned, and no others."""
        for leds in self.on.values():
            leds[:] = False
        for robot, own in self._own.items():
            self.colours[robot] = own.copy()
        for entry in lit:
            robot, _, led = entry.rpartition("/")
            number, _, colour = led.partition("#")
            if robot in self.on and int(number) < len(self.on[robot]):
                self.on[robot][int(number)] = True
                if colour:
                    self.colours[robot][int(number)] = np.frombuffer(bytes.fromhex(colour), np.uint8) / 255

    def let_go(self, part: str) -> None:
        """Does nothing: LEDs hold no parts."""

    def paint(self, model: Any) -> None:
        """Sets colours and emission of a visual model's materials by the present states."""
        for name, robot in self._world.mobiles.items():
            dark = robot.figures.colours["dark"]
            for lamp, lit, colour in zip(robot.figures.leds, self.on[name], self.colours[name], strict=True):
                material = model.material(f"{name}/{lamp.name}").id
                model.mat_rgba[material, :3] = colour if lit else dark
                model.mat_emission[material] = GLOW if lit else 0.0
                if lamp.name == LIT_FROM_INSIDE:  # its light fills the clear body
                    shell = model.material(f"{name}/{LIT_SHELL}").id
                    model.mat_rgba[shell, :3] = colour if lit else robot.figures.colours["clear"]
                    model.mat_emission[shell] = BODY_GLOW if lit else 0.0


def _copied(arrays: dict[str, T]) -> dict[str, T]:
    return {name: array.copy() for name, array in arrays.items()}

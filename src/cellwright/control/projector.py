"""The switch of a projector."""

from __future__ import annotations

from cellwright.control.io import DigitalIo
from cellwright.core.bus import Bus
from cellwright.sim import World

__all__ = ["ProjectorSwitch"]

SIGNAL = "on"


class ProjectorSwitch:
    """Switches a projector; every change is published on `/<projector>/io`.

    Args:
        world: With the projector.
        name: Of the projector.
        bus: For the message.
    """

    def __init__(self, world: World, name: str, bus: Bus | None = None) -> None:
        self._world, self._name = world, name
        self._io = DigitalIo(name, world.clock, bus)
        self._io.add_output(SIGNAL, world.projectors.on[name])
        self._io.on_change(self._set)
        world.add_component(f"projectors/{name}/io", self._io)

    @property
    def is_on(self) -> bool:
        """Whether it throws its pattern."""
        return self._world.projectors.on[self._name]

    def switch(self, on: bool) -> None:
        """Switches it on or off, at once."""
        self._io.write(SIGNAL, bool(on))

    def _set(self, _signal: str, value: bool) -> None:
        self._world.projectors.on[self._name] = value

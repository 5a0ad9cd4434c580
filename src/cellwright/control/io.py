"""Named digital inputs and outputs of a robot."""

from __future__ import annotations

from collections.abc import Callable

from cellwright.core.bus import Bus
from cellwright.core.clock import Clock
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import IoState

__all__ = ["DigitalIo"]


class DigitalIo:
    """Signals that are on or off; every change is published on `/<robot>/io` and passed to the listeners."""

    def __init__(self, robot: str, clock: Clock, bus: Bus | None = None) -> None:
        self._robot = robot
        self._clock = clock
        self._bus = bus
        self._inputs: dict[str, bool] = {}
        self._outputs: dict[str, bool] = {}
        self._listeners: list[Callable[[str, bool], None]] = []
        self._sequence = 0

    def add_input(self, name: str, value: bool = False) -> None:
        """Adds a signal that comes from the cell."""
        self._add(self._inputs, name, value)

    def add_output(self, name: str, value: bool = False) -> None:
        """Adds a signal that the controller gives."""
        self._add(self._outputs, name, value)

    def on_change(self, listener: Callable[[str, bool], None]) -> None:
        """Calls back with name and value whenever a signal changes."""
        self._listeners.append(listener)

    def read(self, name: str) -> bool:
        """Returns the value of an input or an output."""
        signals = self._inputs | self._outputs
        if name not in signals:
            raise UnknownName("signal", name, signals, self._robot)
        return signals[name]

    def set_input(self, name: str, value: bool) -> None:
        """Sets an input, as the cell does."""
        self._set(self._inputs, "input", name, value)

    def write(self, name: str, value: bool) -> None:
        """Sets an output, as the controller does."""
        self._set(self._outputs, "output", name, value)

    def state(self) -> IoState:
        """Returns all signals now."""
        signals = self._inputs | self._outputs
        return IoState(
            self._clock.time_ns, self._sequence, self._robot, names=tuple(signals), values=tuple(signals.values())
        )

    def save(self) -> tuple[dict[str, bool], dict[str, bool], int]:
        """Returns all signals, for a snapshot."""
        return dict(self._inputs), dict(self._outputs), self._sequence

    def load(self, state: tuple[dict[str, bool], dict[str, bool], int]) -> None:
        """Restores what `save` returned, without a message."""
        inputs, outputs, self._sequence = state
        self._inputs = dict(inputs)
        self._outputs = dict(outputs)

    def let_go(self, part: str) -> None:
        """Does nothing: signals hold no parts."""

    def _add(self, table: dict[str, bool], name: str, value: bool) -> None:
        if name in self._inputs or name in self._outputs:
            raise BadInput(f"{self._robot} has a signal '{name}' already")
        table[name] = value

    def _set(self, table: dict[str, bool], kind: str, name: str, value: bool) -> None:
        if name not in table:
            raise UnknownName(kind, name, table, self._robot)
        if table[name] is value:
            return
        table[name] = value
        for listener in self._listeners:
            listener(name, value)
        if self._bus is not None:
            self._bus.publish(f"/{self._robot}/io", self.state())
            self._sequence += 1

"""The cell's safety controller: guards that open, zones that are entered then, robots that stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cellwright.control.robot import RobotController
from cellwright.control.state import NotReady, RobotState, StopCategory
from cellwright.core.bus import Bus
from cellwright.core.clock import Clock
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.messages import SafetyStatus

__all__ = ["SafetyController"]

TOPIC = "/safety/status"
LOCK = "safety"


class Guard(Protocol):
    """What a cell says about one guard."""

    @property
    def kind(self) -> str:
        """A gate, a light curtain, an emergency stop."""

    @property
    def zones(self) -> tuple[str, ...]:
        """What counts as entered when it opens."""

    @property
    def category(self) -> str:
        """How the robots there stop."""


class SafetyPlan(Protocol):
    """What a cell says about its safety."""

    @property
    def zones(self) -> Mapping[str, tuple[str, ...]]:
        """Zone -> the robots that work in it."""

    @property
    def inputs(self) -> Mapping[str, Guard]:
        """The guards by name."""


class SafetyController:
    """Stops the robots of a zone when one of its guards opens, and keeps them locked until somebody resets it.

    A guard is a gate, a light curtain or an emergency stop: closed when all is well, as its contacts are.
    """

    def __init__(
        self, cfg: SafetyPlan, robots: Mapping[str, RobotController], bus: Bus, clock: Clock, where: str = ""
    ) -> None:
        self._cfg, self._robots, self._bus, self._clock = cfg, robots, bus, clock
        for zone, members in cfg.zones.items():
            for robot in members:
                if robot not in robots:
                    raise ConfigError(where, f"safety.zones.{zone}", str(UnknownName("robot", robot, robots)))
        for name, guard in cfg.inputs.items():
            for zone in guard.zones:
                if zone not in cfg.zones:
                    raise ConfigError(where, f"safety.inputs.{name}.zones", str(UnknownName("zone", zone, cfg.zones)))
        self._closed = dict.fromkeys(cfg.inputs, True)
        self._entered: dict[str, StopCategory] = {}
        self._sequence = 0
        bus.declare(TOPIC, SafetyStatus)

    @property
    def inputs(self) -> dict[str, bool]:
        """Guard -> whether it is closed."""
        return dict(self._closed)

    @property
    def status(self) -> SafetyStatus:
        """The hardest stop in force, and the zones that were entered."""
        order = list(StopCategory)
        category = min(self._entered.values(), key=order.index).value if self._entered else ""
        header = (self._clock.time_ns, self._sequence, "safety")
        return SafetyStatus(*header, category, tuple(sorted(self._entered)))

    def set_input(self, name: str, closed: bool) -> None:
        """A guard opens or closes; closing it again lets nobody move before a reset."""
        if name not in self._closed:
            raise UnknownName("safety input", name, self._closed)
        if self._closed[name] is closed:
            return
        self._closed[name] = closed
        if closed:
            return
        guard = self._cfg.inputs[name]
        category = StopCategory(guard.category)
        order = list(StopCategory)
        for zone in guard.zones:
            self._entered[zone] = min(self._entered.get(zone, category), category, key=order.index)
            for robot in self._cfg.zones[zone]:
                self._robots[robot].stop(category, f"{guard.kind} '{name}' opened, zone '{zone}'", lock=LOCK)
        self._publish()

    def reset(self) -> None:
        """Unlocks the robots, when every guard is closed and every robot stands.

        Raises:
            NotReady: otherwise; names what is open or moves.
        """
        still_open = sorted(name for name, closed in self._closed.items() if not closed)
        if still_open:
            raise NotReady("safety", RobotState.STOPPED, f"cannot be reset: {', '.join(still_open)} open")
        robots = {robot for zone in self._entered for robot in self._cfg.zones[zone]}
        for robot in sorted(robots):
            if self._robots[robot].moving:
                raise NotReady("safety", RobotState.STOPPING, f"cannot be reset: {robot} is still stopping")
        for robot in sorted(robots):
            self._robots[robot].reset(LOCK)
        self._entered.clear()
        self._publish()

    def save(self) -> tuple[dict[str, bool], dict[str, StopCategory], int]:
        """Guards and zones, for a snapshot."""
        return dict(self._closed), dict(self._entered), self._sequence

    def load(self, state: tuple[dict[str, bool], dict[str, StopCategory], int]) -> None:
        """Goes back to what `save` gave; the robots' locks are their own."""
        closed, entered, self._sequence = state
        self._closed, self._entered = dict(closed), dict(entered)

    def let_go(self, part: str) -> None:
        """Guards hold no parts."""

    def _publish(self) -> None:
        self._bus.publish(TOPIC, self.status)
        self._sequence += 1

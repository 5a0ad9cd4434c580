"""The cell's safety controller: guards, the zones that they protect, and the stops of the robots there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from cellwright.control.presence_detector import PresenceDetector
from cellwright.control.robot import RobotController
from cellwright.control.state import NotReady, RobotState, StopCategory
from cellwright.core.bus import Bus
from cellwright.core.errors import UnknownName
from cellwright.core.messages import SafetyStatus
from cellwright.core.pose import Pose
from cellwright.sim import Stepper, TickOrder, World

__all__ = ["SafetyController"]

TOPIC = "/safety/status"
LOCK = "safety"
RATE_HZ = 50.0

Box = tuple[Pose, tuple[float, float, float]]


class SafetyZone(Protocol):
    """The configuration of one zone."""

    @property
    def robots(self) -> tuple[str, ...]:
        """The robots that work in it."""

    @property
    def category(self) -> str:
        """The stop category of these robots."""

    @property
    def watched(self) -> bool:
        """Whether it detects by itself what comes in."""

    @property
    def box(self) -> Box:
        """Its middle in the world, and its size."""


class SafetyGuard(Protocol):
    """The configuration of one guard."""

    @property
    def kind(self) -> str:
        """The kind of guard: a gate, a light curtain, an emergency stop."""

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones that count as entered when it opens."""

    @property
    def category(self) -> str | None:
        """The stop category of the robots there, instead of that of their zones."""

    @property
    def box(self) -> Box | None:
        """The box in which objects interrupt it, if they can."""


class SafetyPlan(Protocol):
    """The safety configuration of a cell."""

    @property
    def zones(self) -> Mapping[str, SafetyZone]:
        """The zones by name."""

    @property
    def inputs(self) -> Mapping[str, SafetyGuard]:
        """The guards by name."""


class SafetyController:
    """Stops the robots of a zone when it is entered, and keeps them locked until a reset.

    A zone is entered when one of its guards opens: a gate, a light curtain or an emergency stop, closed when all is
    well, as its contacts are. Each guard is a digital input of the robots that it stops. Light curtains with a place
    look 50 times a second whether a tray or a part interrupts them; a thing so fast and so small that it is through in
    less passes unseen. A zone that is watched is also entered by what comes into its box.
    """

    def __init__(
        self, cfg: SafetyPlan, robots: Mapping[str, RobotController], bus: Bus, world: World, stepper: Stepper
    ) -> None:
        self._cfg = cfg
        self._robots = robots
        self._bus = bus
        self._world = world
        self._closed = dict.fromkeys(cfg.inputs, True)
        self._entered: dict[str, StopCategory] = {}
        self._sequence = 0
        bus.declare(TOPIC, SafetyStatus)
        for name in cfg.inputs:
            for robot in self._stopped_by(name):
                robot.io.add_input(name, True)
        for robot in robots.values():
            robot.io.on_change(self._signalled)
        self._curtains = {name: PresenceDetector(world, *guard.box) for name, guard in cfg.inputs.items() if guard.box}
        self._scanners = {name: PresenceDetector(world, *zone.box) for name, zone in cfg.zones.items() if zone.watched}
        self._broken = dict.fromkeys(self._curtains, False)
        self._inside = {name: scanner.objects() for name, scanner in self._scanners.items()}
        if self._curtains or self._scanners:
            period = world.clock.period_ticks(RATE_HZ)
            stepper.every(period, self._tick, order=TickOrder.SENSOR, name="safety")
        world.add_component("safety", self)
        self._look()

    @property
    def inputs(self) -> dict[str, bool]:
        """Guard -> whether it is closed."""
        return dict(self._closed)

    @property
    def status(self) -> SafetyStatus:
        """The hardest stop in force, and the zones that were entered."""
        category = _hardest(*self._entered.values()).value if self._entered else ""
        header = (self._world.clock.time_ns, self._sequence, "safety")
        return SafetyStatus(*header, stop_category=category, zones_entered=tuple(sorted(self._entered)))

    def set_input(self, name: str, closed: bool) -> None:
        """Opens or closes a guard; after it has closed again, robots move only after a reset."""
        if name not in self._closed:
            raise UnknownName("safety input", name, self._closed)
        if self._closed[name] is closed:
            return
        self._closed[name] = closed
        for robot in self._stopped_by(name):
            robot.io.set_input(name, closed)
        if closed:
            return
        guard = self._cfg.inputs[name]
        for zone in guard.zones:
            self._enter(zone, guard.category, f"{guard.kind} '{name}' opened")
        self._publish()

    def reset(self) -> None:
        """Unlocks the robots, when every guard is closed and every robot is at rest.

        Raises:
            NotReady: otherwise; names what is open or moves.
        """
        still_open = sorted(n for n, closed in self._closed.items() if not closed or self._broken.get(n))
        if still_open:
            raise NotReady("safety", RobotState.STOPPED, f"cannot be reset: {', '.join(still_open)} open")
        robots = {robot for zone in self._entered for robot in self._cfg.zones[zone].robots}
        for robot in sorted(robots):
            if self._robots[robot].moving:
                raise NotReady("safety", RobotState.STOPPING, f"cannot be reset: {robot} is still stopping")
        for robot in sorted(robots):
            self._robots[robot].reset(LOCK)
        self._entered.clear()
        self._publish()

    def save(self) -> Any:
        """Returns guards and zones, for a snapshot."""
        seen = dict(self._broken), dict(self._inside)
        return dict(self._closed), dict(self._entered), self._sequence, seen

    def load(self, state: Any) -> None:
        """Restores what `save` returned; the robots restore their locks and signals themselves."""
        closed, entered, self._sequence, (broken, inside) = state
        self._closed = dict(closed)
        self._entered = dict(entered)
        self._broken = dict(broken)
        self._inside = dict(inside)

    def let_go(self, part: str) -> None:
        """Does nothing: guards hold no parts."""

    def _stopped_by(self, guard: str) -> list[RobotController]:
        names = dict.fromkeys(robot for zone in self._cfg.inputs[guard].zones for robot in self._cfg.zones[zone].robots)
        return [self._robots[name] for name in names]

    def _signalled(self, name: str, closed: bool) -> None:
        """Handles a change of a robot's digital input, which may be a guard's."""
        if name in self._closed:
            self.set_input(name, closed)

    def _tick(self) -> None:
        if self._world.data.ntree_awake > len(self._robots):  # otherwise all that is loose sleeps; arms never do
            self._look()

    def _look(self) -> None:
        for name, curtain in self._curtains.items():
            broken = bool(curtain.objects())
            if broken is not self._broken[name]:
                self._broken[name] = broken
                self.set_input(name, not broken)
        for zone, scanner in self._scanners.items():
            inside = scanner.objects()
            new = [name for name in inside if name not in self._inside[zone]]
            self._inside[zone] = inside
            if new:
                self._enter(zone, None, f"'{new[0]}' came in")
                self._publish()

    def _enter(self, zone: str, category: str | None, why: str) -> None:
        stop = StopCategory(category or self._cfg.zones[zone].category)
        self._entered[zone] = _hardest(stop, self._entered.get(zone, stop))
        for robot in self._cfg.zones[zone].robots:
            self._robots[robot].stop(stop, f"{why}, zone '{zone}'", lock=LOCK)

    def _publish(self) -> None:
        self._bus.publish(TOPIC, self.status)
        self._sequence += 1


def _hardest(*categories: StopCategory) -> StopCategory:
    return min(categories, key=list(StopCategory).index)

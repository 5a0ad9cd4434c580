"""Applies faults to the world when their moment comes, by the true state alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import zip_longest
from typing import Any

from cellwright.core.bus import Bus
from cellwright.core.config import draw
from cellwright.core.messages import Detections, FaultEvent, Message
from cellwright.judge.faults.cfg import FaultCfg
from cellwright.judge.faults.detector_offset import FilteredSensor
from cellwright.judge.faults.detectors import DetectorFault
from cellwright.judge.faults.effects import Fault
from cellwright.judge.faults.fault_state import FaultPhase, FaultState, count_event
from cellwright.judge.faults.grip import GripChanger, WeakenedGrip
from cellwright.judge.faults.validation import check_fault, make_effect
from cellwright.judge.hand_events import HandEvent
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.sim import Stepper, TickOrder, World

__all__ = ["TOPIC", "FaultScheduler"]

TOPIC = "/judge/faults"
RATE_HZ = 50.0


class FaultScheduler:
    """Waits for the moment of each fault, applies it, and says so on the bus, where only judge and recorder hear it.

    Every fault draws from a random stream of its own, `faults/0`, `faults/1` and so on.

    Args:
        world: What is really there.
        stepper: By whose time.
        bus: Where each fault is told.
        watch: What the hands do.
        faults: The faults to apply.
        sensors: Those that may fail.

    Attributes:
        faults: All of them, in their order.
        events: What was applied so far.

    Raises:
        BadInput: for a fault about parts, trays, robots or detectors that are not there.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        bus: Bus,
        watch: HandMonitor,
        faults: Sequence[FaultCfg],
        sensors: Sequence[FilteredSensor] = (),
    ) -> None:
        self.faults, self.events = list[FaultCfg](), list[FaultEvent]()
        self._world, self._bus, self._watch = world, bus, watch
        self._detectors = [sensor for sensor in sensors if sensor.message_type is Detections]
        self._effects: list[Fault[Any]] = []
        self._cases: list[FaultState] = []
        self._at_s: list[float] = []
        for fault in faults:
            self.add(fault)
        self._grips = GripChanger(world)
        self._filters = [(sensor, self._filter_of(sensor)) for sensor in self._detectors]
        for sensor, change in self._filters:
            sensor.filters.append(change)
        bus.declare(TOPIC, FaultEvent)
        watch.listen(self._hear)
        world.add_component("faults", self)
        self._period_ticks = world.clock.period_ticks(RATE_HZ)
        self._ticking = stepper.every(self._period_ticks, self._tick, order=TickOrder.JUDGE, name="faults")

    def add(self, fault: FaultCfg) -> None:
        """Adds a fault; its events are counted from now on.

        Raises:
            BadInput: for a fault about what is not there.
        """
        check_fault(fault, self._world, self._detectors)
        rng = self._world.streams.stream(f"faults/{len(self.faults)}")
        self._at_s.append(float("inf") if fault.at is None else draw(fault.at, rng))
        self._effects.append(make_effect(fault, self._world, self._watch, rng, self._detectors))
        self._cases.append(FaultState())
        self.faults.append(fault)

    @property
    def pending(self) -> tuple[FaultCfg, ...]:
        """Faults that have not been applied."""
        pairs = zip(self.faults, self._cases, strict=True)
        return tuple(fault for fault, case in pairs if case.phase in (FaultPhase.WAITING, FaultPhase.DUE))

    def stop(self) -> None:
        """Ends all faults; what they changed for a while is restored."""
        self._ticking.cancel()
        for case in self._cases:
            case.phase = FaultPhase.OVER
        self._settle()
        for sensor, change in self._filters:
            if change in sensor.filters:
                sensor.filters.remove(change)

    def save(self) -> Any:
        """Returns the state of each fault, and what was told."""
        return deepcopy(self._cases), tuple(self.events)

    def load(self, state: Any) -> None:
        """Goes back to it, and changes the tools as they were changed then; what was added since begins anew."""
        cases, self.events[:] = state
        for case, then in zip_longest(self._cases, deepcopy(cases[: len(self._cases)]), fillvalue=FaultState()):
            vars(case).update(vars(then))  # in place: a fault that takes a part away is at work while this is called
        self._settle()

    def let_go(self, part: str) -> None:
        """Does nothing: the scheduler holds no object."""

    def _hear(self, event: HandEvent) -> None:
        for fault, case in zip(self.faults, self._cases, strict=True):
            count_event(case, fault, event, self._world)

    def _tick(self) -> None:
        before = [case.phase for case in self._cases]
        for effect, case, at_s in zip(self._effects, self._cases, self._at_s, strict=True):
            if case.phase is FaultPhase.WAITING and self._world.clock.time_s >= at_s:
                case.phase = FaultPhase.DUE
            if case.phase is FaultPhase.DUE:
                detail = effect.begin(case)
                if detail is not None:
                    case.start_s, case.phase = self._world.clock.time_s, FaultPhase.ACTIVE
                    self._tell(effect, case, detail)
            elif case.phase is FaultPhase.ACTIVE and not effect.go_on(case):
                case.phase = FaultPhase.OVER
                if effect.cfg.kind in ("weak_gripper", "blackout", "offset"):
                    self._tell(effect, case, "over")
        if before != [case.phase for case in self._cases]:
            self._settle()

    def _settle(self) -> None:
        """Tools as the active faults leave them, and a turn at every step while a hand carries something."""
        grips: dict[str, WeakenedGrip] = {}
        quick = False
        for effect, case in zip(self._effects, self._cases, strict=True):
            if case.phase is FaultPhase.ACTIVE:
                quick = quick or effect.every_step
                if case.grip is not None:
                    known = grips.get(case.tool, WeakenedGrip())
                    slippery = known.slippery or case.grip.slippery
                    grips[case.tool] = WeakenedGrip(min(known.force, case.grip.force), slippery)
        self._grips.apply(grips)
        self._ticking.period_ticks = 1 if quick else self._period_ticks

    def _tell(self, effect: Fault[Any], case: FaultState, detail: str) -> None:
        event = FaultEvent(self._world.clock.time_ns, len(self.events), "judge", effect.cfg.kind, case.subject, detail)
        self.events.append(event)
        self._bus.publish(TOPIC, event)

    def _filter_of(self, sensor: FilteredSensor) -> Callable[[Message], Message | None]:
        def change(message: Message) -> Message | None:
            for effect, case in zip(self._effects, self._cases, strict=True):
                if case.phase is FaultPhase.ACTIVE and isinstance(effect, DetectorFault) and sensor in effect.sensors:
                    changed = effect.change(case, message)
                    if changed is None:
                        return None
                    message = changed
            return message

        return change

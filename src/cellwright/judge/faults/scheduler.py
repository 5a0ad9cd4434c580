"""Applies faults to the world when their moment comes, by the true state alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from itertools import zip_longest
from typing import Any

from cellwright.core.bus import Bus
from cellwright.core.config import draw
from cellwright.core.messages import Detections, FaultEvent, Message
from cellwright.judge.faults.cfg import FaultCfg
from cellwright.judge.faults.detector_offset import FilteredSensor
from cellwright.judge.faults.detectors import DetectorFault
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.fault_state import FaultPhase, FaultState, count_event
from cellwright.judge.faults.grip import GripChanger, WeakenedGrip
from cellwright.judge.faults.library import FAULTS
from cellwright.judge.faults.validation import check_fault, naming_kind, need_type
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
        bus: The bus on which each fault is published.
        hand_monitor: The events of the hands.
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
        hand_monitor: HandMonitor,
        faults: Sequence[FaultCfg],
        sensors: Sequence[FilteredSensor] = (),
    ) -> None:
        self.faults = list[FaultCfg]()
        self.events = list[FaultEvent]()
        self._world = world
        self._bus = bus
        self._hand_monitor = hand_monitor
        self._detectors = [sensor for sensor in sensors if sensor.message_type is Detections]
        self._effects: list[Fault[Any]] = []
        self._applied = set[int]()
        self._fault_states: list[FaultState] = []
        self._at_s: list[float] = []
        for fault in faults:
            self.add(fault)
        self._grips = GripChanger(world)
        self._filters = [(sensor, self._filter_of(sensor)) for sensor in self._detectors]
        for sensor, change in self._filters:
            sensor.filters.append(change)
        bus.declare(TOPIC, FaultEvent)
        hand_monitor.listen(self._hear)
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
        kind = FAULTS.get(fault.kind)
        with naming_kind(kind, fault.kind):
            self._effects.append(kind(fault, self._world, self._hand_monitor, rng, self._detectors))
        self._fault_states.append(FaultState())
        self.faults.append(fault)

    @property
    def pending(self) -> tuple[FaultCfg, ...]:
        """Faults that have not been applied."""
        pairs = zip(self.faults, self._fault_states, strict=True)
        return tuple(fault for fault, fault_state in pairs if fault_state.phase in (FaultPhase.WAITING, FaultPhase.DUE))

    def end(self) -> None:
        """Ends all faults, those that wait too; what they changed for a while is restored. Others may be added."""
        for fault_state in self._fault_states:
            fault_state.phase = FaultPhase.OVER
        self._settle()

    def stop(self) -> None:
        """Ends all faults, and waits for no others."""
        self._ticking.cancel()
        self.end()
        for sensor, change in self._filters:
            if change in sensor.filters:
                sensor.filters.remove(change)

    def save(self) -> Any:
        """Returns the state of each fault, and what was told."""
        return deepcopy(self._fault_states), tuple(self.events)

    def load(self, state: Any) -> None:
        """Goes back to it, and changes the world as it was changed then; what was added since begins anew."""
        self._undo(set(self._applied))
        fault_states, self.events[:] = state
        for fault_state, then in zip_longest(
            self._fault_states, deepcopy(fault_states[: len(self._fault_states)]), fillvalue=FaultState()
        ):
            # In place: a fault that takes a part away is at work while this is called.
            vars(fault_state).update(vars(then))
        self._settle()

    def let_go(self, part: str) -> None:
        """Does nothing: the scheduler holds no object."""

    def _hear(self, event: HandEvent) -> None:
        for fault, fault_state in zip(self.faults, self._fault_states, strict=True):
            count_event(fault_state, fault, event, self._world)

    def _tick(self) -> None:
        before = [fault_state.phase for fault_state in self._fault_states]
        for effect, fault_state, at_s in zip(self._effects, self._fault_states, self._at_s, strict=True):
            if fault_state.phase is FaultPhase.WAITING and self._world.clock.time_s >= at_s:
                fault_state.phase = FaultPhase.DUE
            with self._calling(effect):
                if fault_state.phase is FaultPhase.DUE:
                    detail = effect.begin(fault_state)
                    if detail is not None:
                        need_type("begin", detail, str, "what was done in words, or None")
                        fault_state.start_s, fault_state.phase = self._world.clock.time_s, FaultPhase.ACTIVE
                        self._tell(effect, fault_state, detail)
                elif fault_state.phase is FaultPhase.ACTIVE and not effect.go_on(fault_state):
                    fault_state.phase = FaultPhase.OVER
                    if effect.lasts:
                        self._tell(effect, fault_state, "over")
        if before != [fault_state.phase for fault_state in self._fault_states]:
            self._settle()

    def _settle(self) -> None:
        """Leaves the world as the active faults make it; each gets a turn at every step where one needs that."""
        active = [n for n, state in enumerate(self._fault_states) if state.phase is FaultPhase.ACTIVE]
        self._undo(self._applied.difference(active))
        for number in (number for number in active if number not in self._applied):
            self._applied.add(number)
            with self._calling(self._effects[number]):
                self._effects[number].apply(self._fault_states[number])
        grips: dict[str, WeakenedGrip] = {}
        for fault_state in (self._fault_states[number] for number in active):
            if fault_state.grip is not None:
                known = grips.get(fault_state.tool, WeakenedGrip())
                grips[fault_state.tool] = known.with_other(fault_state.grip)
        quick = any(self._effects[number].every_step for number in active)
        self._grips.apply(grips)
        self._ticking.period_ticks = 1 if quick else self._period_ticks

    def _undo(self, ended: set[int]) -> None:
        """Ends faults; the others are applied once more, because what they changed may have been restored with it."""
        for number in sorted(ended):
            with self._calling(self._effects[number]):
                self._effects[number].end(self._fault_states[number])
        if ended:
            self._applied.clear()

    def _calling(self, effect: Fault[Any]) -> AbstractContextManager[None]:
        return naming_kind(type(effect), effect.cfg.kind, self._world.clock.time_s)

    def _tell(self, effect: Fault[Any], fault_state: FaultState, detail: str) -> None:
        event = FaultEvent(
            self._world.clock.time_ns,
            len(self.events),
            "judge",
            fault=effect.cfg.kind,
            subject=fault_state.subject if effect.applies_to else "",  # else that of the event it waited for
            detail=detail,
        )
        self.events.append(event)
        self._bus.publish(TOPIC, event)

    def _filter_of(self, sensor: FilteredSensor) -> Callable[[Message], Message | None]:
        def change(message: Message) -> Message | None:
            for effect, fault_state in zip(self._effects, self._fault_states, strict=True):
                if (
                    fault_state.phase is FaultPhase.ACTIVE
                    and isinstance(effect, DetectorFault)
                    and sensor in effect.sensors
                ):
                    with self._calling(effect):
                        changed = effect.change(fault_state, message)
                        if changed is not None:
                            need_type("change", changed, type(message), f"{type(message).__name__}, or None")
                    if changed is None:
                        return None
                    message = changed
            return message

        return change

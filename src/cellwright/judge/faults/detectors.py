"""Faults of detectors, applied to every message while they last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from cellwright.core.config import draw
from cellwright.core.messages import Detections, Message
from cellwright.judge.faults.cfg import BlackoutCfg, DetectorFaultCfg, OffsetCfg, matches_name
from cellwright.judge.faults.detector_offset import DetectorOffset, FilteredSensor, offset_detections
from cellwright.judge.faults.effects import Fault, drawn_shift_m
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.sim import World

__all__ = ["BlackoutFault", "DetectorFault", "DetectorOffsetFault"]

D = TypeVar("D", bound=DetectorFaultCfg)


class DetectorFault(Fault[D]):
    """A fault of the detectors that match a pattern."""

    def __init__(
        self,
        cfg: D,
        world: World,
        hand_monitor: HandMonitor,
        rng: np.random.Generator,
        sensors: Sequence[FilteredSensor],
    ) -> None:
        super().__init__(cfg, world, hand_monitor, rng)
        self.sensors = [sensor for sensor in sensors if matches_name(sensor.source, cfg.detector)]

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins at once."""
        fault_state.subject = " ".join(sensor.source for sensor in self.sensors)
        length = "for good" if self.cfg.for_s is None else f"for {self.cfg.for_s:g} s"
        return f"{self._what()} {length}"

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it still lasts: until its time is over."""
        return self.cfg.for_s is None or self.world.clock.time_s < fault_state.start_s + self.cfg.for_s

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Returns a message as it is sent while the fault lasts; None when it is not sent."""
        return None

    def _what(self) -> str:
        return "sends nothing"


class BlackoutFault(DetectorFault[BlackoutCfg]):
    """A detector sends nothing."""


class DetectorOffsetFault(DetectorFault[OffsetCfg]):
    """A detector sees everything elsewhere."""

    def __init__(
        self,
        cfg: OffsetCfg,
        world: World,
        hand_monitor: HandMonitor,
        rng: np.random.Generator,
        sensors: Sequence[FilteredSensor],
    ) -> None:
        super().__init__(cfg, world, hand_monitor, rng, sensors)
        self._shift_m, self._yaw_rad = drawn_shift_m(cfg.by_mm, rng), float(np.radians(draw(cfg.yaw_deg, rng)))

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Turns detections about the middle of the first frame, and shifts them; other messages pass."""
        if not isinstance(message, Detections) or not len(message.positions):
            return message
        if fault_state.offset is None:
            x, y = message.positions[:, :2].mean(axis=0)
            fault_state.offset = DetectorOffset(self._shift_m, self._yaw_rad, (float(x), float(y)))
        return offset_detections(message, fault_state.offset)

    def _what(self) -> str:
        x_mm, y_mm = (1000 * value for value in self._shift_m)
        return f"sees everything {x_mm:.1f}/{y_mm:.1f} mm off, turned by {np.degrees(self._yaw_rad):.1f} deg,"

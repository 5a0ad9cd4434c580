"""Faults of detectors, applied to every message while they last."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator

from cellwright.core.config import Number, draw
from cellwright.core.messages import Detections, Message
from cellwright.judge.faults.cfg import Duration, LastingFaultCfg, Pattern, Shift, Turn, drawn_shift_m, matches_name
from cellwright.judge.faults.detector_offset import DetectorOffset, FilteredSensor, offset_detections
from cellwright.judge.faults.fault import LastingFault
from cellwright.judge.faults.fault_state import FaultState

DAY_S = 86400.0

__all__ = [
    "BlackoutCfg",
    "BlackoutFault",
    "BlindCfg",
    "BlindFault",
    "ClockCfg",
    "ClockFault",
    "DetectorFault",
    "DetectorFaultCfg",
    "DetectorOffsetFault",
    "OffsetCfg",
    "RepeatCfg",
    "RepeatFault",
]


def _at_most_a_day(number: Number) -> Number:
    figures = [number] if isinstance(number, int | float) else number.model_dump(exclude={"distribution"}).values()
    if any(abs(figure) > DAY_S for figure in figures):
        raise ValueError(f"should be between {-DAY_S:g} and {DAY_S:g}")
    return number


class DetectorFaultCfg(LastingFaultCfg):
    """A fault of detectors, for a while or for good.

    Attributes:
        detector: The detectors, by name, with `*` and `?`.
    """

    detector: Pattern = "*"


class BlackoutCfg(DetectorFaultCfg):
    """A detector sends nothing for a while."""

    kind: Literal["blackout"] = "blackout"
    for_s: Duration | None = 5.0


class BlindCfg(DetectorFaultCfg):
    """A detector goes on sending frames, and sees nothing, as with a covered lens."""

    kind: Literal["blind"] = "blind"
    for_s: Duration | None = 5.0


class RepeatCfg(DetectorFaultCfg):
    """A detector sends one frame again and again, with its old time."""

    kind: Literal["repeat"] = "repeat"
    for_s: Duration | None = 5.0


class ClockCfg(DetectorFaultCfg):
    """The clock of a detector jumps: its frames bear another time than that at which they were taken.

    Attributes:
        by_s: The jump, backwards below zero; no time is below zero.
    """

    kind: Literal["clock"] = "clock"
    by_s: Annotated[Number, AfterValidator(_at_most_a_day)] = 10.0


class OffsetCfg(DetectorFaultCfg):
    """A detector's poses are shifted and turned.

    Attributes:
        by_mm: The shift along x and y of the world, or a distance in a direction that is drawn.
        yaw_deg: The turn about the middle of what was seen first.
    """

    kind: Literal["offset"] = "offset"
    by_mm: Shift = 5.0
    yaw_deg: Turn = 0.0


D = TypeVar("D", bound=DetectorFaultCfg)


class DetectorFault(LastingFault[D]):
    """A fault of the detectors that match a pattern: their messages pass `change` while it lasts."""

    Cfg = DetectorFaultCfg
    applies_to = ("detector",)

    @property
    def sensors(self) -> list[FilteredSensor]:
        """The detectors that it is about."""
        return [sensor for sensor in self.detectors if matches_name(sensor.source, self.cfg.detector)]

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins at once."""
        fault_state.subject = " ".join(sensor.source for sensor in self.sensors)
        return f"{self.what()} {self.cfg.duration_text}"

    def what(self) -> str:
        """Says in a few words what its detectors do."""
        return f"suffers {self.cfg.kind}"

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Returns a message as it is sent while the fault lasts; None when it is not sent."""
        return message


class BlackoutFault(DetectorFault[BlackoutCfg]):
    """A detector sends nothing."""

    Cfg = BlackoutCfg

    def what(self) -> str:
        """Says that it is silent."""
        return "sends nothing"

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Returns nothing."""
        return None


class BlindFault(DetectorFault[BlindCfg]):
    """A detector sees nothing."""

    Cfg = BlindCfg

    def what(self) -> str:
        """Says that its frames are empty."""
        return "sees nothing"

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Returns the frame without its objects."""
        if not isinstance(message, Detections):
            return message
        columns = ("positions", "quaternions", "variances", "scores")
        return replace(message, skus=(), **{name: getattr(message, name)[:0] for name in columns})


class RepeatFault(DetectorFault[RepeatCfg]):
    """A detector repeats the first frame of the fault."""

    Cfg = RepeatCfg

    def what(self) -> str:
        """Says that nothing new comes."""
        return "repeats an old frame"

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Returns that frame."""
        kept: Message = fault_state.memory.setdefault(message.source, message)
        return kept


class ClockFault(DetectorFault[ClockCfg]):
    """A detector's clock is wrong."""

    Cfg = ClockCfg

    def draw_values(self) -> None:
        """Draws by how much."""
        self._by_s = draw(self.cfg.by_s, self.rng)

    def what(self) -> str:
        """Says by how much."""
        return f"has a clock that is {self._by_s:+.3g} s off"

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Returns the frame with that time."""
        return replace(message, time_ns=max(0, message.time_ns + round(self._by_s * 1e9)))


class DetectorOffsetFault(DetectorFault[OffsetCfg]):
    """A detector sees everything elsewhere."""

    Cfg = OffsetCfg

    def draw_values(self) -> None:
        """Draws how far."""
        self._shift_m = drawn_shift_m(self.cfg.by_mm, self.rng)
        self._yaw_rad = float(np.radians(draw(self.cfg.yaw_deg, self.rng)))

    def change(self, fault_state: FaultState, message: Message) -> Message | None:
        """Turns detections about the middle of the first frame, and shifts them; other messages pass."""
        if not isinstance(message, Detections) or not len(message.positions):
            return message
        if fault_state.offset is None:
            x, y = message.positions[:, :2].mean(axis=0)
            fault_state.offset = DetectorOffset(self._shift_m, self._yaw_rad, (float(x), float(y)))
        return offset_detections(message, fault_state.offset)

    def what(self) -> str:
        """Says how far."""
        x_mm, y_mm = (1000 * value for value in self._shift_m)
        return f"sees everything {x_mm:.1f}/{y_mm:.1f} mm off, turned by {np.degrees(self._yaw_rad):.1f} deg,"

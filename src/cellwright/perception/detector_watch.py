"""Detectors as they behave: which frames count, how often things are missed, how far one sees them off the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import log

import numpy as np
import numpy.typing as npt

from cellwright.perception.cfg import TrackerCfg

__all__ = ["Aside", "DetectorState", "DetectorStatus", "DetectorWatch"]

Array = npt.NDArray[np.float64]
AHEAD_S = 0.02  # clocks of one cell differ by less
BEHIND_S = 5.0  # no recognition takes longer: a frame that is older says when its clock thinks it was taken
REPEATED = 3  # frames of one time in a row: the detector hangs
BLIND_FRAMES = 5
FEWEST = 3  # objects from which something about a whole frame is concluded
MISSES, LOOKS = 1.0, 20.0  # of a detector that was not watched yet: so many misses in so many looks at an object
REMEMBERED = 2000.0  # looks by which its rate of misses is known
BIAS_WEIGHT = 0.05  # of one frame
MOST_BIAS = 3.0  # standard deviations: cameras that differ by more disagree
DISAGREED = 10  # frames


class DetectorState(StrEnum):
    """The state of a detector."""

    GOOD = "good"
    """Its frames count."""
    REPEATS = "repeats old frames"
    """Its frames have the time of an earlier one: they change nothing."""
    CLOCK = "has a wrong clock"
    """Its frames are older than earlier ones, far too old, or from the future: they change nothing."""
    BLIND = "sees nothing"
    """Its frames are empty although several objects should be in clear view: nothing is taken to be gone."""
    DISAGREES = "disagrees with another detector"
    """It sees objects elsewhere than another one does, all shifted alike: its frames move nothing."""


@dataclass(frozen=True)
class DetectorStatus:
    """The state of a detector, with a reason in one line; empty for a good one."""

    state: DetectorState = DetectorState.GOOD
    reason: str = ""


@dataclass
class Aside:
    """The lasting offset at which a detector sees one object off where it is known to be.

    Attributes:
        anchor: The number of the detector that knows where it is.
        off_m: x, y, z, the mean of some frames.
        frames: How many.
    """

    anchor: int
    off_m: Array = field(default_factory=lambda: np.zeros(3))
    frames: int = 0

    def take(self, off_m: Array) -> None:
        """Takes in one frame."""
        self.frames += 1
        self.off_m = self.off_m + (off_m - self.off_m) / self.frames


@dataclass
class DetectorWatch:
    """One detector.

    Attributes:
        name: Which.
        number: By which tracks know it.
        is_registered: Whether a calibration has its correction; next to such a one, others are wrong by themselves.
        is_compared: Whether one that is not has been compared with a registered one.
        latest_s: Time of its latest frame that counted.
        status: Its state.
        bias: How far it sees things off the others: x, y in metres, yaw in radians.
        mounted: The same by the first frame next to a registered detector, if it is not registered itself.
        asides: Object -> how far it sees just that one off where others do, lastingly.
    """

    name: str
    number: int
    is_registered: bool = False
    is_compared: bool = False
    latest_s: float = -np.inf
    status: DetectorStatus = DetectorStatus()
    bias: Array = field(default_factory=lambda: np.zeros(3))
    mounted: Array = field(default_factory=lambda: np.zeros(3))
    asides: dict[str, Aside] = field(default_factory=dict)
    _misses: float = MISSES
    _looks: float = LOOKS
    _repeated: int = 0
    _empty: int = 0
    _disagreed: int = 0

    def outranks(self, other: DetectorWatch) -> bool:
        """Returns whether this one knows where things are, and another that sees them elsewhere does not."""
        return self.is_registered and not other.is_registered

    def admits(self, time_s: float, now_s: float | None) -> bool:
        """Returns whether a frame of some time counts; one that is old, or from the future, changes nothing."""
        late_s = 0.0 if now_s is None else now_s - time_s
        if not np.isfinite(time_s) or late_s < -AHEAD_S or (late_s > BEHIND_S and time_s > self.latest_s):
            by = f"{abs(late_s):.2f} s {'ahead of' if late_s < 0 else 'behind'} the cell's"
            by = by if np.isfinite(time_s) else "no number"
            self.status = DetectorStatus(DetectorState.CLOCK, f"the clock of {self.name} is {by}")
            return False
        if time_s < self.latest_s:
            back_s = self.latest_s - time_s
            self.status = DetectorStatus(DetectorState.CLOCK, f"the clock of {self.name} went back by {back_s:.2f} s")
            return False
        if time_s == self.latest_s:
            self._repeated += 1
            if self._repeated >= REPEATED:
                reason = f"{self.name} gave the frame of {time_s:.2f} s {self._repeated + 1} times"
                self.status = DetectorStatus(DetectorState.REPEATS, reason)
            return False
        self.latest_s, self._repeated = time_s, 0
        if self.status.state in (DetectorState.CLOCK, DetectorState.REPEATS):
            self.status = DetectorStatus()
        return True

    def is_blind(self, seen: int, expected: int) -> bool:
        """Returns whether an empty frame says nothing: several things should be in it, and they cannot all be gone."""
        if seen:
            self._empty = 0
            if self.status.state is DetectorState.BLIND:
                self.status = DetectorStatus()
        elif expected >= FEWEST:
            self._empty += 1
            if self._empty >= BLIND_FRAMES:
                reason = f"{self.name} saw nothing in {self._empty} frames where {expected} objects should be seen"
                self.status = DetectorStatus(DetectorState.BLIND, reason)
            return True
        return False

    @property
    def miss_rate(self) -> float:
        """The share of things in clear view that it misses."""
        return self._misses / self._looks

    @property
    def miss_evidence(self) -> float:
        """The weight of one miss against an object's being there: minus the logarithm of the chance of a miss."""
        return -log(min(max(self.miss_rate, 0.01), 0.9))

    def count(self, seen: int, missed: int) -> None:
        """Counts things that a frame showed, and the misses before: these were chance, as the things are there."""
        kept = min(1.0, REMEMBERED / self._looks)
        self._misses, self._looks = kept * self._misses + missed, kept * self._looks + seen + missed

    def compare(self, other: DetectorWatch, off: Array, cfg: TrackerCfg) -> None:
        """Takes in how far a frame shows things off where another detector saw them: each is off by half of it.

        Next to one that is registered, one that is not is off by all of it.

        Args:
            other: The other detector.
            off: x, y in metres, yaw in radians, after what is known of both, m x 3.
            cfg: Settings.
        """
        most = MOST_BIAS * np.array([cfg.bias_sd_m, cfg.bias_sd_m, cfg.bias_sd_rad])
        ordered, count = np.sort(off, axis=0), len(off)
        mean = _within((ordered[(count - 1) // 2] + ordered[count // 2]) / 2, most)  # the median
        step = BIAS_WEIGHT * min(count / FEWEST, 1.0) * mean / 2
        own, others = 2.0 * other.outranks(self), 2.0 * self.outranks(other)
        self.bias = _within(self.bias + (own or 1.0 - others / 2) * step, most)
        other.bias = _within(other.bias - (others or 1.0 - own / 2) * step, most)

    def disagree(self, other: str, shift_m: Array | None, count: int, *, agrees: bool) -> None:
        """Takes in whether a frame shows things shifted from where another detector sees them, all alike.

        Args:
            other: The other detector.
            shift_m: By how much; None when they are not.
            count: Of how many things.
            agrees: Whether most of the frame is where it is known to be; what shows neither changes nothing.
        """
        if shift_m is None:
            self._disagreed = max(self._disagreed - agrees, 0)
            if not self._disagreed and self.status.state is DetectorState.DISAGREES:
                self.status = DetectorStatus()
            return
        self._disagreed = min(self._disagreed + 1, 2 * DISAGREED)
        if self._disagreed >= DISAGREED:
            x, y = 1000 * shift_m[:2]
            reason = f"{self.name} sees {count} objects shifted alike by ({x:.1f}, {y:.1f}) mm from where {other} does"
            self.status = DetectorStatus(DetectorState.DISAGREES, reason)


def _within(values: Array, most: Array) -> Array:
    result: Array = np.minimum(np.maximum(values, -most), most)  # quicker than clip
    return result

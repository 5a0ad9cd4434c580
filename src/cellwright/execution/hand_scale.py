"""Weighing what is in a hand, by the force at the wrist while the arm stands still anyway."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.core.pose import Pose
from cellwright.execution.arm import HandReading

__all__ = ["DOUBT", "ENOUGH", "HandScale", "Weight"]

KEPT = 64  # samples of the empty hand
ENOUGH = 10  # samples of it without which nothing is weighed
SETTLING = 2  # samples after a motion that may still be of it
STILL_M = 0.0005
UPRIGHT = float(np.cos(np.radians(2.0)))  # a tool that leans more pulls less along its axis
LEAST_SD_N = 0.01
LEAST_TOOL_N = 1.0  # a wrist that does not feel its own tool, as in a cell without forces, weighs nothing
DEVIATIONS = 4.0
DOUBT = 3.0  # deviations beyond which it is measured for longer
SHARE = 0.1  # by which a mass may be off its figure
LEAST_KG = 0.002


@dataclass(frozen=True)
class Weight:
    """The mass of what is in a hand, as measured.

    Attributes:
        mass_kg: The estimate.
        sd_kg: Its standard deviation.
    """

    mass_kg: float
    sd_kg: float

    def is_like(self, mass_kg: float, deviations: float = DEVIATIONS) -> bool:
        """Returns whether it may be that of something with such a mass."""
        return abs(self.mass_kg - mass_kg) <= deviations * self.sd_kg + max(SHARE * mass_kg, LEAST_KG)

    def reason(self, thing: str, mass_kg: float, others: Mapping[str, float]) -> str:
        """Returns what is wrong with it; empty when it is as it should be.

        Args:
            thing: What should be in the hand.
            mass_kg: Its mass.
            others: Kind -> mass of what else may be.
        """
        if self.is_like(mass_kg):
            return ""
        if self.is_nothing(mass_kg, others):
            return f"nothing hangs in the hand: {self}, {thing} has {mass_kg * 1000:.0f} g"
        kinds = {"two of them": 2 * mass_kg, **{f"a {kind}": kg for kind, kg in others.items()}}
        near = min(kinds, key=lambda kind: abs(kinds[kind] - self.mass_kg))
        if self.is_like(kinds[near]):
            return f"what hangs in the hand for {thing} ({mass_kg * 1000:.0f} g) weighs like {near}: {self}"
        how = "heavy" if self.mass_kg > mass_kg else "light"
        return f"{thing} is too {how}: {self}, it should have {mass_kg * 1000:.0f} g"

    def is_nothing(self, mass_kg: float, others: Mapping[str, float]) -> bool:
        """Returns whether the hand is empty rather than holding something of such a mass, or of another kind's."""
        if self.is_like(mass_kg) or abs(self.mass_kg) > DEVIATIONS * self.sd_kg + LEAST_KG:
            return False
        return all(abs(self.mass_kg) <= abs(self.mass_kg - other_kg) for other_kg in others.values())

    def __str__(self) -> str:
        return f"{self.mass_kg * 1000:.0f} g +- {self.sd_kg * 1000:.0f} g"


@dataclass
class HandScale:
    """Collects what the sensor at a wrist reports while the arm stands still, with an empty hand and a laden one.

    Attributes:
        known_kg: Kind -> a mass other than drawn that was found once; what is found so again is as it should be.
        is_proven: Whether it has felt the weight of something held; a cell without forces has none.
    """

    known_kg: dict[str, float] = field(default_factory=dict)
    is_proven: bool = False
    _empty_n: dict[str, deque[float]] = field(default_factory=dict)  # by the tool
    _laden_n: list[float] = field(default_factory=list)
    _is_laden: bool | None = None
    _tool: str = ""
    _at: Pose | None = None
    _number: int = -1
    _settled: int = 0

    def begin(self, *, laden: bool | None) -> None:
        """Begins to collect for a hand that is laden or empty; None: for neither, it may touch something."""
        if laden:
            self._laden_n.clear()
        self._is_laden = laden
        self._at = None

    def take(self, reading: HandReading) -> None:
        """Takes in a report; each sample counts once, and only when the arm has stood still for a while."""
        if reading.pull_n is None or reading.wrench_count == self._number:
            return
        self._number, pose = reading.wrench_count, reading.pose_tool_in_world
        if reading.gripper != self._tool:
            self._tool, self._at = reading.gripper, None
        if self._at is None or self._at.distance_m(pose) > STILL_M:
            self._at, self._settled = pose, self._number + SETTLING
        if self._is_laden is None or self._number < self._settled or -pose.rotation_matrix[2, 2] < UPRIGHT:
            return
        into = self._laden_n if self._is_laden else self._tare_n
        into.append(abs(reading.pull_n))

    @property
    def _tare_n(self) -> deque[float]:
        return self._empty_n.setdefault(self._tool, deque(maxlen=KEPT))

    @property
    def is_tared(self) -> bool:
        """Whether it knows what the empty hand weighs, with the tool that it has."""
        return len(self._tare_n) >= ENOUGH

    @property
    def weight(self) -> Weight | None:
        """The weight of what is in the hand; None when too little was measured."""
        empty_n = self._tare_n
        if not self.is_tared or not self._laden_n or np.mean(empty_n) < LEAST_TOOL_N:
            return None
        sd_n = max(float(np.std(empty_n, ddof=1)), LEAST_SD_N)
        pull_n = float(np.mean(self._laden_n)) - float(np.mean(empty_n))
        spread_n = sd_n * float(np.sqrt(1 / len(self._laden_n) + 1 / len(empty_n)))
        return Weight(pull_n / GRAVITY_MPS2, spread_n / GRAVITY_MPS2)

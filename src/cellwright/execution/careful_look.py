"""A look at one object that is good enough to grasp by, or an honest end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.pick_motions import StandingPart
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement

__all__ = ["CarefulLook", "PoseSource"]

DEVIATIONS = 3.0  # of a measured place that must fit between the part and the open pads
MOST_TURN_RAD = 0.25  # of as many deviations of a turn: grasps are as far apart
FAILURES = {
    MeasurementStatus.FOUND: FailureKind.DOUBT,
    MeasurementStatus.POOR: FailureKind.DOUBT,
    MeasurementStatus.NOT_SEEN: FailureKind.NOT_THERE,
    MeasurementStatus.BAD_PICTURE: FailureKind.UNSEEN,
    MeasurementStatus.BAD_PAIR: FailureKind.UNSEEN,
}


class PoseSource(Protocol):
    """A source of measurements of one object, such as a stereo camera with a method."""

    async def measure(self) -> PoseMeasurement:
        """Measures it now; takes its time."""


@dataclass
class CarefulLook:
    """Looks until a measurement is good enough to grasp by; what is poor is never returned.

    Attributes:
        source: Measures the object.
        thing: What the object is called in reasons.
        clearance_m: Between the part and each open pad: three standard deviations of its place must be less.
        standing: Given a measured pose, returns the pose in which the object stands there; raises StepFailed when it
            cannot, and then it is looked again.
        needs_turn: Whether it can be taken only when its turn about z is known, or to be one of some.
        looks: How often it is looked, at most.
        measurements: All that was measured, in order.
    """

    source: PoseSource
    thing: str
    clearance_m: float
    standing: Callable[[Pose], Pose] = lambda pose: pose
    needs_turn: bool = False
    looks: int = 3
    measurements: list[PoseMeasurement] = field(default_factory=list)

    async def __call__(self) -> StandingPart:
        """Returns how the object stands: its pose, and others that are as likely where only its turn is in doubt.

        Raises:
            StepFailed: It was not found well enough in any look; says why of the last.
        """
        reason, kind = "", FailureKind.UNSEEN
        for _ in range(self.looks):
            found = await self.source.measure()
            self.measurements.append(found)
            reason, kind = self._doubt(found), FAILURES[found.status]
            if reason or found.pose_in_world is None:
                continue
            try:
                return StandingPart(
                    self.standing(found.pose_in_world), found.other_turns_rad if self.needs_turn else ()
                )
            except StepFailed as failure:
                reason, kind = str(failure), failure.kind
        raise StepFailed(kind, f"{self.thing} is not taken after {self.looks} looks: {reason}", self.thing)

    def _doubt(self, found: PoseMeasurement) -> str:
        """Returns the reason why an object is not grasped by a measurement; empty when it may be."""
        if found.status is not MeasurementStatus.FOUND or found.variances is None:
            return f"{found.status}: {found.reason}"
        spread_m = DEVIATIONS * float(np.sqrt(max(found.variances[:2])))
        is_turn_known = DEVIATIONS * float(np.sqrt(found.variances[5])) <= MOST_TURN_RAD
        if self.needs_turn and not is_turn_known and not found.other_turns_rad:
            return "its turn was not measured, and no grasp does without it"
        if spread_m <= self.clearance_m:
            return ""
        room_mm = 1000 * self.clearance_m
        return f"its place is known to {1000 * spread_m:.1f} mm, the open fingers leave {room_mm:.1f} mm on each side"

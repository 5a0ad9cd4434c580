"""Things that an external detector sees: followed from frame to frame, until they are known to lie still."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign
from cellwright.core.messages import Detections
from cellwright.perception.yaw import period_of, turned, twist_between

__all__ = ["SeenThing", "SeenThings"]

Array = npt.NDArray[np.float64]

FRAMES = 5  # in a row, at the same place: it lies still
SAME_M = 0.020  # from frame to frame: it is the same thing
STILL_M = 0.003  # it has not moved


@dataclass(eq=False)
class SeenThing:
    """A thing that is seen: its class, and its last poses.

    Attributes:
        has_yaw: Whether its turn about the vertical is seen.
        has_height: Whether its height is measured.
    """

    sku: str
    positions: deque[Array] = field(default_factory=lambda: deque(maxlen=FRAMES))
    quaternions: deque[Array] = field(default_factory=lambda: deque(maxlen=FRAMES))
    has_yaw: bool = False
    has_height: bool = False

    @property
    def is_still(self) -> bool:
        """Whether it was at the same place in several frames in a row."""
        steps = np.ptp(np.array(self.positions)[:, :2], axis=0)
        return len(self.positions) == FRAMES and bool(np.hypot(*steps) <= STILL_M)

    @property
    def position(self) -> Array:
        """The median of its last positions."""
        return np.asarray(np.median(np.array(self.positions), axis=0))

    def yawed(self, quaternion: Array) -> Array:
        """Returns an orientation turned about the vertical as it is seen, by no more than its symmetry asks for."""
        if not self.has_yaw:
            return quaternion
        period = period_of(self.sku)
        turns = twist_between(np.tile(quaternion, (len(self.quaternions), 1)), np.array(self.quaternions))
        turns = turns[-1] + (turns - turns[-1] + period / 2) % period - period / 2  # beside each other
        turn = (np.median(turns) + period / 2) % period - period / 2
        result: Array = turned(quaternion[None], np.array([turn]))[0]
        return result


class SeenThings:
    """The things that one detector sees.

    Attributes:
        all: What it saw in the last frame.
    """

    def __init__(self) -> None:
        self.all: list[SeenThing] = []

    def take(self, frame: Detections) -> None:
        """Takes in a frame; what is not in it has to be seen anew."""
        costs = np.full((len(self.all), len(frame.skus)), np.inf)
        for row, one in enumerate(self.all):
            same = np.array([sku == one.sku for sku in frame.skus], bool)
            costs[row, same] = ((frame.positions[same, :2] - one.positions[-1][:2]) ** 2).sum(axis=1)
        known = {column: self.all[row] for row, column in assign(costs, SAME_M**2)} if costs.size else {}
        seen = []
        for column, sku in enumerate(frame.skus):
            one = known.get(column) or SeenThing(sku)
            one.positions.append(frame.positions[column])
            one.quaternions.append(frame.quaternions[column])
            one.has_yaw = bool(np.isfinite(frame.variances[column, 5]))
            one.has_height = bool(np.isfinite(frame.variances[column, 2]))
            seen.append(one)
        self.all = seen

"""A part as it was seen last, and a slot that it may be in; both in the world."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures, part_of_sku
from cellwright.core.pose import Pose

__all__ = ["PartPose", "SlotPose"]

Array = npt.NDArray[np.float64]

IN_SLOT_M, ON_SLOT_M = 0.015, 0.020  # as planning counts: farther away is not in the slot


@dataclass(frozen=True, eq=False)
class PartPose:
    """A part as it was seen last.

    Attributes:
        name: Which.
        sku: What it is.
        matrix: Its pose in the world, 4 x 4.
        sd_m: How well that is known, along the worst axis.
    """

    name: str
    sku: str
    matrix: Array
    sd_m: float

    @cached_property
    def pose_in_world(self) -> Pose:
        """The pose, computed on first use: most parts are never looked at."""
        return Pose.from_matrix(self.matrix)

    @property
    def position(self) -> Array:
        """The position of its origin."""
        return self.matrix[:3, 3]

    @property
    def figures(self) -> PartFigures:
        """The part's figures in the catalogue."""
        return part_of_sku(self.sku)

    @property
    def tilt_rad(self) -> float:
        """The angle between its axis and the vertical."""
        return float(np.arccos(np.clip(self.matrix[2, 2], -1.0, 1.0)))

    @property
    def top_m(self) -> float:
        """An upper bound of the height of its highest point."""
        lean = np.sin(self.tilt_rad)
        upright = max(np.cos(self.tilt_rad), 0.0)
        return float(self.position[2] + upright * self.figures.height_m + lean * self.figures.radius_m)

    @property
    def reach_m(self) -> float:
        """An upper bound of its extent from its origin in the plane; one that leans extends also by its height."""
        return float(self.figures.radius_m + np.sin(self.tilt_rad) * self.figures.height_m)

    def across_m(self, point: Array) -> float:
        """Returns the distance from a point in the plane."""
        return float(np.hypot(*(self.position - point)[:2]))


@dataclass(frozen=True)
class SlotPose:
    """A slot of a tray or kit: where a part of its SKU stands when it is seated."""

    name: str
    sku: str
    pose_part_in_world: Pose

    @property
    def position(self) -> Array:
        """The position of a part that is seated."""
        return self.pose_part_in_world.position

    def holds(self, part: PartPose) -> bool:
        """Returns whether the part is in the slot, seated or not."""
        above = part.position[2] - self.position[2]
        return part.across_m(self.position) <= IN_SLOT_M and abs(above) <= ON_SLOT_M

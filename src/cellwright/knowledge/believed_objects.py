"""Facts about one object: what it is, where it is believed to be, how well and since when that is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures, part_of_sku
from cellwright.catalogue.seating import IN_SLOT
from cellwright.core.pose import Pose

__all__ = ["BelievedObject", "BelievedPart", "BelievedSlot", "Evidence", "PoseEstimate", "ToolState", "Unknown"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that is not known, and the reason; never a number that stands for it."""

    reason: str


class Evidence(StrEnum):
    """The basis of a pose."""

    SEEN = "seen"
    """A detector saw the object there."""
    FELT = "felt"
    """No detector sees it, and the tool that took it still feels it."""
    DRAWN = "drawn"
    """It can be seen, and no detector has: the drawings have it there."""
    FIXED = "fixed"
    """Furniture and robots: the drawings have it there, and no detector looks for it."""


@dataclass(frozen=True, slots=True)
class PoseEstimate:
    """The pose of an object with its variances, its evidence and the time of that.

    Attributes:
        matrix: The pose in the world, 4 x 4.
        variances: Of x, y, z (m2) and roll, pitch, yaw (rad2), along and about the world's axes, now.
        evidence: What it rests on.
        time_s: When it was seen or felt; meaningless for the drawings.
        source: The sensor or the robot, or the drawings.
    """

    matrix: Array
    variances: tuple[float, ...]
    evidence: Evidence
    time_s: float
    source: str


@dataclass(frozen=True, slots=True)
class ToolState:
    """The state of a tool as its robot reports it over CRCL.

    Attributes:
        robot: The robot that has the tool.
        model: Its name in the catalogue.
        pose_tool_in_world: Of its tool centre point, z out of the tool.
        width_m: Distance of the fingers.
        holding: Whether it feels something between them; None when it cannot tell.
        time_s: When it was reported.
        sd_m: How far the place that the robot reports may be from where cameras see it.
    """

    robot: str
    model: str
    pose_tool_in_world: Pose
    width_m: float
    holding: bool | None
    time_s: float
    sd_m: float = 0.001


@dataclass(frozen=True, slots=True)
class BelievedObject:
    """An object of the cell.

    Attributes:
        name: Its name.
        kind: Its class in the ontology.
        sku: Its SKU; empty for what has none.
        reference: What it lies in or on, or what holds it; None for what is located by nothing.
    """

    name: str
    kind: str
    sku: str
    reference: str | None


@dataclass(frozen=True, eq=False)
class BelievedPart:
    """A part as it was seen last; it does not change when it is seen again.

    Attributes:
        name: Which.
        sku: What it is.
        matrix: Its pose in the world, 4 x 4.
        sd_m: How well its place in the plane is known, along the worse axis.
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

    @cached_property
    def tilt_rad(self) -> float:
        """The angle between its axis and the vertical."""
        return float(np.arccos(np.clip(self.matrix[2, 2], -1.0, 1.0)))

    @cached_property
    def top_m(self) -> float:
        """An upper bound of the height of its highest point."""
        lean, upright, figures = np.sin(self.tilt_rad), np.cos(self.tilt_rad), self.figures
        along_m = max(upright * (figures.bottom_m + figures.height_m), upright * figures.bottom_m)
        return float(self.position[2] + along_m + lean * figures.radius_m)

    @property
    def reach_m(self) -> float:
        """An upper bound of its extent from its origin in the plane; one that leans extends also by its height."""
        return float(self.figures.radius_m + np.sin(self.tilt_rad) * self.figures.height_m)

    def across_m(self, point: Array) -> float:
        """Returns the distance from a point in the plane."""
        return float(np.hypot(*(self.position - point)[:2]))


@dataclass(frozen=True)
class BelievedSlot:
    """A slot of a tray or kit: where a part of its SKU stands when it is seated."""

    name: str
    sku: str
    pose_part_in_world: Pose

    @property
    def position(self) -> Array:
        """The position of a part that is seated."""
        return self.pose_part_in_world.position

    def holds(self, part: BelievedPart) -> bool:
        """Returns whether the part is in the slot, seated or not."""
        return IN_SLOT.allows(part.across_m(self.position), part.position[2] - self.position[2])

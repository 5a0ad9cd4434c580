"""The base of all loose parts of any shape: a name for orders, a mass, a grasp."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from cellwright.catalogue.figures import Figures

__all__ = ["PartFigures", "PartGrasp"]


@dataclass(frozen=True)
class PartGrasp:
    """The grasp of a part from above by a tool, in the part's frame.

    Attributes:
        xyz_m: Position of the tool's centre point.
        width_m: Distance of the fingers when they touch.
        yaw_rad: Direction of the jaws about z; None where any will do.
        problem: Why it cannot be done; empty when it can.
    """

    xyz_m: tuple[float, float, float]
    width_m: float
    yaw_rad: float | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class PartFigures(Figures, ABC):
    """Base of all parts; z of a part's frame points up when it stands as it should.

    Attributes:
        sku: The stock-keeping unit under which orders and vision name it.
        mass_kg: Mass of the whole part.
        grasp_feature: The feature that a parallel gripper closes on.
        grasp_height_m: Height of the grasp point above the part's origin.
    """

    sku: str
    mass_kg: float
    grasp_feature: str
    grasp_height_m: float

    @property
    @abstractmethod
    def height_m(self) -> float:
        """Height of the whole part."""

    @property
    @abstractmethod
    def radius_m(self) -> float:
        """Largest distance of any of its points from its z axis: the room it needs when it is put somewhere."""

    @property
    @abstractmethod
    def grasp_width_m(self) -> float:
        """Distance of the fingers when they touch."""

    @property
    def grasp_xyz_m(self) -> tuple[float, float, float]:
        """The grasp point in the part's frame; on its axis where nothing else is said."""
        return (0.0, 0.0, self.grasp_height_m)

    @property
    def is_round(self) -> bool:
        """Whether it is the same however it is turned about its z axis; not where nothing else is said."""
        return False

    @property
    def bottom_m(self) -> float:
        """Height of its underside above its origin; zero where nothing else is said."""
        return 0.0

"""The base of all tools on a flange: a centre point, a mass, colours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from cellwright.catalogue.arms import Vector3
from cellwright.catalogue.figures import Figures

__all__ = ["ToolFigures"]


@dataclass(frozen=True, kw_only=True)
class ToolFigures(Figures, ABC):
    """A tool in the flange's frame: z out of the flange.

    Attributes:
        tcp_xyz_m: The tool centre point; its axes are the flange's.
        colours: Finish name -> red, green, blue, 0 to 1.
    """

    tcp_xyz_m: Vector3
    colours: Mapping[str, Vector3]

    @property
    @abstractmethod
    def mass_kg(self) -> float:
        """The mass of the whole tool."""

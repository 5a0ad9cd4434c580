"""An arena for mobile robots: an even ground within walls, of any size."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from cellwright.catalogue.furniture_kinds import FurnitureFigures, Size2

__all__ = ["ArenaFigures", "arena"]


@dataclass(frozen=True, kw_only=True)
class ArenaFigures(FurnitureFigures):
    """Walls round a rectangle, and more walls inside where wanted.

    Attributes:
        size_m: Extent within the walls along x and y.
        wall_height_m: Height of all walls.
        wall_thickness_m: Thickness of all walls.
        inner_walls_m: From where to where walls inside go, each as two points.
        lines_m: Points of each black line on the ground.
        line_width_m: The lines' width.
    """

    size_m: Size2
    wall_height_m: float
    wall_thickness_m: float
    inner_walls_m: tuple[tuple[Size2, Size2], ...] = ()
    lines_m: tuple[tuple[Size2, ...], ...] = ()
    line_width_m: float = 0.015


def arena(
    size_m: Size2,
    wall_height_m: float = 0.06,
    wall_thickness_m: float = 0.012,
    inner_walls_m: tuple[tuple[Size2, Size2], ...] = (),
    lines_m: tuple[tuple[Size2, ...], ...] = (),
    line_width_m: float = 0.015,
) -> ArenaFigures:
    """Returns the figures of an arena of the given size, walls and lines."""
    return ArenaFigures(
        name="arena",
        title="Arena",
        size_m=size_m,
        wall_height_m=wall_height_m,
        wall_thickness_m=wall_thickness_m,
        inner_walls_m=inner_walls_m,
        lines_m=lines_m,
        line_width_m=line_width_m,
        colours=MappingProxyType(
            {
                "ground": (0.74, 0.73, 0.70),
                "line": (0.04, 0.04, 0.045),
                "wall": (0.62, 0.44, 0.26),
                "edge": (0.70, 0.52, 0.33),
            }
        ),
        sources=MappingProxyType(
            {
                "size_m": "as the cell says",
                "wall_height_m": "as the cell says",
                "wall_thickness_m": "as the cell says",
                "inner_walls_m": "as the cell says",
                "lines_m": "as the cell says",
                "line_width_m": "as the cell says",
                "colours": "estimated: painted board, walls of wood",
            }
        ),
    )

"""Hints about likely mistakes in a valid cell file; each is one line, with its place."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cellwright.cells.schema import Cell
from cellwright.core.yaml_lines import with_line

__all__ = ["cell_hints"]

TURN_RAD = 2 * math.pi


def cell_hints(cell: Cell) -> list[str]:
    """Returns hints about likely mistakes in a cell."""
    hints = []
    for name, robot in cell.robots.items():
        if looks_like_radians(robot.home_deg):
            key = f"robots.{name}.home_deg"
            meant = ", ".join(f"{math.degrees(angle):.4g}" for angle in robot.home_deg)
            problem = f"all angles are below {TURN_RAD:.2f} and some are fractions: radians? In degrees: [{meant}]"
            hints.append(f"{with_line(cell.where, key)}: {key}: {problem}")
    return hints


def looks_like_radians(angles_deg: Sequence[float]) -> bool:
    """Returns whether angles look like radians: none is above a turn in radians, and some are fractions."""
    sizes = [abs(angle) for angle in angles_deg]
    fractions = [size for size in sizes if abs(size - round(size)) > 1e-6]
    return bool(fractions) and max(sizes) <= TURN_RAD + 1e-6 and max(sizes) > 0.5

"""Heights of tables as a robot has touched them: how much higher they are than drawn, how well that is known.

A detector above tells no heights, and drawings are not exact; nor is the base that a robot stands on. What a hand has
met at a table holds for all that stands on that table, for this robot: a table that is too high and a base that is too
low feel the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.knowledge import BeliefState

__all__ = ["FeltSurface", "SurfaceHeights", "drawn_surfaces"]

Array = npt.NDArray[np.float64]
PRIOR_SD_M = 0.010  # of the height of a table in its middle
PRIOR_SD_RAD = float(np.radians(0.4))  # of its tilt, along each axis
TOUCHED_SD_M = 0.0003  # of one touch: by the arm, mostly
AS_DRAWN_M = 0.001  # a table that is felt so near to its drawing is where it is drawn
NEAR_M = 0.15  # around a touch nothing is touched again
AROUND_M = 0.05  # beyond its edge a surface still counts: hands reach over it


@dataclass
class FeltSurface:
    """The top of a table, or the floor of a box, as one robot knows it: a plane above or below the drawn one.

    Attributes:
        name: The table or the box.
        top_m: Its height by the drawings.
        low: The corner (x, y) with the least coordinates.
        high: The opposite one.
        touches: x, y of each touch, and how much higher than drawn it was.
    """

    name: str
    top_m: float
    low: Array
    high: Array
    touches: list[tuple[float, float, float]] = field(default_factory=list)
    _plane: Array = field(default_factory=lambda: np.zeros(3))
    _spread: Array = field(default_factory=lambda: np.diag([PRIOR_SD_M, PRIOR_SD_RAD, PRIOR_SD_RAD]) ** 2)

    @property
    def area_m2(self) -> float:
        """The area between its corners."""
        return float(np.prod(self.high - self.low))

    def covers(self, point: Array, around_m: float = 0.0) -> bool:
        """Returns whether a point (x, y) is above it, or beside it by no more than a distance."""
        return bool(((self.low - around_m <= point[:2]) & (point[:2] <= self.high + around_m)).all())

    def note(self, point: Array, above_m: float, sd_m: float = TOUCHED_SD_M) -> None:
        """Takes in that something was met at a point (x, y), so much higher than drawn."""
        row = self._row(point)
        gain = self._spread @ row / (row @ self._spread @ row + sd_m**2)
        self._plane = self._plane + gain * (above_m - row @ self._plane)
        self._spread = self._spread - np.outer(gain, row @ self._spread)
        self.touches.append((float(point[0]), float(point[1]), above_m))

    def above_m(self, point: Array) -> float:
        """Returns how much higher than drawn it is at a point (x, y), by all touches."""
        return float(self._row(point) @ self._plane) if self.touches else 0.0

    def sd_m(self, point: Array) -> float:
        """Returns the standard deviation of that."""
        row = self._row(point)
        return float(np.sqrt(row @ self._spread @ row))

    def is_touched(self, point: Array) -> bool:
        """Returns whether it was touched near a point."""
        return any(np.hypot(point[0] - x, point[1] - y) < NEAR_M for x, y, _ in self.touches)

    def text(self) -> str:
        """Returns what was felt, in words."""
        x, y, above_m = max(self.touches, key=lambda touch: abs(touch[2]))
        point, count = np.array([x, y]), len(self.touches)
        times = "touched once" if count == 1 else f"touched at {count} places"
        known = f"{times}, known to {self.sd_m(point) * 1000:.1f} mm at ({x:.2f}, {y:.2f})"
        if abs(above_m) < AS_DRAWN_M:
            return f"{self.name} is as high as drawn ({known})"
        way = "higher" if above_m > 0.0 else "lower"
        return f"{self.name} is {abs(above_m) * 1000:.1f} mm {way} than drawn ({known})"

    def _row(self, point: Array) -> Array:
        x, y = np.clip(point[:2], self.low, self.high) - (self.low + self.high) / 2
        return np.array([1.0, x, y])


class SurfaceHeights:
    """The surfaces of a cell as one robot has touched them.

    Args:
        surfaces: As drawn.
    """

    def __init__(self, surfaces: Iterable[FeltSurface] = ()) -> None:
        self._surfaces = sorted(surfaces, key=lambda surface: surface.area_m2)

    def at(self, point: Array) -> FeltSurface | None:
        """Returns the surface below a point: a box rather than the table that it stands on; None beside all."""
        found = [surface for surface in self._surfaces if surface.covers(point)]
        near = found or [surface for surface in self._surfaces if surface.covers(point, AROUND_M)]
        return near[0] if near else None

    def above_m(self, point: Array) -> float:
        """Returns how much higher than drawn everything is at a point (x, y, ...); 0 where nothing was touched."""
        for surface in self._surfaces:
            if surface.touches and surface.covers(point, AROUND_M):
                return surface.above_m(point)
        return 0.0

    def texts(self) -> list[str]:
        """Returns what was felt of each surface that was touched."""
        return [surface.text() for surface in self._surfaces if surface.touches]


def drawn_surfaces(believed: BeliefState) -> list[FeltSurface]:
    """Returns the tops of all tables and the floors of all boxes, by the drawings."""
    found = []
    for name, (length_m, width_m, height_m) in believed.relations.sizes.items():
        kind = believed.kind(name)
        if not believed.has_pose(name) or not (kind == "WorkTable" or kind.startswith("LargeBox")):
            continue
        pose = believed.pose(name)
        x, y, z = pose.position
        turned = np.abs(pose.rotation_matrix[:2, :2]) @ [length_m / 2, width_m / 2]
        top_m = float(z) + (height_m if kind == "WorkTable" else 0.0)
        found.append(FeltSurface(name, top_m, np.array([x, y]) - turned, np.array([x, y]) + turned))
    return found

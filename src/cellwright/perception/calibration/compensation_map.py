"""A map of how much a calibration compensates over the table, as Fig. 9 of the APRS paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import OutputError
from cellwright.core.extras import need_extra
from cellwright.core.pose import Pose
from cellwright.core.pose_offsets import PoseOffsets

__all__ = ["CompensationMap"]

Array = npt.NDArray[np.float64]

MARGIN_M = 0.05  # around the registration points
CELLS = 60  # of the grid along each side


@dataclass(frozen=True)
class CompensationMap:
    """The size of the compensating error at true places over the region that registration points bound.

    Attributes:
        offsets: What corrects reported places.
        name: The file's name, without an ending.
        caption: A sentence about it.
        frame: The frame of the coordinates, for the axes.
    """

    offsets: PoseOffsets
    name: str = "compensation"
    caption: str = "Magnitude of the compensating error (as Fig. 9 of the paper)."
    frame: str = "robot"
    _points: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_points", np.asarray(self.offsets.points_m, float)[:, :2])

    @cached_property
    def axes_m(self) -> tuple[Array, Array]:
        """The x and the y values of the grid."""
        low, high = self._points.min(axis=0) - MARGIN_M, self._points.max(axis=0) + MARGIN_M
        return np.linspace(low[0], high[0], CELLS), np.linspace(low[1], high[1], CELLS)

    @cached_property
    def magnitudes_m(self) -> Array:
        """The distance between what is reported and the truth at each place of the grid, rows along y."""
        x_m, y_m = self.axes_m
        true = [[Pose.from_xyz_rpy([x, y, 0.0]) for x in x_m] for y in y_m]
        return np.array([[pose.distance_m(self.offsets.reported(pose)) for pose in row] for row in true])

    def draw(self, figure: Any) -> None:
        """Draws into an empty figure of matplotlib: colours in millimetres, registration points, their offsets."""
        (x_m, y_m), values = self.axes_m, 1e3 * self.magnitudes_m
        figure.set_size_inches(5.5 * float(np.clip(np.ptp(x_m) / np.ptp(y_m), 0.3, 3.0)) + 2.2, 6.0)
        panel = figure.subplots()
        mesh = panel.pcolormesh(1e3 * x_m, 1e3 * y_m, values, shading="nearest", cmap="viridis", edgecolors="face")
        lines = panel.contour(1e3 * x_m, 1e3 * y_m, values, colors="white", linewidths=0.6)
        panel.clabel(lines, fmt="%.3g", fontsize=8)
        points, offsets = 1e3 * self._points, 1e3 * np.asarray(self.offsets.offsets_m, float)[:, :2]
        panel.plot(
            *points.T, "o", color="white", markeredgecolor="black", zorder=4, label="registration points, their offsets"
        )
        panel.quiver(
            *points.T, *offsets.T, color="white", angles="xy", scale_units="xy", scale=0.2, width=0.008, zorder=3
        )
        panel.set(xlabel=f"{self.frame} x [mm]", ylabel=f"{self.frame} y [mm]", aspect="equal")
        figure.legend(loc="outside lower center", fontsize="small", frameon=False)
        figure.colorbar(mesh, ax=panel, shrink=0.8, label="compensating error [mm]")

    def save(self, path: Path) -> None:
        """Writes the map as a picture.

        Raises:
            MissingExtra: matplotlib is not installed.
            OutputError: The file cannot be written.
        """
        need_extra("drawing a map of a calibration", "plots", "matplotlib")
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        self.draw(figure)
        try:
            figure.savefig(path, dpi=110, metadata={"Software": None} if path.suffix == ".png" else None)
        except (OSError, ValueError) as error:
            raise OutputError(path, getattr(error, "strerror", None) or str(error)) from None

"""Plots for the pages of experiments: data that can be drawn when matplotlib is installed."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import MissingExtra

__all__ = ["BarPlot", "BoxPlot", "FloorPlan", "Heatmap", "ImagePlot", "LinePlot", "Plot", "can_plot", "draw"]

HATCHES = ("", "//", "..", "xx")  # told apart without colours, too
LEGEND_LETTERS = 60  # in one row
COLOURS = ("#0b57a4", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be185d", "#404040")
DASHES = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (1, 2.5)), (0, (8, 3)), (0, (3, 1)))
MARKERS = "os^DvPX*"
MARKS = 8  # on a curve of many points
STYLE = {
    "svg.fonttype": "none",  # text stays text
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#57606a",
    "axes.labelcolor": "#1b1f24",
    "xtick.color": "#40474f",
    "ytick.color": "#40474f",
    "grid.color": "#b6bec7",
    "legend.frameon": False,
    "hatch.linewidth": 0.7,
    "hatch.color": "#ffffff",
    "patch.edgecolor": "#1b1f24",
}


class Plot(Protocol):
    """The interface of plots."""

    @property
    def name(self) -> str:
        """The file's name, without an ending."""

    @property
    def caption(self) -> str:
        """The caption on the page."""

    def draw(self, figure: Any) -> None:
        """Draws into an empty figure of matplotlib."""


@dataclass(frozen=True)
class Heatmap:
    """Numbers over a grid of positions, several maps beside each other.

    Attributes:
        maps: Title -> values, rows along y.
        marks: Title -> position of what matters, and its name.
    """

    name: str
    caption: str
    x_m: npt.NDArray[np.float64]
    y_m: npt.NDArray[np.float64]
    maps: Mapping[str, npt.NDArray[np.float64]]
    marks: Mapping[str, tuple[float, float]]

    def draw(self, figure: Any) -> None:
        """Draws one panel per map."""
        figure.set_size_inches(4.6 * len(self.maps), 5.2)
        panels = figure.subplots(1, len(self.maps), squeeze=False)[0]
        for panel, (title, values) in zip(panels, self.maps.items(), strict=True):
            mesh = panel.pcolormesh(self.x_m, self.y_m, values, shading="nearest", cmap="viridis", edgecolors="face")
            for number, (mark, (x, y)) in enumerate(self.marks.items()):
                panel.plot(x, y, "ox+*"[number % 4], color="white", markeredgecolor="black", label=mark)
            panel.set(title=title, xlabel="base x [m]", ylabel="base y [m]", aspect="equal")
            panel.legend(loc="upper left", fontsize="small")
            figure.colorbar(mesh, ax=panel, shrink=0.8)


@dataclass(frozen=True)
class BarPlot:
    """Groups of bars: ours beside the paper's."""

    name: str
    caption: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]
    unit: str

    def draw(self, figure: Any) -> None:
        """Draws one group of bars for each name."""
        figure.set_size_inches(max(8.0, 0.85 * len(self.groups)), 4.0)
        panel = figure.subplots()
        width = 0.8 / len(self.series)
        for number, (label, values) in enumerate(self.series.items()):
            places = np.arange(len(self.groups)) + (number - (len(self.series) - 1) / 2) * width
            bars = panel.bar(places, values, width * 0.92, label=label, hatch=HATCHES[number % len(HATCHES)])
            panel.bar_label(bars, ["0" if value == 0 else "" for value in values], fontsize=8)  # else it seems left out
        panel.set_xticks(np.arange(len(self.groups)), self.groups)
        panel.set_ylabel(self.unit)
        is_wide = sum(map(len, self.series)) > LEGEND_LETTERS
        figure.legend(loc="outside upper center", ncols=2 if is_wide else len(self.series))


@dataclass(frozen=True)
class LinePlot:
    """Curves over a common axis.

    Attributes:
        curves: Label -> x and y.
        is_map: Whether both axes have the same scale.
    """

    name: str
    caption: str
    curves: Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]
    x_unit: str
    y_unit: str
    is_map: bool = False

    def draw(self, figure: Any) -> None:
        """Draws all curves in one panel."""
        figure.set_size_inches(8.0, self._map_height() if self.is_map else 3.6)
        panel = figure.subplots()
        for label, (x, y) in self.curves.items():
            marked = max(1, len(x) // MARKS)
            panel.plot(x, y, label=label, linewidth=1.3, markersize=4, markevery=marked)
        panel.set(xlabel=self.x_unit, ylabel=self.y_unit, aspect="equal" if self.is_map else "auto")
        panel.grid(alpha=0.3)
        if self.is_map:
            figure.legend(loc="outside upper center", ncols=3, fontsize="small")
        else:
            panel.legend(fontsize="small")

    def _map_height(self) -> float:
        """Returns the height of the figure in which a map 8 inches wide leaves no room empty."""
        wide, high = (
            np.ptp(np.concatenate([np.asarray(curve[axis]) for curve in self.curves.values()])) for axis in (0, 1)
        )
        return float(np.clip(7.2 * high / max(wide, 1e-9), 0.8, 5.0)) + 1.2


@dataclass(frozen=True)
class BoxPlot:
    """The distribution of values: a box from the first to the third quarter, lines to the ends, outliers as dots."""

    name: str
    caption: str
    groups: Mapping[str, Sequence[float]]
    unit: str
    logarithmic: bool = False

    def draw(self, figure: Any) -> None:
        """Draws one box for each name."""
        figure.set_size_inches(max(6.0, 0.62 * len(self.groups)), 4.2)
        panel = figure.subplots()
        panel.boxplot(
            [[value for value in values if np.isfinite(value)] for values in self.groups.values()],
            widths=0.6,
            flierprops={"markersize": 3},
            medianprops={"color": "tab:red"},
        )
        panel.set_xticks(np.arange(len(self.groups)) + 1, list(self.groups), rotation=45, ha="right", fontsize="small")
        panel.set_ylabel(self.unit)
        panel.set_yscale("log" if self.logarithmic else "linear")
        panel.grid(axis="y", alpha=0.3)


@dataclass(frozen=True)
class FloorPlan:
    """Paths over the floor and above it: seen from above, and from the side.

    Attributes:
        ways_m: Name -> points (n, 3).
        boxes_m: Name -> least and largest corner of what stands there.
    """

    name: str
    caption: str
    ways_m: Mapping[str, npt.NDArray[np.float64]]
    boxes_m: Mapping[str, tuple[Sequence[float], Sequence[float]]]

    def draw(self, figure: Any) -> None:
        """Draws two panels: x and y, y and z."""
        from matplotlib.patches import Rectangle

        figure.set_size_inches(10.0, 5.6)
        for panel, (across, up) in zip(figure.subplots(1, 2), ((0, 1), (1, 2)), strict=True):
            for number, (title, (low, high)) in enumerate(self.boxes_m.items()):
                size = high[across] - low[across], high[up] - low[up]
                panel.add_patch(Rectangle((low[across], low[up]), *size, color=f"C{number}", alpha=0.25, label=title))
            for number, (title, points) in enumerate(self.ways_m.items()):
                panel.plot(points[:, across], points[:, up], color=f"C{number}", linewidth=1.2, label=title)
            panel.set(xlabel=f"{'xyz'[across]} [m]", ylabel=f"{'xyz'[up]} [m]", aspect="equal")
        panel.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


@dataclass(frozen=True)
class ImagePlot:
    """A rendered picture (rows, columns, 3) of bytes."""

    name: str
    caption: str
    pixels: npt.NDArray[np.uint8]

    def draw(self, figure: Any) -> None:
        """Draws the picture without axes."""
        figure.set_size_inches(8.0, 8.0 * self.pixels.shape[0] / self.pixels.shape[1])
        panel = figure.subplots()
        panel.imshow(self.pixels)
        panel.axis("off")


def can_plot() -> bool:
    """Returns whether matplotlib is installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def _cycle() -> Any:
    """Returns how curves differ: in colour, in dashes and in markers."""
    from cycler import cycler

    return cycler(color=COLOURS) + cycler(linestyle=DASHES) + cycler(marker=list(MARKERS))


def draw(plot: Plot, form: str) -> bytes:
    """Returns a plot as `png` or `svg`; without a display, and without leaving anything behind."""
    if not can_plot():
        raise MissingExtra("drawing plots", "plots")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    is_svg = form == "svg"
    with rc_context(STYLE | {"svg.hashsalt": plot.name, "axes.prop_cycle": _cycle()}):
        figure = Figure(layout="constrained", dpi=110)
        plot.draw(figure)
        buffer = io.BytesIO()
        metadata = {"Date": None} if is_svg else {"Software": None}
        figure.savefig(buffer, format=form, metadata=metadata, transparent=is_svg)
    return buffer.getvalue()

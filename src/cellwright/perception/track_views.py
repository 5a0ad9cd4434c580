"""Visibility of tracks: which of the followed objects a frame must show, but for chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from cellwright.perception.detector_watch import DetectorWatch
from cellwright.perception.table import TrackTable
from cellwright.perception.view import ViewModel, Visibility

__all__ = ["Box", "TrackViews"]

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Box = tuple[tuple[float, float], tuple[float, float]]


class TrackViews:
    """Views of tracks, by the cameras of detectors and the arms, or, without a camera, by rectangles.

    Args:
        table: The tracks.
        view: Of detectors with cameras.
        rectangles: Detector without a camera -> the corners (x, y) of what it sees.
    """

    def __init__(self, table: TrackTable, view: ViewModel, rectangles: Mapping[str, Box]) -> None:
        self._table = table
        self._view = view
        self._rectangles = rectangles

    def must_show(self, watch: DetectorWatch, rows: Rows, time_s: float) -> Mask:
        """Returns which of some objects a frame must show, but for chance.

        Of a detector of which nothing is known it must show what it saw last.
        """
        if self._view.has(watch.name) and len(rows):
            clear: Mask = self._visibility(watch.name, rows, time_s) == Visibility.CLEAR
            return clear
        if watch.name in self._rectangles:
            return self._inside(self._rectangles[watch.name])[rows]
        expected: Mask = self._table.sources[rows] == watch.number
        return expected

    def are_hidden(self, detectors: Iterable[str], time_s: float, rows: Rows) -> Mask:
        """Returns which of some objects no detector sees clearly; of one without a known camera it cannot be told."""
        hidden = np.ones(len(rows), bool)
        for name in detectors:
            if not self._view.has(name):
                return np.zeros(len(rows), bool)
            hidden &= self._visibility(name, rows, time_s) != Visibility.CLEAR
        return hidden

    def is_behind_something(self, detector: str, points: npt.NDArray[np.float64], time_s: float) -> Mask:
        """Returns which points were hidden in a frame, by an arm and what it holds; none without a known camera."""
        if not self._view.has(detector):
            return np.zeros(len(points), bool)
        hidden: Mask = self._view.visibility(detector, time_s, points) == Visibility.HIDDEN
        return hidden

    def out_of_all(self) -> Mask:
        """Returns objects that are in no rectangle that is known."""
        unseen = np.full(len(self._table), bool(self._rectangles))
        for box in self._rectangles.values():
            unseen &= ~self._inside(box)
        return unseen

    def _visibility(self, name: str, rows: Rows, time_s: float) -> npt.NDArray[np.int8]:
        table = self._table
        top_m, radius_m, is_tray = table.extents[rows].T
        points = table.positions[rows] + np.column_stack([np.zeros((len(rows), 2)), top_m])
        return self._view.visibility(name, time_s, points, radius_m, by_parts=is_tray == 0.0)

    def _inside(self, box: Box) -> Mask:
        (low_x, low_y), (high_x, high_y) = box
        x, y = self._table.positions[:, 0], self._table.positions[:, 1]
        inside: Mask = (x >= low_x) & (x <= high_x) & (y >= low_y) & (y <= high_y)
        return inside

"""Readings over time as rows: at most ten a second, and none while nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellwright.core.messages import JointState, Odometry, ToolStatus, Wrench
from cellwright.viewing.rows import Rows, rounded

__all__ = ["SeriesRows"]

PERIOD_S = 0.1


@dataclass
class _Curve:
    unit: str
    labels: tuple[str, ...]
    digits: int
    least: float  # a change that is worth a point
    looked_s: float = -np.inf
    told: Any = None
    waiting: tuple[float, Any] | None = None
    row: dict[str, Any] = field(default_factory=dict)


class SeriesRows:
    """Rows of joints, tools and forces; points of a stretch without change are left out, but for its ends.

    Args:
        rows: Takes the rows.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._curves: dict[str, _Curve] = {}

    def take(self, time_s: float, robot: str, message: Any) -> None:
        """Adds what a reading says, if it is time for it."""
        match message:
            case JointState():
                self._add(f"{robot} joints", "rad", message.names, 4, 1e-3, time_s, message.position)
            case ToolStatus(kind="vacuum"):
                self._add(f"{robot} vacuum", "", ("power",), 3, 1e-2, time_s, [message.power])
            case ToolStatus():
                self._add(f"{robot} tool width", "m", ("width",), 5, 1e-4, time_s, [message.width_m])
            case Wrench():
                self._add(f"{robot} wrist force", "N", ("x", "y", "z"), 2, 0.5, time_s, message.force)
            case Odometry():
                self._add(f"{robot} speed", "m/s", ("forward",), 4, 1e-3, time_s, message.linear_velocity[:1])

    def _add(
        self, name: str, unit: str, labels: Sequence[str], digits: int, least: float, time_s: float, values: Any
    ) -> None:
        curve = self._curves.get(name)
        if curve is None or curve.labels != tuple(labels):
            curve = self._curves[name] = _Curve(unit, tuple(labels), digits, least)
        if time_s - curve.looked_s < PERIOD_S - 1e-9:
            return
        curve.looked_s, now = time_s, np.array(values, float)
        if curve.told is not None and np.abs(now - curve.told).max(initial=0.0) < curve.least:
            curve.waiting = time_s, now
            return
        if curve.waiting is not None:  # so that no slope is drawn where nothing has changed
            self._point(name, curve, *curve.waiting)
        self._point(name, curve, time_s, now)

    def _point(self, name: str, curve: _Curve, time_s: float, values: Any) -> None:
        if not curve.row:
            lists: list[list[float | None]] = [[] for _ in curve.labels]
            curve.row = {"name": name, "unit": curve.unit, "labels": list(curve.labels), "times": [], "values": lists}
            self._rows.add("series", curve.row)
        curve.row["times"].append(round(time_s, 3))
        for column, value in zip(curve.row["values"], rounded(values, curve.digits), strict=True):
            column.append(value)
        curve.told, curve.waiting = values, None

    def flush(self) -> None:
        """Begins new rows, once those so far were taken."""
        for curve in self._curves.values():
            curve.row = {}

    def end(self) -> None:
        """Adds the last points, where nothing has changed since."""
        for name, curve in self._curves.items():
            if curve.waiting is not None:
                self._point(name, curve, *curve.waiting)

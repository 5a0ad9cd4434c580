"""Plots of a log's fields, as a picture file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.core.errors import BadInput, LogError, MissingExtra, OutputError, UnknownName
from cellwright.record.log import Log
from cellwright.record.values import unit_of

__all__ = ["Curve", "default_fields", "plot"]

MAX_CURVES = 40
MAX_DEFAULT_PANELS = 6
FIELD = re.compile(r"(?P<topic>[^\s.\[\]]+)\.(?P<field>[\w.]+?)(?:\[(?P<index>\d+(?:,\d+)*)\])?")

DEFAULT_FIELDS = {
    "sensor_msgs/msg/JointState": "position",
    "cellwright_msgs/msg/ToolStatus": "width_m",
    "geometry_msgs/msg/WrenchStamped": "force",
    "cellwright_msgs/msg/Range": "range_m",
    "cellwright_msgs/msg/Odometry": "position",
    "cellwright_msgs/msg/Imu": "acceleration",
}
"""The fields of a topic that are plotted by default, in this order."""


@dataclass(frozen=True)
class Curve:
    """One line of a plot: numbers over simulation time."""

    topic: str
    field: str
    label: str
    unit: str
    time_s: Any
    values: Any


def default_fields(log: Log) -> list[str]:
    """Returns the fields that are plotted by default, or else every number in the first topics."""
    topics = list(log.topics.values())
    chosen = [f"{t.name}.{field}" for ros_type, field in DEFAULT_FIELDS.items() for t in topics if t.type == ros_type]
    if not chosen:
        for topic in topics:
            columns = log.arrays(topic.name)
            own = set(columns) - {"time_s", "time_ns", "sequence"}
            chosen += [f"{topic.name}.{name}" for name in columns if name in own and _is_plottable(columns[name])]
    return chosen[:MAX_DEFAULT_PANELS]


def _curves(log: Log, field: str, arrays: Callable[[str], dict[str, Any]]) -> list[Curve]:
    """Returns curves of a field such as `/fanuc/joint_states.position[2]`; without an index, of each component."""
    match = FIELD.fullmatch(field)
    if match is None:
        raise BadInput(
            f"not a field: '{field}' (write TOPIC.FIELD or TOPIC.FIELD[INDEX], as /fanuc/joint_states.position[2])"
        )
    topic, name = log.topic(match["topic"]), match["field"]
    columns = arrays(topic.name)
    plottable = [column for column in columns if column != "time_s" and _is_numeric(columns[column])]
    if name not in plottable:
        raise UnknownName("numeric field", name, plottable, where=f"{log.path}: {topic.name}")
    values, time_s = columns[name], columns["time_s"]
    unit = unit_of(topic.type, name)

    def curve(index: str, numbers: Any) -> Curve:
        return Curve(topic.name, name, f"{topic.name} {name}{index}", unit, time_s, numbers)

    if match["index"] is not None:
        where = tuple(int(number) for number in match["index"].split(","))
        numbers = np.array([_at(value, where) for value in values])
        if np.isnan(numbers).all():
            raise LogError(
                f"{log.path}: {topic.name}.{name} has nothing at [{match['index']}], its shapes: {_shapes(values)}"
            )
        return [curve(f"[{match['index']}]", numbers)]
    if values.dtype == object:
        raise LogError(
            f"{log.path}: {topic.name}.{name} changes its shape ({_shapes(values)}): give an index, as {field}[0]"
        )
    if values.ndim == 1:
        return [curve("", values)]
    if values[0].size > MAX_CURVES:
        raise BadInput(
            f"{topic.name}.{name} has {values[0].size} numbers, at most {MAX_CURVES} can be told apart: give an index"
        )
    places = np.ndindex(values.shape[1:])
    return [curve(f"[{','.join(map(str, place))}]", values[(slice(None), *place)]) for place in places]


def plot(log: Log, fields: Sequence[str], out_png: Path | str) -> list[Curve]:
    """Draws fields over simulation time, one panel for each field; returns what was drawn.

    Args:
        log: The log.
        fields: Such as `/fanuc/joint_states.position[2]`; none means `default_fields`.
        out_png: The picture.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plotting a log", "plots") from None
    panels: dict[tuple[str, str], list[Curve]] = {}
    arrays = cache(log.arrays)  # a topic is read once, however many of its fields are drawn
    for field in fields or default_fields(log):
        for curve in _curves(log, field, arrays):
            panels.setdefault((curve.topic, curve.field), []).append(curve)
    drawn = [curve for panel in panels.values() for curve in panel]
    if not drawn:
        raise LogError(f"{log.path} has nothing to plot: no numeric field")
    if len(drawn) > MAX_CURVES:
        raise BadInput(f"{len(drawn)} curves are too many to tell apart, at most {MAX_CURVES}: choose by index, as [0]")
    figure = Figure(figsize=(11, 1.2 + 2.6 * len(panels)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels.values(), strict=True):
        for curve in panel:
            axis.plot(curve.time_s, np.asarray(curve.values, float), label=curve.label, linewidth=1.2)
        axis.set_ylabel(f"{panel[0].field} [{panel[0].unit}]" if panel[0].unit else panel[0].field)
        axis.grid(alpha=0.3)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    axes[-1].set_xlabel("simulation time [s]")
    figure.suptitle(log.path.name)
    try:
        figure.savefig(out_png, format="png", dpi=100, metadata={"Software": None})
    except OSError as error:
        raise OutputError(out_png, error.strerror or str(error)) from None
    return drawn


def _is_numeric(column: Any) -> bool:
    return column.dtype != object or all(np.asarray(value).dtype.kind in "biuf" for value in column)


def _is_plottable(column: Any) -> bool:
    return bool(column.dtype != object and column[0].size <= 12)


def _at(value: Any, where: tuple[int, ...]) -> float:
    array = np.asarray(value)
    if len(where) == array.ndim and all(i < n for i, n in zip(where, array.shape, strict=True)):
        return float(array[where])
    return float("nan")


def _shapes(values: Any) -> str:
    shapes = sorted({np.shape(value) for value in values})
    return ", ".join(str(shape) for shape in shapes[:5]) + (", ..." if len(shapes) > 5 else "")

"""Messages of any class as plain values: for tables, JSON, comparison and plots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from cellwright.core.messages import Message

__all__ = ["MAX_LISTED", "fields_of", "leaves_of", "plain", "stacked", "unit_of"]

UNIT_OF_ENDING = {
    "m": "m",
    "rad": "rad",
    "s": "s",
    "ns": "ns",
    "mps": "m/s",
    "n": "N",
    "px": "px",
    "hz": "Hz",
}
UNIT_OF_FIELD = {
    ("sensor_msgs/msg/JointState", "position"): "rad or m",
    ("sensor_msgs/msg/JointState", "velocity"): "rad/s or m/s",
    ("sensor_msgs/msg/JointState", "effort"): "N m or N",
    ("geometry_msgs/msg/WrenchStamped", "force"): "N",
    ("geometry_msgs/msg/WrenchStamped", "torque"): "N m",
    ("cellwright_msgs/msg/Imu", "acceleration"): "m/s²",
    ("cellwright_msgs/msg/Imu", "angular_velocity"): "rad/s",
    ("cellwright_msgs/msg/Odometry", "position"): "m",
    ("cellwright_msgs/msg/Odometry", "linear_velocity"): "m/s",
    ("cellwright_msgs/msg/Odometry", "angular_velocity"): "rad/s",
    ("cellwright_msgs/msg/WorldTruth", "positions"): "m",
    ("cellwright_msgs/msg/WorldTruth", "contact_forces"): "N",
    ("cellwright_msgs/msg/Detections", "positions"): "m",
    ("cellwright_msgs/msg/Tracks", "positions"): "m",
    ("cellwright_msgs/msg/Detections", "variances"): "m² or rad²",
    ("cellwright_msgs/msg/Tracks", "variances"): "m² or rad²",
}

MAX_LISTED = 1024  # items; larger arrays, such as images, are shown by type and shape


def fields_of(message: Any) -> dict[str, Any]:
    """Returns field names and values of a message, or of the namespace of an unknown one; nested fields as `a.b`."""
    if isinstance(message, Message):
        return {field.name: getattr(message, field.name) for field in fields(message)}
    values: dict[str, Any] = {}
    for name, value in vars(message).items():
        if isinstance(value, SimpleNamespace):
            values.update({f"{name}.{inner}": item for inner, item in fields_of(value).items()})
        else:
            values[name] = value
    return values


def leaves_of(value: Any, index: tuple[int | str, ...] = ()) -> Iterator[tuple[tuple[int | str, ...], Any]]:
    """Yields every single value in a field with its index: numbers, texts, truth values."""
    if isinstance(value, SimpleNamespace):
        for name, item in fields_of(value).items():
            yield from leaves_of(item, (*index, name))
    elif isinstance(value, np.ndarray):
        for where in np.ndindex(value.shape):
            yield (*index, *where), value[where].item()
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from leaves_of(item, (*index, position))
    else:
        yield index, value


def plain(value: Any) -> Any:
    """Returns a value as JSON has it: lists for arrays and tuples, None for what is not a finite number."""
    if isinstance(value, np.ndarray):
        if value.size > MAX_LISTED:
            return {"dtype": str(value.dtype), "shape": list(value.shape)}
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, SimpleNamespace | Message):
        return {name: plain(item) for name, item in fields_of(value).items()}
    return value


def unit_of(ros_type: str, field: str) -> str:
    """Returns the unit of a field, by its type or by the end of its name; empty where it has none that is known."""
    ending = field.rsplit("_", 1)[-1] if "_" in field else ""
    return UNIT_OF_FIELD.get((ros_type, field)) or UNIT_OF_ENDING.get(ending, "")


def stacked(values: list[Any]) -> np.ndarray[Any, Any]:
    """Returns one array of a field's values, first axis the messages; of objects where shapes differ or texts occur."""
    arrays = [np.asarray(value) for value in values]
    if len({array.shape for array in arrays}) == 1 and all(array.dtype.kind in "biuf" for array in arrays):
        return np.stack(arrays)
    column = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        column[row] = value
    return column

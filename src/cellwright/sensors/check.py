"""The conformance check of sensors, of this package or of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from cellwright.core.messages import Message
from cellwright.core.ros import encode
from cellwright.sensors.base import Sensor, SensorCfg

__all__ = ["check_sensor"]


def check_sensor(make: Callable[[], Sensor[Any]]) -> list[str]:
    """Returns the problems of a sensor; an empty list when there is none.

    Args:
        make: Makes the sensor in a world of always the same seed and moment; called twice, one after the other.
    """
    problems: list[str] = []
    sensor = make()
    kind = type(sensor)
    if not (isinstance(sensor.cfg, SensorCfg) and isinstance(sensor.cfg, kind.Cfg)):
        problems.append(f"its configuration is not a {kind.Cfg.__name__}")
    if not (is_dataclass(kind.message_type) and issubclass(kind.message_type, Message)):
        return [*problems, "its message_type is not a Message dataclass"]
    if not sensor.topic.startswith("/"):
        problems.append(f"its topic '{sensor.topic}' does not start with '/'")
    try:
        first, second = sensor.sample(), sensor.sample()
    except Exception as error:  # any error of a sensor from another package is the finding
        return [*problems, f"it cannot sample: {type(error).__name__}: {error}"]
    if type(first) is not kind.message_type:
        return [*problems, f"it samples {type(first).__name__}, but declares {kind.message_type.__name__}"]
    if (first.sequence, second.sequence) != (0, 1):
        problems.append(f"its messages are numbered {first.sequence}, {second.sequence}, not 0, 1")
    if first.time_ns != sensor.world.clock.time_ns:
        problems.append("its messages do not carry the simulation time of the sample")
    if first.source != sensor.source:
        problems.append(f"its messages are from '{first.source}', not '{sensor.source}'")
    encoded = bytes(encode(first))
    twin = make()
    if bytes(encode(twin.sample())) != encoded:
        problems.append("two with the same seed give different readings: it uses randomness that is not its own")
    twin.world.engine.step(50)
    sensor.world.engine.step(50)
    views = _views(second, sensor.world.data)
    if views or bytes(encode(first)) != encoded:
        which = f" ({', '.join(views)})" if views else ""
        problems.append(f"its message changes when the world moves on: it hands out views, not copies{which}")
    for field in fields(first):
        value = getattr(first, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.isinf(value).any():
            problems.append(f"its field '{field.name}' is infinite")
    return problems


def _views(message: Message, data: Any) -> list[str]:
    """Returns the fields of a message that lie in the simulator's own memory."""
    arrays = [value for name in dir(data) if isinstance(value := getattr(data, name, None), np.ndarray)]
    own = {field.name: getattr(message, field.name) for field in fields(message)}
    return [
        name
        for name, value in own.items()
        if isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays)
    ]

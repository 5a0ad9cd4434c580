"""The conformance check of sensors, of this package or of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.core.messages import Message
from cellwright.core.plugin_errors import plugin_error
from cellwright.core.ros import encode
from cellwright.sensors.base import Sensor, SensorCfg, located, make_sensor
from cellwright.sensors.schedule import message_type_problem
from cellwright.sim import World

__all__ = ["check_sensor", "sensor_problems"]

BEFORE, AFTER = 5, 20
"""Readings before a snapshot, so that it is taken in mid-stream, and after it."""
ON_DEMAND_HZ = 10.0
"""How often a sensor is asked that has no rate."""
UNMEASURED = ("variances", "ranges_m")
"""The fields that are infinite where nothing is measured."""


def check_sensor(line: Mapping[str, Any], world: World, where: str = "check_sensor") -> list[str]:
    """Tries out a sensor as a cell's file would have it, and returns its problems; an empty list when there is none.

    >>> with cw.Lab.from_cell("aprs") as lab:
    ...     cw.check_sensor({"type": "laser_range", "robot": "fanuc", "rate_hz": 50}, lab.world)
    []

    Args:
        line: The sensor's line in a cell's file, with the `type` under which it is registered.
        world: The world in which it is tried out; afterwards it is as it was before.
        where: The place of the line, for errors.

    Raises:
        BadInput: The line makes no sense.
    """
    start = world.snapshot()

    def make() -> Sensor[Any]:
        world.restore(start)
        return make_sensor(dict(line), world, where)

    try:
        return sensor_problems(make)
    finally:
        world.restore(start)


def sensor_problems(make: Callable[[], Sensor[Any]]) -> list[str]:
    """Returns the problems of a sensor that need not be registered; an empty list when there is none.

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
    if wrong := message_type_problem(kind.message_type):
        return [*problems, wrong]
    if not sensor.topic.startswith("/"):
        problems.append(f"its topic '{sensor.topic}' does not start with '/'")
    try:
        first, second = sensor.sample(), sensor.sample()
    except Exception as error:  # any error of a sensor from another package is the finding, but not one of its line
        if wrong_line := located(error, sensor.cfg.model_dump(), sensor.context.where):
            raise wrong_line from None
        return [*problems, str(plugin_error("it cannot sample", error, kind))]
    if type(first) is not kind.message_type:
        return [*problems, f"it samples {type(first).__name__}, but declares {kind.message_type.__name__}"]
    if (first.sequence, second.sequence) != (0, 1):
        problems.append(f"its messages are numbered {first.sequence}, {second.sequence}, not 0, 1")
    if first.time_ns != sensor.world.clock.time_ns:
        problems.append("its messages do not carry the simulation time of the sample")
    if first.source != sensor.source:
        problems.append(f"its messages are from '{first.source}', not '{sensor.source}'")
    try:
        encoded = bytes(encode(first))
    except BadInput as error:  # a value that does not fit the type of its field
        return [*problems, str(error)]
    twin = make()
    is_own = bytes(encode(twin.sample())) == encoded
    if not is_own:
        problems.append("two with the same seed give different readings: it uses randomness that is not its own")
    twin.world.engine.step(50)
    sensor.world.engine.step(50)
    views = _views(second, sensor.world.data)
    if views or bytes(encode(first)) != encoded:
        which = f" ({', '.join(views)})" if views else ""
        problems.append(f"its message changes when the world moves on: it hands out views, not copies{which}")
    for field in fields(first):
        value = getattr(first, field.name)
        is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        if is_float and field.name not in UNMEASURED and np.isinf(value).any():
            problems.append(f"its field '{field.name}' is infinite")
    if not is_own:
        return problems  # of course it cannot repeat its readings either
    try:
        return [*problems, *_repeats(twin)]
    except Exception as error:
        return [*problems, str(plugin_error("it cannot go on from a restored snapshot", error, kind))]


def _repeats(sensor: Sensor[Any]) -> list[str]:
    """Returns the problems of a sensor that goes back in time, or whose readings nobody wants for a while."""
    world = sensor.world
    _readings(sensor, BEFORE)
    moment, state = world.snapshot(), sensor.save()
    first = _readings(sensor, AFTER)

    def again(skipped: int = 0) -> list[dict[str, bytes]]:
        world.restore(moment)
        sensor.load(state)
        return _readings(sensor, AFTER, skipped)

    differ = _differing(first, again()) or _differing(first, again())  # the second finds a state that was not copied
    if differ:
        return [
            f"after a restored snapshot its readings are others ({', '.join(differ)}): noise belongs under a key of "
            "its configuration (self.noisy, self.noises), what else it keeps between readings into self.state"
        ]
    if sensor.is_skippable and _differing(first[BEFORE:], again(skipped=BEFORE)):
        return ["it is_skippable, but after skipped readings the next ones are others"]
    return []


def _readings(sensor: Sensor[Any], count: int, skipped: int = 0) -> list[dict[str, bytes]]:
    """Returns the fields of the next readings at its rate, without those that are skipped at first."""
    clock = sensor.world.clock
    period = clock.period_ticks(sensor.cfg.rate_hz or ON_DEMAND_HZ)
    taken = []
    for number in range(count):
        sensor.world.engine.step(period)
        clock.tick += period
        if number < skipped:
            sensor.sequence += 1
        else:
            message = sensor.sample()
            taken.append({field.name: _content(getattr(message, field.name)) for field in fields(message)})
    return taken


def _content(value: Any) -> bytes:
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()


def _differing(first: list[dict[str, bytes]], second: list[dict[str, bytes]]) -> list[str]:
    """Returns the fields in which readings differ."""
    pairs = list(zip(first, second, strict=True))
    return [name for name in first[0] if any(a.get(name) != b.get(name) for a, b in pairs)]


def _views(message: Message, data: Any) -> list[str]:
    """Returns the fields of a message that lie in the simulator's own memory."""
    arrays = [value for name in dir(data) if isinstance(value := getattr(data, name, None), np.ndarray)]
    own = {field.name: getattr(message, field.name) for field in fields(message)}
    return [
        name
        for name, value in own.items()
        if isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays)
    ]

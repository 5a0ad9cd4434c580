"""The schedule of sensors: samples at their rate, messages after their delay, and what is wrong with either."""

from __future__ import annotations

from typing import Any

from cellwright.core.bus import Bus
from cellwright.core.errors import BadInput, ConfigError
from cellwright.core.messages import Message
from cellwright.core.plugin_errors import is_of_others, plugin_error
from cellwright.sensors.base import Beside, Sensor, located, sensor_label
from cellwright.sim import Stepper, TickOrder

__all__ = ["message_type_problem", "sample_error", "schedule"]


def schedule(sensor: Sensor[Any], stepper: Stepper, bus: Bus) -> None:
    """Schedules a sensor: samples at its rate, and publishes after its delay; one without a rate waits to be asked.

    Raises:
        BadInput: Its messages cannot be recorded. What fails in `sample` later is one, too, with file and line.
    """
    clock, cfg = stepper.clock, sensor.cfg
    delay = clock.ticks(cfg.delay_s)
    topic, filters, message_type = sensor.topic, sensor.filters, sensor.message_type
    unchecked = is_of_others(type(sensor))
    if unchecked and (problem := message_type_problem(message_type)):
        raise ConfigError(sensor.context.where, "type", problem)
    topics = {topic: message_type, **sensor.other_topics}
    for name, kind in topics.items():
        bus.declare(name, kind)
    dropout, uniform = cfg.dropout, sensor.context.rng.random
    under_way = sensor.under_way
    may_skip = sensor.is_skippable and not dropout and (not delay or sensor.is_costly)
    is_on_demand = sensor.is_on_demand

    def publish(message: Message, beside: Beside) -> Message | None:
        for change in filters:
            changed = change(message)
            if changed is None:
                return None
            message = changed
        sensor.latest = message
        for name, other in beside:  # first: whoever gets the message may need what belongs to it
            bus.publish(name, other)
        bus.publish(topic, message)
        return message

    def take() -> None:
        nonlocal unchecked
        if is_on_demand and (under_way or not (sensor.is_kept or bus.is_waited_for(topic))):
            sensor.sequence += 1
            return
        if may_skip and not sensor.is_kept and not any(map(bus.has_listener, topics)):
            sensor.sequence += 1
            return
        try:
            message, beside = sensor.taken()
            if unchecked or type(message) is not message_type:
                _check_message(message, message_type)
                unchecked = False
        except Exception as error:
            raise sample_error(sensor, error) from error
        if dropout and uniform() < dropout:
            return
        if delay:
            under_way.append((clock.tick + delay, message, beside))
        else:
            publish(message, beside)

    def deliver() -> None:
        while under_way and under_way[0][0] <= clock.tick:
            publish(*under_way.popleft()[1:])

    sensor.deliver = publish
    if not cfg.rate_hz:
        return  # it takes readings on demand alone
    period = clock.period_ticks(cfg.rate_hz)
    stepper.every(period, take, order=TickOrder.SENSOR, name=topic)
    if delay:
        first = clock.tick + period + delay
        stepper.every(period, deliver, order=TickOrder.SENSOR, name=f"{topic} delivery", first_tick=first)


def sample_error(sensor: Sensor[Any], error: Exception) -> Exception:
    """Returns why a sensor cannot sample, in one line: the place in the cell's file, or that in its class's."""
    line, kind = sensor.cfg.model_dump(), type(sensor)
    what = f"sensor '{sensor_label(line)}' fails in sample at {sensor.world.clock.time_s:.10g} s"
    owner = kind.sample if is_of_others(kind.sample) else kind
    at_once = located(error, line, sensor.context.where) if sensor.sequence <= 1 else None  # later, it was right once
    return at_once or plugin_error(what, error, owner)


def message_type_problem(message_type: type[Message]) -> str:
    """Returns why no log can hold messages of a class; nothing when one can."""
    from cellwright.core.ros import layout_of  # not at the start: it takes a moment, and our own sensors do without

    try:
        layout_of(message_type)
    except BadInput as error:
        return str(error)
    return ""


def _check_message(message: object, message_type: type[Message]) -> None:
    """Refuses what is not the declared message, or has a value of another type in one of its fields."""
    from cellwright.core.ros import encode

    if type(message) is not message_type:
        raise BadInput(f"it returns {type(message).__name__}, but its message_type is {message_type.__name__}")
    encode(message)

"""The base of sensors: a configuration, a sample function, a message type; the base class does the rest.

A new sensor is one file with a `SensorCfg` subclass and a `Sensor` subclass registered under a name (in a plugin of the
cell, or named by an entry point of the group `cellwright.sensors`), and one line in a cell's YAML. Noise, what is kept
between readings, snapshots, topic and schedule belong to the base class, so that a sensor cannot get them wrong.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import numpy as np
from pydantic import Field

from cellwright.core.config import Cfg, validate
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, CellwrightError, ConfigError, UnknownName
from cellwright.core.messages import Message
from cellwright.core.plugin_errors import plugin_error
from cellwright.core.pose import Pose
from cellwright.core.registry import Registry
from cellwright.sensors.noise import Noise, NoiseCfg
from cellwright.sim import World

__all__ = ["SENSORS", "Sensor", "SensorCfg", "SensorContext", "check_line", "located", "make_sensor", "sensor_label"]


class SensorCfg(Cfg):
    """The common configuration of sensors, as in a cell's file.

    Attributes:
        type: The registered name of the sensor.
        name: Its source name; the default is that of its robot, or else its type.
        rate_hz: Samples per simulated second.
        delay_s: The time between a sample and its arrival.
        dropout: Probability that a sample is lost.
    """

    type: str
    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")] | None = None
    rate_hz: Annotated[float, Field(gt=0, le=5000)]
    delay_s: Annotated[float, Field(ge=0, le=10)] = 0.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0


@dataclass(frozen=True)
class SensorContext:
    """The surroundings of a sensor: the world that it measures and its own random stream."""

    world: World
    rng: np.random.Generator
    where: str


C = TypeVar("C", bound=SensorCfg)
Beside = tuple[tuple[str, Message], ...]


class Sensor(ABC, Generic[C]):
    """Base of all sensors: a subclass has a configuration, a message type and `sample`.

    >>> class LevelCfg(cw.SensorCfg):
    ...     robot: str
    ...     noise: cw.NoiseCfg = cw.NoiseCfg(sd=0.0005)
    >>> @cw.SENSORS.register("level")
    ... class Level(cw.Sensor[LevelCfg]):
    ...     Cfg, message_type = LevelCfg, cw.messages.Range
    ...     def sample(self):
    ...         height_m = self.world.tcp_pose(self.cfg.robot).position[2]
    ...         return cw.messages.Range(*self.header(), frame="world", range_m=self.noisy(height_m), max_range_m=3.0)
    >>> with cw.Lab.from_cell("aprs") as lab:
    ...     cw.check_sensor({"type": "level", "robot": "fanuc", "rate_hz": 50}, lab.world)
    []

    Attributes:
        Cfg: Class of its configuration.
        message_type: Class of its messages.
        topic_name: The end of its topic, `/<source>/<topic_name>`; by default the type under which it is registered.
        is_costly: Whether it had better not read for nobody, although a subscriber then misses what would have been
            under way when it came.
        is_on_demand: Whether it reads for controllers alone, one reading at a time: none is begun while another is
            under way, and none for a log.
        noises: Key of its configuration that is a `NoiseCfg` -> the noise, whose drift is part of snapshots.
        state: Whatever else it keeps between readings, an empty dictionary at first; part of snapshots.
        latest: Its last message, None before the first.
        is_kept: Whether it makes messages for `latest` even while nobody listens and it could do without.
        beside: Topics and messages that belong to the one that `sample` is making; it puts them there.
        deliver: Publishes a message, and what belongs to it, at once; None while the sensor is not scheduled.
        filters: Functions that each message passes, in order; one that returns None drops it. A filter has no state of
            its own, so that snapshots need not include it.
    """

    Cfg: ClassVar[type[SensorCfg]]
    message_type: ClassVar[type[Message]]
    topic_name: ClassVar[str] = ""
    is_costly: ClassVar[bool] = False
    is_on_demand: ClassVar[bool] = False

    def __init__(self, cfg: C, context: SensorContext) -> None:
        self.cfg = cfg
        self.context = context
        self.world = context.world
        self._clock = context.world.clock
        self.noises = {
            key: Noise(errors, self.noise_size(key), 1 / cfg.rate_hz if cfg.rate_hz else 0.0, context.rng)
            for key in type(cfg).model_fields
            if isinstance(errors := getattr(cfg, key), NoiseCfg)
        }
        self.state: Any = {}
        self.sequence = 0
        self.latest: Message | None = None
        self.is_kept = False
        self.beside: list[tuple[str, Message]] = []
        self.under_way: deque[tuple[int, Message, Beside]] = deque()
        self.deliver: Callable[[Message, Beside], Message | None] | None = None
        self.filters: list[Callable[[Message], Message | None]] = []

    @cached_property
    def source(self) -> str:
        """The source in its messages: its name, or else its robot's."""
        return self.cfg.name or getattr(self.cfg, "robot", None) or self.cfg.type

    @property
    def topic(self) -> str:
        """The topic of its messages, as ROS would name it."""
        return f"/{self.source}/{self.topic_name or self.cfg.type}"

    def noise_size(self, key: str) -> int:
        """Returns the number of values to which the errors under a key of its configuration apply; one by default."""
        return 1

    def noisy(self, value: float, key: str = "noise") -> float:
        """Returns a value with the errors that its configuration has under a key; for arrays, see `noises`."""
        return float(self.noises[key].apply(np.array([value]))[0])

    @abstractmethod
    def sample(self) -> Message:
        """Returns one reading of the world as it is now. It must copy what it reads: messages outlive the moment."""

    @property
    def is_skippable(self) -> bool:
        """Whether a reading that nobody listens to need not be made: it draws nothing, and nothing of it is kept."""
        return False

    @property
    def other_topics(self) -> Mapping[str, type[Message]]:
        """Topics of what `sample` puts beside its message."""
        return {}

    @property
    def frames(self) -> Mapping[str, Pose]:
        """Frames of its messages -> their poses on the mobile robot that carries it, where no figures have them."""
        return {}

    def taken(self) -> tuple[Message, Beside]:
        """Returns one reading, and what belongs to it."""
        message = self.sample()
        beside = tuple(self.beside)
        self.beside.clear()
        return message, beside

    def save(self) -> Any:
        """Returns what it keeps between samples, besides its random stream."""
        drifts = {key: noise.save() for key, noise in self.noises.items()}
        return self.sequence, tuple(self.under_way), self.latest, drifts, deepcopy(self.state)

    def load(self, state: Any) -> None:
        """Restores what `save` returned, which stays as it is and may be restored again."""
        self.sequence, under_way, self.latest, drifts, kept = state
        self.under_way.clear()
        self.under_way.extend(under_way)
        for key, drift in drifts.items():
            self.noises[key].load(drift)
        self.state = deepcopy(kept)

    def header(self) -> tuple[int, int, str]:
        """Returns time, sequence number and source of the message that is being made."""
        sequence, clock = self.sequence, self._clock
        self.sequence = sequence + 1
        return clock.tick * clock.tick_ns, sequence, self.source


SENSORS: Registry[type[Sensor[Any]]] = Registry("sensor", "cellwright.sensors", of_plugins=True)
"""Name, as `type` in a cell's file -> sensor class; `@SENSORS.register("name")` adds one."""


def make_sensor(line: dict[str, Any], world: World, where: str) -> Sensor[Any]:
    """Returns a sensor from its line in a cell; errors name the line."""
    sensor_class, cfg = _configured(line, where)
    try:
        return sensor_class(cfg, SensorContext(world, world.streams.stream(f"sensors/{sensor_label(line)}"), where))
    except BadInput as error:
        raise located(error, line, where) or ConfigError(where, "", str(error)) from None
    except CellwrightError:
        raise
    except Exception as error:  # whatever the class of somebody else does
        problem = plugin_error(f"'{cfg.type}' cannot be made", error, sensor_class)
        raise (ConfigError(where, "type", str(problem)) if problem is not error else error) from error


def located(error: Exception, line: Mapping[str, Any], where: str) -> BadInput | None:
    """Returns an error with its place in the cell's file; None when it is not the line's but the class's own.

    Args:
        error: What the sensor raised.
        line: The sensor's line; a name in it that does not exist is the cell's mistake, not that of the class.
        where: The file and the key.
    """
    if isinstance(error, UnknownName) and (key := _key_of(error.name, line)):
        return UnknownName(error.kind, error.name, error.available, f"{where}{key}")
    return error if isinstance(error, ConfigError) else None


def _key_of(name: str, value: Any) -> str:
    """Returns the key below which a name stands, such as `.trays.0`; nothing when it does not."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inner in items:
        below = _key_of(name, inner)
        if inner == name or below:
            return f".{key}{below}"
    return ""


def check_line(line: dict[str, Any], where: str, known: Mapping[str, Collection[str]]) -> None:
    """Checks a sensor's line, before there is a world.

    Args:
        line: The line.
        where: The file and the key.
        known: Key, such as `robot` -> what it may name in the cell.

    Raises:
        BadInput: All errors of the line.
    """
    collector = ErrorCollector()
    with collector.collecting():
        _configured(line, where)
    for key, names in known.items():
        if isinstance(line.get(key), str) and line[key] not in names:
            collector.add(UnknownName(key, line[key], names, f"{where}.{key}"))
    collector.raise_errors()


def sensor_label(line: dict[str, Any]) -> str:
    """Returns a label that distinguishes a line from others in its cell."""
    named = "camera" if line.get("name") is None else "name"
    return "/".join(str(line[key]) for key in ("robot", named, "type") if line.get(key) is not None)


def _configured(line: dict[str, Any], where: str) -> tuple[type[Sensor[Any]], SensorCfg]:
    name = line.get("type")
    if not isinstance(name, str):
        raise ConfigError(where, "type", f"name a sensor (available: {', '.join(SENSORS)})")
    sensor_class = SENSORS.get(name, f"{where}.type")
    for attribute, base in (("Cfg", SensorCfg), ("message_type", Message)):
        found = getattr(sensor_class, attribute, None)
        if not (isinstance(found, type) and issubclass(found, base)):
            raise ConfigError(
                where, "type", f"class {sensor_class.__name__} needs a {base.__name__} as its {attribute}"
            )
    return sensor_class, validate(line, sensor_class.Cfg, where)

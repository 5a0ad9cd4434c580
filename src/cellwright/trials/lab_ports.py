"""The ports of a controller in the process of its laboratory: CRCL without sockets, frames from the bus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.core.bus import Bus, Role
from cellwright.core.errors import BadInput
from cellwright.core.messages import CrclCommand, CrclStatus, Detections, Message, Order
from cellwright.drawings.prior import Drawings
from cellwright.execution import OrderReport
from cellwright.interfaces.crcl import CrclInterface
from cellwright.lab.lab import Lab
from cellwright.lab.pictures import picture_topics, read_pictures
from cellwright.perception.calibration import Calibration
from cellwright.perception.picture import Picture
from cellwright.sensors.cameras import ColorCamera, StereoCamera
from cellwright.trials.controller_ports import ControllerPorts

__all__ = ["lab_ports"]

DETECTIONS = "/detections"
COLOURS = (ColorCamera, StereoCamera)


def lab_ports(
    lab: Lab,
    crcl: CrclInterface,
    *,
    drawings: Drawings | None = None,
    calibration: Calibration | None = None,
    database: str | Path = "sqlite://",
    report: Callable[[OrderReport], None] = lambda _account: None,
) -> ControllerPorts:
    """Returns the ports of a laboratory for a controller in its event loop.

    Frames are those that the vision sockets send: what sensors publish, unchanged. Pictures have intrinsics and poses
    of the calibration, where it has their cameras.
    """
    seen = [s.topic.removeprefix("/").removesuffix(DETECTIONS) for s in lab.sensors if s.message_type is Detections]
    return ControllerPorts(
        clock=lab.clock,
        drawings=drawings or Drawings.of(lab.cell),
        robots={robot: partial(crcl.connect, robot) for robot in lab.robots},
        detectors={name: partial(_watch, lab.bus, f"/{name}{DETECTIONS}") for name in seen},
        cameras={s.source: partial(_pictures, lab.bus, s, calibration) for s in lab.sensors if isinstance(s, COLOURS)},
        projectors={name: projector.switch for name, projector in lab.projectors.items()},
        topics=_OwnTopics(lab.bus, frozenset(sensor.topic for sensor in lab.sensors)),
        database=database,
        report=report,
    )


def _watch(bus: Bus, topic: str, take: Callable[[Detections], None]) -> Callable[[], None]:
    def heard(_topic: str, frame: Detections) -> None:
        take(frame)

    subscription = bus.subscribe(topic, heard, subscriber="controller", role=Role.CONTROLLER)
    return partial(bus.unsubscribe, subscription)


def _pictures(bus: Bus, camera: ColorCamera | StereoCamera, calibration: Calibration | None) -> tuple[Picture, ...]:
    """Returns what a camera takes now, as it is heard on the bus, with what was measured of it."""
    heard: dict[str, Any] = {}
    listening = [
        bus.subscribe(topic, heard.__setitem__, subscriber="controller", role=Role.CONTROLLER)
        for topic in picture_topics(camera)
    ]
    try:
        camera.capture()
    finally:
        for subscription in listening:
            bus.unsubscribe(subscription)
    return read_pictures(camera, heard, calibration)


class _OwnTopics:
    """The topics of a controller: none that sensors, robots or the trial speak on, and nothing that carries truth."""

    def __init__(self, bus: Bus, taken: frozenset[str]) -> None:
        self._bus = bus
        self._taken = taken
        self._own: set[str] = set()

    def declare(self, topic: str, message_type: type[Message]) -> None:
        if topic in self._taken or message_type.TRUTH or message_type in (CrclCommand, CrclStatus, Order):
            what = f"{message_type.__name__} on '{topic}'"
            raise BadInput(f"a controller cannot publish {what}: allowed are topics of its own, and no truth")
        self._bus.declare(topic, message_type)
        self._own.add(topic)

    def publish(self, topic: str, message: Message) -> None:
        if topic not in self._own:
            self.declare(topic, type(message))
        self._bus.publish(topic, message)

    def has_listener(self, topic: str) -> bool:
        return self._bus.has_listener(topic)

"""The ports of a controller: all that it gets of a cell, in the process of a trial or over sockets.

They are what any program outside can have: the robots over CRCL, the frames of the detectors, pictures, the drawings, a
clock, a database of its own. There is no way from them to the laboratory, its world or its judge.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from cellwright.core.errors import UnknownName
from cellwright.core.messages import Detections, Message
from cellwright.crcl import ClientOptions, CrclClient
from cellwright.crcl.connection import Connector
from cellwright.drawings.prior import Drawings
from cellwright.execution import OrderReport
from cellwright.execution.async_clock import AsyncClock
from cellwright.perception.picture import Picture
from cellwright.trials.announced import AnnouncedOrder

__all__ = [
    "ControllerOrders",
    "ControllerPorts",
    "ControllerTopics",
    "FrameSource",
    "LightSwitch",
    "PictureSource",
]

FrameSource = Callable[[Callable[[Detections], None]], Callable[[], None]]
"""Given what takes frames, hands over every frame from then on; returns how to stop that."""

PictureSource = Callable[[], tuple[Picture, ...]]
"""Takes pictures now: one, or the left and the right one of a pair; none where a fault keeps them back."""

LightSwitch = Callable[[bool], None]
"""Switches a projector on or off."""


class ControllerTopics(Protocol):
    """The topics on which a controller tells what it thinks and does, for logs and operators."""

    def declare(self, topic: str, message_type: type[Message]) -> None:
        """Announces a topic before its first message."""

    def publish(self, topic: str, message: Message) -> None:
        """Tells whoever listens."""

    def has_listener(self, topic: str) -> bool:
        """Returns whether somebody does: lets it skip needless work."""


class ControllerOrders(Protocol):
    """The orders of a controller, as they become known; it submits those that it believes to be done."""

    @property
    def announced(self) -> Sequence[AnnouncedOrder]:
        """The orders that are known, in the order in which they became so."""

    def coming(self) -> AsyncIterator[AnnouncedOrder]:
        """Yields every order as it becomes known, those that are known first; ends after the last."""

    def submit(self, name: str) -> None:
        """Claims that an order is done.

        Raises:
            BadInput: It is not known, or was submitted before.
        """


class NoTopics:
    """Topics that nobody reads."""

    def declare(self, topic: str, message_type: type[Message]) -> None:
        """Does nothing."""

    def publish(self, topic: str, message: Message) -> None:
        """Does nothing."""

    def has_listener(self, topic: str) -> bool:
        """Returns that nobody listens."""
        return False


@dataclass(frozen=True)
class ControllerPorts:
    """All that a controller gets.

    Attributes:
        clock: The cell's time, to wait by.
        drawings: What is known before anything was seen: nominal layout, cameras, figures of robots, trays and parts.
        robots: Robot -> makes connections to its CRCL server, whose poses are in the robot's nominal base frame.
        detectors: Detector -> its frames, as they come.
        cameras: Camera that takes colours -> its pictures, on demand.
        projectors: Projector -> its switch.
        topics: Where it tells what it thinks and does.
        database: Where it may keep what it knows; in memory by default.
        report: Takes its own account of the orders; a later one replaces the earlier.
        poll_s: How long to wait between two questions whether a robot has done a command.
    """

    clock: AsyncClock
    drawings: Drawings
    robots: Mapping[str, Connector]
    detectors: Mapping[str, FrameSource]
    cameras: Mapping[str, PictureSource] = field(default_factory=dict)
    projectors: Mapping[str, LightSwitch] = field(default_factory=dict)
    topics: ControllerTopics = field(default_factory=NoTopics)
    database: str | Path = "sqlite://"
    report: Callable[[OrderReport], None] = lambda _account: None
    poll_s: float = 0.02

    def client(self, robot: str, options: ClientOptions | None = None) -> CrclClient:
        """Returns a client of a robot's CRCL server; it connects when it is entered or opened."""
        if robot not in self.robots:
            raise UnknownName("robot", robot, self.robots)
        return CrclClient(self.robots[robot], peer=robot, options=options)

    def watch(self, detector: str, take: Callable[[Detections], None]) -> Callable[[], None]:
        """Calls back with every frame of a detector from now on; returns how to stop that."""
        if detector not in self.detectors:
            raise UnknownName("detector", detector, self.detectors)
        return self.detectors[detector](take)

    def publisher(self, topic: str) -> Callable[[Message], None]:
        """Returns what publishes on one topic."""
        return partial(self.topics.publish, topic)

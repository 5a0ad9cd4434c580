"""Requests for frames: a controller listens to a detector that makes frames on demand only while it waits for one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from cellwright.core.messages import Detections
from cellwright.trials.controller_ports import ControllerPorts

__all__ = ["FrameRequests"]


class FrameRequests:
    """Asks for one frame at a time of each detector.

    Who waits for frames asks again and again; until the frame that has come is processed, that asks for nothing more.

    Args:
        ports: The ports of the controller.
        detectors: The detectors that make frames on demand.
        take: Takes a frame.

    Attributes:
        detectors: As given.
    """

    def __init__(self, ports: ControllerPorts, detectors: Collection[str], take: Callable[[Detections], None]) -> None:
        self.detectors = frozenset(detectors)
        self._ports = ports
        self._take = take
        self._stops: dict[str, Callable[[], None]] = {}
        self._in_work: set[str] = set()

    def ask(self, detectors: Iterable[str] | None = None) -> None:
        """Asks for a frame of each detector that is not at work on one already; of all by default."""
        wanted = self.detectors if detectors is None else self.detectors.intersection(detectors)
        for name in sorted(wanted - self._in_work - self._stops.keys()):
            self._stops[name] = self._ports.watch(name, self._came)

    def done(self, detector: str) -> None:
        """Notes that a frame is processed."""
        self._in_work.discard(detector)

    def stop(self) -> None:
        """Stops listening."""
        for stop in self._stops.values():
            stop()
        self._stops.clear()
        self._in_work.clear()

    def _came(self, frame: Detections) -> None:
        stop = self._stops.pop(frame.source, None)
        if stop is not None:
            stop()
            self._in_work.add(frame.source)
            self._take(frame)

"""Detections for the trials: the mean of some frames, as a controller would use it."""

from __future__ import annotations

from cellwright.core.bus import Role
from cellwright.core.messages import Detections
from cellwright.execution import AveragedScene
from cellwright.lab import Lab

__all__ = ["detect"]

LOOK_S = 0.65  # five frames and their delay


async def detect(lab: Lab, topic: str) -> AveragedScene:
    """Returns the objects in view from now on."""
    start_ns = lab.world.clock.time_ns
    frames: list[Detections] = []
    subscription = lab.bus.subscribe(
        topic, lambda _topic, frame: frames.append(frame), subscriber="bench", role=Role.CONTROLLER
    )
    await lab.clock.sleep(LOOK_S)
    lab.bus.unsubscribe(subscription)
    return AveragedScene([frame for frame in frames if frame.time_ns >= start_ns])

"""One look through a detector: the tracks of its next few frames."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.bus import Bus, Role
from cellwright.core.errors import JobFailed
from cellwright.core.loop import WaitClock
from cellwright.core.messages import Detections, Tracks
from cellwright.core.pose import Pose
from cellwright.perception.tracker import Tracker

__all__ = ["look", "nearest_track"]

FRAMES = 5
LIMIT_S = 60.0
POLL_S = 0.01


async def look(bus: Bus, clock: WaitClock, detector: str, frames: int = FRAMES) -> Tracks:
    """Returns what a detector sees from now on; frames that were taken before may still be under way.

    Raises:
        JobFailed: It gave too few frames within a minute.
    """
    topic, start_s, seen = f"/{detector}/detections", clock.time_s, list[Detections]()
    subscription = bus.subscribe(
        topic, lambda _topic, frame: seen.append(frame), subscriber="perception", role=Role.CONTROLLER
    )
    try:
        while len(fresh := [frame for frame in seen if frame.time_s >= start_s]) < frames:
            if clock.time_s - start_s >= LIMIT_S:
                raise JobFailed(f"nothing to see: {topic} gave {len(fresh)} of {frames} frames in {LIMIT_S:g} s")
            await clock.sleep(POLL_S)
    finally:
        bus.unsubscribe(subscription)
    tracker = Tracker()
    return [tracker.take(frame) for frame in fresh][-1]


def nearest_track(tracks: Tracks, sku: str, point_m: npt.ArrayLike, within_m: float = np.inf) -> Pose | None:
    """Returns the pose of the object of a SKU that is nearest to a point, in the plane; None when none is so near."""
    away_m = np.hypot(*(tracks.positions - np.asarray(point_m, float))[:, :2].T)
    near = [row for row, its in enumerate(tracks.skus) if its == sku and away_m[row] <= within_m]
    if not near:
        return None
    row = min(near, key=lambda row: away_m[row])
    return Pose(tracks.positions[row], tracks.quaternions[row])

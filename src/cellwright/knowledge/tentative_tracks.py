"""Tentative tracks: detections that are of no object yet; one detection is not enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign
from cellwright.knowledge.pose_fusion import BeliefCfg

__all__ = ["TentativeTrack", "update_tracks"]

Array = npt.NDArray[np.float64]


@dataclass
class TentativeTrack:
    """A track that is not confirmed: something that was seen and is no object yet.

    Attributes:
        sku: Its SKU, as detected.
        pose_in_world: Its last pose, 4 x 4.
        variances: x, y, z and yaw of that detection.
        time_s: The time of that detection.
        detections: The number of detections.
    """

    sku: str
    pose_in_world: Array
    variances: Array
    time_s: float
    detections: int = 1


def update_tracks(
    known: Sequence[TentativeTrack], detections: Sequence[TentativeTrack], time_s: float, cfg: BeliefCfg
) -> tuple[list[TentativeTrack], list[TentativeTrack]]:
    """Associates the detections of one moment with earlier ones.

    Args:
        known: The tracks so far.
        detections: The detections now, each as a new track.
        time_s: Now.
        cfg: The highest speed between two detections, and the number of detections that confirm a track.

    Returns:
        The tracks that must be seen more often, and those that are confirmed.
    """
    known = [t for t in known if time_s - t.time_s <= cfg.miss_timeout_s]
    result = list(known)
    for sku in dict.fromkeys(t.sku for t in detections):
        old, new = [t for t in known if t.sku == sku], [t for t in detections if t.sku == sku]
        joined = associate(old, new, cfg)
        for number, detection in enumerate(new):
            if number in joined:
                one = joined[number]
                one.detections += one.time_s < time_s
                one.pose_in_world, one.variances, one.time_s = detection.pose_in_world, detection.variances, time_s
            else:
                result.append(detection)
    ready = [t for t in result if t.detections >= cfg.min_detections and t.time_s == time_s]
    return [t for t in result if not any(t is r for r in ready)], ready


def associate(
    old: Sequence[TentativeTrack], new: Sequence[TentativeTrack], cfg: BeliefCfg
) -> dict[int, TentativeTrack]:
    """Returns number of a new detection -> the track that it continues, where it can have gone so far."""
    if not old:
        return {}
    before, now = (np.array([t.pose_in_world[:3, 3] for t in side]) for side in (old, new))
    steps = np.linalg.norm(before[:, None] - now[None], axis=2)
    waited_s = np.array([[max(n.time_s - o.time_s, 0.0) for n in new] for o in old])
    noise = 4.0 * np.sqrt([[2.0 * n.variances[:3].max() for n in new]])
    steps[steps > cfg.max_speed_mps * waited_s + noise + cfg.bias_sd_m] = np.inf
    return {n: old[o] for o, n in assign(steps, 1e3)}

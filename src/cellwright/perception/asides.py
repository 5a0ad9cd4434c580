"""Lasting errors of single objects: where one detector sees something aside from where another one does.

Recognition may see one object lastingly off and the next one not, so no shift of a whole camera explains it. Where an
object is, the detector tells on whose view its track rests (its anchor). Another one that sees it aside meanwhile sees
the same object: two of a kind are never so near to each other. How far aside is learned, and taken off from then on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign
from cellwright.perception.cfg import TrackerCfg
from cellwright.perception.detector_watch import DetectorWatch
from cellwright.perception.frame import Frame
from cellwright.perception.table import TrackTable

__all__ = ["known_asides", "learn_asides"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def known_asides(table: TrackTable, watch: DetectorWatch) -> Array:
    """Returns how far a detector sees each object off where it is known to be, n x 3; zero where that is not known."""
    found = np.zeros((len(table), 3))
    if watch.asides:
        for row, name in enumerate(table.names):
            if name in watch.asides and table.anchors[row] != watch.number:
                found[row] = watch.asides[name]
    return found


def learn_asides(
    table: TrackTable, matched: Mask, rest: Rows, frame: Frame, watch: DetectorWatch, since_s: float, cfg: TrackerCfg
) -> Rows:
    """Takes out detections of objects that another detector sees in their places meanwhile; returns the rest.

    Args:
        table: The objects.
        matched: Which of them the frame shows; those that are found here are added.
        rest: Detections that are left over.
        frame: The frame.
        watch: The detector, which learns how far off it sees these objects.
        since_s: When the other one must have seen them.
        cfg: Settings.
    """
    is_there = table.named & ~matched & ~table.held & ~table.moving & (table.misses == 0) & (table.sightings > 0)
    others = np.flatnonzero(
        is_there & (table.anchors >= 0) & (table.anchors != watch.number) & (table.anchor_s >= since_s)
    )
    if not len(others) or not len(rest):
        return rest
    apart = frame.positions[rest][None] - table.positions[others][:, None]
    apart[..., :2] -= frame.slopes[rest] * apart[..., 2:]  # as if they were as high as the objects
    apart[..., 2] = np.where(np.isinf(frame.variances[rest, 2]), 0.0, apart[..., 2])
    away_m = np.where(
        table.kinds[others][:, None] == frame.kinds[rest], np.hypot(apart[..., 0], apart[..., 1]), np.inf
    )
    taken = []
    for row, column in assign(away_m, cfg.aside_m):
        watch.asides[table.names[others[row]]] = apart[row, column]
        matched[others[row]] = True
        taken.append(column)
    return np.delete(rest, taken)

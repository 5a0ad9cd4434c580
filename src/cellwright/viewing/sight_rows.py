"""Detections and beliefs as rows: only changes that matter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cellwright.core.messages import Detections, Tracks
from cellwright.core.pose import Pose
from cellwright.viewing.rows import Row, Rows, rounded

__all__ = ["SightRows"]

MOVED_M, TURNED_RAD, SURER = 5e-4, math.radians(1.0), 2.0
FORGOTTEN_S = 1.0  # a belief that old was not seen lately
DETECTIONS_S, NEW_SIGHT_S = 1.0, 0.2  # between rows of a detector: as long as it sees the same, and otherwise


class SightRows:
    """Rows of belief and of detections.

    Args:
        rows: Takes the rows.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._believed: dict[str, tuple[Pose, list[float | None], str, str]] = {}
        self._seen: dict[str, tuple[float, tuple[str, ...]]] = {}
        self.newest: dict[str, Detections] = {}

    def take_tracks(self, time_s: float, tracks: Tracks) -> None:
        """Adds a row for each belief that has changed, and for each that is gone."""
        for number, name in enumerate(tracks.identities):
            pose = Pose(tracks.positions[number], tracks.quaternions[number])
            sd = _deviations(tracks.variances[number])
            slot, age_s = tracks.slots[number], float(tracks.ages_s[number])
            state = "remembered" if age_s > FORGOTTEN_S else "seen"
            known = self._believed.get(name)
            if known is not None and not _differs(known, (pose, sd, slot, state)):
                continue
            self._believed[name] = (pose, sd, slot, state)
            row = {"time_s": time_s, "id": name, "sku": tracks.skus[number], "pose": _pose(pose), "sd": sd}
            self._rows.add("belief", {**row, "slot": slot, "state": state})
        for name in [name for name in self._believed if name not in set(tracks.identities)]:
            pose, sd, slot, _ = self._believed.pop(name)
            row = {"time_s": time_s, "id": name, "sku": "", "pose": _pose(pose), "sd": sd}
            self._rows.add("belief", {**row, "slot": slot, "state": "gone"})

    def take_detections(self, time_s: float, found: Detections) -> None:
        """Adds a row now and then, and sooner when a detector sees more or fewer things."""
        if found.frame not in ("world", ""):
            return
        self.newest[found.source] = found
        before_s, skus = self._seen.get(found.source, (-math.inf, ()))
        wait_s = DETECTIONS_S if skus == tuple(sorted(found.skus)) else NEW_SIGHT_S
        if time_s - before_s < wait_s - 1e-9:
            return
        self._seen[found.source] = time_s, tuple(sorted(found.skus))
        items: list[Row] = [
            {
                "sku": sku,
                "pose": _pose(Pose(found.positions[number], found.quaternions[number])),
                "sd": _deviations(found.variances[number]),
            }
            for number, sku in enumerate(found.skus)
        ]
        self._rows.add("detections", {"time_s": time_s, "source": found.source, "items": items})


def _pose(pose: Pose) -> list[float | None]:
    return rounded([*pose.position, *pose.quaternion])


def _deviations(variances: Any) -> list[float | None]:
    """Returns the standard deviations of x, y, z and yaw; null where nothing was measured."""
    return rounded(np.sqrt(np.asarray(variances, float)[[0, 1, 2, 5]]), 5)


def _differs(one: tuple[Pose, list[float | None], str, str], other: tuple[Pose, list[float | None], str, str]) -> bool:
    """Returns whether two beliefs differ by what can be seen: place, slot, or how sure they are."""
    if one[2:] != other[2:] or one[0].distance_m(other[0]) > MOVED_M or one[0].angle_rad(other[0]) > TURNED_RAD:
        return True
    for old, new in zip(one[1], other[1], strict=True):
        if (old is None) != (new is None):
            return True
        if old is not None and new is not None and max(old, new) > MOVED_M:
            low, high = sorted((old, new))
            if high > SURER * max(low, 1e-9):
                return True
    return False

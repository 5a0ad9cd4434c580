"""Lasting errors of single objects: where one detector sees something aside from where another one does.

Recognition may see one object lastingly off and the next one not, so no shift of a whole camera explains it. Where an
object is, the detector tells on whose view its track rests (its anchor). Another one that sees it aside meanwhile sees
the same object: two of a kind are never so near to each other. How far aside is learned, and taken off from then on. Of
two detectors of which a calibration has registered one, that one knows where the object is, and the other is aside. A
hand that has felt where something is knows better than all detectors: then they are aside, and the hand is the anchor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign
from cellwright.perception.cfg import TrackerCfg
from cellwright.perception.detector_watch import Aside, DetectorWatch
from cellwright.perception.frame import Frame
from cellwright.perception.table import TrackTable

__all__ = ["BY_HAND", "average_asides", "known_asides", "learn_asides"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
NOBODY, BY_HAND, AGREED = -1, -2, -3  # in place of the number of a detector; the last for the mean of two
ASIDE_SDS = 2.0  # standard deviations of what cameras are off each other, beyond which an object is seen aside
ENOUGH = 4  # frames from which it is known how far aside an object is seen


def known_asides(table: TrackTable, watch: DetectorWatch) -> Array:
    """Returns how far a detector sees each object off where it is known to be, n x 3; zero where that is not known."""
    found = np.zeros((len(table), 3))
    if watch.asides:
        for row, (name, anchor) in enumerate(zip(table.names, table.anchors.tolist(), strict=True)):
            aside = watch.asides.get(name)
            if aside is not None and aside.anchor == anchor:
                found[row] = aside.off_m
    return found


def average_asides(
    table: TrackTable, rows: Rows, off_m: Array, sd_m: Array, watches: Sequence[DetectorWatch], watch: DetectorWatch
) -> Mask:
    """Takes in how far a frame shows objects off where they are known to be; returns those it learns that of.

    Until it is known from some frames, the detector says nothing about where such an object is. What is then no more
    than cameras and noise are off anyway is none. Otherwise the object is halfway between what both see: neither is
    known to be the better one, unless just one of them is registered.

    Args:
        table: The objects.
        rows: Those that the frame shows.
        off_m: How far off, k x 3.
        sd_m: How far they may be off by chance in one frame, and by the mounting of cameras, k x 2.
        watches: All detectors, by their numbers.
        watch: The one whose frame it is.
    """
    learns = np.zeros(len(rows), bool)
    for number, (row, anchor) in enumerate(zip(rows.tolist(), table.anchors[rows].tolist(), strict=True)):
        if anchor in (NOBODY, watch.number) or not (name := table.names[row]):
            continue
        aside = watch.asides.get(name)
        if aside is None or aside.anchor != anchor:
            aside = watch.asides[name] = Aside(anchor)
        learns[number] = aside.frames < ENOUGH
        if not learns[number]:
            continue
        aside.take(off_m[number])
        if aside.frames < ENOUGH or anchor < 0:
            continue
        chance_m, mounted_m = sd_m[number]
        if np.abs(aside.off_m).max() <= ASIDE_SDS * np.hypot(chance_m / np.sqrt(ENOUGH), mounted_m):
            aside.off_m = np.zeros(3)
            continue
        if (other := watches[anchor]).outranks(watch):
            continue
        if watch.outranks(other):
            table.positions[row] += aside.off_m
            table.anchors[row] = watch.number
            other.asides[name] = Aside(watch.number, -aside.off_m, ENOUGH)
            del watch.asides[name]
            continue
        table.positions[row] += aside.off_m / 2
        table.anchors[row] = AGREED
        other.asides[name] = Aside(AGREED, -aside.off_m / 2, ENOUGH)
        watch.asides[name] = Aside(AGREED, aside.off_m / 2, ENOUGH)
    return learns


def learn_asides(
    table: TrackTable,
    matched: Mask,
    rest: Rows,
    frame: Frame,
    watches: Sequence[DetectorWatch],
    watch: DetectorWatch,
    since_s: float,
    cfg: TrackerCfg,
) -> Rows:
    """Takes out detections of objects that another detector sees in their places meanwhile; returns the rest.

    So it does with those of other kinds just there: recognition names things wrongly now and then, also what it sees
    aside.

    Args:
        table: The objects.
        matched: Which of them the frame shows; those that are found here are added.
        rest: Detections that are left over.
        frame: The frame.
        watches: All detectors.
        watch: The detector, which learns how far off it sees these objects.
        since_s: When the other one must have seen them. Of what a hand has felt, only the first frame teaches.
        cfg: Settings.
    """
    is_known = table.named & ~table.held & ~table.moving & (table.misses == 0) & (table.sightings > 0)
    is_there = is_known & ~matched
    is_lately = (table.anchors >= 0) & (table.anchors != watch.number) & (table.anchor_s >= since_s)
    is_felt = (table.anchors == BY_HAND) & np.array([name not in watch.asides for name in table.names], bool)
    others = np.flatnonzero(is_there & (is_lately | is_felt))
    if not len(rest):
        return rest
    rest = _without_wrong_kinds(table, is_known & (table.seen_s >= since_s), rest, frame, watch, cfg)
    if not len(others) or not len(rest):
        return rest
    apart = frame.positions[rest][None] - table.positions[others][:, None]
    apart[..., :2] -= frame.slopes[rest] * apart[..., 2:]  # as if they were as high as the objects
    apart[..., 2] = np.where(np.isinf(frame.variances[rest, 2]), 0.0, apart[..., 2])
    away_m = np.where(table.kinds[others][:, None] == frame.kinds[rest], np.hypot(apart[..., 0], apart[..., 1]), np.inf)
    taken, is_mixed = [], any(one.is_registered != watch.is_registered for one in watches)
    for row, column in assign(away_m, cfg.unregistered_m if is_mixed else cfg.aside_m):
        aside = watch.asides[table.names[others[row]]] = Aside(int(table.anchors[others[row]]))
        aside.take(apart[row, column])
        matched[others[row]] = True
        taken.append(column)
    return np.delete(rest, taken)


def _without_wrong_kinds(
    table: TrackTable, is_known: Mask, rest: Rows, frame: Frame, watch: DetectorWatch, cfg: TrackerCfg
) -> Rows:
    """Returns the detections that are not of another kind and near to something that others see there."""
    known = np.flatnonzero(is_known & (table.sources != watch.number))
    if not len(known):
        return rest
    apart = frame.positions[rest][None, :, :2] - table.positions[known][:, None, :2]
    is_tray = np.array([table.is_tray_kind(kind) for kind in frame.kinds[rest]], bool)
    wrong = (table.kinds[known][:, None] != frame.kinds[rest]) & ((table.extents[known, 2] != 0.0)[:, None] == is_tray)
    kept: Rows = rest[~(wrong & (np.hypot(apart[..., 0], apart[..., 1]) <= cfg.aside_m)).any(axis=0)]
    return kept

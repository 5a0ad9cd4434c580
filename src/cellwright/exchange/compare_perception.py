"""Perception on a recording against that of a run: which objects both follow, and how far apart they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cellwright.core.messages import Detections, Tracks
from cellwright.exchange.perceived import Perceived
from cellwright.record.log import Log
from cellwright.trials.kitting_controller import TRACKS_TOPIC

__all__ = ["FrameDifferences", "compare_detections", "compare_tracks"]

M = TypeVar("M", Tracks, Detections)

FAR_M = 0.02  # detections of one kind that are farther apart are of two objects


@dataclass(frozen=True, kw_only=True)
class FrameDifferences:
    """The differences of the frames of one detector: A is the run, B perception on the recording.

    Attributes:
        name: `tracks of DETECTOR`, or the topic.
        frames: Frames that both have.
        only_a: Frames that only the run has.
        only_b: Frames that only the recording has.
        objects: Objects in those frames that both have.
        missing: Objects that only the run has.
        extra: Objects that only perception on the recording has.
        slots: Objects that are in another slot.
        equal: Objects that are at the same place to the bit.
        median_mm: Of the distances between both places.
        p95_mm: The distance that 95 of 100 do not exceed.
        largest_mm: The largest one.
    """

    name: str
    frames: int
    only_a: int
    only_b: int
    objects: int
    missing: int
    extra: int
    slots: int
    equal: int
    median_mm: float
    p95_mm: float
    largest_mm: float


def compare_tracks(run: Log, made: Perceived) -> list[FrameDifferences]:
    """Compares the tracks of a run with those that perception made of a recording, detector by detector.

    Args:
        run: The log of the run, or a bag of it; it has `/tracks`.
        made: What perception made.

    Raises:
        UnknownName: The run has no tracks.
    """
    run.topic(TRACKS_TOPIC)
    theirs = _by_moment(entry.message for entry in run.entries([TRACKS_TOPIC]))
    ours = _by_moment(made.tracks)
    return [
        _differences(f"tracks of {source}", theirs.get(source, {}), ours.get(source, {}), _by_identity)
        for source in sorted(theirs.keys() | ours.keys())
    ]


def compare_detections(run: Log, made: Perceived) -> list[FrameDifferences]:
    """Compares what was recognised in pictures with the detections of a run, by kind and place."""
    ours, found = _by_moment(made.recognised), []
    for name in run.topics:
        if run.class_of(name) is Detections:
            theirs = _by_moment(entry.message for entry in run.entries([name]))
            found += [
                _differences(name, theirs[source], ours[source], _by_place) for source in theirs if source in ours
            ]
    return found


def _by_moment(messages: Iterable[M]) -> dict[str, dict[int, M]]:
    found: dict[str, dict[int, M]] = {}
    for message in messages:
        found.setdefault(message.source, {})[message.time_ns] = message
    return found


@dataclass
class _Pairs:
    rows: list[tuple[int, int]]
    slots: int = 0


def _by_identity(a: Tracks, b: Tracks) -> _Pairs:
    places = {name: row for row, name in enumerate(b.identities)}
    rows = [(row, places[name]) for row, name in enumerate(a.identities) if name in places]
    return _Pairs(rows, sum(a.slots[i] != b.slots[j] for i, j in rows))


def _by_place(a: Detections, b: Detections) -> _Pairs:
    """Pairs each detection with the nearest of its kind that is left, the nearest pairs first."""
    if not len(a.skus) or not len(b.skus):
        return _Pairs([])
    off = np.linalg.norm(a.positions[:, None, :2] - b.positions[None, :, :2], axis=2)
    off[np.array(a.skus)[:, None] != np.array(b.skus)[None]] = np.inf
    rows: list[tuple[int, int]] = []
    while np.isfinite(off).any() and off.min() <= FAR_M:
        i, j = (int(number) for number in np.unravel_index(np.argmin(off), off.shape))
        rows.append((i, j))
        off[i], off[:, j] = np.inf, np.inf
    return _Pairs(rows)


def _differences(name: str, a: Mapping[int, M], b: Mapping[int, M], pair: Callable[[M, M], _Pairs]) -> FrameDifferences:
    both = sorted(a.keys() & b.keys())
    distances: list[float] = []
    missing = extra = slots = 0
    for moment in both:
        one, other = a[moment], b[moment]
        pairs = pair(one, other)
        distances += [float(np.linalg.norm(one.positions[i] - other.positions[j])) for i, j in pairs.rows]
        missing += len(one.skus) - len(pairs.rows)
        extra += len(other.skus) - len(pairs.rows)
        slots += pairs.slots
    off_mm = np.array(distances or [0.0]) * 1000.0
    return FrameDifferences(
        name=name,
        frames=len(both),
        only_a=len(a) - len(both),
        only_b=len(b) - len(both),
        objects=len(distances),
        missing=missing,
        extra=extra,
        slots=slots,
        equal=int((np.array(distances) == 0.0).sum()),
        median_mm=float(np.median(off_mm)),
        p95_mm=float(np.quantile(off_mm, 0.95)),
        largest_mm=float(off_mm.max()),
    )

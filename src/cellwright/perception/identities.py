"""Identities of what is not seen as it is known: new things, lost ones that are back, other kinds, shifted frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign
from cellwright.perception.cfg import TrackerCfg
from cellwright.perception.frame import Frame
from cellwright.perception.table import TrackTable

__all__ = ["common_shift", "confirm_tracks", "other_kinds_seen", "shifted_alike"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
TWICE = 2  # frames in which a thing must be seen elsewhere, and not where it was, to have moved
PUSHED_M = 0.15  # what is hidden may have been pushed so far; what is seen farther away is another thing
FALLEN = 3  # times as long a hand is given to notice that it has lost what lies there
FEWEST = 3  # objects that are shifted alike
ALIKE_M = 0.004


def confirm_tracks(
    table: TrackTable, time_s: float, cfg: TrackerCfg, is_hidden: Callable[[Rows], Mask], has_cameras: bool
) -> None:
    """Confirms tracks: an object that has moved, a lost one, one that was hidden near there, or a new one.

    Those that were not seen again are dropped.
    """
    forgotten = (table.misses > 1) | (time_s - table.seen_s > cfg.forget_s)
    gone = [int(row) for row in np.flatnonzero(~table.named & forgotten)]
    for row in np.flatnonzero(~table.named & (table.sightings >= min(TWICE, cfg.confirm)) & (table.misses == 0)):
        same = np.flatnonzero(table.named & (table.kinds == table.kinds[row]))
        away_m = np.linalg.norm(table.positions[same] - table.positions[row], axis=1)
        is_there = (table.seen_s[same] > table.seen_s[row]) & (table.misses[same] == 0) & ~table.held[same]
        if (is_there & (away_m < cfg.separation_m)).any():
            gone.append(int(row))  # it has come to where another is, so both are one: it was seen aside for a while
            continue
        reach_m = cfg.max_speed_mps * (time_s - table.seen_s[same]) + cfg.separation_m
        lately = table.misses[same] <= table.sightings[row] + 1  # not seen since this one is
        away = (table.misses[same] >= TWICE) & lately
        if not has_cameras:  # then a thing is seen through the hand that has it
            away |= table.held[same] & (table.seen_s[same] < time_s)
        moved = away & (away_m <= reach_m) & (table.sightings[same] > 0)
        is_confirmed = bool(table.sightings[row] >= cfg.confirm)
        if is_confirmed and not moved.any():
            # Two of a kind are never so near to each other: it is the one that is not seen in its place meanwhile.
            moved = (away_m < cfg.aside_m) & (table.seen_s[same] < table.seen_s[row]) & (table.sightings[same] > 0)
            moved &= ~table.held[same]
        if not moved.any():
            if not is_confirmed:
                continue
            moved = table.misses[same] >= cfg.confirm
            if not moved.any():
                if _may_be_lost(table, same, int(row), time_s, cfg):
                    continue  # one of them may yet turn out to be lost, or to have fallen out of a hand
                # What was missed and is hidden since, such as by what stands there now, never turns out to be lost.
                moved = (table.misses[same] > 0) & ~table.held[same] & (table.sightings[same] > 0)
                moved = moved if moved.any() else _is_displaced(table, same, cfg)
        nearest_m = away_m[moved].min() if moved.any() else PUSHED_M
        recent = time_s - table.seen_s[same] <= cfg.forget_s
        unsure = (table.misses[same] > 0) & (table.misses[same] < TWICE) & recent
        if (unsure & (away_m < nearest_m)).any():
            continue  # one that is nearer was not seen just now, either: the next frame tells which of them it is
        pushed = (away_m < min(nearest_m, PUSHED_M)) & (table.seen_s[same] < time_s) & (table.sightings[same] > 0)
        pushed[pushed] = is_hidden(same[pushed])
        if pushed.any():
            if not is_confirmed:
                continue
            moved = pushed  # one that stood nearer and is hidden now
        if not moved.any():
            table.name(int(row))
            continue
        table.reassign(int(same[np.where(moved, away_m, np.inf).argmin()]), int(row))
        gone.append(int(row))
    if gone:
        table.remove(gone)


def _is_displaced(table: TrackTable, same: Rows, cfg: TrackerCfg) -> Mask:
    """Returns which of some objects are trays that were never seen, in whose place a tray of another kind is seen."""
    there = table.trays[(table.sightings[table.trays] >= TWICE) & (table.misses[table.trays] == 0)]
    apart = np.abs(table.positions[same][:, None, :2] - table.positions[there][None, :, :2]).max(axis=2, initial=0.0)
    taken = ((apart < cfg.beside_m) & (table.kinds[same][:, None] != table.kinds[there])).any(axis=1)
    displaced: Mask = np.isin(same, table.trays) & (table.sightings[same] == 0) & ~table.held[same] & taken
    return displaced


def _may_be_lost(table: TrackTable, same: Rows, row: int, time_s: float, cfg: TrackerCfg) -> bool:
    """Returns whether it is too early to say that a track is of none of the objects of its kind."""
    doubted = (table.misses[same] > 0) & ~table.held[same]
    is_recent = doubted & (time_s - table.seen_s[same] <= cfg.forget_s)
    in_hand = table.held[same] & (table.seen_s[same] < time_s)
    seen = table.sightings[row]
    return bool(
        is_recent.any() or (doubted.any() and seen < cfg.lasting) or (in_hand.any() and seen < FALLEN * cfg.lasting)
    )


def other_kinds_seen(table: TrackTable, costs: Array, matched: Mask, rest: Rows, frame: Frame, cfg: TrackerCfg) -> Rows:
    """Takes out detections of other kinds in the places of objects; returns the rest.

    Recognition names a thing wrongly now and then: it is there all the same, and nothing else is. When it is seen so
    for some frames more than as it is known, it is another thing.
    """
    known = np.flatnonzero(~matched & table.named & (table.sightings > 0) & (table.misses < cfg.confirm) & ~table.held)
    if not len(known):
        return rest
    is_tray = np.array([table.is_tray_kind(kind) for kind in frame.kinds[rest]], bool)
    allowed = (table.extents[known, 2] != 0.0)[:, None] == is_tray
    allowed &= table.kinds[known][:, None] != frame.kinds[rest]
    taken = []
    for index, column in assign(np.where(allowed, costs[np.ix_(known, rest)], np.inf), cfg.gate):
        row, number = int(known[index]), int(rest[column])
        kind = int(frame.kinds[number])
        if table.kind_votes[row] <= 0 or table.other_kinds[row] == kind:
            table.other_kinds[row] = kind
            table.kind_votes[row] += 1
        else:
            table.kind_votes[row] -= 1
        if table.kind_votes[row] < cfg.lasting:
            matched[row] = True
            taken.append(column)
        else:
            table.misses[row], table.absence[row], table.kind_votes[row] = max(cfg.drop, cfg.confirm), np.inf, 0
    return np.delete(rest, taken)


def common_shift(table: TrackTable, rows: Rows, frame: Frame) -> Array | None:
    """Returns by how much a frame shows several objects off where they are known to be, all alike; None otherwise."""
    apart = frame.positions[None] - table.positions[rows][:, None]
    near = (table.kinds[rows][:, None] == frame.kinds) & (np.hypot(apart[..., 0], apart[..., 1]) <= PUSHED_M)
    return shifted_alike(table, rows[near.any(axis=1)], np.zeros(len(table), bool), np.arange(len(frame.skus)), frame)[
        0
    ]


def shifted_alike(
    table: TrackTable, others: Rows, matched: Mask, rest: Rows, frame: Frame
) -> tuple[Array | None, Rows]:
    """Returns by how much a frame shows things off where another detector saw them, and what it shows beside.

    Several objects that are all shifted alike are the same objects: one of the two cameras is off. None when they are
    not. Where things lie in rows, a shifted one may be nearest to its neighbour: the shift that fits most is taken.
    """
    apart = frame.positions[rest][None] - table.positions[others][:, None]
    away_m = np.hypot(apart[..., 0], apart[..., 1])
    rows, columns = np.nonzero((table.kinds[others][:, None] == frame.kinds[rest]) & (away_m <= PUSHED_M))
    if len(np.unique(rows)) < FEWEST:
        return None, rest
    offsets = apart[rows, columns]
    near = np.hypot(*(offsets[:, None] - offsets)[..., :2].transpose(2, 0, 1)) <= ALIKE_M
    votes = np.array([len(np.unique(rows[fits])) for fits in near])
    best = np.lexsort((away_m[rows, columns], -votes))[0]
    alike = near[best]
    if votes[best] < FEWEST or 2 * votes[best] < len(others):
        return None, rest
    matched[others[rows[alike]]] = True
    return np.median(offsets[alike], axis=0), np.delete(rest, np.unique(columns[alike]))

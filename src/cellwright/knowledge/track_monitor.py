"""Changes that tracks tell: objects that moved, turned, are missing, or are seen again; each is told once.

A thing that is carried passes many places. It has moved when it rests somewhere else than it did before, and not while
it is in a hand.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.messages import Tracks
from cellwright.knowledge.location_records import DRAWN_S

__all__ = ["BeliefCfg", "TrackMonitor"]

Array = npt.NDArray[np.float64]
NEVER = -np.inf


@dataclass(frozen=True)
class BeliefCfg:
    """Thresholds of changes of belief.

    Attributes:
        moved_m: An object has moved when it rests farther than this from where it rested; a track that begins anew
            is off by up to four standard deviations of one detection (0.5 mm), and so is where the object rested.
        turned_rad: The same for its turn about the vertical; a gear looks the same after less.
        still_m: An object rests while it is seen no farther than this from where it was when it came to rest.
        rest_s: For how long it must, to have come to rest.
        unseen_s: What no detector saw for longer is told when it is seen again: detectors were blind, or it was hidden.
    """

    moved_m: float = 0.004
    turned_rad: float = 0.3
    still_m: float = 0.003
    rest_s: float = 0.4
    unseen_s: float = 2.0


class TrackMonitor:
    """Compares each message of tracks with those before it; one row for each object that was ever followed."""

    def __init__(self, cfg: BeliefCfg) -> None:
        self.cfg = cfg
        self._rows: dict[str, int] = {}
        self._begin(0)

    def _begin(self, count: int) -> None:
        self._rested = np.full((count, 4), np.nan)
        self._still = np.full((count, 4), np.nan)
        self._still_s = np.full(count, NEVER)
        self._seen_s = np.full(count, NEVER)

    def forget(self) -> None:
        """Forgets all, after belief went back to an earlier state."""
        self._rows.clear()
        self._begin(0)

    def take(self, message: Tracks, poses: Array, carried: Set[str], missing: set[str]) -> list[tuple[str, str]]:
        """Returns objects and what became of them.

        Args:
            message: What is followed.
            poses: Its poses as matrices, n x 4 x 4.
            carried: What hands hold, and what lies in or on that.
            missing: What is known to be missing; is updated.
        """
        names, time_s, cfg = message.identities, message.time_s, self.cfg
        rows = self._rows_of(names)
        held = np.array([name in carried for name in names], bool) if carried else np.zeros(len(names), bool)
        fresh = (np.asarray(message.ages_s) <= 0.0) & (time_s > self._seen_s[rows])
        changes = self._missed(names, carried, missing)
        now = np.column_stack([poses[:, :3, 3], np.arctan2(poses[:, 1, 0], poses[:, 0, 0])])
        was_missing = np.array([name in missing for name in names], bool)
        back = fresh & (was_missing | ((time_s - self._seen_s[rows] > cfg.unseen_s) & (self._seen_s[rows] > DRAWN_S)))
        changes += [(names[i], "seen again") for i in np.flatnonzero(back)]
        missing.difference_update(names[i] for i in np.flatnonzero(fresh & was_missing))
        self._seen_s[rows[fresh]] = time_s
        gone_m = np.linalg.norm(now[:, :3] - self._still[rows, :3], axis=1)
        begins = fresh & (~(gone_m <= cfg.still_m) | held)
        self._still[rows[begins]], self._still_s[rows[begins]] = now[begins], time_s
        rests = fresh & ~begins & (time_s - self._still_s[rows] >= cfg.rest_s)
        first = rests & np.isnan(self._rested[rows, 0])
        self._rested[rows[first]] = now[first]
        by_m = np.linalg.norm(now[:, :3] - self._rested[rows, :3], axis=1)
        by_rad = (now[:, 3] - self._rested[rows, 3] + np.pi) % (2 * np.pi) - np.pi
        moved = rests & (by_m > cfg.moved_m)
        turned = rests & ~moved & (np.abs(by_rad) > cfg.turned_rad)
        changes += [(names[i], f"moved {by_m[i]:.3f} m") for i in np.flatnonzero(moved)]
        changes += [(names[i], f"turned {by_rad[i]:.3f} rad") for i in np.flatnonzero(turned)]
        self._rested[rows[moved | turned]] = now[moved | turned]
        return changes

    def _missed(self, names: tuple[str, ...], carried: Set[str], missing: set[str]) -> list[tuple[str, str]]:
        """Returns what is not followed any more: a tracker drops what it did not see in clear view for some frames."""
        if len(names) + len(missing) >= len(self._rows) and not self._rows.keys() - set(names) - missing:
            return []
        followed = {*names, *missing, *carried}
        lost = [name for name in self._rows if name not in followed]
        missing.update(lost)
        return [(name, "missing") for name in lost]

    def _rows_of(self, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
        new = [name for name in names if name not in self._rows]
        if new:
            kept = {name: getattr(self, name) for name in ("_rested", "_still", "_still_s", "_seen_s")}
            count = len(self._rows)
            self._rows |= {name: count + number for number, name in enumerate(new)}
            self._begin(len(self._rows))
            for column, values in kept.items():
                getattr(self, column)[:count] = values
        return np.array([self._rows[name] for name in names], np.int64)

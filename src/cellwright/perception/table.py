"""The tracked objects of a tracker, side by side as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TRAYS
from cellwright.core.errors import BadInput, UnknownName
from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.sight_lines import extent_of
from cellwright.perception.slots import SlotMap
from cellwright.perception.yaw import period_of

__all__ = ["TrackTable"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
COLUMNS: dict[str, tuple[float, type, int]] = {
    "kinds": (-1, np.intp, 0),
    "positions": (0.0, np.float64, 3),
    "quaternions": (0.0, np.float64, 4),
    "variances": (np.inf, np.float64, 6),
    "periods": (0.0, np.float64, 0),
    "seen_s": (-np.inf, np.float64, 0),
    "sources": (-1, np.intp, 0),
    "anchors": (-1, np.intp, 0),
    "anchor_s": (-np.inf, np.float64, 0),
    "sightings": (0, np.intp, 0),
    "misses": (0, np.intp, 0),
    "absence": (0.0, np.float64, 0),
    "turn_votes": (0, np.intp, 0),
    "turns": (0.0, np.float64, 0),
    "tilt_votes": (0, np.intp, 0),
    "kind_votes": (0, np.intp, 0),
    "other_kinds": (-1, np.intp, 0),
    "supported_at": (np.nan, np.float64, 2),
    "named": (False, np.bool_, 0),
    "moving": (False, np.bool_, 0),
    "held": (False, np.bool_, 0),
}
"""Column -> its value for a new row, its type, its width; 0 for a plain column."""
KEPT = ("kinds", "periods", "named", "held", "sightings")  # of a lost object that is found elsewhere


class TrackTable:
    """One row for each thing; rows without a name are not believed in yet.

    Attributes:
        names: Identities; empty for what was not seen often enough.
        skus: What they are.
        holders: Whose slots a tray's are; empty for unexpected trays, whose slots have no names.
        kinds: The SKUs as numbers.
        positions: n x 3.
        quaternions: n x 4.
        variances: x, y, z, roll, pitch, yaw when they were seen last, n x 6.
        periods: Turns after which they look the same.
        seen_s: When they were seen last; minus infinity when never.
        sources: By which detector, as numbers.
        anchors: The detector on whose view their place rests; the others may see them lastingly aside.
        anchor_s: When that one saw them last.
        sightings: How often they were seen.
        misses: How often in a row they were in clear view and not seen.
        absence: By how much that speaks against their being there: minus the logarithm of its probability if they were.
        turn_votes: By how many frames more they were seen turned in one other direction than as known.
        turns: That direction, from the known one.
        tilt_votes: The same for a lean.
        kind_votes: The same for another kind of object in their place.
        other_kinds: That kind.
        supported_at: Where their height was taken from what they lie on; not a number where it was measured or drawn.
        named: Whether they have an identity.
        moving: Whether they were elsewhere in the frame before the one that they were seen in last.
        held: Whether a hand has them: then they are nowhere to be looked for.
    """

    kinds: Rows
    positions: Array
    quaternions: Array
    variances: Array
    periods: Array
    seen_s: Array
    sources: Rows
    anchors: Rows
    anchor_s: Array
    sightings: Rows
    misses: Rows
    absence: Array
    turn_votes: Rows
    turns: Array
    tilt_votes: Rows
    kind_votes: Rows
    other_kinds: Rows
    supported_at: Array
    named: Mask
    moving: Mask
    held: Mask

    def __init__(self, expected: Iterable[ExpectedObject]) -> None:
        things = list(expected)
        names = [thing.name for thing in things]
        double = sorted({name for name in names if names.count(name) > 1})
        if double:
            raise BadInput(f"tracker: '{double[0]}' is expected more than once; names must differ")
        self._kind_of: dict[str, int] = {}
        self._skus_of_kinds: list[str] = []
        self._taken = set(names)
        self.names = names
        self.skus = [thing.sku for thing in things]
        self.holders = [thing.name if thing.holder is None else thing.holder for thing in things]
        count = len(things)
        for column, (value, kind, width) in COLUMNS.items():
            setattr(self, column, np.full((count, width) if width else count, value, kind))
        self.kinds[:] = [self.kind(sku) for sku in self.skus]
        self.positions[:] = np.array([thing.pose_in_world.position for thing in things]).reshape(-1, 3)
        self.quaternions[:] = np.array([thing.pose_in_world.quaternion for thing in things]).reshape(-1, 4)
        spread = [[thing.sd_m] * 3 + [thing.sd_tilt_rad] * 2 + [thing.sd_rad] for thing in things]
        self.variances[:] = np.array(spread, float).reshape(-1, 6) ** 2
        self.periods[:] = [period_of(sku) for sku in self.skus]
        self.named[:] = True
        self._slot_map: SlotMap | None = None
        self._trays: Rows | None = None
        self._extents: Array | None = None

    def __len__(self) -> int:
        return len(self.names)

    def row(self, name: str) -> int:
        """Returns the row of an identity."""
        if name not in self.names:
            raise UnknownName("track", name, [known for known in self.names if known], "tracker")
        return self.names.index(name)

    def kind(self, sku: str) -> int:
        """Returns the number of a SKU."""
        if sku not in self._kind_of:
            self._kind_of[sku] = len(self._kind_of)
            self._skus_of_kinds.append(sku)
        return self._kind_of[sku]

    def kinds_of(self, skus: Sequence[str]) -> Rows:
        """Returns the numbers of several."""
        try:
            return np.array([self._kind_of[sku] for sku in skus], np.intp)
        except KeyError:
            return np.array([self.kind(sku) for sku in skus], np.intp)

    @property
    def slot_map(self) -> SlotMap:
        """The slots of the trays among them, made anew after things were added or left."""
        if self._slot_map is None:
            self._slot_map = SlotMap(self.skus, self.holders)
        return self._slot_map

    @property
    def trays(self) -> Rows:
        """The rows of trays."""
        if self._trays is None:
            skus = {TRAYS.get(name).sku for name in TRAYS}
            self._trays = np.array([row for row, sku in enumerate(self.skus) if sku in skus], np.intp)
        return self._trays

    @property
    def extents(self) -> Array:
        """Heights of upper faces above origins, radii, and 1 for trays, n x 3."""
        if self._extents is None:
            rows = [extent_of(sku) for sku in self.skus]
            self._extents = np.array([(e.top_m, e.radius_m, e.is_tray) for e in rows], float).reshape(-1, 3)
        return self._extents

    def is_tray_kind(self, kind: int) -> bool:
        """Returns whether a kind is one of trays."""
        return extent_of(self._skus_of_kinds[kind]).is_tray

    def covered(self, cfg: TrackerCfg) -> Rows:
        """Returns trays that lie below others, as in a stack: no detector sees them, whatever is seen about there.

        One that was never seen is not where another is: that is a stack whose top was taken away. Nor is one that was
        lost where another of its kind has been put since.
        """
        trays = self.trays
        places = self.positions[trays]
        over = places[None] - places[:, None]
        above = np.where(self.sightings[trays] > 0, cfg.stacked_m, -cfg.stacked_m)
        near = (over[..., 2] > above[:, None]) & (np.abs(over[..., :2]).max(axis=2) < cfg.beside_m)
        is_cover = self.named[trays] & (self.sightings[trays] > 0) & (self.misses[trays] < cfg.confirm)
        return np.concatenate([trays[(near & is_cover).any(axis=1)], self._replaced(cfg)])

    def _replaced(self, cfg: TrackerCfg) -> Rows:
        """Returns lost objects in whose place another of their kind stands now: that one is seen there."""
        is_lost = self.misses >= cfg.confirm
        lost, here = np.flatnonzero(is_lost), np.flatnonzero(~is_lost & (self.sightings > 0))
        if not len(lost):
            return lost
        apart = np.linalg.norm(self.positions[lost][:, None] - self.positions[here][None], axis=2)
        same = self.kinds[lost][:, None] == self.kinds[here]
        found: Rows = lost[(same & (apart < cfg.separation_m)).any(axis=1)]
        return found

    def lost_like_held(self, cfg: TrackerCfg) -> Rows:
        """Returns lost trays of a kind of which a hand carries one: what is seen may be that one, on its way."""
        trays = self.trays
        lost = trays[(self.misses[trays] >= cfg.confirm) & ~self.held[trays]]
        found: Rows = lost[np.isin(self.kinds[lost], self.kinds[trays[self.held[trays]]])]
        return found

    def set_holders(self, holders: Mapping[str, str]) -> None:
        """Sets tray -> the name under which its slots are known from now on."""
        self.holders = [holders.get(name, holder) for name, holder in zip(self.names, self.holders, strict=True)]
        self._slot_map = None

    def add(self, skus: Sequence[str], positions: Array, quaternions: Array, variances: Array) -> Rows:
        """Adds rows for unexpected objects, without a name; returns their numbers."""
        first, count = len(self), len(skus)
        self.names += [""] * count
        self.holders += [""] * count
        self.skus += skus
        for column, (value, kind, width) in COLUMNS.items():
            new: npt.NDArray[Any] = np.full((count, width) if width else count, value, kind)
            setattr(self, column, np.concatenate([getattr(self, column), new]))
        self.kinds[first:] = [self.kind(sku) for sku in skus]
        self.positions[first:], self.quaternions[first:], self.variances[first:] = positions, quaternions, variances
        self.periods[first:] = [period_of(sku) for sku in skus]
        self._slot_map = self._trays = self._extents = None
        return np.arange(first, first + count)

    def name(self, row: int) -> None:
        """Gives an object an identity: its kind and the first free number."""
        stem = re.sub("^sku_(part_)?", "", self.skus[row]) or "thing"
        number = 1
        while f"{stem}_{number}" in self._taken:
            number += 1
        self.names[row] = f"{stem}_{number}"
        self._taken.add(self.names[row])
        self.named[row] = True

    def reassign(self, lost: int, found: int) -> None:
        """Identifies a lost object with one that was found elsewhere: its row goes on from there."""
        for column in COLUMNS:
            if column not in KEPT:
                getattr(self, column)[lost] = getattr(self, column)[found]
        self.sightings[lost] += self.sightings[found]

    def remove(self, rows: Sequence[int]) -> None:
        """Forgets things."""
        keep = np.ones(len(self), bool)
        keep[list(rows)] = False
        kept = np.flatnonzero(keep)
        self.names, self.skus, self.holders = (
            [column[i] for i in kept] for column in (self.names, self.skus, self.holders)
        )
        for column in COLUMNS:
            setattr(self, column, getattr(self, column)[kept])
        self._slot_map = self._trays = self._extents = None

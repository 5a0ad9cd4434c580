"""The tracked objects of a tracker, side by side as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TRAYS
from cellwright.core.errors import BadInput
from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.slots import SlotMap
from cellwright.perception.yaw import period_of

__all__ = ["TrackTable"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
NUMBERS = ("kinds", "sources", "sightings", "misses", "turn_mismatches", "named", "moving")
COLUMNS = ("positions", "quaternions", "variances", "periods", "seen_s", *NUMBERS)


class TrackTable:
    """One row for each thing; rows without a name are not believed in yet.

    Attributes:
        names: Identities; empty for what was not seen often enough.
        skus: What they are.
        holders: Whose slots a tray's are; empty for unexpected trays, whose slots have no names.
        kinds: The SKUs as numbers.
        positions: n x 3.
        quaternions: n x 4.
        variances: x, y, z and yaw when they were seen last, n x 4.
        periods: Turns after which they look the same.
        seen_s: When they were seen last; minus infinity when never.
        sources: By which detector, as numbers.
        sightings: How often they were seen.
        misses: How often in a row they were in view and not seen.
        turn_mismatches: How often in a row they were seen in a direction that does not fit.
        named: Whether they have an identity.
        moving: Whether they were elsewhere in the frame before the one that they were seen in last.
    """

    def __init__(self, expected: Iterable[ExpectedObject]) -> None:
        things = list(expected)
        names = [thing.name for thing in things]
        double = sorted({name for name in names if names.count(name) > 1})
        if double:
            raise BadInput(f"tracker: '{double[0]}' is expected more than once; names must differ")
        self._kind_of: dict[str, int] = {}
        self._taken = set(names)
        self.names = names
        self.skus = [thing.sku for thing in things]
        self.holders = [thing.name if thing.holder is None else thing.holder for thing in things]
        count = len(things)
        self.kinds = np.array([self.kind(sku) for sku in self.skus], np.intp)
        self.positions: Array = np.array([thing.pose_in_world.position for thing in things]).reshape(-1, 3)
        self.quaternions: Array = np.array([thing.pose_in_world.quaternion for thing in things]).reshape(-1, 4)
        spread = [[thing.sd_m**2] * 3 + [thing.sd_rad**2] for thing in things]
        self.variances: Array = np.array(spread, float).reshape(-1, 4)
        self.periods: Array = np.array([period_of(sku) for sku in self.skus], float)
        self.seen_s: Array = np.full(count, -np.inf)
        self.sources = np.full(count, -1, np.intp)
        self.sightings, self.misses, self.turn_mismatches = (np.zeros(count, np.intp) for _ in range(3))
        self.named = np.ones(count, bool)
        self.moving = np.zeros(count, bool)
        self._slot_map: SlotMap | None = None
        self._trays: Rows | None = None

    def __len__(self) -> int:
        return len(self.names)

    def kind(self, sku: str) -> int:
        """Returns the number of a SKU."""
        return self._kind_of.setdefault(sku, len(self._kind_of))

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
        is_cover = (self.sightings[trays] > 0) & (self.misses[trays] < cfg.confirm)
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
        self.kinds = np.concatenate([self.kinds, [self.kind(sku) for sku in skus]]).astype(np.intp)
        self.positions = np.concatenate([self.positions, positions])
        self.quaternions = np.concatenate([self.quaternions, quaternions])
        self.variances = np.concatenate([self.variances, variances])
        self.periods = np.concatenate([self.periods, [period_of(sku) for sku in skus]])
        self.seen_s = np.concatenate([self.seen_s, np.full(count, -np.inf)])
        self.sources = np.concatenate([self.sources, np.full(count, -1, np.intp)])
        self.named, self.moving = (
            np.concatenate([column, np.zeros(count, bool)]) for column in (self.named, self.moving)
        )
        self.sightings, self.misses, self.turn_mismatches = (
            np.concatenate([column, np.zeros(count, np.intp)])
            for column in (self.sightings, self.misses, self.turn_mismatches)
        )
        self._slot_map = self._trays = None
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
        columns = (
            self.positions,
            self.quaternions,
            self.variances,
            self.seen_s,
            self.sources,
            self.misses,
            self.moving,
        )
        for column in columns:
            column[lost] = column[found]
        self.turn_mismatches[lost] = 0
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
        self._slot_map = self._trays = None

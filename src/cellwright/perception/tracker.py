"""Data association: from detections without identity to tracks over time, in the frame of the cell.

A detection where an object is known to be makes its pose better known. One elsewhere is of the object of that kind that
is no longer seen in its place, as far as it can have come in the time: its track starts anew there. What was moving
comes first, what was lost for longer last. What is left is something new, once it was seen often enough, or a lost
thing that came back far away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign, squared_distances
from cellwright.core.errors import UnknownName
from cellwright.core.kalman import gain, predicted_variances
from cellwright.core.messages import Detections, Tracks
from cellwright.core.pose import Pose
from cellwright.core.rotation import multiply
from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.table import TrackTable
from cellwright.perception.yaw import turned, twist_between

__all__ = ["Tracker"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Box = tuple[tuple[float, float], tuple[float, float]]
LEAST, MOST = 1e-12, 1.0
FOLLOWED = [0, 1, 2, 5]  # x, y, z and yaw, of the six variances in messages
INSTANT_S = 1e-9  # age of what another detector saw at the same moment: only what is in the frame has none


class Tracker:
    """Follows what several detectors see; time is that of their messages.

    Args:
        expected: What should be there, by its name.
        cfg: Settings.
        views: Detector -> the corners (x, y) of what it sees. A thing in view that is not seen is missed; of a
            detector that is not listed only those things are expected that it saw last.
        frames: Frame of detections -> its pose in the cell, as calibrated; `world` needs none.
    """

    def __init__(
        self,
        expected: Iterable[ExpectedObject] = (),
        *,
        cfg: TrackerCfg | None = None,
        views: Mapping[str, Box] | None = None,
        frames: Mapping[str, Pose] | None = None,
    ) -> None:
        self.cfg = cfg or TrackerCfg()
        self.views = dict(views or {})
        self.frames = dict(frames or {})
        self._drift = np.array([self.cfg.drift_sd_m] * 3 + [self.cfg.drift_sd_rad]) ** 2
        self._most = np.array([self.cfg.max_sd_m] * 3 + [np.pi]) ** 2
        self._table = TrackTable(expected)
        self._sources: dict[str, int] = {}
        self._latest_s: dict[str, float] = {}
        self._published: dict[str, int] = {}

    def take(self, message: Detections) -> Tracks:
        """Takes in a frame; returns all that is followed, with age 0 what was in it.

        The result bears the detector's name as its source. A frame that is older than the last one of the same
        detector changes nothing.
        """
        self.follow(message)
        return self._tracks(message)

    def follow(self, message: Detections) -> None:
        """Takes in a frame without returning tracks."""
        time_s = message.time_s
        self._sources.setdefault(message.source, len(self._sources))
        if time_s >= self._latest_s.get(message.source, -np.inf):
            self._latest_s[message.source] = time_s
            self._follow(message, time_s)

    def set_holders(self, holders: Mapping[str, str]) -> None:
        """Sets tray -> the name under which its slots are known from now on, such as that of a kit."""
        self._table.set_holders(holders)

    # ------------------------------------------------------------ one frame

    def _follow(self, message: Detections, time_s: float) -> None:
        table, cfg = self._table, self.cfg
        source = self._sources[message.source]
        skus, positions, quaternions, variances = self._detections(message)
        kinds = table.kinds_of(skus)
        known = self._known(time_s)
        bias = np.where(table.sources == source, 0.0, cfg.bias_sd_m**2)[:, None]
        costs = squared_distances(table.positions, known[:, :3] + bias, positions, variances[:, :3])
        costs[table.kinds[:, None] != kinds[None, :]] = np.inf
        covered = table.covered(cfg)
        costs[covered] = np.inf
        lately, moving = table.misses < cfg.confirm, table.moving.copy()
        hidden = moving & self._out_of_view() if moving.any() else moving
        near = lately & ~hidden
        matched, rest = np.zeros(len(table), bool), np.arange(len(skus))
        matched[covered] = True  # no detector can see it, so it is not missed
        # What is carried past the place of something lost is not that; what is seen again in its own place is.
        stages = [(lately, near & moving), (~lately, near & ~moving), (None, ~near & moving), (None, ~near)]
        for here, away in stages:
            if here is not None:
                # Mostly all were seen lately, and in the first stage all detections are left.
                left = costs if len(rest) == len(skus) else costs[:, rest]
                rows, seen = _columns(assign(left if here.all() else np.where(here[:, None], left, np.inf), cfg.gate))
                matched[rows] = True
                other = np.ones(len(rest), bool)
                other[seen] = False
                seen, rest = rest[seen], rest[other]
                fresh = table.seen_s[rows] <= time_s  # another detector may have seen it since
                rows, seen = rows[fresh], seen[fresh]
                spread = np.where(table.sources[rows] == source, 0.0, cfg.bias_sd_rad**2)
                self._fuse(rows, known[rows], positions[seen], quaternions[seen], variances[seen], spread)
                self._seen(rows, source, time_s)
            if here is lately:
                self._miss(message.source, source, matched, time_s)
            if not len(rest):
                break
            lost = np.flatnonzero(away & ~matched & ((table.misses > 0) | hidden) & (table.sightings > 0))
            rest = self._restart(lost, rest, kinds, positions, quaternions, variances, source, time_s)
        if len(rest):
            self._begin([skus[i] for i in rest], positions[rest], quaternions[rest], variances[rest], source, time_s)
        if not table.named.all():
            self._confirm(time_s)

    def _detections(self, message: Detections) -> tuple[list[str], Array, Array, Array]:
        positions, quaternions = message.positions.reshape(-1, 3), message.quaternions.reshape(-1, 4)
        good = np.isfinite(positions).all(axis=1) & (message.scores >= self.cfg.min_score)
        lengths = np.sqrt((quaternions**2).sum(axis=1))
        good &= (lengths > LEAST) & np.isfinite(lengths)
        skus = [sku for sku, usable in zip(message.skus, good, strict=True) if usable]
        positions, quaternions = positions[good], quaternions[good] / lengths[good, None]
        if message.frame not in ("world", ""):
            if message.frame not in self.frames:
                raise UnknownName("frame", message.frame, ["world", *self.frames], f"tracker: {message.source}")
            pose = self.frames[message.frame]
            positions = pose.apply(positions).reshape(-1, 3)
            quaternions = np.array([multiply(pose.quaternion, q) for q in quaternions]).reshape(-1, 4)
        variances = message.variances.reshape(-1, 6)[good][:, FOLLOWED]
        return skus, positions, quaternions, np.clip(variances, LEAST, MOST)

    def _known(self, time_s: float) -> Array:
        """Returns the current variances of all objects."""
        table = self._table
        waited = np.where(table.sightings > 0, time_s - table.seen_s, 0.0)
        return predicted_variances(table.variances, waited, self._drift, self._most)

    def _fuse(
        self, rows: Rows, known: Array, positions: Array, quaternions: Array, variances: Array, spread: Array
    ) -> None:
        """Fuses detections with objects that have not moved."""
        table = self._table
        share = gain(known, variances)
        turn, unseen = self._turns(rows, quaternions)
        turn_mismatches = turn**2 > self.cfg.gate * (known[:, 3] + variances[:, 3] + spread)
        if not turn_mismatches.any():  # as nearly always
            table.turn_mismatches[rows], table.moving[rows] = 0, False
            table.quaternions[rows] = turned(quaternions, -unseen - (1.0 - share[:, 3]) * turn)
            table.positions[rows] += share[:, :3] * (positions - table.positions[rows])
            table.variances[rows] = (1.0 - share) * known
            return
        table.turn_mismatches[rows] = np.where(turn_mismatches, table.turn_mismatches[rows] + 1, 0)
        restart = turn_mismatches & ((table.turn_mismatches[rows] >= self.cfg.confirm) | (table.sightings[rows] == 0))
        share[turn_mismatches, 3] = 0.0
        share[restart, 3] = 1.0  # turned for good, not one wrong look
        after = turned(quaternions, -unseen - (1.0 - share[:, 3]) * turn)
        keep = (turn_mismatches & ~restart)[:, None]
        table.quaternions[rows] = np.where(keep, table.quaternions[rows], after)
        table.positions[rows] += share[:, :3] * (positions - table.positions[rows])
        table.variances[rows] = (1.0 - share) * known
        table.variances[rows[restart], 3] = variances[restart, 3]
        table.turn_mismatches[rows[restart]] = 0
        table.moving[rows] = False

    def _turns(self, rows: Rows, quaternions: Array) -> tuple[Array, Array]:
        """Returns the turns from what is known to what is seen, and the part of them that looks like none."""
        table = self._table
        turn = twist_between(table.quaternions[rows], quaternions)
        unseen = table.periods[rows] * np.round(turn / table.periods[rows])
        return turn - unseen, unseen

    def _seen(self, rows: Rows, source: int, time_s: float) -> None:
        table = self._table
        table.sightings[rows] += table.seen_s[rows] < time_s
        table.seen_s[rows], table.sources[rows], table.misses[rows] = time_s, source, 0

    def _miss(self, name: str, source: int, matched: npt.NDArray[np.bool_], time_s: float) -> None:
        table = self._table
        expected = table.sources == source
        if name in self.views:
            expected = self._inside(self.views[name])
        table.misses[expected & ~matched & (table.seen_s < time_s)] += 1

    def _inside(self, box: Box) -> npt.NDArray[np.bool_]:
        (low_x, low_y), (high_x, high_y) = box
        x, y = self._table.positions[:, 0], self._table.positions[:, 1]
        inside: npt.NDArray[np.bool_] = (x >= low_x) & (x <= high_x) & (y >= low_y) & (y <= high_y)
        return inside

    def _out_of_view(self) -> npt.NDArray[np.bool_]:
        """Returns objects that are in no known field of view."""
        unseen = np.full(len(self._table), bool(self.views))
        for box in self.views.values():
            unseen &= ~self._inside(box)
        return unseen

    # ------------------------------------------------------------ what is not where it was

    def _restart(
        self,
        away: Rows,
        rest: Rows,
        kinds: Rows,
        positions: Array,
        quaternions: Array,
        variances: Array,
        source: int,
        time_s: float,
    ) -> Rows:
        """Restarts tracks of objects that have moved; returns the other detections."""
        table, cfg = self._table, self.cfg
        steps = np.linalg.norm(table.positions[away][:, None] - positions[rest][None], axis=2)
        reach = cfg.max_speed_mps * (time_s - table.seen_s[away]) + cfg.separation_m
        steps[(table.kinds[away][:, None] != kinds[rest]) | (steps > reach[:, None])] = np.inf
        pairs = assign(steps, 1e3)
        index, taken = _columns(pairs)
        rows, seen = away[index], rest[taken]
        _, unseen = self._turns(rows, quaternions[seen])
        table.positions[rows], table.variances[rows] = positions[seen], variances[seen]
        table.quaternions[rows] = turned(quaternions[seen], -unseen)
        table.turn_mismatches[rows], table.moving[rows] = 0, True
        self._seen(rows, source, time_s)
        return np.setdiff1d(rest, seen)

    def _begin(
        self, skus: list[str], positions: Array, quaternions: Array, variances: Array, source: int, time_s: float
    ) -> None:
        """Begins tracks of unexpected objects, except for second detections of what was just seen."""
        table = self._table
        near = np.linalg.norm(table.positions[:, None] - positions[None], axis=2) < self.cfg.separation_m
        near &= table.kinds[:, None] == np.array([table.kind(sku) for sku in skus])
        double = (near & (table.seen_s >= time_s)[:, None]).any(axis=0)
        new = np.flatnonzero(~double)
        rows = table.add([skus[i] for i in new], positions[new], quaternions[new], variances[new])
        self._seen(rows, source, time_s)

    def _confirm(self, time_s: float) -> None:
        """Confirms tracks: a lost object of that kind, or a new one; drops those that were not seen again."""
        table, confirm = self._table, self.cfg.confirm
        forgotten = (table.misses > 1) | (time_s - table.seen_s > self.cfg.forget_s)
        gone = [int(row) for row in np.flatnonzero(~table.named & forgotten)]
        for row in np.flatnonzero(~table.named & (table.sightings >= confirm) & (table.misses == 0)):
            missed = np.flatnonzero(table.named & (table.kinds == table.kinds[row]) & (table.misses > 0))
            lost = missed[table.misses[missed] >= confirm]
            if len(lost):
                steps = np.linalg.norm(table.positions[lost] - table.positions[row], axis=1)
                table.reassign(int(lost[steps.argmin()]), int(row))
                gone.append(int(row))
            elif not len(missed):  # else one of them may yet turn out to be lost
                table.name(int(row))
        if gone:
            table.remove(gone)

    # ------------------------------------------------------------ what is told

    def _tracks(self, message: Detections) -> Tracks:
        table, cfg = self._table, self.cfg
        shown = table.named & (table.sightings > 0) & (table.misses < cfg.drop)
        slots = table.slot_map.find(table.positions, table.quaternions, shown, cfg.in_slot_m, cfg.above_slot_m)
        rows = shown.nonzero()[0]
        listed = rows.tolist()
        in_frame = (table.seen_s[rows] == message.time_s) & (table.sources[rows] == self._sources[message.source])
        variances = np.full((len(rows), 6), np.inf)
        variances[:, FOLLOWED] = table.variances[rows]
        number = self._published.get(message.source, 0)
        self._published[message.source] = number + 1
        return Tracks(
            message.time_ns,
            number,
            message.source,
            identities=tuple([table.names[i] for i in listed]),
            skus=tuple([table.skus[i] for i in listed]),
            positions=table.positions[rows],
            quaternions=table.quaternions[rows],
            variances=variances,
            ages_s=np.where(in_frame, 0.0, np.maximum(message.time_s - table.seen_s[rows], INSTANT_S)),
            slots=tuple([slots.get(i, "") for i in listed]),
        )


def _columns(pairs: list[tuple[int, int]]) -> tuple[Rows, Rows]:
    both = np.array(pairs, np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]

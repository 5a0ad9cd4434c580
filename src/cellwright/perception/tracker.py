"""Data association: from detections without identity to tracks over time, in the frame of the cell.

A detection where an object is known to be makes its pose better known. One elsewhere is of the object of that kind that
is no longer seen in its place, as far as it can have come in the time, once it was seen there twice: one frame may show
what is not there. What is left is something new, once it was seen often enough, or a lost thing that came back far
away. What is not seen is missed only where the view was clear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import log

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign
from cellwright.core.kalman import predicted_variances
from cellwright.core.messages import Detections, Tracks
from cellwright.core.pose import Pose
from cellwright.perception.asides import BY_HAND, average_asides, known_asides, learn_asides
from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.detector_watch import DetectorState, DetectorStatus, DetectorWatch
from cellwright.perception.frame import Frame, read_frame
from cellwright.perception.fusion import finite, fuse, restart, turns_to
from cellwright.perception.identities import common_shift, confirm_tracks, other_kinds_seen, shifted_alike
from cellwright.perception.support import Surface, rest_on_support
from cellwright.perception.table import TrackTable
from cellwright.perception.track_views import Box, TrackViews
from cellwright.perception.view import ViewModel

__all__ = ["Tracker"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
INSTANT_S = 1e-9  # age of what another detector saw at the same moment: only what is in the frame has none
WAIT_S = 1.0  # so long frames of others are left out while no registered detector has given one
LATELY_S = 1.0  # what was seen since then is there, as far as biases go
MOST_MISSES = 12  # in a row, of what is there; what was missed more often was away


class Tracker:
    """Follows what several detectors see; time is that of their messages.

    Args:
        expected: What should be there, by its name.
        cfg: Settings.
        views: Detector -> the corners (x, y) of what it sees. A thing in view that is not seen is missed; of a
            detector that is not listed only those things are expected that it saw last.
        frames: Frame of detections -> its pose in the cell, as calibrated; `world` needs none.
        view: What detectors with cameras can see; of these `views` says nothing.
        surfaces: Tables by the drawings, on which things lie whose height no detector measures.
        clock: Returns the cell's time; frames from the future are left out then.
        registered: Detectors whose frames a calibration has corrected.
    """

    def __init__(
        self,
        expected: Iterable[ExpectedObject] = (),
        *,
        cfg: TrackerCfg | None = None,
        views: Mapping[str, Box] | None = None,
        frames: Mapping[str, Pose] | None = None,
        view: ViewModel | None = None,
        surfaces: Sequence[Surface] = (),
        clock: Callable[[], float] | None = None,
        registered: Iterable[str] = (),
    ) -> None:
        self.cfg = cfg or TrackerCfg()
        self.views = dict(views or {})
        self.frames = dict(frames or {})
        self.view = view or ViewModel({})
        self.surfaces = tuple(surfaces)
        self._clock = clock
        self._registered, self._first_s = frozenset(registered), np.inf
        self._drift = np.array([self.cfg.drift_sd_m] * 3 + [self.cfg.drift_sd_rad] * 3) ** 2
        self._most = np.array([self.cfg.max_sd_m] * 3 + [self.cfg.max_lean_rad] * 2 + [np.pi]) ** 2
        self._table = TrackTable(expected)
        self._views = TrackViews(self._table, self.view, self.views)
        self._watches: dict[str, DetectorWatch] = {}
        self._published: dict[str, int] = {}

    @property
    def status(self) -> Mapping[str, DetectorStatus]:
        """Detector -> its state, with the reason."""
        return {name: watch.status for name, watch in self._watches.items()}

    def take(self, message: Detections) -> Tracks:
        """Takes in a frame; returns all that is followed, with age 0 what was in it.

        The result bears the detector's name as its source. A frame that is no newer than the last one of the same
        detector, or from the future, changes nothing.
        """
        return self._tracks(message, self.follow(message))

    def follow(self, message: Detections) -> bool:
        """Takes in a frame without returning tracks; returns whether it counted."""
        name, now_s = message.source, None if self._clock is None else self._clock()
        watch = self._watches.setdefault(name, DetectorWatch(name, len(self._watches), name in self._registered))
        counts = watch.admits(message.time_s, now_s)
        if counts and self._registered and not watch.is_registered:
            counts = self._is_next_to_registered(message, watch)
        if counts:
            self._follow(message, watch)
        return counts

    def _is_next_to_registered(self, message: Detections, watch: DetectorWatch) -> bool:
        """Returns whether a frame of an unregistered detector counts; the first that does tells how far it is off."""
        if watch.is_compared:
            return True
        self._first_s = min(self._first_s, message.time_s)
        known = [one.number for one in self._watches.values() if one.is_registered and np.isfinite(one.latest_s)]
        if not known and message.time_s - self._first_s <= WAIT_S:
            return False
        watch.is_compared, table = True, self._table
        frame = read_frame(message, table, self.cfg.min_score, self.frames, watch.bias, self.view.eye(watch.name))
        rows = np.flatnonzero(np.isin(table.sources, known) & (table.sightings > 0) & table.named)
        shift = common_shift(table, rows, frame)
        if shift is not None:
            watch.mounted[:2] = shift[:2]
        return True

    def set_holders(self, holders: Mapping[str, str]) -> None:
        """Sets tray -> the name under which its slots are known from now on, such as that of a kit."""
        self._table.set_holders(holders)

    def set_held(self, names: Iterable[str]) -> None:
        """Sets what is in hands, and what lies in or on that: it is nowhere to be missed."""
        held, table = set(names), self._table
        if held or table.held.any():
            table.held[:] = [name in held for name in table.names]
            table.misses[table.held], table.absence[table.held] = 0, 0.0

    def put(self, name: str, pose_in_world: Pose, variances: npt.ArrayLike, known: str = "placed") -> None:
        """Notes where a hand set a thing down: there it is looked for from now on.

        Args:
            name: Which.
            pose_in_world: Where.
            variances: x, y, z in m2, roll, pitch, yaw in rad2.
            known: Whether it was `placed`; or `felt` to be just there, wherever detectors see it, from which they are
                lastingly aside; or `carried` on something, and seen as much aside as before.
        """
        table, row, spread = self._table, self._table.row(name), np.asarray(variances, float).reshape(1, 6)
        was_felt = table.anchors[row] == BY_HAND
        if known == "felt":
            for watch in self._watches.values():
                watch.asides.pop(name, None)
        restart(table, np.array([row]), pose_in_world.position[None], pose_in_world.quaternion[None], spread, self.cfg)
        table.misses[row], table.absence[row], table.moving[row], table.held[row] = 0, 0.0, False, False
        if known == "felt" or (known == "carried" and was_felt):
            table.anchors[row] = BY_HAND

    def disturb(self, names: Iterable[str], variances: npt.ArrayLike) -> None:
        """Notes that things may be a little elsewhere: adds six variances to theirs."""
        self._table.variances[np.isin(self._table.names, sorted(names))] += np.asarray(variances, float)

    # ------------------------------------------------------------ one frame

    def _follow(self, message: Detections, watch: DetectorWatch) -> None:
        table, cfg, time_s = self._table, self.cfg, message.time_s
        frame = read_frame(
            message, table, cfg.min_score, self.frames, watch.mounted + watch.bias, self.view.eye(watch.name)
        )
        known = self._known(time_s)
        bias = np.where(table.sources == watch.number, 0.0, cfg.bias_sd_m**2)[:, None]
        asides = known_asides(table, watch)
        everywhere = frame.costs(table.positions + asides, known[:, :3] + bias)
        costs = np.where(table.kinds[:, None] == frame.kinds, everywhere, np.inf)
        covered = np.concatenate([table.covered(cfg), table.lost_like_held(cfg)])
        costs[covered] = np.inf
        matched, rest = np.zeros(len(table), bool), np.arange(len(frame.skus))
        matched[covered] = True  # no detector can see it, so it is not missed
        lately, moving = table.misses < cfg.confirm, table.moving | table.held
        hidden = (moving & self._views.out_of_all()) | table.held
        near = lately & ~hidden
        has_cameras = all(self.view.has(name) for name in self._watches)
        may_jump = (table.moving | ~table.named) & ~table.held | (table.held & (not has_cameras))
        # What is carried past the place of something lost is not that; what is seen again in its own place is.
        stages = [(lately, near & moving), (~lately, near & ~moving), (None, ~near & moving), (None, ~near)]
        for here, away in stages:
            if here is not None:
                left = np.where(here[:, None], costs[:, rest], np.inf)
                rows, seen = _columns(assign(left, cfg.gate))
                matched[rows] = True
                seen, rest = rest[seen], np.delete(rest, seen)
                self._match(rows, seen, frame, known, asides, watch, time_s)
            if here is lately:
                rest = rest[~self._in_hand(rest, frame, watch, time_s)]
                rest = self._check_others(everywhere, matched, rest, frame, watch, time_s)
                watches = list(self._watches.values())
                rest = learn_asides(table, matched, rest, frame, watches, watch, time_s - LATELY_S, cfg)
                self._miss(watch, matched, len(frame.skus), time_s)
            if not len(rest):
                break
            lost = away & may_jump & ~matched & ((table.misses > 0) | hidden) & ((table.sightings > 0) | table.held)
            rest = self._restart(np.flatnonzero(lost), rest, frame, watch, time_s, has_cameras)
        if len(rest):
            self._begin(rest, frame, watch, time_s)
        if not table.named.all():
            confirm_tracks(table, time_s, cfg, partial(self._views.are_hidden, self._watches, time_s), has_cameras)
        shown = (table.sightings > 0) & (table.misses < cfg.confirm) & ~table.held & table.named
        skus = [table.skus[i] for i in np.flatnonzero(shown).tolist()]
        self.view.note_objects(skus, table.positions[shown], table.quaternions[shown])

    def _known(self, time_s: float) -> Array:
        """Returns the current variances of all objects."""
        waited = np.where(self._table.sightings > 0, time_s - self._table.seen_s, 0.0)
        return predicted_variances(self._table.variances, waited, self._drift, self._most)

    def _match(
        self, rows: Rows, seen: Rows, frame: Frame, known: Array, asides: Array, watch: DetectorWatch, time_s: float
    ) -> None:
        """Takes in detections of objects that are where they were."""
        table, cfg = self._table, self.cfg
        fresh = table.seen_s[rows] <= time_s  # another detector may have seen it since
        # One that sees it lastingly aside cannot tell that it is where the anchor has just missed it.
        fresh &= ~asides[rows].any(axis=1) | (table.misses[rows] == 0) | (table.anchors[rows] < 0)
        rows, seen = rows[fresh], seen[fresh]
        if not len(rows):
            return
        positions, variances = frame.at_heights(seen, table.positions[rows, 2])
        off_m = np.where(np.isinf(variances[:, :3]), 0.0, positions - table.positions[rows])
        chance_m = np.sqrt(variances[:, :2].max(axis=1))
        sd_m = np.column_stack([chance_m, np.full(len(rows), cfg.bias_sd_m)])
        learned = average_asides(table, rows, off_m, sd_m, list(self._watches.values()), watch)
        if learned.any():
            self._seen(rows[learned], watch.number, time_s)
            rows, seen = rows[~learned], seen[~learned]
            positions, variances = positions[~learned], variances[~learned]
        positions = positions - asides[rows]
        if (others := table.sources[rows] != watch.number).any():
            self._compare(rows[others], positions[others], frame.quaternions[seen[others]], watch, time_s)
        spread = np.where(others, cfg.bias_sd_rad**2, 0.0)
        fuse(table, rows, known[rows], positions, frame.quaternions[seen], variances, spread, cfg)
        table.kind_votes[rows] = np.maximum(table.kind_votes[rows] - 1, 0)
        watch.count(len(rows), int(np.minimum(table.misses[rows], MOST_MISSES).sum()))
        self._seen(rows, watch.number, time_s)
        self._rest(rows, variances)

    def _compare(self, rows: Rows, positions: Array, quaternions: Array, watch: DetectorWatch, time_s: float) -> None:
        """Compares what two detectors see of the same objects: each has its bias."""
        table = self._table
        turn, _ = turns_to(table, rows, quaternions)
        off = np.column_stack([positions[:, :2] - table.positions[rows, :2], turn])
        watches = list(self._watches.values())
        still = (table.sightings[rows] > 0) & (time_s - table.seen_s[rows] <= LATELY_S)
        sources = table.sources[rows]
        for number in sorted(set(sources[still].tolist())):
            watch.compare(watches[number], off[still & (sources == number)], self.cfg)

    def _seen(self, rows: Rows, source: int, time_s: float) -> None:
        table = self._table
        table.sightings[rows] += table.seen_s[rows] < time_s
        table.seen_s[rows], table.sources[rows] = time_s, source
        table.anchors[rows] = np.where(table.anchors[rows] == -1, source, table.anchors[rows])
        table.anchor_s[rows[table.anchors[rows] == source]] = time_s
        table.misses[rows], table.absence[rows] = 0, 0.0

    def _rest(self, rows: Rows, variances: Array) -> None:
        """Sets the heights of what was seen by a detector that measures none; where it was measured it stays so."""
        flat = np.isinf(variances[:, 2])
        self._table.supported_at[rows[~flat]] = np.nan
        if flat.any():
            rest_on_support(self._table, rows[flat], self.surfaces, self.cfg)

    def _in_hand(self, rest: Rows, frame: Frame, watch: DetectorWatch, time_s: float) -> Mask:
        """Returns which detections are of what a hand has: of its kind, and seen where an arm is in between.

        Seen aslant, what is in the air appears beside the hand, on a table behind it.
        """
        table = self._table
        found: Mask = np.isin(frame.kinds[rest], table.kinds[table.held])
        if found.any():
            found[found] = self._views.is_behind_something(watch.name, frame.positions[rest[found]], time_s)
        return found

    # ------------------------------------------------------------ what is not seen

    def _check_others(
        self, costs: Array, matched: Mask, rest: Rows, frame: Frame, watch: DetectorWatch, time_s: float
    ) -> Rows:
        """Takes out other kinds in the places of objects, and all that is left of a shifted frame; returns the rest."""
        table, watches, shift = self._table, list(self._watches.values()), None
        if len(rest):
            rest = other_kinds_seen(table, costs, matched, rest, frame, self.cfg)
        others = np.flatnonzero(
            ~matched & table.named & (table.sources != watch.number) & (time_s - table.seen_s <= LATELY_S)
        )
        ranked = [not watch.outranks(watches[number]) for number in table.sources[others].tolist()]
        others = others[np.array(ranked, bool)]
        if len(rest) and len(others):
            shift, rest = shifted_alike(table, others, matched, rest, frame)
        other = watches[int(table.sources[others[0]])].name if len(others) else ""
        watch.disagree(other, shift, len(others), agrees=2 * len(rest) < len(frame.skus))
        is_shifted = shift is not None or watch.status.state is DetectorState.DISAGREES
        return rest[:0] if is_shifted else rest

    def _miss(self, watch: DetectorWatch, matched: Mask, detected: int, time_s: float) -> None:
        table = self._table
        unseen = np.flatnonzero(~matched & (table.seen_s < time_s) & ~table.held)
        missed = unseen[self._views.must_show(watch, unseen, time_s)]
        if watch.is_blind(detected, int((table.named[missed] & (table.sightings[missed] > 0)).sum())):
            return
        table.misses[missed] += 1
        table.absence[missed] += watch.miss_evidence

    # ------------------------------------------------------------ what is not where it was

    def _restart(
        self, away: Rows, rest: Rows, frame: Frame, watch: DetectorWatch, time_s: float, has_cameras: bool
    ) -> Rows:
        """Restarts tracks of objects that move; returns the other detections."""
        table, cfg = self._table, self.cfg
        steps = np.linalg.norm(table.positions[away][:, None] - frame.positions[rest][None], axis=2)
        reach = cfg.max_speed_mps * (time_s - table.seen_s[away]) + cfg.separation_m
        steps[(table.kinds[away][:, None] != frame.kinds[rest]) | (steps > reach[:, None])] = np.inf
        index, taken = _columns(assign(steps, 1e3))
        rows, seen = away[index], rest[taken]
        far = steps[index, taken] > cfg.separation_m
        table.sightings[rows[has_cameras & far & ~table.named[rows]]] = 0  # two false detections are not one thing
        restart(table, rows, frame.positions[seen], frame.quaternions[seen], frame.variances[seen], cfg)
        table.moving[rows] = True
        self._seen(rows, watch.number, time_s)
        self._rest(rows, frame.variances[seen])
        return np.setdiff1d(rest, seen)

    def _begin(self, rest: Rows, frame: Frame, watch: DetectorWatch, time_s: float) -> None:
        """Begins tracks of unexpected objects, except for second detections of what was just seen."""
        table = self._table
        near = np.linalg.norm(table.positions[:, None] - frame.positions[rest][None], axis=2) < self.cfg.separation_m
        near &= table.kinds[:, None] == frame.kinds[rest]
        new = rest[~(near & (table.seen_s >= time_s)[:, None]).any(axis=0)]
        skus, variances = [frame.skus[i] for i in new], frame.variances[new]
        rows = table.add(skus, frame.positions[new], frame.quaternions[new], finite(variances, self.cfg))
        table.moving[rows] = True  # it came from somewhere
        self._seen(rows, watch.number, time_s)
        self._rest(rows, variances)

    # ------------------------------------------------------------ what is told

    def _tracks(self, message: Detections, counted: bool) -> Tracks:
        table, cfg = self._table, self.cfg
        is_gone = (table.misses >= cfg.drop) & (table.absence >= -log(cfg.absent))
        shown = table.named & (table.sightings > 0) & ~is_gone
        slots = table.slot_map.find(table.positions, table.quaternions, shown, cfg.in_slot_m, cfg.above_slot_m)
        listed = (rows := shown.nonzero()[0]).tolist()
        in_frame = (table.seen_s[rows] == message.time_s) & (
            table.sources[rows] == self._watches[message.source].number
        )
        self._published[message.source] = number = self._published.get(message.source, -1) + 1
        return Tracks(
            message.time_ns,
            number,
            message.source,
            identities=tuple([table.names[i] for i in listed]),
            skus=tuple([table.skus[i] for i in listed]),
            positions=table.positions[rows],
            quaternions=table.quaternions[rows],
            variances=table.variances[rows],
            ages_s=np.where(in_frame & counted, 0.0, np.maximum(message.time_s - table.seen_s[rows], INSTANT_S)),
            slots=tuple([slots.get(i, "") for i in listed]),
        )


def _columns(pairs: list[tuple[int, int]]) -> tuple[Rows, Rows]:
    both = np.array(pairs, np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]

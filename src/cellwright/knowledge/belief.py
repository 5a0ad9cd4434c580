"""Belief: the reports of the cell's sensors, fused into the world model with their uncertainty, source and age.

Detections without identity are matched with the objects of their kind. One that matches none starts a tentative track;
once that was seen often enough, it is the object of that kind that is missing, which has moved, or a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cellwright.core.assignment import assign, squared_distances
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import BeliefChange, Detections, Tracks
from cellwright.knowledge.believed_objects import BelievedObjects, add_objects, move_to_slot
from cellwright.knowledge.pose_fusion import BeliefCfg, fuse, poses_of, predicted, yaw_between
from cellwright.knowledge.tentative_tracks import TentativeTrack, update_tracks
from cellwright.knowledge.transform_tree import inverse
from cellwright.knowledge.world_model import WorldModel

__all__ = ["Belief"]

Array = npt.NDArray[np.float64]
Box = tuple[tuple[float, float], tuple[float, float]]


class Belief:
    """Feeds a world model from messages.

    Args:
        world_model: The world model; nothing else may write it.
        publish: Called with every change.
        cfg: The parameters of the filter.
        views: Sensor -> the corners (x, y) of what it sees in the world. An object in view that is not seen is
            missing; of a sensor that is not listed only those objects are expected that it saw last.
    """

    def __init__(
        self,
        world_model: WorldModel,
        publish: Callable[[BeliefChange], None] = lambda change: None,
        *,
        cfg: BeliefCfg | None = None,
        views: Mapping[str, Box] | None = None,
    ) -> None:
        self.world_model, self.cfg, self.views = world_model, cfg or BeliefCfg(), dict(views or {})
        self._publish, self._published = publish, 0
        self._tentative: list[TentativeTrack] = []
        self.reload()

    def reload(self) -> None:
        """Reads anew what is believed, after others changed the database."""
        self.world_model.reload()
        self._now = BelievedObjects(self.world_model, self.cfg)

    def take(self, message: Detections | Tracks) -> list[BeliefChange]:
        """Takes in a message; returns the changes, beside poses that only became better known."""
        self._refresh()
        if isinstance(message, Tracks):
            return self._take_tracks(message)
        if isinstance(message, Detections):
            return self._take_detections(message)
        raise BadInput(f"belief: cannot take '{type(message).__name__}'; allowed: Detections, Tracks")

    def objects(self, sku: str | None = None) -> list[str]:
        """Returns the names of the objects of a kind, or of all that have one."""
        self._refresh()
        return [n for n, s in zip(self._now.names, self._now.skus, strict=True) if sku is None or s == sku]

    def age_s(self, name: str, now_s: float) -> float:
        """Returns the time since an object was last seen; infinite when it never was."""
        row = self._row(name)
        return float("inf") if self._now.never[row] else float(now_s - self._now.seen_s[row])

    def covariance(self, name: str) -> Array:
        """Returns variances of x, y, z (m2) and yaw (rad2) when last seen, as a diagonal matrix in the world."""
        return np.diag(self._now.variances[self._row(name)])

    def source(self, name: str) -> str:
        """Returns the name of the sensor that saw it last; empty when none did."""
        return self._now.sources[self._row(name)]

    def mark_stable(self, label: str, time_ns: int) -> BeliefChange:
        """Marks what is believed as a state to come back to, and publishes that."""
        self.world_model.mark_stable(label)
        return self._report(label, "marked", "belief", time_ns, stable=True)

    def restore(self, label: str, time_ns: int) -> BeliefChange:
        """Goes back to a stable state, and publishes that."""
        self.world_model.restore(label)
        self._tentative.clear()
        self._now = BelievedObjects(self.world_model, self.cfg)
        return self._report(label, "restored", "belief", time_ns, stable=True)

    def _refresh(self) -> None:
        """Looks the objects up again if the world model was reloaded, or something attached, by another user of it."""
        if self._now.tree_names is not self.world_model.tree.names:
            kept, self._now = self._now, BelievedObjects(self.world_model, self.cfg)
            self._now.take_over(kept)

    def _row(self, name: str) -> int:
        self._refresh()
        if name not in self._now.index:
            raise UnknownName("object", name, self._now.names, "belief")
        return self._now.index[name]

    def _report(self, subject: str, change: str, evidence: str, time_ns: int, *, stable: bool = False) -> BeliefChange:
        message = BeliefChange(time_ns, self._published, "belief", subject, change, evidence, stable)
        self._published += 1
        self._publish(message)
        return message

    def _take_detections(self, message: Detections) -> list[BeliefChange]:
        poses = poses_of(message.positions, message.quaternions)
        if message.frame not in ("world", ""):
            tree = self.world_model.tree
            poses = tree.in_world[tree.indices([message.frame])[0]] @ poses
        good = np.isfinite(poses).all(axis=(1, 2)) & (message.scores >= self.cfg.min_score)
        skus = np.array(message.skus, object)[good]
        poses, variances = poses[good], np.maximum(message.variances[good], 1e-12)
        now, time_s = self._now, message.time_s
        believed = predicted(now.variances, time_s - now.seen_s, self.cfg)
        pairs = self._match(skus, poses, variances, believed)
        changes = self._fuse(pairs, poses, variances, believed, message)
        seen_rows = np.array([row for row, _ in pairs], np.int64)
        now.first_missed_s[seen_rows] = np.inf
        matched = {detection for _, detection in pairs}
        rest = [s for s in range(len(skus)) if s not in matched and not self._is_double(skus[s], poses[s], seen_rows)]
        changes += self._miss(message, seen_rows)
        detections = [TentativeTrack(str(skus[s]), poses[s], variances[s], time_s) for s in rest]
        self._tentative, ready = update_tracks(self._tentative, detections, time_s, self.cfg)
        return changes + (self._confirm(ready, message) if ready else [])

    def _match(
        self, skus: npt.NDArray[np.object_], poses: Array, variances: Array, believed: Array
    ) -> list[tuple[int, int]]:
        """Returns rows of objects and the detections that are of them."""
        now, pairs = self._now, []
        places = self.world_model.tree.in_world[now.rows][:, :3, 3]
        for sku in dict.fromkeys(skus):
            rows, detections = now.of_sku(sku), np.flatnonzero(skus == sku)
            distances = squared_distances(
                places[rows],
                believed[rows, :3] + self.cfg.bias_sd_m**2,
                poses[detections][:, :3, 3],
                variances[detections, :3],
            )
            pairs += [(int(rows[r]), int(detections[s])) for r, s in assign(distances, self.cfg.gate)]
        return pairs

    def _fuse(
        self, pairs: list[tuple[int, int]], poses: Array, variances: Array, believed: Array, message: Detections
    ) -> list[BeliefChange]:
        """Fuses detections with the objects that they are of; returns the changes."""
        now, changes = self._now, []
        pairs = [(row, detection) for row, detection in pairs if now.seen_s[row] <= message.time_s]
        if not pairs:
            return []
        rows, detections = (np.array(side) for side in zip(*pairs, strict=True))
        old = self.world_model.tree.in_world[now.rows[rows]]
        turned = yaw_between(old, poses[detections])
        spread = believed[rows, 3] + variances[detections, 3] + self.cfg.drift_sd_rad**2
        outlier = turned**2 > self.cfg.gate * spread
        now.turn_outliers[rows] = np.where(outlier, now.turn_outliers[rows] + 1, 0)
        never = now.never[rows].copy()
        restart = outlier & ((now.turn_outliers[rows] >= 2 * self.cfg.min_detections) | never)
        fused, after = fuse(
            old, believed[rows], poses[detections], variances[detections], np.where(outlier, np.nan, turned)
        )
        fused[restart, :3, :3] = poses[detections][restart, :3, :3]  # turned for good, not one wrong look
        after[restart, 3] = variances[detections][restart, 3]
        self._observe(rows, fused, after, message.time_s, message.source)
        now.turn_outliers[rows[restart]] = 0
        for row, turn in zip(rows[restart & ~never], turned[restart & ~never], strict=True):
            changes.append(self._report(now.names[row], f"turned {turn:.3f} rad", message.source, message.time_ns))
        for row in rows[np.isin(rows, np.flatnonzero(now.reported_missing))]:
            now.reported_missing[row] = False
            changes.append(self._report(now.names[row], "seen again", message.source, message.time_ns))
        return changes

    def _observe(self, rows: npt.NDArray[np.int64], poses: Array, variances: Array, time_s: float, source: str) -> None:
        now, tree = self._now, self.world_model.tree
        names = [now.names[r] for r in rows]
        trays = [i for i, name in enumerate(names) if name in now.kits]
        if trays:  # seeing the tray of a kit is seeing the kit
            kits = [now.kits[names[i]] for i in trays]
            poses = np.concatenate([poses, poses[trays] @ inverse(tree.in_reference[now.rows[rows[trays]]])])
            variances = np.concatenate([variances, variances[trays]])
            names += kits
        self.world_model.observe(names, poses, time_s, source, variances)
        now.variances[rows], now.seen_s[rows], now.first_missed_s[rows] = variances[: len(rows)], time_s, np.inf
        now.never[rows] = False
        for row in rows:
            now.sources[row] = source

    def _is_double(self, sku: str, pose: Array, seen_rows: npt.NDArray[np.int64]) -> bool:
        now = self._now
        same = seen_rows[now.skus[seen_rows] == sku]
        places = self.world_model.tree.in_world[now.rows[same]][:, :3, 3]
        return bool((np.linalg.norm(places - pose[:3, 3], axis=1) < self.cfg.separation_m).any())

    def _miss(self, message: Detections, seen_rows: npt.NDArray[np.int64]) -> list[BeliefChange]:
        """Notes the objects in view that were not seen; returns those that are missing now."""
        now, changes = self._now, []
        expected = np.array([source == message.source for source in now.sources], bool)
        if message.source in self.views:
            low, high = self.views[message.source]
            xy = self.world_model.tree.in_world[now.rows][:, :2, 3]
            expected = np.all((xy >= low) & (xy <= high), axis=1)
        expected = expected | now.never
        expected[seen_rows] = False
        expected &= now.seen_s <= message.time_s
        now.first_missed_s[expected] = np.minimum(now.first_missed_s[expected], message.time_s)
        late = expected & (message.time_s - now.first_missed_s >= self.cfg.miss_timeout_s) & ~now.never
        for row in np.flatnonzero(late & ~now.reported_missing):
            now.reported_missing[row] = True
            changes.append(self._report(now.names[row], "missing", message.source, message.time_ns))
        return changes

    def _confirm(self, ready: list[TentativeTrack], message: Detections) -> list[BeliefChange]:
        """Makes objects of confirmed tracks: one that is missing and has moved, or a new one; returns the changes."""
        now, changes = self._now, []
        moved: list[tuple[int, TentativeTrack]] = []
        waiting: list[TentativeTrack] = []
        for sku in dict.fromkeys(t.sku for t in ready):
            found = [t for t in ready if t.sku == sku]
            rows = now.of_sku(sku)
            rows = rows[np.isfinite(now.first_missed_s[rows]) & (now.seen_s[rows] < message.time_s)]
            places = self.world_model.tree.in_world[now.rows[rows]][:, :3, 3]
            steps = np.linalg.norm(places[:, None] - np.array([t.pose_in_world[:3, 3] for t in found]), axis=2)
            pairs = [(int(rows[r]), found[f]) for r, f in assign(steps, self.cfg.reach_m)]
            missed_s = message.time_s - now.first_missed_s
            moved += [(row, t) for row, t in pairs if missed_s[row] >= self.cfg.miss_timeout_s]
            waiting += [t for row, t in pairs if missed_s[row] < self.cfg.miss_timeout_s]  # it may be seen again
        if moved:
            rows = np.array([row for row, _ in moved])
            poses = np.array([t.pose_in_world for _, t in moved])
            before = self.world_model.tree.in_world[now.rows[rows]][:, :3, 3].copy()
            self._observe(rows, poses, np.array([t.variances for _, t in moved]), message.time_s, message.source)
            now.reported_missing[rows] = False
            for row, step_m in zip(rows, np.linalg.norm(poses[:, :3, 3] - before, axis=1), strict=True):
                changes.append(self._report(now.names[row], f"moved {step_m:.3f} m", message.source, message.time_ns))
        self._tentative += waiting
        known = [t for _, t in moved] + waiting
        new = [t for t in ready if not any(t is k for k in known)]
        return changes + self._add([t.sku for t in new], None, new, message)

    def _add(
        self,
        skus: Sequence[str],
        names: Sequence[str] | None,
        detections: Sequence[TentativeTrack],
        message: Detections | Tracks,
    ) -> list[BeliefChange]:
        if not detections:
            return []
        made = add_objects(self.world_model.database, skus, names)
        self.world_model.reload()
        self._refresh()
        rows = np.array([self._now.index[name] for name in made])
        poses, variances = np.array([t.pose_in_world for t in detections]), np.array([t.variances for t in detections])
        self._observe(rows, poses, variances, message.time_s, message.source)
        return [
            self._report(name, f"new {sku}", message.source, message.time_ns)
            for name, sku in zip(made, skus, strict=True)
        ]

    def _take_tracks(self, message: Tracks) -> list[BeliefChange]:
        poses = poses_of(message.positions, message.quaternions)
        new = [i for i, name in enumerate(message.identities) if name not in self._now.index]
        detections = [TentativeTrack(message.skus[i], poses[i], message.variances[i], message.time_s) for i in new]
        changes = self._add([message.skus[i] for i in new], [message.identities[i] for i in new], detections, message)
        in_frame = np.asarray(message.ages_s) <= 0.0
        in_frame[new] = False
        fresh = np.flatnonzero(in_frame)
        rows = np.array([self._now.index[message.identities[i]] for i in fresh], np.int64)
        if len(fresh):
            self._observe(rows, poses[fresh], message.variances[fresh], message.time_s, message.source)
        for name, seen_in in zip(message.identities, message.slots, strict=True):
            slot = seen_in if seen_in in self._now.slot_names else ""
            if self._now.slots.get(name, "") == slot:
                continue
            reference = move_to_slot(self.world_model.database, name, slot)
            if reference is not None:
                self.world_model.attach({name: reference})
                self._now.slots[name] = slot
                self._now.look_up(self.world_model)
                change = f"in slot {slot}" if slot else "out of its slot"
                changes.append(self._report(name, change, message.source, message.time_ns))
        return changes

"""Belief: tracks of the cell's objects, taken into the world model with their uncertainty, source and age."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.messages import BeliefChange, Tracks
from cellwright.core.pose import Pose
from cellwright.knowledge.belief_state import BeliefState, DetectorReport
from cellwright.knowledge.belief_writer import add_objects, move_to_slot
from cellwright.knowledge.held_pose import in_hands
from cellwright.knowledge.track_monitor import BeliefCfg, TrackMonitor
from cellwright.knowledge.transform_tree import inverse
from cellwright.knowledge.world_model import WorldModel

__all__ = ["Belief"]

Array = npt.NDArray[np.float64]
MOST_NOTES = 20
PLACED_RAD = 0.1  # by which what a hand has set down may lean, or be turned


class ObjectFollower(Protocol):
    """Follows objects over frames; `perception.Tracker` is one."""

    def put(self, name: str, pose_in_world: Pose, variances: npt.ArrayLike, known: str = "placed") -> None:
        """Notes where a hand set a thing down, or has felt it to be."""

    def disturb(self, names: Iterable[str], variances: npt.ArrayLike) -> None:
        """Notes that things may be a little elsewhere."""


class Belief:
    """Feeds a world model from tracks; detections pass a tracker first.

    Args:
        world_model: The world model; nothing else may write it.
        publish: Called with every change.
        cfg: What counts as a change.

    Attributes:
        world_model: As given.
        state: What is believed, to be read.
        watched_s: Detector -> when what it sees was last waited for; the others need not be processed as often.
        frames_s: Detector -> when its last frame was taken.
        on_wait: Is told from which detectors a frame is waited for, None for all: some make frames on demand alone.
        detector_notes: The first changes of detectors' states, a line each.
        follower: What follows objects, and is told what hands did with them: the tracker.
    """

    def __init__(
        self,
        world_model: WorldModel,
        publish: Callable[[BeliefChange], None] = lambda change: None,
        *,
        cfg: BeliefCfg | None = None,
    ) -> None:
        world_model.database.has_news()  # what others wrote before is read now
        self.world_model = world_model
        self.state = BeliefState(world_model)
        self.watched_s: dict[str, float] = {}
        self.frames_s: dict[str, float] = {}
        self.on_wait: Callable[[Iterable[str] | None], None] | None = None
        self.detector_notes: list[str] = []
        self.follower: ObjectFollower | None = None
        self._publish = publish
        self._published = 0
        self._monitor = TrackMonitor(cfg or BeliefCfg())

    def reload(self) -> None:
        """Reads anew what is believed, after others changed the database."""
        self.world_model.database.has_news()
        self.world_model.reload()
        self.state.read()
        self.watched_s.clear()

    def follow(self) -> None:
        """Reads anew what another program wrote; of a server, which does not tell, all but the poses."""
        news = self.world_model.database.has_news()
        if news:
            self.reload()
        elif news is None:
            self.state.read()

    def watch(self, names: Iterable[str], now_s: float) -> None:
        """Notes that sightings of these objects are waited for: detectors that saw them last are watched."""
        for source in {self.state.source(name) for name in names}:
            if source not in self.frames_s:  # no detector has seen it yet, or not where a hand put it
                self.watch_all(now_s)
            self.watched_s[source] = max(now_s, self.watched_s.get(source, 0.0))

    def watch_all(self, now_s: float, helpful: Iterable[str] | None = None) -> None:
        """Notes that the next frame of every detector is waited for.

        Args:
            now_s: Since when.
            helpful: Those whose frames can show what is looked for; only they make one on demand. All by default.
        """
        self.watched_s.update(dict.fromkeys(self.frames_s, now_s))
        if self.on_wait is not None:
            self.on_wait(helpful)

    def note_missing(self, names: Iterable[str], found: Iterable[str] = ()) -> None:
        """Notes objects that were looked for and not seen, and others that were: the former are nowhere until seen.

        Tracks tell the same of what was in clear view for some frames; it is one set of objects, `state.missing`.
        """
        before, gone = self.state.missing, sorted(set(names) - in_hands(self.state))  # hands hide what they hold
        self.state.missing = (before - set(found)) | set(gone)
        for name in gone:
            if name not in before:
                self._report(name, "missing", "execution", round(self.state.now_s * 1e9))

    def note_placed(
        self,
        name: str,
        pose_in_world: Pose,
        time_s: float,
        source: str,
        sd_m: float = 0.002,
        known: Literal["placed", "felt", "carried"] = "placed",
    ) -> None:
        """Notes where a hand has set a thing down: it is believed there, and looked for there, from now on.

        Args:
            name: A part, a kit tray or a kit.
            pose_in_world: Where the hand let go of it.
            time_s: When.
            source: The robot.
            sd_m: How far it may be off; it may lean and be turned, too.
            known: Whether the hand let go of it there; or has felt it to be there, wherever detectors see it; or set
                down what it lies on: what was felt of it before still holds.
        """
        tray = self.state.detected_as(name)
        variances = np.array([sd_m] * 3 + [PLACED_RAD] * 3) ** 2
        offset = self.world_model.tree.pose_in(tray, name) if tray != name else Pose.identity()
        places = {name: pose_in_world, tray: pose_in_world @ offset}
        matrices = np.array([pose.matrix for pose in places.values()])
        self.world_model.observe(list(places), matrices, time_s, source, np.tile(variances, (len(places), 1)))
        self.state.missing.discard(tray)
        if self.follower is not None:
            self.follower.put(tray, places[tray], variances, known)

    def note_disturbed(
        self,
        names: Iterable[str] = (),
        region: tuple[tuple[float, float], tuple[float, float]] | None = None,
        sd_m: float = 0.003,
    ) -> None:
        """Notes that a hand worked on or near objects: they may be a little elsewhere.

        Args:
            names: Which.
            region: All objects in a rectangle, too: its corners (x, y).
            sd_m: How far they may have been moved; by a tenth of a radian for each 5 mm they may be turned.
        """
        tree, state = self.world_model.tree, self.state
        chosen = {state.detected_as(name) for name in names if name in tree.index}
        if region is not None:
            low, high = np.array(region)
            things = [
                thing.name for thing in state.of_kind("Part", "PartsTray", "KitTray") if state.has_pose(thing.name)
            ]
            inside = [bool(((p >= low) & (p <= high)).all()) for p in tree.in_world[tree.indices(things), :2, 3]]
            chosen |= {name for name, is_inside in zip(things, inside, strict=True) if is_inside}
        spread = np.array([sd_m] * 2 + [sd_m / 3] + [20 * sd_m] * 3) ** 2
        rows = tree.indices(sorted(chosen))
        self.world_model.variances[rows] += spread
        self.world_model.version += 1
        if self.follower is not None:
            self.follower.disturb(chosen, spread)

    def note_detectors(self, status: Mapping[str, DetectorReport], time_ns: int) -> None:
        """Notes the states of detectors; a change is told with its reason."""
        for name, now in status.items():
            before = self.state.detectors.get(name)
            if str(now.state) != (str(before.state) if before else "good"):
                reason = f": {now.reason}" if now.reason else ""
                self._report(name, f"{now.state}{reason}", name, time_ns)
                if len(self.detector_notes) < MOST_NOTES:
                    words = now.state if reason else "is good again"
                    self.detector_notes.append(f"{name} {words} at {self.state.now_s:.2f} s{reason}")
            self.state.detectors[name] = now

    def take(self, message: Tracks) -> list[BeliefChange]:
        """Takes in what is followed; returns the changes, beside poses that only became better known."""
        if not isinstance(message, Tracks):
            raise BadInput(f"belief: cannot take '{type(message).__name__}'; allowed: Tracks")
        self.frames_s[message.source] = message.time_s
        poses = poses_of(message.positions, message.quaternions)
        kinds = self.state.relations.kinds
        new = [i for i, name in enumerate(message.identities) if name not in kinds]
        told = [(message.identities[i], f"new {message.skus[i]}") for i in new]
        if new:
            add_objects(self, [message.identities[i] for i in new], [message.skus[i] for i in new])
            self._observe(new, message, poses)
        in_frame = np.asarray(message.ages_s) <= 0.0
        in_frame[new] = False
        fresh = [i for i in np.flatnonzero(in_frame).tolist() if message.identities[i] in self.state.tree.index]
        if fresh:
            self._observe(fresh, message, poses)
        told += self._monitor.take(message, poses, in_hands(self.state), self.state.missing)
        seen = {message.identities[i] for i in np.flatnonzero(np.asarray(message.ages_s) <= 0.0).tolist()}
        self.state.slot_views.take(self.state, self.state.view, message.source, message.time_s, seen)
        relations = self.state.relations
        for name, seen_in in zip(message.identities, message.slots, strict=True):
            slot = seen_in if seen_in in relations.slot_names else ""
            if relations.slot_parts.get(name, "") != slot and move_to_slot(self, name, slot):
                told.append((name, f"in slot {slot}" if slot else "out of its slot"))
        return [self._report(name, change, message.source, message.time_ns) for name, change in told]

    def mark_stable(self, label: str, time_ns: int) -> BeliefChange:
        """Marks what is believed as a state to come back to, and publishes that."""
        self.world_model.mark_stable(label)
        return self._report(label, "marked", "belief", time_ns, stable=True)

    def restore(self, label: str, time_ns: int) -> BeliefChange:
        """Goes back to a stable state, and publishes that."""
        self.world_model.restore(label)
        self.state.read()
        self._monitor.forget()
        return self._report(label, "restored", "belief", time_ns, stable=True)

    def _report(self, subject: str, change: str, evidence: str, time_ns: int, *, stable: bool = False) -> BeliefChange:
        message = BeliefChange(
            time_ns, self._published, "belief", subject=subject, change=change, evidence=evidence, stable=stable
        )
        self._published += 1
        self._publish(message)
        return message

    def _observe(self, numbers: list[int], message: Tracks, poses: Array) -> None:
        """Takes the poses of some tracks into the world model; seeing the tray of a kit is seeing the kit."""
        tree, names = self.world_model.tree, [message.identities[i] for i in numbers]
        seen, variances = poses[numbers], message.variances[numbers]
        kit_of = {tray: kit for kit, tray in self.state.tray_of.items()}
        trays = [i for i, name in enumerate(names) if name in kit_of and _is_on(tree.parent, tree.index, name, kit_of)]
        if trays:
            rows = tree.indices([names[i] for i in trays])
            seen = np.concatenate([seen, seen[trays] @ inverse(tree.in_reference[rows])])
            variances = np.concatenate([variances, variances[trays]])
            names += [kit_of[names[i]] for i in trays]
        self.world_model.observe(names, seen, message.time_s, message.source, variances)


def _is_on(parent: npt.NDArray[np.int_], index: dict[str, int], tray: str, kit_of: dict[str, str]) -> bool:
    """Returns whether a tray is located by the kit that is built on it."""
    kit = index.get(kit_of[tray], -2)
    return bool(parent[index[tray]] == kit)


def poses_of(positions: Array, quaternions: Array) -> Array:
    """Returns matrices, n x 4 x 4; not a number where the message has none, or no rotation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    poses = np.zeros((len(positions), 4, 4))
    poses[:, 0, 0], poses[:, 0, 1], poses[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    poses[:, 1, 0], poses[:, 1, 1], poses[:, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    poses[:, 2, 0], poses[:, 2, 1], poses[:, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    poses[:, :3, 3], poses[:, 3, 3] = positions, 1.0
    return poses

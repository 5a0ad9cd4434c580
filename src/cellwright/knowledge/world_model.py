"""The world model in use: poses come in by batches, the transform tree is kept, stable states can be returned to.

One world model writes a database; any number of readers see each batch as a whole or not at all. What is seen many
times a second may be written a few times a second: poses are deferred until the database is used through the same
object, or for as long as is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import delete, func, insert, select, update

from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge.database import Database
from cellwright.knowledge.errors import DatabaseError
from cellwright.knowledge.history import AXES, POSE_HISTORY, STABLE_STATE
from cellwright.knowledge.pose_store import (
    COVARIANCES,
    LOCATION,
    OBJECT,
    POSE,
    PoseBatch,
    axes_of,
    matrices_from_axes,
    pose_from_axes,
    pose_query,
    turned_covariances,
)
from cellwright.knowledge.stable_state import pack, read_state, unpack, write_state
from cellwright.knowledge.transform_tree import NEVER, TransformTree

__all__ = ["WorldModel"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
MAX_KEPT = 1_000_000
HISTORY_STEP = 1e-4
BESIDE = 4  # columns of a pose's row before its numbers: object, reference, key, time
FULL = (0, 1, 2, 1, 3, 4, 2, 4, 5)  # of the six numbers of a symmetric matrix


class WorldModel:
    """The objects of a database that have a pose, or that others are located by.

    Args:
        database: The database in which they are stored.
        keep_poses: The number of entries in the history of an object; the oldest give way to new ones.
        keep_states: The number of stable states; likewise.
        write_every_s: For how long, by the cell's clock, the writing of poses may be deferred. A database in memory
            has no other readers, so there it is deferred until they are read.
        parts: Whether parts and kit trays are read, of which there may be very many.

    Attributes:
        tree: The poses of the objects; one row each, as in the columns that follow.
        variances: Of x, y, z (m2) and roll, pitch, yaw (rad2) along and about the world's axes when last seen; not a
            number where unknown.
        deviations_m: Standard deviation of the position along the worst axis; not a number where unknown.
        evidence: What the pose rests on: a sensor, the drawings; empty for nothing.
        version: Counts changes of poses.
        arrangement: Counts changes of what objects there are and of what they are located by.
    """

    def __init__(
        self,
        database: Database,
        *,
        keep_poses: int = 1000,
        keep_states: int = 100,
        write_every_s: float = 0.0,
        parts: bool = True,
    ) -> None:
        for what, number in (("keep_poses", keep_poses), ("keep_states", keep_states)):
            if not 1 <= number <= MAX_KEPT:
                raise OutOfRange(f"world model: {what}", number, 1, MAX_KEPT, "entries")
        self.database = database
        self.keep_poses = keep_poses
        self.keep_states = keep_states
        self._write_every_s = np.inf if database.in_memory else write_every_s
        self._deferred: PoseBatch | None = None
        self._has_parts = parts
        self.version = self.arrangement = 0
        self.reload()

    def write(self) -> None:
        """Writes the deferred poses, as one change; the database calls this before it is used."""
        if (batch := self._deferred) is not None:
            self._deferred = None  # from here on there is nothing to be written before the database is used
            try:
                with self.database.transaction() as connection:
                    batch.put(connection)
            except DatabaseError:
                self._deferred = batch
                self.database.defer(self.write)
                raise

    def reload(self) -> None:
        """Reads the transform tree anew, after objects were added or moved to another reference."""
        query = pose_query(self._has_parts)
        past = POSE_HISTORY.c
        with self.database.session() as session:
            found = session.execute(query).all()
            counted = session.execute(select(past.object_name, func.max(past.number)).group_by(past.object_name))
            entries = {name: number + 1 for name, number in counted}
        references: dict[str, str | None] = {row[0]: row[1] for row in found}
        rows = {row[0]: row[2] for row in found}
        known = {row[0]: row[BESIDE + len(AXES) :] for row in found}
        times_s = {row[0]: NEVER if row[3] is None else row[3] for row in found}
        for reference in {r for r in references.values() if r is not None} - set(references):
            references[reference] = None
        matrices = np.tile(np.eye(4), (len(references), 1, 1))
        posed = [i for i, row in enumerate(found) if None not in row[BESIDE : BESIDE + len(AXES)]]
        axes = np.array([found[i][BESIDE : BESIDE + len(AXES)] for i in posed], float)
        matrices[posed] = matrices_from_axes(axes.reshape(-1, len(AXES)))
        seen_s = np.array([times_s.get(name, NEVER) for name in references], float)
        self.tree = TransformTree.of_arrays(references, matrices, seen_s)
        self._location_id = np.array([rows.get(name, -1) for name in self.tree.names], np.int64)
        self._entries = np.array([entries.get(name, 0) for name in self.tree.names], np.int64)
        self._entered = np.full((len(self.tree.names), len(AXES)), np.nan)
        self._take_spreads(known)
        self.version += 1
        self.arrangement += 1

    def _take_spreads(self, known: Mapping[str, Sequence[Any]]) -> None:
        """Sets the columns beside the tree from covariances in the frames of references, deviations and evidence."""
        tree, count, rows = self.tree, len(self.tree.names), self.tree.indices(list(known))
        self.variances = np.full((count, 6), np.nan)
        self.deviations_m = np.full(count, np.nan)
        self.evidence = np.full(count, "", object)
        self.evidence[rows] = [found[-1] or "" for found in known.values()]
        numbers = np.array([found[:-1] for found in known.values()], float).reshape(-1, len(COVARIANCES) + 1)
        diagonal = np.fmax.reduce(numbers[:, (0, 3, 5)], axis=1)  # whatever of it is known
        self.deviations_m[rows] = np.where(np.isnan(diagonal), numbers[:, -1], np.sqrt(diagonal))
        parents = tree.parent[rows]
        axes = np.where((parents >= 0)[:, None, None], tree.in_world[parents], np.eye(4))[:, :3, :3]
        position, orientation = (numbers[:, first:][:, FULL].reshape(-1, 3, 3) for first in (0, 6))
        turned = [axes @ matrices @ axes.transpose(0, 2, 1) for matrices in (position, orientation)]
        spreads = np.hstack([np.diagonal(matrices, axis1=1, axis2=2) for matrices in turned])
        self.variances[rows] = np.where(np.isnan(spreads).any(axis=1, keepdims=True), np.nan, spreads)

    def observe(
        self,
        names: Sequence[str],
        poses_in_world: Array,
        time_s: float,
        evidence: str,
        variances: Array | None = None,
    ) -> list[str]:
        """Takes in the objects that were seen at one time, as one change.

        Args:
            names: The objects.
            poses_in_world: Their poses, n x 4 x 4.
            time_s: The time at which they were seen, by the cell's clock.
            evidence: The sensor that saw them.
            variances: The variances then, n x 6: x, y, z in m2, roll, pitch, yaw in rad2, along and about the
                world's axes; without them what is stored about it stays.

        Returns:
            The objects whose relative poses changed; others moved along, or the observation came too late.
        """
        tree = self.tree.copy()
        seen = tree.indices(names)
        if variances is not None and not (variances.shape == (len(seen), 6) and (variances >= 0).all()):
            raise BadInput(f"world model: {len(seen)} objects need {len(seen)} x 6 variances, none below 0")
        changed = tree.observe(seen, poses_in_world, time_s)
        changed = changed[self._location_id[changed] >= 0]
        batch = self._deferred or PoseBatch(time_s, self._location_id)
        entered = self._note(batch, tree, changed, evidence)
        has_changed = np.zeros(len(tree.names), bool)
        has_changed[changed] = True
        kept = has_changed[seen]
        if variances is not None:
            self._note_covariances(batch, tree, seen[kept], variances[kept])
        if self._write_every_s <= 0.0:
            with self.database.transaction() as connection:
                batch.put(connection)
        elif self._deferred is None:
            self._deferred = batch
            self.database.defer(self.write)
        self.tree = tree  # only what is stored, or will be, is believed
        self.version += 1
        self.evidence[seen[kept]] = evidence
        if variances is not None:
            self.variances[seen[kept]] = variances[kept]
            self.deviations_m[seen[kept]] = np.sqrt(variances[kept, :3].max(axis=1))
        self._entries[entered] += 1
        self._entered[entered] = axes_of(tree.in_reference[entered])
        if time_s - batch.since_s >= self._write_every_s > 0.0:
            self.write()
        return [self.tree.names[i] for i in changed]

    def pose_in(self, name: str, frame: str) -> Pose:
        """Returns the believed pose of an object in the frame of any other."""
        return self.tree.pose_in(name, frame)

    def attach(self, references: Mapping[str, str]) -> None:
        """Makes objects move with others from now on; where they are stays the same.

        Args:
            references: Object -> what it lies in or on, or what holds it.

        Raises:
            UnknownName: An object, or what it should move with, has no place in the tree.
            BadInput: They would refer to each other in a circle.
        """
        tree = self.tree.attached(references)
        rows = self.tree.indices(list(references))
        fixed = [self.tree.names[i] for i in rows if self._location_id[i] < 0]
        if fixed:
            placed = [name for name, parent in zip(self.tree.names, self.tree.parent, strict=True) if parent >= 0]
            raise UnknownName("object with a pose", fixed[0], placed, "database")
        spread = [POSE.c[name] for name in COVARIANCES]
        named = OBJECT.c.name.in_(set(references.values()))
        with self.database.transaction() as connection:
            objects = {n: r for r, n in connection.execute(select(OBJECT.c.id, OBJECT.c.name).where(named))}
            for row, (name, reference) in zip(rows, references.items(), strict=True):
                key, axes = int(self._location_id[row]), axes_of(tree.in_reference[tree.index[name]][None])[0]
                values = dict(zip(AXES, axes.tolist(), strict=True))
                known = connection.execute(select(*spread).where(POSE.c.id == key)).one()
                if None not in known:
                    parent = self.tree.parent[row]
                    before = self.tree.in_world[parent] if parent >= 0 else np.eye(4)
                    turn = self.tree.in_world[self.tree.index[reference]][:3, :3].T @ before[:3, :3]
                    values |= dict(zip(COVARIANCES, turned_covariances(known, turn), strict=True))
                connection.execute(update(POSE).where(POSE.c.id == key).values(values))
                place = {"ref_object_id": objects[reference]}
                connection.execute(update(LOCATION).where(LOCATION.c.id == key).values(place))
        order = self.tree.indices(tree.names)
        self.tree = tree  # as it is stored: nothing else has changed
        for column in ("_location_id", "_entries", "_entered", "variances", "deviations_m", "evidence"):
            setattr(self, column, getattr(self, column)[order])
        self.version += 1
        self.arrangement += 1
        self._entered[tree.indices(list(references))] = np.nan

    def mark_stable(self, label: str) -> None:
        """Stores all that may change as a state to come back to; a label that exists is set anew."""
        states = STABLE_STATE.c
        with self.database.transaction() as connection:
            connection.execute(delete(STABLE_STATE).where(states.label == label))
            connection.execute(insert(STABLE_STATE).values(label=label, content=pack(read_state(connection))))
            keys = list(connection.scalars(select(states.id).order_by(states.id.desc()).offset(self.keep_states)))
            if keys:
                connection.execute(delete(STABLE_STATE).where(states.id.in_(keys)))

    def stable_states(self) -> list[str]:
        """Returns the labels of the states that can be restored, oldest first."""
        with self.database.transaction() as connection:
            return list(connection.scalars(select(STABLE_STATE.c.label).order_by(STABLE_STATE.c.id)))

    def restore(self, label: str) -> None:
        """Makes a stable state what is believed now: objects made since are gone, those removed since are back.

        Raises:
            UnknownName: There is no such state; lists those that there are.
        """
        states = STABLE_STATE.c
        with self.database.transaction() as connection:
            content = connection.scalar(select(states.content).where(states.label == label))
            if content is None:
                labels = connection.scalars(select(states.label).order_by(states.id))
                raise UnknownName("stable state", label, list(labels), "database")
            write_state(connection, unpack(content))
        self.reload()

    def history(self, name: str) -> list[tuple[float, str, Pose]]:
        """Returns the changes of an object's relative pose: time, evidence and pose, oldest first."""
        query = select(POSE_HISTORY).where(POSE_HISTORY.c.object_name == name).order_by(POSE_HISTORY.c.number)
        with self.database.transaction() as connection:
            rows = connection.execute(query).mappings().all()
        return [(row["timestamp"], row["evidence"], pose_from_axes([row[a] for a in AXES])) for row in rows]

    def _note(self, batch: PoseBatch, tree: TransformTree, rows: Rows, evidence: str) -> Rows:
        """Adds poses to a batch; returns the rows that enter the history, because they differ from their last entry."""
        axes, times = axes_of(tree.in_reference[rows]), tree.seen_s[rows]
        batch.pose(rows, axes, times, evidence)
        new = ~(np.abs(axes - self._entered[rows]) <= HISTORY_STEP).all(axis=1)
        entered: Rows = rows[new]
        names = tree.names
        for k, i, n, p in zip(
            np.flatnonzero(new).tolist(),
            entered.tolist(),
            self._entries[entered].tolist(),
            tree.parent[entered].tolist(),
            strict=True,
        ):
            place, time_s, numbers = (n % self.keep_poses, names[i]), float(times[k]), axes[k].tolist()
            batch.past[place] = (*place, n, None if p < 0 else names[p], time_s, evidence, *numbers)
        return entered

    def _note_covariances(self, batch: PoseBatch, tree: TransformTree, rows: Rows, variances: Array) -> None:
        parents = tree.parent[rows]
        references = np.where((parents >= 0)[:, None, None], tree.in_world[parents], np.eye(4))
        batch.spread(rows, references, variances)

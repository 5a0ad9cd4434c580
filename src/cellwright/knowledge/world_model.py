"""The world model in use: poses come in by batches, the transform tree is kept, stable states can be returned to.

One world model writes a database; any number of readers see each batch as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Dialect, Insert, Table, Update, bindparam, delete, insert, select, update
from sqlalchemy.orm import aliased

from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge.database import Database
from cellwright.knowledge.generated.records import PhysicalLocation, PoseLocation, SolidObject
from cellwright.knowledge.history import AXES, POSE_HISTORY, STABLE_POSE, STABLE_STATE
from cellwright.knowledge.transform_tree import NEVER, Link, TransformTree

__all__ = ["WorldModel"]

POSE: Table = PoseLocation.__table__  # type: ignore[assignment]
LOCATION: Table = PhysicalLocation.__table__  # type: ignore[assignment]
Array = npt.NDArray[np.float64]


class WorldModel:
    """The objects of a database that have a pose, or that others are located by."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.reload()

    def reload(self) -> None:
        """Reads the transform tree anew, after objects were added or moved to another reference."""
        other = aliased(SolidObject)
        columns = [getattr(PoseLocation, name) for name in AXES]
        question = (
            select(SolidObject.name, other.name, PoseLocation.id, PoseLocation.timestamp, *columns)
            .join(PoseLocation, SolidObject.primary_location_id == PoseLocation.id)
            .outerjoin(other, PoseLocation.ref_object_id == other.id)
        )
        links: dict[str, Link] = {}
        rows: dict[str, int] = {}
        with self.database.session() as session:
            for name, reference, row, time_s, *numbers in session.execute(question):
                pose = Pose.identity() if None in numbers else pose_from_axes(numbers)
                links[name] = Link(reference, pose, NEVER if time_s is None else time_s)
                rows[name] = row
        for reference in {k.reference for k in links.values() if k.reference is not None} - set(links):
            links[reference] = Link(None, Pose.identity())
        self.tree = TransformTree(links)
        self._location_id = np.array([rows.get(name, -1) for name in self.tree.names])

    def observe(self, names: Sequence[str], poses_in_world: Array, time_s: float, evidence: str) -> list[str]:
        """Takes in the objects that were seen at one time, as one change.

        Args:
            names: The objects.
            poses_in_world: Their poses, n x 4 x 4.
            time_s: When they were seen, by the cell's clock.
            evidence: Which sensor saw them.

        Returns:
            The objects whose relative poses changed; others rode along, or the observation came too late.
        """
        tree = self.tree.copy()
        changed = tree.observe(tree.indices(names), poses_in_world, time_s)
        changed = changed[self._location_id[changed] >= 0]
        with self.database.transaction() as connection:
            self._write(connection, tree, changed, evidence)
        self.tree = tree  # only what is stored is believed
        return [self.tree.names[i] for i in changed]

    def pose_in(self, name: str, frame: str) -> Pose:
        """The believed pose of an object in the frame of any other."""
        return self.tree.pose_in(name, frame)

    def mark_stable(self, label: str) -> None:
        """Remembers all relative poses as a state to come back to; a label that exists is set anew."""
        with self.database.transaction() as connection:
            old = connection.scalar(select(STABLE_STATE.c.id).where(STABLE_STATE.c.label == label))
            if old is not None:
                connection.execute(delete(STABLE_POSE).where(STABLE_POSE.c.state_id == old))
                connection.execute(delete(STABLE_STATE).where(STABLE_STATE.c.id == old))
            made = connection.execute(insert(STABLE_STATE).values(label=label)).inserted_primary_key
            assert made is not None
            rows = np.flatnonzero(self._location_id >= 0)
            entries = [
                {
                    "state_id": made[0],
                    "object_name": n,
                    "reference_name": r,
                    "timestamp": t,
                    **dict(zip(AXES, a, strict=True)),
                }
                for n, r, t, a in zip(*columns_of(self.tree, rows), strict=True)
            ]
            if entries:
                connection.execute(insert(STABLE_POSE), entries)

    def restore(self, label: str) -> None:
        """Sets the poses of a stable state as what is believed now; objects made since then stay as they are.

        Raises:
            UnknownName: There is no such state; lists those that there are.
        """
        with self.database.transaction() as connection:
            states = {name: row for row, name in connection.execute(select(STABLE_STATE.c.id, STABLE_STATE.c.label))}
            if label not in states:
                raise UnknownName("stable state", label, states, "database")
            numbers = {n: r for r, n in connection.execute(select(SolidObject.id, SolidObject.name))}
            poses, places = [], []
            for row in connection.execute(
                select(STABLE_POSE).where(STABLE_POSE.c.state_id == states[label])
            ).mappings():
                at = self.tree.index.get(row["object_name"], -1)
                if at >= 0 and row["reference_name"] in numbers:
                    key = int(self._location_id[at])
                    poses.append((*(row[a] for a in AXES), key))
                    places.append((row["timestamp"], numbers[row["reference_name"]], key))
            if poses:
                run_many(connection, POSE_UPDATE, (*AXES_NEW, "row"), poses)
                run_many(connection, RESTORE_PLACE, ("time", "reference", "row"), places)
        self.reload()

    def history(self, name: str) -> list[tuple[float, str, Pose]]:
        """When and by which evidence the relative pose of an object changed, oldest first."""
        question = select(POSE_HISTORY).where(POSE_HISTORY.c.object_name == name).order_by(POSE_HISTORY.c.id)
        with self.database.transaction() as connection:
            rows = connection.execute(question).mappings().all()
        return [(row["timestamp"], row["evidence"], pose_from_axes([row[a] for a in AXES])) for row in rows]

    def _write(self, connection: Connection, tree: TransformTree, rows: npt.NDArray[np.int64], evidence: str) -> None:
        if not len(rows):
            return
        keys = self._location_id[rows].tolist()
        names, references, times, axes = columns_of(tree, rows)
        poses = [(*a, k) for a, k in zip(axes, keys, strict=True)]
        stamps = [(t, evidence, k) for t, k in zip(times, keys, strict=True)]
        past = [(n, r, t, evidence, *a) for n, r, t, a in zip(names, references, times, axes, strict=True)]
        run_many(connection, POSE_UPDATE, (*AXES_NEW, "row"), poses)
        run_many(connection, STAMP_UPDATE, ("time", "source", "row"), stamps)
        run_many(connection, HISTORY_INSERT, PAST, past)


AXES_NEW = [f"new_{a}" for a in AXES]
PAST = ("object_name", "reference_name", "timestamp", "evidence", *AXES)
POSE_UPDATE = update(POSE).where(POSE.c.id == bindparam("row")).values({a: bindparam(f"new_{a}") for a in AXES})
STAMP_UPDATE = (
    update(LOCATION)
    .where(LOCATION.c.id == bindparam("row"))
    .values(timestamp=bindparam("time"), evidence=bindparam("source"))
)
RESTORE_PLACE = (
    update(LOCATION)
    .where(LOCATION.c.id == bindparam("row"))
    .values(timestamp=bindparam("time"), ref_object_id=bindparam("reference"))
)
HISTORY_INSERT = insert(POSE_HISTORY).values({name: bindparam(name) for name in PAST})


def columns_of(
    tree: TransformTree, rows: npt.NDArray[np.int64]
) -> tuple[list[str], list[str | None], list[float | None], list[list[float]]]:
    """Names, references, times and the nine numbers of the poses."""
    axes: list[list[float]] = tree.in_reference[rows][:, :3, [3, 0, 2]].transpose(0, 2, 1).reshape(-1, 9).tolist()
    references = [None if p < 0 else tree.names[p] for p in tree.parent[rows]]
    times = [None if t == NEVER else t for t in tree.seen_s[rows].tolist()]
    return [tree.names[i] for i in rows], references, times, axes


def run_many(
    connection: Connection, statement: Update | Insert, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Runs a statement for every row by the driver itself: several times the rate of going through SQLAlchemy."""
    text, order = text_of(statement, connection.dialect)
    if order is None:
        connection.exec_driver_sql(text, [dict(zip(names, row, strict=True)) for row in rows])
    else:
        places = [names.index(name) for name in order]
        in_order = places == list(range(len(names)))
        connection.exec_driver_sql(text, list(rows if in_order else map(itemgetter(*places), rows)))


@cache
def text_of(statement: Update | Insert, dialect: Dialect) -> tuple[str, list[str] | None]:
    """The statement in the server's language, and the order of its values where they have no names."""
    compiled = statement.compile(dialect=dialect)
    return str(compiled), compiled.positiontup


def pose_from_axes(numbers: Sequence[float]) -> Pose:
    """From a position and the directions of the x and z axes, as the kitting model writes poses."""
    point, x_axis, z_axis = np.array(numbers, float).reshape(3, 3)
    matrix = np.eye(4)
    matrix[:3, :4] = np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis, point])
    return Pose.from_matrix(matrix)

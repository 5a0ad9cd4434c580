"""Batches of poses for the database: many at a time, by the driver itself.

Going through the access classes costs several times as much, and so does a statement for every pose on a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import BigInteger, Connection, Dialect, Double, Integer, Select, String, Table, select
from sqlalchemy.orm import aliased

from cellwright.core.pose import Pose
from cellwright.knowledge.generated.records import PhysicalLocation, PoseLocation, SolidObject
from cellwright.knowledge.history import AXES, POSE_HISTORY

__all__ = [
    "COVARIANCES",
    "DEVIATIONS",
    "LOCATION",
    "OBJECT",
    "POSE",
    "PoseBatch",
    "axes_of",
    "covariances_from",
    "covariances_in",
    "matrices_from_axes",
    "pose_from_axes",
    "pose_query",
    "put_rows",
    "turned_covariances",
]

OBJECT: Table = SolidObject.__table__  # type: ignore[assignment]
POSE: Table = PoseLocation.__table__  # type: ignore[assignment]
LOCATION: Table = PhysicalLocation.__table__  # type: ignore[assignment]
SIX = ("xx", "xy", "xz", "yy", "yz", "zz")
COVARIANCES = [f"{of}_covariance_{axes}" for of in ("position", "orientation") for axes in SIX]
DEVIATIONS = ["position_standard_deviation", "orientation_standard_deviation"]
PAST = ("number", "reference_name", "timestamp", "evidence", *AXES)
UPPER = np.triu_indices(3)
EXACT = 1e-12  # by which axes of a rotation are off their length, or not upright to each other, by rounding alone
Array = npt.NDArray[np.float64]
Row = tuple[Any, ...]


class PoseBatch:
    """Rows to be written together; of several for one object the last one counts, so the text of it is made then.

    Args:
        since_s: The time of the first of them.
        locations: Row of an object in the transform tree -> the key of its location.

    Attributes:
        since_s: As given.
        past: Place in the history and object -> its entry.
    """

    def __init__(self, since_s: float, locations: npt.NDArray[np.int64]) -> None:
        count = len(locations)
        self.since_s = since_s
        self._locations = locations
        self.past: dict[tuple[int, str], Row] = {}
        self._posed = np.zeros(count, bool)
        self._spread = np.zeros(count, bool)
        self._axes = np.empty((count, len(AXES)))
        self._times_s = np.empty(count)
        self._evidence = np.empty(count, object)
        self._references = np.empty((count, 4, 4))
        self._variances = np.empty((count, 6))

    def pose(self, rows: npt.NDArray[np.int64], axes: Array, times_s: Array, evidence: str) -> None:
        """Adds poses of objects, with the time and the source of the observation."""
        self._posed[rows] = True
        self._axes[rows], self._times_s[rows], self._evidence[rows] = axes, times_s, evidence

    def spread(self, rows: npt.NDArray[np.int64], references_in_world: Array, variances: Array) -> None:
        """Adds variances of poses."""
        self._spread[rows] = True
        self._references[rows], self._variances[rows] = references_in_world, variances

    def put(self, connection: Connection) -> None:
        """Writes them."""
        rows = np.flatnonzero(self._posed)
        keys, numbers = self._locations[rows].tolist(), self._axes[rows].tolist()
        stamps = list(zip(keys, self._times_s[rows].tolist(), self._evidence[rows].tolist(), strict=True))
        put_rows(connection, POSE, ["id"], AXES, [(key, *nine) for key, nine in zip(keys, numbers, strict=True)])
        put_rows(connection, LOCATION, ["id"], ["timestamp", "evidence"], stamps)
        put_rows(connection, POSE_HISTORY, ["place", "object_name"], PAST, list(self.past.values()))
        rows = np.flatnonzero(self._spread)
        spreads = covariances_in(self._references[rows], self._variances[rows]).tolist()
        known = [(key, *spread) for key, spread in zip(self._locations[rows].tolist(), spreads, strict=True)]
        put_rows(connection, POSE, ["id"], [*COVARIANCES, *DEVIATIONS], known)


def put_rows(
    connection: Connection, table: Table, keys: Sequence[str], values: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Writes rows, keys first: sets the values where the keys exist, else adds the row."""
    begin, end = put_text(table, tuple(keys), tuple(values), connection.dialect)
    names = (*keys, *values)
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"{begin} VALUES ({', '.join('?' * len(names))}) {end}", list(rows))
    elif connection.dialect.name == "postgresql":  # a column is one value: the driver's work is the same for any number
        arrays = ", ".join(f"%s::{ARRAYS[type(table.c[name].type)]}[]" for name in names)
        columns = tuple(array_text(column) for column in zip(*rows, strict=True))
        connection.exec_driver_sql(f"{begin} SELECT * FROM unnest({arrays}) {end}", columns)
    else:  # numbers as they are; making the driver look at each of them takes most of the time
        words = [i for i, name in enumerate(names) if isinstance(table.c[name].type, String)]
        form = f"({', '.join('%%s' if i in words else '%r' for i in range(len(names)))})"
        numbers = itemgetter(*(i for i in range(len(names)) if i not in words))
        text = ", ".join([form % numbers(row) for row in rows])
        connection.exec_driver_sql(f"{begin} VALUES {text} {end}", tuple([row[i] for row in rows for i in words]))


def array_text(column: Sequence[Any]) -> str:
    """Returns an array as PostgreSQL writes it, which is quicker than having the driver look at every value."""
    if all(isinstance(value, float | int) for value in column):
        return f"{{{','.join(map(repr, column))}}}"
    quoted = ("NULL" if v is None else '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for v in column)
    return f"{{{','.join(quoted)}}}"


ARRAYS = {Integer: "integer", BigInteger: "bigint", Double: "float8", String: "text"}


@cache
def put_text(table: Table, keys: tuple[str, ...], values: tuple[str, ...], dialect: Dialect) -> tuple[str, str]:
    """Returns the statement in the server's language: what comes before the rows, and after."""
    quote = dialect.identifier_preparer.quote
    begin = f"INSERT INTO {quote(table.name)} ({', '.join(quote(name) for name in (*keys, *values))})"
    if dialect.name in ("mysql", "mariadb"):
        return begin, "ON DUPLICATE KEY UPDATE " + ", ".join(f"{quote(v)} = VALUES({quote(v)})" for v in values)
    where = f"ON CONFLICT ({', '.join(quote(key) for key in keys)})"
    return begin, f"{where} DO UPDATE SET " + ", ".join(f"{quote(v)} = excluded.{quote(v)}" for v in values)


def axes_of(matrices: Array) -> Array:
    """Returns the nine numbers of each pose, n x 4 x 4 -> n x 9."""
    return matrices[:, :3, [3, 0, 2]].transpose(0, 2, 1).reshape(-1, len(AXES))


def pose_from_axes(numbers: Sequence[float]) -> Pose:
    """Returns the pose of a position and the directions of the x and z axes, as the kitting model writes poses."""
    px, py, pz, ax, ay, az, cx, cy, cz = numbers
    bx, by, bz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax  # z cross x
    return Pose.from_matrix([[ax, bx, cx, px], [ay, by, cy, py], [az, bz, cz, pz]])


def matrices_from_axes(numbers: Array) -> Array:
    """Returns the same poses for many as matrices, n x 9 -> n x 4 x 4; raises ValueError for what is no rotation."""
    point, x, z = (numbers.reshape(-1, 3, 3)[:, i] for i in range(3))
    matrices = np.zeros((len(point), 4, 4))
    matrices[:, :3, 0], matrices[:, :3, 1], matrices[:, :3, 2] = x, np.cross(z, x), z
    matrices[:, :3, 3], matrices[:, 3, 3] = point, 1.0
    products = np.stack([(x * x).sum(axis=1) - 1.0, (z * z).sum(axis=1) - 1.0, (x * z).sum(axis=1)])
    exact = (np.abs(products) <= EXACT).all(axis=0) & np.isfinite(point).all(axis=1)
    for row in np.flatnonzero(~exact).tolist():  # rounded, as people write them, or none
        matrices[row] = pose_from_axes(numbers[row].tolist()).matrix
    return matrices


@cache
def pose_query(parts: bool) -> Select[Any]:
    """Returns the query for all poses, or all but those of parts and kit trays; building it takes longer than running.

    Names of objects and references, keys of locations, times, axes, covariances, deviations, evidence.
    """
    other, columns = aliased(OBJECT), (*AXES, *COVARIANCES, DEVIATIONS[0])
    query = (
        select(OBJECT.c.name, other.c.name, POSE.c.id, LOCATION.c.timestamp, *(POSE.c[name] for name in columns))
        .add_columns(LOCATION.c.evidence)
        .join(POSE, OBJECT.c.primary_location_id == POSE.c.id)
        .join(LOCATION, LOCATION.c.id == POSE.c.id)
        .outerjoin(other, LOCATION.c.ref_object_id == other.c.id)
    )
    return query if parts else query.where(OBJECT.c.kind.not_in(("Part", "KitTray")))


def covariances_in(references_in_world: Array, variances: Array) -> Array:
    """Returns variances of x, y, z, roll, pitch, yaw in the world, n x 6, as numbers of COVARIANCES and DEVIATIONS.

    Covariances are in the references' frames; the one deviation of position and turn is that of the worst axis.
    """
    turned = references_in_world[:, :3, :3].transpose(0, 2, 1)
    position = (turned * variances[:, None, :3]) @ turned.transpose(0, 2, 1)
    orientation = (turned * variances[:, None, 3:]) @ turned.transpose(0, 2, 1)
    deviations = np.sqrt(np.stack([variances[:, :3].max(axis=1), variances[:, 3:].max(axis=1)], axis=1))
    return np.hstack([position[:, UPPER[0], UPPER[1]], orientation[:, UPPER[0], UPPER[1]], deviations])


def covariances_from(numbers: Sequence[float]) -> tuple[Array, Array]:
    """Returns the matrices of position and orientation, from the numbers of COVARIANCES."""
    both = np.zeros((2, 3, 3))
    both[:, UPPER[0], UPPER[1]] = both[:, UPPER[1], UPPER[0]] = np.reshape(numbers, (2, 6))
    return both[0], both[1]


def turned_covariances(numbers: Sequence[float], turn: Array) -> list[float]:
    """Returns the numbers of COVARIANCES in another frame, into which `turn` leads."""
    turned = [(turn @ matrix @ turn.T)[UPPER] for matrix in covariances_from(numbers)]
    return [float(number) for number in np.concatenate(turned)]

"""The places that a robot reaches: those whose origin lies in one of its work volumes, and tables below one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, column, select, table

__all__ = ["reached_places"]

AXES = tuple(f"{vector}_{axis}" for vector in ("point", "x_axis", "z_axis") for axis in "xyz")
Matrix = npt.NDArray[np.float64]


def reached_places(connection: Connection, bodies: Mapping[int, str]) -> dict[str, list[str]]:
    """Returns robot -> the places that it reaches; a robot without a known work volume is not named."""
    volumes = _volumes(connection)
    if not volumes:
        return {}
    origins = _origins(connection, bodies)
    names = [bodies[key] for key in origins]
    points = np.array([point for point, _ in origins.values()]).reshape(-1, 3)
    tables = np.array([[is_table] for _, is_table in origins.values()], bool)
    reached: dict[str, list[str]] = {}
    for robot, boxes in volumes.items():
        if robot in bodies:
            inside = np.zeros(len(names), dtype=bool)
            for low, high in boxes:
                within = (points >= low) & (points <= high)
                within[:, 2:] |= tables  # the origin of a table is below what is worked at
                inside |= within.all(axis=1)
            reached[bodies[robot]] = [names[at] for at in np.flatnonzero(inside)]
    return reached


def _volumes(connection: Connection) -> dict[int, list[tuple[Matrix, Matrix]]]:
    corners = [f"{end}_point_{axis}" for end in ("minimum", "maximum") for axis in "xyz"]
    owned = table("robot_work_volume", column("id"), column("owner_id"), column("target_id"))
    box = table("box_volume", column("id"), *map(column, corners))
    query = select(owned.c.owner_id, *(box.c[c] for c in corners)).join(box, box.c.id == owned.c.target_id)
    found: dict[int, list[tuple[Matrix, Matrix]]] = {}
    for robot, *numbers in connection.execute(query.order_by(owned.c.id)).all():
        if None not in numbers:
            found.setdefault(robot, []).append((np.array(numbers[:3]), np.array(numbers[3:])))
    return found


def _origins(connection: Connection, bodies: Mapping[int, str]) -> dict[int, tuple[tuple[float, float, float], bool]]:
    """Returns object -> its origin in the workstation and whether it is a table.

    Parts and trays are no places, and there are many of them.
    """
    body = table("solid_object", column("id"), column("kind"), column("primary_location_id"))
    place = table("physical_location", column("id"), column("ref_object_id"))
    pose = table("pose_location", column("id"), *map(column, AXES))
    query = (
        select(body.c.id, body.c.kind, place.c.ref_object_id, *(pose.c[a] for a in AXES))
        .join(place, place.c.id == body.c.primary_location_id)
        .join(pose, pose.c.id == place.c.id)
        .where(body.c.kind.not_in(("Part", "KitTray")))
        .order_by(body.c.id)
    )
    links: dict[int, tuple[int | None, list[float]]] = {}
    tables = set()
    for key, kind, reference, *numbers in connection.execute(query).all():
        if key in bodies and None not in numbers:
            links[key] = (reference, numbers)
            if kind == "WorkTable":
                tables.add(key)
    origins: dict[int, tuple[tuple[float, float, float], bool]] = {}
    for start in links:
        origin, step, seen = (0.0, 0.0, 0.0), start, set[int]()
        while step in links and step not in seen:
            seen.add(step)
            reference, numbers = links[step]
            (px, py, pz), (ax, ay, az), (cx, cy, cz) = numbers[:3], numbers[3:6], numbers[6:]
            bx, by, bz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax  # y = z x x
            x, y, z = origin
            origin = (px + ax * x + bx * y + cx * z, py + ay * x + by * y + cy * z, pz + az * x + bz * y + cz * z)
            if reference is None:
                break
            step = reference
        origins[start] = origin, start in tables
    return origins

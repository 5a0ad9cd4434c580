"""The places that a robot reaches: those whose origin lies in one of its work volumes, and tables below one.

A tray that was pushed out of every volume lies between places that were drawn: who reaches those on all sides of it
reaches it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from cellwright.knowledge.believed_objects import BelievedObject
from cellwright.knowledge.transform_tree import TransformTree

__all__ = ["reached_places"]

Array = npt.NDArray[np.float64]


def reached_places(
    objects: Iterable[BelievedObject], tree: TransformTree, boxes: Mapping[str, Array]
) -> dict[str, list[str]]:
    """Returns robot -> the places that it reaches; one without a known work volume reaches everything.

    Parts and trays are no places, and there are many of them.
    """
    things = list(objects)
    placed = [thing for thing in things if thing.name in tree.index and thing.kind not in ("Part", "KitTray")]
    names = [thing.name for thing in placed]
    points = tree.in_world[tree.indices(names)][:, :3, 3]
    tables = np.array([[thing.kind == "WorkTable"] for thing in placed], bool).reshape(-1, 1)
    robots = [thing.name for thing in things if thing.kind == "Robot"]
    inside = {robot: _in_any(boxes.get(robot, ()), points, tables) for robot in robots}
    strayed = ~np.any([*inside.values(), tables[:, 0]], axis=0)
    for robot in robots:
        if (volumes := boxes.get(robot)) is not None and len(volumes):
            hull = np.array([[volumes[:, 0].min(axis=0), volumes[:, 1].max(axis=0)]])
            inside[robot] |= strayed & _in_any(hull, points, tables)
    everything = [thing.name for thing in things]
    return {
        robot: [names[at] for at in np.flatnonzero(inside[robot])] if robot in boxes else everything for robot in robots
    }


def _in_any(volumes: Iterable[Array], points: Array, tables: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Returns which points are in one of some volumes, low and high corner each."""
    inside = np.zeros(len(points), dtype=bool)
    for low, high in volumes:
        within = (points >= low) & (points <= high)
        within[:, 2:] |= tables  # the origin of a table is below what is worked at
        inside |= within.all(axis=1)
    return inside

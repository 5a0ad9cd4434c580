"""The places that a robot reaches: those whose origin lies in one of its work volumes, and tables below one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from cellwright.knowledge.believed_objects import BelievedObject
from cellwright.knowledge.transform_tree import TransformTree

__all__ = ["reached_places"]


def reached_places(
    objects: Iterable[BelievedObject], tree: TransformTree, boxes: Mapping[str, npt.NDArray[np.float64]]
) -> dict[str, list[str]]:
    """Returns robot -> the places that it reaches; one without a known work volume reaches everything.

    Parts and trays are no places, and there are many of them.
    """
    things = list(objects)
    placed = [thing for thing in things if thing.name in tree.index and thing.kind not in ("Part", "KitTray")]
    names = [thing.name for thing in placed]
    points = tree.in_world[tree.indices(names)][:, :3, 3]
    tables = np.array([[thing.kind == "WorkTable"] for thing in placed], bool).reshape(-1, 1)
    reached: dict[str, list[str]] = {}
    for robot in (thing.name for thing in things if thing.kind == "Robot"):
        inside = np.zeros(len(names), dtype=bool)
        for low, high in boxes.get(robot, ()):
            within = (points >= low) & (points <= high)
            within[:, 2:] |= tables  # the origin of a table is below what is worked at
            inside |= within.all(axis=1)
        everything = [thing.name for thing in things]
        reached[robot] = [names[at] for at in np.flatnonzero(inside)] if robot in boxes else everything
    return reached
